"""What is held out stays apart, and pictures are shown without distortion."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.imaging.labels import LabelMap
from instar.tasks.driving.systems.network_io import preprocess
from instar.training.driving.examples import Examples, collect_examples, errors_of, hold_out


def examples(groups, targets, outputs=("steering",)):
    pictures = np.zeros((len(groups), 160, 320, 3), np.uint8)
    return Examples(pictures, np.array(targets, np.float32).reshape(len(groups), -1), tuple(groups), outputs)


def test_no_stretch_of_road_is_on_two_sides():
    groups = [f"s{i // 7:02}" for i in range(7 * 18)]
    parts = hold_out(examples(groups, np.random.default_rng(0).normal(size=len(groups))), seed=3)
    sides = [set(part.groups) for part in (parts.training, parts.validation, parts.test)]
    assert [len(side) for side in sides] == [11, 3, 4]
    assert set.union(*sides) == set(groups)
    assert sum(map(len, sides)) == 18


def test_the_bends_are_spread_over_what_is_held_out():
    groups = [f"s{i:02}" for i in range(40)]
    parts = hold_out(examples(groups, np.arange(40.0)), seed=0)
    assert parts.test.targets.mean() == pytest.approx(20, abs=4)
    assert parts.test.targets.max() > 30 > 10 > parts.test.targets.min()


def test_two_stretches_cannot_be_split():
    with pytest.raises(BadInput, match="2 stretches of road are too few"):
        hold_out(examples(["a", "b"], [0.0, 1.0]), seed=0)


def test_the_error_stands_beside_that_of_a_constant():
    groups = [f"s{i:02}" for i in range(20)]
    parts = hold_out(examples(groups, np.arange(20.0)), seed=0)
    found = errors_of(parts, parts.test.targets + np.float32(2))["steering"]
    assert found["mae"] == found["rmse"] == pytest.approx(2)
    assert found["interval"] == [pytest.approx(2), pytest.approx(2)]
    truth, learned = parts.test.targets, parts.training.targets
    assert found["constant_mae"] == pytest.approx(np.abs(truth - np.median(learned)).mean())


def test_a_tall_picture_loses_its_top_rows_and_a_wide_one_its_sides():
    tall = np.zeros((360, 480, 3), np.uint8)
    tall[:120] = 200
    assert preprocess(tall).shape == (160, 320, 3)
    assert preprocess(tall).max() == 0
    wide = np.zeros((160, 400, 3), np.uint8)
    wide[:, :40] = wide[:, -40:] = 200
    assert preprocess(wide).max() == 0


def test_pictures_are_kept_for_the_same_scenes_only(tmp_path):
    def scene(name, value):
        return Scene(
            name, lambda: np.full((160, 320, 3), value, np.uint8), knowledge={"speed": 40.0, "steering": 1.0}
        )

    kept, read = tmp_path / "pictures.npz", []
    collect_examples([scene("a", 1), scene("b", 2)], ["speed"], kept=kept, step=lambda: read.append(1))
    again = collect_examples(
        [scene("a", 1), scene("b", 2)], ["speed"], kept=kept, step=lambda: read.append(1)
    )
    assert len(read) == 2
    assert again.pictures[:, 0, 0, 0].tolist() == [1, 2]
    with pytest.raises(BadInput, match="has pictures of other scenes"):
        collect_examples([scene("c", 1)], ["speed"], kept=kept, step=lambda: None)


def test_a_scene_whose_driver_is_unknown_is_refused_by_name():
    with pytest.raises(BadInput, match="photo: the speed that its driver chose is not known"):
        collect_examples([Scene.of("photo", np.zeros((160, 320, 3), np.uint8))], ["speed"], step=lambda: None)


def labelled(name, ids):
    return Scene(
        name,
        lambda: np.zeros((*ids.shape, 3), np.uint8),
        knowledge={"speed": 40.0, "steering": 1.0, "labels": lambda: LabelMap(ids, ("road", "person"))},
    )


def test_what_is_shown_is_told_by_cell_of_what_is_looked_at(tmp_path):
    ids = np.zeros((360, 640), np.uint8)
    ids[:40] = 1  # above what is looked at
    ids[40:104, 576:] = 1  # the whole of the upper right cell
    ids[296:312, :64] = 1  # a quarter of the lower left one
    kept = tmp_path / "pictures.npz"
    shown = collect_examples([labelled("a", ids)], ["speed"], labels=True, kept=kept, step=lambda: None).shown
    assert shown.shape == (1, 2, 5, 10)
    person = shown[0, 1]
    assert (person[0, 9], person[4, 0], np.count_nonzero(person)) == (255, 128, 2)
    again = collect_examples([labelled("a", ids)], ["speed"], labels=True, kept=kept, step=lambda: None)
    assert np.array_equal(again.shown, shown)
    assert not len(collect_examples([labelled("a", ids)], ["speed"], kept=kept, step=lambda: None).shown)


def test_labels_that_are_not_known_are_refused_by_name():
    scene = Scene(
        "photo", lambda: np.zeros((160, 320, 3), np.uint8), knowledge={"speed": 40.0, "steering": 1.0}
    )
    with pytest.raises(BadInput, match="photo: what every pixel shows is not known"):
        collect_examples([scene], ["speed"], labels=True, step=lambda: None)


def test_many_drives_are_drawn_on_all_processors_and_come_out_the_same(monkeypatch):
    from instar.training.driving import examples as module
    from instar.worlds.drive.scenes import scenes

    drives, steps = scenes(40, seed=3), []
    alone = collect_examples(drives, ["speed"], labels=True, step=lambda: None)
    monkeypatch.setattr(module, "FEW", 10)
    monkeypatch.setattr(module.os, "cpu_count", lambda: 2)
    together = collect_examples(drives, ["speed"], labels=True, step=lambda: steps.append(1))
    assert len(steps) == 40
    assert np.array_equal(alone.pictures, together.pictures)
    assert np.array_equal(alone.shown, together.shown)
