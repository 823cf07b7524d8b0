"""The task: answers carried between frames, compared there, and findings verified by annotations."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.core.frame import Frame
from instar.core.scene import Observation, Scene, SceneObject
from instar.core.verdict import Status
from instar.tasks.detection import Detections, detection, same_objects
from instar.tasks.detection.task import TASK, carry
from instar.tasks.detection.verification import verify

SIZE = (100, 200)  # height and width
CAR, DOG, CAT = (20, 30, 60, 50), (100, 40, 120, 90), (180, 10, 200, 30)
MATRICES = {
    "shift": [[1, 0, 7], [0, 1, -3], [0, 0, 1]],
    "mirror": [[-1, 0, 200], [0, 1, 0], [0, 0, 1]],
    "flip": [[1, 0, 0], [0, -1, 100], [0, 0, 1]],
    "zoom": [[1.5, 0, 0], [0, 1.5, 0], [0, 0, 1]],
    "perspective": [[1, 0.02, 0], [0, 1, 0], [0.0004, 0, 1]],
}


def found(*boxes, labels=("car", "dog", "cat"), score=0.9) -> Detections:
    array = np.array(boxes, np.float32).reshape(-1, 4)
    return Detections(array, tuple(labels[: len(boxes)]), np.full(len(boxes), score, np.float32), 0.5)


def frame(name: str, size: tuple[int, int] = SIZE) -> Frame:
    return Frame(np.array(MATRICES[name], np.float64), SIZE, size)


def seen_from(answer: Detections, there: Frame) -> Detections:
    """What a system that is right says about the moved picture: the boxes around the moved corners."""
    boxes = []
    for x1, y1, x2, y2 in answer.boxes.tolist():
        corners = np.array([[x, y, 1] for x in (x1, x2) for y in (y1, y2)]) @ there.matrix.T
        corners = corners[:, :2] / corners[:, 2:]
        boxes.append([*corners.min(axis=0), *corners.max(axis=0)])
    return found(*boxes, labels=answer.labels)


@pytest.mark.parametrize("name", ["shift", "mirror", "flip", "zoom"])
def test_boxes_come_back_to_where_they_were(name: str) -> None:
    before, there = found(CAR, DOG), frame(name)
    same, after = carry(before, seen_from(before, there), there)
    np.testing.assert_allclose(after.boxes, before.boxes, atol=1e-4)
    np.testing.assert_array_equal(same.boxes, before.boxes)
    assert after.labels == before.labels


def test_a_box_seen_in_perspective_is_the_upright_one_around_it() -> None:
    before, there = found(CAR), frame("perspective")
    _, after = carry(before, seen_from(before, there), there)
    (x1, y1, x2, y2) = after.boxes[0].tolist()
    assert x1 <= CAR[0]
    assert y1 <= CAR[1]
    assert x2 >= CAR[2]
    assert y2 >= CAR[3]
    assert same_objects(before, after).status is Status.HELD


def test_a_null_shift_keeps_the_bytes_of_boxes_without_fractions() -> None:
    before = found(CAR, DOG)
    _, after = carry(before, before, Frame(np.array([[1.0, 0, 1], [0, 1, 0], [0, 0, 1]]), SIZE, SIZE))
    assert after.boxes.tolist() == [[x1 - 1, y1, x2 - 1, y2] for x1, y1, x2, y2 in before.boxes.tolist()]


@pytest.mark.parametrize(("dx", "aside"), [(0, False), (2, False), (3, True), (20, True)])
def test_what_the_follow_up_shows_less_than_nine_tenths_of_is_set_aside(dx: int, aside: bool) -> None:
    # The cat is 20 wide and touches the right edge: of 2 pixels it has 90 % left, of 3 it has 85 %.
    there = Frame(np.array([[1.0, 0, dx], [0, 1, 0], [0, 0, 1]]), SIZE, SIZE)
    before, _ = carry(found(CAR, DOG, CAT), found(CAR), there)
    assert before.shown.tolist() == [True, True, not aside]
    assert len(before) == 3  # and every object keeps its number


@pytest.mark.parametrize(("dx", "aside"), [(0, False), (2, False), (3, True)])
def test_what_the_source_shows_less_than_nine_tenths_of_is_set_aside(dx: int, aside: bool) -> None:
    # Moved to the left, the follow-up shows at its right edge what the source does not.
    there = Frame(np.array([[1.0, 0, -dx], [0, 1, 0], [0, 0, 1]]), SIZE, SIZE)
    _, after = carry(found(CAR), found(CAR, CAT), there)
    assert after.shown.tolist() == [True, not aside]


def test_a_crop_blames_nobody_for_what_it_cuts_off_and_keeps_the_numbers() -> None:
    crop = Frame(np.array([[1.0, 0, -50], [0, 1, 0], [0, 0, 1]]), SIZE, (100, 150))
    before, after = carry(found(CAR, DOG, CAT), found((50, 40, 70, 90), labels=("dog",)), crop)
    assert before.shown.tolist() == [False, True, True]
    verdict = same_objects(before, after)
    assert [finding.key for finding in verdict.findings] == [("lost", "object 2")]
    held = carry(found(CAR, DOG), found((50, 40, 70, 90), labels=("dog",)), crop)
    assert same_objects(*held).status is Status.HELD


def test_what_is_new_in_the_part_that_only_the_follow_up_shows_is_no_invention() -> None:
    zoom_out = Frame(np.array([[0.5, 0, 50], [0, 0.5, 25], [0, 0, 1]]), SIZE, SIZE)
    before, after = carry(found(CAR), found((60, 40, 80, 50), (0, 0, 20, 20)), zoom_out)
    assert after.boxes[0].tolist() == list(CAR)
    assert after.shown.tolist() == [True, False]
    assert same_objects(before, after).status is Status.HELD
    inside = carry(found(CAR), found((60, 40, 80, 50), (120, 40, 140, 60)), zoom_out)
    assert [finding.key for finding in same_objects(*inside).findings] == [("invented", "new dog")]


def test_what_was_set_aside_stays_so_in_the_next_frame() -> None:
    before, _ = carry(found(CAR, CAT), found(CAR), Frame(np.diag([1.0, 1, 1]), SIZE, (100, 150)))
    assert before.shown.tolist() == [True, False]
    assert carry(before, found(CAR), frame("mirror"))[0].shown.tolist() == [True, False]


def test_a_mirrored_picture_with_unmirrored_boxes_is_a_failure() -> None:
    before, there = found(CAR, DOG), frame("mirror")
    right = carry(before, seen_from(before, there), there)
    wrong = carry(before, before, there)
    assert same_objects(*right).status is Status.HELD
    assert same_objects(*wrong).status is Status.VIOLATED


def annotated(*objects: tuple[str, tuple[int, int, int, int]]) -> Scene:
    image = np.zeros((*SIZE, 3), np.uint8)
    return Scene.of("a", image, tuple(SceneObject(label, box) for label, box in objects))


def known(scene: Scene, before: Detections, after: Detections) -> dict[tuple[str, str], str]:
    source, follow_up = (Observation.of(scene.image, one, scene) for one in (before, after))
    findings = TASK.compare(source, follow_up).findings
    return {finding.key: verify(source, follow_up, finding) for finding in findings}


def test_a_lost_object_is_real_where_it_is_annotated_and_was_false_where_it_is_not() -> None:
    scene = annotated(("car", (22, 30, 62, 50)))
    assert known(scene, found(CAR, DOG), found()) == {
        ("lost", "object 0"): "real",
        ("lost", "object 1"): "was false",
    }


def test_a_new_object_is_now_right_where_it_is_annotated_and_a_real_invention_where_it_is_not() -> None:
    scene = annotated(("car", CAR))
    after = found(CAR, DOG)
    assert known(scene, found(), after) == {
        ("invented", "new car"): "now right",
        ("invented", "new dog"): "real",
    }


def test_the_label_counts_and_so_does_the_place() -> None:
    assert known(annotated(("bus", CAR)), found(CAR), found()) == {("lost", "object 0"): "was false"}
    elsewhere = annotated(("car", (50, 30, 90, 50)))
    assert known(elsewhere, found(CAR), found()) == {("lost", "object 0"): "was false"}


def test_a_renamed_and_a_drifted_object_are_real_where_the_first_answer_was_right() -> None:
    scene = annotated(("car", CAR), ("dog", DOG))
    after = found(CAR, (100, 70, 120, 120), labels=("bus", "dog"))
    assert known(scene, found(CAR, DOG), after) == {
        ("renamed", "object 0"): "real",
        ("drifted", "object 1"): "real",
    }


def test_nothing_is_known_without_annotations_and_an_empty_scene_is_known_to_be_empty() -> None:
    unknown = Scene.of("a", np.zeros((*SIZE, 3), np.uint8))
    assert known(unknown, found(CAR), found()) == {("lost", "object 0"): "unknown"}
    assert known(annotated(), found(CAR), found()) == {("lost", "object 0"): "was false"}


def test_the_settings_of_the_task_are_those_of_its_comparison() -> None:
    weak = found(CAR, score=0.35)
    before, after = Observation.of(None, found(CAR)), Observation.of(None, weak)
    assert detection().compare(before, after).status is Status.VIOLATED
    assert detection(hysteresis=0.2).compare(before, after).status is Status.HELD
    moved = Observation.of(None, found((30, 30, 70, 50)))
    assert detection().compare(before, moved).status is Status.HELD
    assert detection(iou=0.8).compare(before, moved).status is Status.VIOLATED
    with pytest.raises(BadInput, match="detection: hysteresis is 1; it must be a number of at least 0"):
        detection(hysteresis=1)
