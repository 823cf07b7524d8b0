"""Posters are pages with text in more places: on arcs, in columns, turned, and in four scripts."""

from __future__ import annotations

import numpy as np

import instar
from instar import Status
from instar.scenes import load_scenes
from instar.tasks.text import brightness_up, channel_switch, listed, masking, perspective, watermark
from instar.tasks.text.accuracy import count_words
from instar.tasks.text.systems.page import page_exact, page_glare
from instar.tasks.text.truth import truth_of
from instar.worlds.poster import scenes


def test_all_that_is_known_is_found_and_nothing_else():
    for scene in scenes(20):
        (found,) = page_exact().predict([scene.image])
        hits = count_words(found.quads, truth_of(scene.knowledge["words"]))
        assert hits.right == hits.given == hits.words == hits.found > 0


def test_words_are_bent_stacked_and_turned_in_four_scripts():
    words = [word for scene in scenes(12) for word in scene.knowledge["words"]]
    quads = [word.outline for word in words if len(word.outline) == 4]
    assert len(quads) < len(words)
    assert any(len(word.outline) == 14 for word in words)
    edges = np.array([quad[1] - quad[0] for quad in quads])
    heights = np.linalg.norm([quad[3] - quad[0] for quad in quads], axis=1)
    assert (heights > 2 * np.linalg.norm(edges, axis=1)).any()  # one letter below the other
    assert (np.abs(edges[:, 1]) > 0.5 * np.abs(edges[:, 0])).any()  # turned
    letters = "".join(word.text for word in words)
    for first, last in ("AZ", "ΑΩ", "АЯ", "一龥"):
        assert any(first <= letter <= last for letter in letters)


def test_a_right_locator_is_not_accused_on_posters_and_a_wrong_one_is():
    every = [brightness_up(step=50), channel_switch(), perspective(reach=30), watermark(), masking()]
    search = listed(perspectives=2, watermarks=2)
    posters = scenes(4, size=(360, 480))
    told = {
        system.name: [r for r in instar.run(posters, every, system, search=search) if r.role == "case"]
        for system in (page_exact(), page_glare())
    }
    assert {record.verdict.status for record in told["page-exact"]} == {Status.HELD}
    wrong = [record for record in told["page-glare"] if record.verdict.status is Status.VIOLATED]
    assert {record.relation for record in wrong} == {"brightness-up"}
    assert {finding.known for record in wrong for finding in record.verdict.findings} == {"real"}


def test_posters_can_be_named():
    assert [scene.id for scene in load_scenes("poster:2:7")] == ["poster-0000", "poster-0001"]
