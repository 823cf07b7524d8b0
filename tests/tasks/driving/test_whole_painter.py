"""Whole pictures painted from label maps, and what is fair to compare them with."""

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.imaging.mask_text import ids_from_text
from instar.tasks.driving import Control, rule
from instar.tasks.driving.engines import whole_painter
from instar.worlds.drive import scenes

SAME = "Then: the steering angle should keep the same."
SLOWER = "Then: the ego-vehicle should slow down."
LINES = f"If: lane lines are removed from the road, {SAME}"
TREES = f"If: the buildings are replaced with trees, {SAME}"
BOTH = f"If: lane lines are removed from the road and the buildings are replaced with trees, {SAME}"
TWO = f"If: a pedestrian appears on the roadside, {SLOWER} If: the vehicles are removed, {SLOWER}"


@pytest.fixture(scope="module")
def drives():
    return scenes(6, seed=4, size=(160, 320))


def made(text, drives, folder, *, count=2, **options):
    """For the first drives that it can be made of: source, change, its pictures; and the relation."""
    relation = rule(text, engines="camvid_whole", least_objects=0.004, least_lines=0.002, **options)
    relation = relation.prepare(drives, Folder(folder))
    found = []
    for scene in drives:
        source = Observation.of(scene.image, Control(40.0, 0.0), scene)
        change = relation.draw(source, np.random.default_rng(1))
        if not isinstance(change, Inapplicable):
            found.append((source, change, relation.apply(source.input, change)))
        if len(found) == count:
            break
    assert found
    return relation, found


@pytest.mark.parametrize("text", [LINES, TREES, f"If: the vehicles are removed, {SAME}"])
def test_source_and_follow_up_are_painted_and_shown_again_without_a_network(
    text, drives, tmp_path, monkeypatch
):
    relation, found = made(text, drives, tmp_path)
    monkeypatch.setattr(whole_painter, "paint_whole", None)  # whoever calls it now fails
    for source, change, pictures in found:
        assert len(pictures) == 2
        for picture in pictures:
            assert (picture != source.input).any(axis=2).mean() > 0.5
        edit = change.edits[1][0]
        region = ids_from_text(edit["map"]) != whole_painter.ELSEWHERE
        off = np.abs(pictures[0].astype(float) - pictures[1]).mean(axis=2)
        assert off[region].mean() > off[~region].mean()
        kept = relation.pixels(change)
        assert {edit["cutout"] for block in change.edits for edit in block} <= kept.keys()
        for again, picture in zip(relation.apply(source.input, change), pictures):
            np.testing.assert_array_equal(again, picture)


def test_a_driver_is_judged_by_what_the_change_does_to_it_and_not_the_paint(drives, tmp_path):
    relation, [(source, change, _)] = made(LINES, drives, tmp_path, count=1)

    def judged(relation, change, *angles):
        shown = [Observation.of(source.input, Control(40.0, angle), source.scene) for angle in angles]
        return relation.expect(source, shown, change).status

    assert change.paints_source
    assert judged(relation, change, 25.0, 25.0) is Status.HELD  # paint alone turns it
    assert judged(relation, change, 25.0, 0.0) is Status.VIOLATED
    as_in_paper, [(_, bare, (_,))] = made(LINES, drives, tmp_path / "paper", count=1, paper=True)
    assert not bare.paints_source
    assert judged(as_in_paper, bare, 25.0) is Status.VIOLATED


def test_what_is_put_into_a_painted_picture_stands_in_all_of_its_blocks(drives, tmp_path):
    _, [(_, change, pictures), *_] = made(TWO, drives, tmp_path)
    painted, first, _ = pictures
    person = change.edits[1][1]
    assert person["label"] == "person"
    box = np.zeros(painted.shape[:2], np.bool_)
    margin = 12
    top, left = max(0, person["y"] - margin), max(0, person["x"] - margin)
    box[top : person["y"] + person["height"] + margin, left : person["x"] + person["width"] + margin] = True
    np.testing.assert_array_equal(first[~box], painted[~box])
    assert (first[box] != painted[box]).any()
    assert [edit.get("whole", False) for edit in change.edits[2]] == [True, False]


def test_of_two_changes_the_later_painting_shows_both(drives, tmp_path):
    _, [(_, change, _), *_] = made(BOTH, drives, tmp_path)
    first, second = change.edits[1]
    assert (first["of"], second["of"]) == ("line", "building")
    lost = whole_painter.ELSEWHERE
    assert ((ids_from_text(first["map"]) != lost) & (ids_from_text(second["map"]) == lost)).any()


@pytest.mark.parametrize("text", [BOTH, TWO])
def test_a_smaller_change_is_compared_with_the_painted_source_too(text, drives, tmp_path):
    relation, found = made(text, drives, tmp_path)
    seen = 0
    for source, change, _ in found:
        for line in relation.smaller(source, change):
            for one in line if isinstance(line, list) else [line]:
                seen += 1
                assert one.paints_source
                assert len(one.blocks) > 1
                assert one.blocks[0] not in one.blocks[1:]
                assert all(block[0].get("whole") for block in one.edits)
    assert seen
