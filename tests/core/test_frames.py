"""Pictures whose frame moved: answers are carried back, and what only one frame shows is set aside."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.follow_up import FollowUp, follow_ups_of, under_null
from instar.core.frame import transform
from instar.imaging.nulls import Reencode, Shift
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.task import TASK, carry

HELD, VIOLATED = instar.Status.HELD, instar.Status.VIOLATED
HEIGHT, WIDTH = 60, 80
RED, BLUE = (200, 0, 0), (0, 0, 200)
COLOURS = {"red": 0, "blue": 2}


def painted(*boxes):
    image = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    for (x1, y1, x2, y2), colour in boxes:
        image[y1:y2, x1:x2] = colour
    return image


def finds(image, *, without=()):
    """Every coloured rectangle, exactly."""
    boxes, labels = [], []
    for label, channel in COLOURS.items():
        others = [c for c in range(3) if c != channel]
        mask = (image[..., channel] > 150) & (image[..., others] < 60).all(axis=2)
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
        for x, y, w, h, area in stats[1:count].tolist():
            if area > 12 and label not in without:
                boxes.append([x, y, x + w, y + h])
                labels.append(label)
    return {"boxes": np.float32(boxes).reshape(-1, 4), "labels": labels, "scores": [0.9] * len(boxes)}


def mirror(picture, _):
    matrix = [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]]
    return instar.Moved(np.ascontiguousarray(picture[:, ::-1]), matrix)


mirrored = instar.Relation("mirrored", "detection", apply=mirror)
SCENE = instar.Scene.of("a.png", painted(((5, 10, 25, 30), RED), ((50, 35, 70, 55), BLUE)))


def the_case(relation, answer, scene=SCENE):
    system = planted.Scripted(answer)
    (record,) = [r for r in instar.run([scene], relation, system) if r.role == "case"]
    return record


def test_a_detector_that_sees_the_same_in_a_mirror_holds():
    assert the_case(mirrored, finds).verdict.status is HELD


def test_boxes_that_do_not_follow_the_mirror_are_found():
    before = finds(SCENE.image)
    record = the_case(mirrored, lambda image: before)
    assert record.verdict.status is VIOLATED
    assert {finding.kind for finding in record.verdict.findings} & {"lost", "drifted"}


def test_an_object_that_is_lost_in_the_mirror_is_confirmed_under_a_shift_of_the_mirrored_picture():
    def blind_to_red_on_the_right(image):
        right = (image[10:30, 55:75, 0] > 150).any()
        return finds(image, without=("red",) if right else ())

    record = the_case(mirrored, blind_to_red_on_the_right)
    (finding,) = record.verdict.findings
    assert (record.verdict.status, finding.kind, finding.evidence["was"]["label"]) == (
        VIOLATED,
        "lost",
        "red",
    )
    assert record.queries == 1 + 7 + 2  # the usual strikers and conditions, one of each a shift
    assert "struck" not in record.verdict.evidence


def test_without_carrying_back_the_mirror_accuses_a_right_detector():
    unmoved = replace(mirrored, task=replace(TASK, carry=lambda before, after, frame: (before, after)))
    assert the_case(unmoved, finds).verdict.status is VIOLATED


def test_frames_compose_with_a_shifting_condition():
    (made,) = follow_ups_of(mirrored, SCENE.image, instar.core.change.Value(None))
    (shifted,) = under_null(TASK, Shift(1, 0), [made], SCENE.image)
    point = np.array([5.0, 10.0])
    assert made.frame.to_follow_up(point).tolist() == [75.0, 10.0]
    assert shifted.frame.to_follow_up(point).tolist() == [76.0, 10.0]
    assert shifted.frame.to_source([76.0, 10.0]).tolist() == [5.0, 10.0]
    assert (made.frame.mirrored, shifted.frame.mirrored) == (True, True)
    (reencoded,) = under_null(TASK, Reencode(95), [made], SCENE.image)
    assert reencoded.frame is made.frame
    (moved,) = under_null(TASK, Shift(0, -1), [FollowUp(SCENE.image)], SCENE.image)
    assert moved.frame.shift == (0.0, -1.0)
    assert made.frame.shift is None


def test_a_frame_after_another_is_both_of_them():
    rng = np.random.default_rng(3)
    first = instar.Frame(np.eye(3) + 0.1 * rng.normal(size=(3, 3)), (60, 80), (50, 70))
    second = instar.Frame(np.eye(3) + 0.1 * rng.normal(size=(3, 3)), (50, 70), (40, 90))
    both, points = first.then(second), rng.uniform(0, 2, (5, 2))
    np.testing.assert_allclose(both.to_follow_up(points), second.to_follow_up(first.to_follow_up(points)))
    np.testing.assert_allclose(both.to_source(both.to_follow_up(points)), points)
    assert (both.source_size, both.size) == ((60, 80), (40, 90))
    np.testing.assert_allclose(transform(np.eye(3), points), points)


@pytest.mark.parametrize("matrix", [np.eye(2), np.zeros((3, 3)), np.full((3, 3), np.nan)])
def test_a_matrix_that_maps_nothing_is_refused(matrix):
    with pytest.raises(ValueError, match="it must be 3 x 3 and invertible"):
        instar.Moved(SCENE.image, matrix)


# --- what only one frame shows ----------------------------------------------------------------------


def shifted_by(dx):
    def apply(picture, _):
        moved = np.full_like(picture, 90)
        moved[:, max(dx, 0) : WIDTH + min(dx, 0)] = picture[:, max(-dx, 0) : WIDTH - max(dx, 0)]
        return instar.Moved(moved, [[1, 0, dx], [0, 1, 0], [0, 0, 1]])

    return instar.Relation("shifted", "detection", apply=apply)


@pytest.mark.parametrize(("dx", "is_shown"), [(-6, True), (-7, True), (-8, False), (-30, False)])
def test_an_object_less_than_nine_tenths_inside_is_set_aside(dx, is_shown):
    """The red box is 20 wide and 5 from the edge: moved by 7 to the left, nine tenths are left."""
    gone = the_case(shifted_by(dx), lambda image: finds(image, without=() if is_source(image) else ("red",)))
    assert gone.verdict.status is (VIOLATED if is_shown else HELD)
    assert the_case(shifted_by(dx), finds).verdict.status is HELD


def is_source(image):
    """Also under a null change, which moves by a pixel at most."""
    return bool(image[20, 7, 0] > 150 and image[20, 23, 0] > 150)


def test_both_sides_are_set_aside():
    """A wider view shows what the source has not, and a narrower one lacks what the source has."""
    found = Detections(
        np.float32([[5, 10, 25, 30], [60, 35, 79, 55]]), ("red", "blue"), np.float32([0.9, 0.9])
    )
    zoomed_out = instar.Frame(np.diag([0.5, 0.5, 1.0]), (HEIGHT, WIDTH), (HEIGHT, WIDTH))
    outside = Detections(
        np.float32([[50, 10, 70, 30], [2, 5, 12, 15]]), ("red", "red"), np.float32([0.9, 0.9])
    )
    before, after = carry(found, outside, zoomed_out)
    assert before.shown.tolist() == [True, True]
    assert after.shown.tolist() == [False, True]
    np.testing.assert_allclose(after.boxes[1], [4, 10, 24, 30])
    zoomed_in = instar.Frame(np.diag([2.0, 2.0, 1.0]), (HEIGHT, WIDTH), (HEIGHT, WIDTH))
    before, after = carry(found, outside, zoomed_in)
    assert before.shown.tolist() == [True, False]
    assert after.shown.tolist() == [True, True]
