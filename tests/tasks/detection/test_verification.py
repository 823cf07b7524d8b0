"""What a finding is worth, by annotations and by referees."""

from __future__ import annotations

import numpy as np
import pytest

from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.core.scene import Observation, Scene, SceneObject
from instar.core.task import Opinion
from instar.tasks.detection import Detections
from instar.tasks.detection.task import TASK
from instar.tasks.detection.verification import tell_pasted, verify

CAR, NEAR_CAR, DOG = (20, 30, 60, 50), (24, 32, 60, 50), (100, 40, 120, 90)
IMAGE = np.zeros((100, 200, 3), np.uint8)


def found(*things: tuple[str, tuple[int, int, int, int], float]) -> Detections:
    boxes = np.array([box for _, box, _ in things], np.float32).reshape(-1, 4)
    scores = np.array([score for *_, score in things], np.float32)
    return Detections(boxes, tuple(label for label, *_ in things), scores, 0.5)


def known(before: Detections, after: Detections, opinions=(), objects=None, classes=None) -> list[str]:
    knowledge = {} if classes is None else {"classes": classes}
    scene = Scene("a", lambda: IMAGE, objects, knowledge)
    source, follow_up = Observation.of(IMAGE, before, scene), Observation.of(IMAGE, after, scene)
    return [verify(source, follow_up, one, opinions) for one in TASK.compare(source, follow_up).findings]


def says(before: float, after: float, thing=("car", CAR), **more) -> Opinion:
    """A referee that sees the thing with these scores."""
    return Opinion("r", found((*thing, before)), found((*thing, after)), **more)


LOST = (found(("car", CAR, 0.9)), found())


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (0.9, 0.9, "real"),
        (0.9, 0.1, "unfair"),  # the referees lose it too
        (0.1, 0.1, "was false"),
        (0.1, 0.9, "was false"),
        (0.45, 0.45, "disputed"),
    ],
)
def test_referees_say_whether_a_lost_object_was_there_and_still_is(before, after, word) -> None:
    assert known(*LOST, [says(before, after)] * 3) == [word]


def test_referees_are_heard_together() -> None:
    assert known(*LOST, [says(0.95, 0.9), says(0.9, 0.9), says(0.1, 0.1)]) == ["real"]
    assert known(*LOST, [says(0.9, 0.9), says(0.1, 0.1), says(0.05, 0.1)]) == ["was false"]


def test_whoever_does_not_know_the_class_is_not_asked() -> None:
    assert known(*LOST, [says(0.9, 0.9, knows={"dog"})]) == ["unknown"]
    assert known(*LOST, [says(0.9, 0.9, knows={"automobile"})]) == ["real"]
    assert known(*LOST, [says(0.9, 0.9, thing=("auto", CAR), knows={"auto"}, labels={"auto": "car"})]) == [
        "real"
    ]


@pytest.mark.parametrize("name", ["yolox-nano", "ssd-mobilenet-v2"])
def test_our_own_referees_say_nothing_of_classes_that_are_not_theirs(name) -> None:
    classes = build_system(Use(name)).classes
    assert len(classes) == 80
    lost = found(("forklift", CAR, 0.9)), found()
    assert known(*lost, [Opinion(name, found(), found(), knows=classes)]) == ["unknown"]
    assert known(*LOST, [Opinion(name, found(), found(), knows=classes)]) == ["was false"]


def test_labels_of_referees_are_mapped() -> None:
    assert known(*LOST, [says(0.9, 0.9, ("vehicle", CAR))]) == ["was false"]
    assert known(*LOST, [says(0.9, 0.9, ("vehicle", CAR), labels={"vehicle": "car"})]) == ["real"]


def test_an_object_that_slips_over_the_line_is_no_failure() -> None:
    weak = (found(("car", CAR, 0.55)), found(("car", CAR, 0.38)))
    assert known(*weak, [says(0.9, 0.9)]) == ["slipped"]


NEW = (found(), found(("car", CAR, 0.9)))


@pytest.mark.parametrize(
    ("opinion", "word"),
    [
        (says(0.9, 0.9), "now right"),
        (says(0.9, 0.9, ("car", (15, 10, 90, 60))), "now right"),  # loosely around it
        (says(0.4, 0.4), "now right"),
        (says(0.2, 0.2), "disputed"),
        (says(0.05, 0.9), "unfair"),  # the change made it look like one
        (says(0.05, 0.05), "real"),
        (says(0.9, 0.9, ("dog", CAR)), "real"),
    ],
)
def test_a_new_object_is_a_failure_only_where_nobody_sees_anything_like_it(opinion, word) -> None:
    assert known(*NEW, [opinion]) == [word]


def test_a_second_box_on_an_object_that_is_still_found_is_no_invention() -> None:
    before = found(("car", CAR, 0.9))
    opinion = Opinion("r", found(("car", CAR, 0.9)), found(("car", CAR, 0.9)))
    other = found(("car", CAR, 0.9), ("truck", NEAR_CAR, 0.8))
    assert known(before, other, [opinion]) == ["other label"]
    part = found(("car", CAR, 0.9), ("car", (22, 32, 40, 48), 0.8))
    assert known(before, part, [Opinion("r", found(), found())]) == ["slipped"]


SECOND = (25, 30, 60, 50)
TWO_BOXES = found(("car", CAR, 0.9), ("car", SECOND, 0.8))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (found(("car", CAR, 0.9)), ["slipped"]),
        (found(("car", SECOND, 0.8)), ["slipped"]),
        (found(), ["real", "slipped"]),
    ],
)
def test_two_boxes_on_one_object_are_one_failure_where_neither_is_left(after, words) -> None:
    one, two = SceneObject("car", CAR), SceneObject("car", SECOND)
    assert known(TWO_BOXES, after, objects=(one,)) == words
    assert known(TWO_BOXES, after, [says(0.9, 0.9)] * 3) == words
    assert known(TWO_BOXES, after, [says(0.9, 0.9, ("auto", CAR), labels={"auto": "car"})]) == words
    assert set(known(TWO_BOXES, after, objects=(one, two))) == {"real"}
    both = Opinion("r", TWO_BOXES, TWO_BOXES)
    assert set(known(TWO_BOXES, after, [both, both, says(0.9, 0.9)])) == {"real"}  # most see two


def test_a_renamed_object_is_now_right_where_the_new_name_is() -> None:
    renamed = (found(("dog", CAR, 0.9)), found(("car", CAR, 0.9)))
    assert known(*renamed, [says(0.9, 0.9)]) == ["now right"]
    assert known(*renamed, [says(0.9, 0.9, ("dog", CAR))]) == ["real"]


def test_a_box_that_moved_but_still_fits_has_slipped() -> None:
    drifted = (found(("car", (10, 30, 50, 50), 0.9)), found(("car", (29, 30, 69, 50), 0.9)))
    truth = (SceneObject("car", (20, 30, 60, 50)),)
    assert known(*drifted, objects=truth) == ["slipped"]


def test_annotations_of_other_classes_say_nothing_and_referees_are_asked() -> None:
    assert known(*LOST, objects=(), classes={"dog"}) == ["unknown"]
    assert known(*LOST, [says(0.9, 0.9)], objects=(), classes={"dog"}) == ["real"]
    assert known(*LOST, [says(0.9, 0.9)], objects=(), classes={"automobile"}) == ["was false"]


def test_within_a_crowd_nobody_can_say() -> None:
    crowd = (SceneObject("car", (0, 0, 200, 100), crowd=True),)
    assert known(*LOST, objects=crowd) == ["disputed"]


def test_what_nobody_makes_out_where_it_was_pasted_accuses_nobody() -> None:
    scene = Scene("a", lambda: IMAGE)
    source, follow_up = (Observation.of(IMAGE, answer, scene) for answer in LOST)
    (finding,) = tell_pasted(TASK.compare(source, follow_up), "dog", DOG).findings
    car = ("car", CAR, 0.9)

    def word(*after, **more) -> str:
        return verify(source, follow_up, finding, [Opinion("r", found(car), found(car, *after), **more)])

    assert word() == "unfair"
    assert word(("dog", DOG, 0.9)) == "real"
    assert word(("dog", DOG, 0.2)) == "real"  # a hint suffices
    assert word(("cat", DOG, 0.9)) == "unfair"
    assert word(knows={"car"}) == "real"  # it could not say
