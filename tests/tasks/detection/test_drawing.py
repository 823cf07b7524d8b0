from __future__ import annotations

import numpy as np
import pytest
from instar.tasks.detection.picture import MOVED, RENAMED, picture

from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.nulls import Shift
from instar.imaging.sheets import BAR, FOUND, LOST, MADE, NEW
from instar.tasks.detection import Detections, same_objects
from instar.tasks.detection.changes import Insertion

GREY = np.full((300, 400, 3), 128, np.uint8)
CHANGE = Insertion("x", "person", 300, 100, 40, 120, "hard", 1.0, 0.0)
CAR = ("car", (50.0, 100.0, 150.0, 180.0), 0.9)


def seen(*objects, image: np.ndarray = GREY) -> Observation:
    boxes = np.array([box for _, box, _ in objects], np.float32).reshape(-1, 4)
    scores = np.array([score for _, _, score in objects], np.float32)
    return Observation.of(image, Detections(boxes, tuple(label for label, _, _ in objects), scores))


def drawn(before: Observation, after: Observation, change=CHANGE) -> np.ndarray:
    pasted = change.box if isinstance(change, Insertion) else None
    return picture(before, [after], change, same_objects(before.answer, after.answer, pasted=pasted))


def colours(part: np.ndarray) -> set[tuple[int, ...]]:
    present = {tuple(colour) for colour in part.reshape(-1, 3).tolist()}
    return present & {FOUND, LOST, NEW, RENAMED, MOVED, MADE}


def halves(sheet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    body = sheet[BAR:]
    return body[:, : body.shape[1] // 2], body[:, body.shape[1] // 2 :]


@pytest.mark.parametrize(
    ("after", "left", "right"),
    [
        ([CAR], {FOUND}, {FOUND, MADE}),
        ([], {LOST}, {LOST, MADE}),
        ([CAR, ("dog", (200.0, 20.0, 240.0, 60.0), 0.9)], {FOUND}, {FOUND, NEW, MADE}),
        ([("truck", CAR[1], 0.9)], {RENAMED}, {RENAMED, MADE}),
        ([("car", (110.0, 100.0, 210.0, 180.0), 0.9)], {MOVED}, {MOVED, MADE}),
    ],
    ids=["held", "lost", "new", "renamed", "moved"],
)
def test_each_fate_has_a_colour_of_its_own(after, left: set, right: set) -> None:
    one, other = halves(drawn(seen(CAR), seen(*after)))
    assert (colours(one), colours(other)) == (left, right)


def test_pictures_lie_side_by_side_and_wide_ones_above_each_other() -> None:
    assert drawn(seen(CAR), seen(CAR)).shape == (BAR + 450, 600 * 2 + 6, 3)
    wide = np.full((200, 500, 3), 128, np.uint8)
    change = Insertion("x", "person", 300, 10, 40, 120, "hard", 1.0, 0.0)
    assert drawn(seen(CAR, image=wide), seen(CAR, image=wide), change).shape == (BAR + 248 * 2 + 6, 620, 3)


def test_a_null_change_has_nothing_pasted() -> None:
    assert MADE not in colours(drawn(seen(CAR), seen(CAR), Shift(1, 0)))


def test_labels_of_objects_at_one_place_do_not_cover_each_other() -> None:
    one = drawn(seen(CAR), seen(CAR))
    two = drawn(seen(CAR, ("truck", *CAR[1:])), seen(CAR, ("truck", *CAR[1:])))
    area = [int((halves(sheet)[0] == FOUND).all(axis=2).sum()) for sheet in (one, two)]
    assert area[1] > 1.4 * area[0]


def test_objects_at_the_edge_and_large_ones_are_drawn_too() -> None:
    all_of_it = ("car", (0.0, 0.0, 400.0, 300.0), 0.9)
    sheet = picture(seen(all_of_it), [seen(all_of_it)], CHANGE, Verdict.held(1.0))
    assert colours(sheet) == {FOUND, MADE}


def test_the_source_is_left_as_it_was() -> None:
    before = seen(CAR)
    drawn(before, seen())
    assert (before.input == 128).all()
