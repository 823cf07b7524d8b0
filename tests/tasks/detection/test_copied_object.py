"""A whole object is shown once more, on its ground and behind what stands in front."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import instar
import instar.testing
from instar.campaigns.reader import Named, open_run
from instar.core.change import Inapplicable
from instar.core.errors import BadInput, FetchFailed
from instar.core.scene import Observation
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.tasks.detection import copy
from instar.tasks.detection.changes import Copy
from outlined_scenes import (
    HORIZON,
    LAWN,
    WIDTH,
    ByColour,
    TrueOutlines,
    coloured,
    inner_pixels,
    observed,
    scene,
)

SCENES = [
    scene("a", ("disc", 40, 200, 40), ("box", 200, 190, 50)),
    scene("b", ("disc", 150, 180, 36)),
    scene("c", ("box", 60, 160, 30), ("disc", 240, 215, 44)),
]


def prepare(folder: Path, **options) -> instar.Relation:
    relation = copy(**{"outline": TrueOutlines()} | options)
    assert relation.prepare is not None
    return relation.prepare(SCENES, Folder(folder))


@pytest.fixture
def relation(tmp_path: Path) -> instar.Relation:
    return prepare(tmp_path)


def drawn(relation: instar.Relation, source: Observation, seed: int = 0) -> Copy:
    change = relation.draw(source, np.random.default_rng(seed))
    assert isinstance(change, Copy)
    return change


def test_the_contract_of_a_relation_is_kept(relation: instar.Relation) -> None:
    instar.testing.check_relation(relation, ByColour(), SCENES)


def test_a_right_detector_is_not_accused() -> None:
    records = list(instar.run(SCENES, copy(outline=TrueOutlines()), ByColour()))
    assert {record.verdict.status for record in records} == {Status.HELD}
    assert sum(record.role == "case" for record in records) >= 24


class LosesTwins(ByColour):
    """Of two things of a kind it finds only the larger one: what suppressing overlaps too widely does."""

    name = "loses-twins"

    def answer(self, image):
        found = super().answer(image)
        size = (found.boxes[:, 2:] - found.boxes[:, :2]).prod(axis=1)
        kept = [
            k for k in range(len(found)) if size[k] >= max(size[np.array(found.labels) == found.labels[k]])
        ]
        return found.select(np.array(kept, np.intp))


def test_a_detector_that_loses_one_of_two_of_a_kind_is_found_out() -> None:
    assert LosesTwins().answer(SCENES[0].image).labels == ("disc", "box")
    crowded = [scene("d", ("disc", 40, 200, 40), ("disc", 150, 190, 38), ("box", 220, 190, 50))]
    records = list(instar.run(crowded, copy(outline=TrueOutlines()), LosesTwins(), search=instar.draws(30)))
    findings = [finding for record in records for finding in record.verdict.findings]
    assert {finding.kind for finding in findings} == {"lost"}
    assert all(finding.evidence["was"]["label"] == "disc" for finding in findings)


def test_no_pixel_of_a_found_object_changes(relation: instar.Relation) -> None:
    for one in SCENES:
        source = observed(one)
        things = inner_pixels(one.image)
        for seed in range(20):
            follow_up = relation.apply(one.image, drawn(relation, source, seed))
            np.testing.assert_array_equal(follow_up[things], one.image[things])


def test_a_copy_stands_on_the_ground_and_smaller_ones_farther_back(relation: instar.Relation) -> None:
    for one in SCENES:
        source = observed(one)
        for seed in range(20):
            change = drawn(relation, source, seed)
            k = source.answer.labels.index(change.label)
            _, top, _, foot = source.answer.boxes[k].tolist()
            shrunk = (change.box[3] - change.box[1]) / (foot - top)
            assert change.box[3] > HORIZON
            assert shrunk > 0.97 or change.box[3] < foot


def test_no_copy_is_made_where_its_ground_is_nowhere_else(relation: instar.Relation) -> None:
    island = scene("island", ("disc", 150, 200, 40))
    image = island.image.copy()
    image[HORIZON:] = (200, 200, 200)
    image[196:212, 140:200] = LAWN
    image[coloured(island.image, "disc")] = (210, 40, 40)
    alone = instar.Scene.of("island", image)
    change = relation.draw(observed(alone), np.random.default_rng(0))
    assert change == Inapplicable("no place on its ground")


def test_draws_differ_in_place_and_size(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    boxes = [drawn(relation, source, seed).box for seed in range(30)]
    assert len(set(boxes)) > 20
    assert len({x2 - x1 for x1, _, x2, _ in boxes if x1 > 0 and x2 < WIDTH}) > 3


def test_a_copy_stands_behind_what_stands_in_front(relation: instar.Relation) -> None:
    source = observed(scene("front", ("disc", 60, 170, 40), ("box", 150, 225, 70)))
    behind = [change for seed in range(60) if (change := drawn(relation, source, seed)).behind]
    assert behind
    things, discs = inner_pixels(source.input), np.count_nonzero(coloured(source.input, "disc"))
    for change in behind:
        follow_up = relation.apply(source.input, change)
        np.testing.assert_array_equal(follow_up[things], source.input[things])
        assert np.count_nonzero(coloured(follow_up, "disc")) > 1.2 * discs


def test_an_object_cut_off_by_the_edge_is_not_copied(relation: instar.Relation) -> None:
    change = relation.draw(observed(scene("cut", ("box", -10, 180, 50))), np.random.default_rng(0))
    assert change == Inapplicable("no object is seen whole")


def test_an_object_that_others_hide_is_not_copied(relation: instar.Relation) -> None:
    source = observed(scene("hidden", ("disc", 100, 170, 60), ("box", 110, 200, 45)))
    assert relation.draw(source, np.random.default_rng(0)) == Inapplicable("no object is seen whole")


def test_what_stands_before_something_large_is_copied_there_and_in_front_of_it(
    relation: instar.Relation,
) -> None:
    source = observed(scene("before", ("box", 100, 230, 130), ("disc", 110, 200, 44)))
    assert len(source.answer) == 2
    for seed in range(10):
        change = drawn(relation, source, seed)
        assert (change.label, change.behind) == ("disc", ())
        assert relation.fair(source, change) is None
        follow_up = relation.apply(source.input, change)
        assert sorted(ByColour().answer(follow_up).labels) == ["box", "disc", "disc"]


def test_nothing_is_outlined_before_a_copy_is_drawn(tmp_path: Path) -> None:
    outline = TrueOutlines()
    relation = prepare(tmp_path, outline=outline)
    assert outline.asked == 0
    drawn(relation, observed(SCENES[1]))
    asked = outline.asked
    assert asked > 0
    drawn(prepare(tmp_path, outline=outline), observed(SCENES[1]), seed=1)
    assert outline.asked == asked  # kept in the folder of the run


def test_where_outlines_cannot_be_had_the_suite_goes_on_and_says_why() -> None:
    def missing(picture, box):
        raise FetchFailed("npm is not installed")

    records = list(instar.run(SCENES, copy(outline=missing), ByColour()))
    assert {record.verdict.reason for record in records if record.role == "case"} == {
        "no outlines: npm is not installed"
    }


def test_a_run_is_replayed_without_outlines(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("instar.tasks.detection.outlines.sam2_outliner", TrueOutlines)
    out = tmp_path / "run"
    records = list(instar.run(SCENES, "copy", ByColour(), out=out, search=instar.draws(3)))
    shutil.rmtree(out / "outlines")
    monkeypatch.delattr("instar.tasks.detection.outlines.sam2_outliner")
    named = Named(system=ByColour(), scenes=SCENES)
    with open_run(str(out), named=named) as there, there.asking() as asking:
        assert all(there.replay(there.record(record.case), asking).same for record in records)
    assert not (out / "outlines").exists()


def test_a_change_for_one_system_is_unfair_where_it_covers_what_another_finds(
    relation: instar.Relation,
) -> None:
    source = observed(SCENES[1])
    change = drawn(relation, source)
    assert relation.fair(source, change) is None
    answer = source.answer
    more = type(answer)(
        np.concatenate([answer.boxes, np.array([change.box], np.float32)]),
        (*answer.labels, "dog"),
        np.append(answer.scores, np.float32(0.8)),
    )
    refused = relation.fair(Observation.of(source.input, more, source.scene), change)
    assert refused == Inapplicable("it would cover what this system finds")


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="copy: outline is 'sam2'; it must be a function"):
        copy(outline="sam2")
    with pytest.raises(BadInput, match="copy: cutouts is 'here'; leave it out"):
        copy(cutouts="here")
    with pytest.raises(BadInput, match="hysteresis is 2"):
        copy(hysteresis=2)
