"""Training data made of follow-ups is read back as what it was made of."""

from __future__ import annotations

import numpy as np
import pytest

import instar
import planted_text
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of, observe
from instar.core.replay import Replay
from instar.imaging.words import Word
from instar.scenes import icdar
from instar.tasks.text import (
    brightness_down,
    brightness_up,
    channel_switch,
    listed,
    masking,
    perspective,
    watermark,
)
from instar.tasks.text.accuracy import count_hits, move_words, words_after
from instar.tasks.text.changes import Perspective
from instar.tasks.text.export import export_icdar, icdar_line, write_retraining_set
from instar.tasks.text.systems.page import page_exact
from instar.tasks.text.truth import truth_of
from instar.worlds.page import scenes
from planted_shrinking import asking, every_violated


def test_a_retraining_set_is_an_icdar_folder(tmp_path):
    pages = {scene.id: scene for scene in scenes(2)}
    every = [brightness_up(step=50), perspective(), watermark(), masking()]
    search = listed(perspectives=2, watermarks=1)
    records = list(instar.run(pages.values(), every, page_exact(), search=search))
    chosen = ["perspective", "watermark", "masking"]
    assert write_retraining_set(records, pages, tmp_path, chosen) == 2 * (2 + 1 + 1)
    kept = {f"images/{r.scene}-{r.case}.png": r for r in records if r.role == "case" and r.relation in chosen}
    read = icdar(tmp_path)
    assert [scene.id for scene in read] == sorted(kept)
    for scene in read:
        record = kept[scene.id]
        page = pages[record.scene]
        made = record.change.apply(page.image)
        expected = words_after(page.knowledge["words"], record.change)
        if isinstance(record.change, Perspective):
            made, expected = made.picture, move_words(expected, made.matrix)
        assert (scene.image == made).all()
        for word, other in zip(scene.knowledge["words"], expected, strict=True):
            assert (word.text, word.ignored) == (other.text, other.ignored)
            assert word.outline == pytest.approx(other.outline, abs=0.51)


def test_what_is_written_of_every_relation_is_where_the_pixels_show_it(tmp_path):
    pages = {scene.id: scene for scene in scenes(2)}
    every = [
        brightness_up(step=50), brightness_down(step=50), channel_switch(), perspective(), watermark(),
        masking(),
    ]  # fmt: skip
    search = listed(perspectives=3, watermarks=3)
    records = list(instar.run(pages.values(), every, page_exact(), search=search))
    for relation in every:
        write_retraining_set(records, pages, tmp_path / relation.name, [relation.name])
        read = icdar(tmp_path / relation.name)
        counts = [
            count_hits(page_exact().predict([scene.image])[0].quads, truth_of(scene.knowledge["words"]))
            for scene in read
        ]
        assert all(one.right == one.given == one.words for one in counts), relation.name
        assert all((one.words == 0) == (relation.name == "masking") for one in counts)


def test_violated_cases_become_an_icdar_folder_with_words_where_the_pixels_are(tmp_path):
    pages, relation = {scene.id: scene for scene in scenes(3)}, perspective()
    system = planted_text.forgets_to_scale_back()
    violated = [
        Replay(record, source, _follow_ups(relation, system, source, record), record.verdict)
        for record, source in every_violated(pages.values(), relation, system, search=listed(perspectives=1))
    ]
    assert export_icdar(violated, tmp_path, run="run", system=system.name) == len(violated) > 0
    for scene in icdar(tmp_path):
        found = page_exact().predict([scene.image])[0].quads
        one = count_hits(found, truth_of(scene.knowledge["words"]))
        assert one.right == one.given == one.words > 0


def test_cases_without_known_words_are_left_out(tmp_path):
    source = instar.Observation.of(np.zeros((9, 9, 3), np.uint8), None)
    record = instar.Record("0" * 16, "a", "a", "mine", 0, None, instar.Verdict.at_least(0, 1, "x"))
    assert export_icdar([Replay(record, source, [source], record.verdict)], tmp_path, run="", system="") == 0


def _follow_ups(relation, system, source, record):
    made = follow_ups_of(relation, source.input, record.change)
    replies = asking(system)([one.query() for one in made])
    return observe(relation.resolved_task, source, made, replies).follow_ups


def test_a_word_is_written_as_icdar_does():
    outline = np.float32([[1.4, 2], [9.6, 2], [9, 6], [1, 6]])
    assert icdar_line(Word(outline, "a,b")) == "1,2,10,2,9,6,1,6,a,b"
    assert icdar_line(Word(outline, "", ignored=True)) == "1,2,10,2,9,6,1,6,###"


def test_without_known_words_there_is_nothing_to_train_with(tmp_path):
    with pytest.raises(BadInput, match="no case of masking is about a picture whose words are known"):
        write_retraining_set([], {}, tmp_path, ["masking"])
