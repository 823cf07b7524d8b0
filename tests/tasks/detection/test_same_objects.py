from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.core.verdict import Status, Verdict
from instar.report.causes import finding_words
from instar.tasks.detection import Detections, same_objects

Seen = tuple[str, tuple[float, float, float, float], float]
CAR: Seen = ("car", (10, 10, 50, 40), 0.9)
DOG: Seen = ("dog", (100, 20, 140, 80), 0.8)
PASTED = (60.0, 20.0, 90.0, 80.0)


def seen(*objects: Seen, confidence: float = 0.5) -> Detections:
    return Detections(
        np.array([box for _, box, _ in objects], np.float32).reshape(-1, 4),
        tuple(label for label, _, _ in objects),
        np.array([score for _, _, score in objects], np.float32),
        confidence,
    )


def at(thing: Seen, score: float) -> Seen:
    return (thing[0], thing[1], score)


def named(thing: Seen, label: str) -> Seen:
    return (label, *thing[1:])


def moved(thing: Seen, dx: float) -> Seen:
    x1, y1, x2, y2 = thing[1]
    return (thing[0], (x1 + dx, y1, x2 + dx, y2), thing[2])


def keys(verdict: Verdict) -> list[tuple[str, str]]:
    return [finding.key for finding in verdict.findings]


# Planted faults, each under its own name.


def test_an_object_that_is_gone_is_lost() -> None:
    verdict = same_objects(seen(CAR, DOG), seen(DOG))
    assert keys(verdict) == [("lost", "object 0")]
    assert verdict.margin == pytest.approx(-0.9)
    assert verdict.findings[0].evidence == {"was": {"label": "car", "score": 0.9, "box": [10, 10, 50, 40]}}


def test_an_object_too_weak_to_count_is_lost_by_what_it_lost() -> None:
    verdict = same_objects(seen(CAR), seen(at(CAR, 0.3)))
    assert keys(verdict) == [("lost", "object 0")]
    assert verdict.margin == pytest.approx(0.3 - 0.9)


def test_an_object_from_nowhere_is_invented() -> None:
    verdict = same_objects(seen(CAR), seen(CAR, DOG))
    assert keys(verdict) == [("invented", "new dog")]
    assert verdict.margin == pytest.approx(-0.8)


def test_what_takes_the_place_of_an_object_that_is_hardly_found_any_more_says_so() -> None:
    dog = named(CAR, "dog")
    (finding,) = same_objects(seen(CAR), seen(at(CAR, 0.45), dog)).findings
    assert finding_words(finding) == "dog 0.90 appears where car 0.90 was found before"
    (beside,) = same_objects(seen(CAR), seen(CAR, dog)).findings  # the car is found as well
    assert finding_words(beside) == "dog 0.90 appears, where none was found before"


def test_an_object_under_another_label_is_renamed() -> None:
    verdict = same_objects(seen(CAR, DOG), seen(named(CAR, "truck"), DOG))
    assert keys(verdict) == [("renamed", "object 0")]
    assert verdict.findings[0].evidence["is"]["label"] == "truck"


def test_an_object_at_another_place_has_drifted() -> None:
    verdict = same_objects(seen(CAR, DOG), seen(moved(CAR, 20), DOG))
    assert keys(verdict) == [("drifted", "object 0")]
    assert verdict.margin == pytest.approx(-0.9 * (1 - 1 / 3))


def test_a_second_box_on_the_same_object_is_new() -> None:
    assert keys(same_objects(seen(CAR), seen(CAR, moved(CAR, 4)))) == [("invented", "new car")]


def test_one_of_two_boxes_on_the_same_object_is_lost() -> None:
    assert keys(same_objects(seen(CAR, moved(CAR, 4)), seen(CAR))) == [("lost", "object 1")]


def test_a_weak_duplicate_does_not_take_the_place_of_the_box_that_is_still_there() -> None:
    # The duplicate overlaps better, but it scores in the band and accuses nobody.
    still_there, duplicate = at(moved(CAR, 3), 0.9), at(CAR, 0.45)
    assert same_objects(seen(CAR), seen(still_there, duplicate)).status is Status.HELD


def test_an_invented_duplicate_on_a_strong_object_gains_its_whole_score() -> None:
    verdict = same_objects(seen(CAR), seen(CAR, at(moved(CAR, 2), 0.8)))
    assert keys(verdict) == [("invented", "new car")]
    assert verdict.margin == pytest.approx(-0.8)


def test_an_object_lost_beside_a_strong_one_loses_its_whole_score() -> None:
    verdict = same_objects(seen(CAR, at(moved(CAR, 2), 0.7)), seen(CAR))
    assert keys(verdict) == [("lost", "object 1")]
    assert verdict.margin == pytest.approx(-0.7)


def test_two_labels_at_one_place_are_two_objects() -> None:
    both = seen(CAR, named(CAR, "truck"))
    assert same_objects(both, both).status is Status.HELD
    assert keys(same_objects(both, seen(CAR))) == [("lost", "object 1")]


def test_a_label_that_was_weak_before_may_be_what_an_object_is_taken_for() -> None:
    verdict = same_objects(seen(CAR, at(named(CAR, "truck"), 0.45)), seen(named(CAR, "truck")))
    assert keys(verdict) == [("renamed", "object 0")]


def test_an_object_that_was_weak_before_is_not_another_one_that_moved() -> None:
    weak = at(moved(CAR, 25), 0.45)
    assert keys(same_objects(seen(CAR, weak), seen(at(weak, 0.9)))) == [("lost", "object 0")]


def test_every_finding_is_told_and_the_worst_gives_the_kind() -> None:
    verdict = same_objects(seen(CAR, DOG), seen(named(CAR, "truck")))
    assert keys(verdict) == [("renamed", "object 0"), ("lost", "object 1")]
    assert verdict.kind == "renamed"
    places = [[10, 10, 50, 40], [100, 20, 140, 80]]
    assert verdict.evidence == {"found": 2, "found again": 0, "among": ["car", "dog"], "places": places}


# Correct systems, and those that waver within the band.


def test_the_same_answer_holds_with_the_slack_of_its_weakest_object() -> None:
    verdict = same_objects(seen(CAR, DOG), seen(DOG, CAR))
    assert verdict.status is Status.HELD
    assert verdict.margin == pytest.approx(0.8 - 0.4)
    assert verdict.evidence == {"found": 2, "found again": 2}


def test_nothing_before_and_nothing_after_holds() -> None:
    assert same_objects(seen(), seen()) == Verdict.held(1.0, **{"found": 0, "found again": 0})


def test_scores_may_waver_within_the_band() -> None:
    assert same_objects(seen(at(CAR, 0.501)), seen(at(CAR, 0.4))).status is Status.HELD
    assert same_objects(seen(at(CAR, 0.501)), seen(at(CAR, 0.399))).status is Status.VIOLATED
    assert same_objects(seen(), seen(at(CAR, 0.6))).status is Status.HELD
    assert same_objects(seen(), seen(at(CAR, 0.601))).status is Status.VIOLATED
    assert same_objects(seen(at(CAR, 0.4)), seen(at(CAR, 0.99))).status is Status.HELD
    assert same_objects(seen(at(CAR, 0.499)), seen()).status is Status.HELD


def test_without_hysteresis_a_hair_decides() -> None:
    verdict = same_objects(seen(at(CAR, 0.501)), seen(at(CAR, 0.499)), hysteresis=0.0)
    assert verdict.status is Status.VIOLATED


def test_the_systems_own_confidence_counts() -> None:
    after = seen(at(CAR, 0.25), confidence=0.3)
    assert same_objects(seen(at(CAR, 0.35), confidence=0.3), after).status is Status.HELD
    assert keys(same_objects(seen(at(CAR, 0.35), confidence=0.3), seen(confidence=0.3)))


def test_tiny_scores_survive() -> None:
    faint = seen(at(CAR, 5e-05))
    assert same_objects(faint, faint).status is Status.HELD
    assert keys(same_objects(seen(CAR), faint)) == [("lost", "object 0")]
    assert same_objects(seen(CAR), faint).margin == pytest.approx(5e-05 - 0.9)


def test_class_names_are_compared_whole() -> None:
    verdict = same_objects(seen(CAR), seen(named(CAR, "carrot")))
    assert keys(verdict) == [("renamed", "object 0")]


def test_objects_in_other_places_are_not_the_same() -> None:
    # Reading columns in another order would make these two one.
    tall: Seen = ("car", (0, 10, 5, 90), 0.9)
    wide: Seen = ("car", (10, 0, 90, 5), 0.9)
    assert keys(same_objects(seen(tall), seen(wide))) == [
        ("lost", "object 0"),
        ("invented", "new car"),
    ]


def test_a_chain_of_neighbours_is_matched_as_far_as_it_goes() -> None:
    # By overlap alone, three perfect pairs would outweigh four good ones.
    before = seen(*(moved(CAR, 10 * i) for i in range(4)))
    after = seen(*(moved(CAR, 10 * i) for i in range(1, 5)))
    assert same_objects(before, after).status is Status.HELD


# The pasted object.


@pytest.mark.parametrize(
    "prediction",
    [
        ("person", PASTED, 0.9),
        ("zebra", PASTED, 0.9),
        ("tie", (70.0, 30.0, 80.0, 50.0), 0.9),  # a part of it
        ("person", (60.0, 20.0, 90.0, 200.0), 0.9),  # a half figure, completed: the centre lies outside
        ("person", (66.0, 35.0, 96.0, 90.0), 0.9),  # inexact, but centred on it
    ],
)
def test_predictions_on_the_pasted_object_are_set_aside(prediction: Seen) -> None:
    assert same_objects(seen(CAR, DOG), seen(CAR, DOG, prediction), pasted=PASTED).status is Status.HELD
    assert same_objects(seen(CAR, DOG), seen(CAR, DOG, prediction)).status is Status.VIOLATED


def test_a_prediction_beside_the_pasted_object_is_not() -> None:
    beside: Seen = ("person", (60, 82, 90, 140), 0.9)
    assert keys(same_objects(seen(CAR), seen(CAR, beside), pasted=PASTED)) == [("invented", "new person")]


def test_a_fused_box_tells_of_whichever_it_fits_better() -> None:
    car: Seen = ("car", (0, 20, 60, 80), 0.9)
    mostly_car: Seen = ("car", (25, 20, 75, 80), 0.9)
    assert keys(same_objects(seen(car), seen(mostly_car), pasted=PASTED)) == [("drifted", "object 0")]
    mostly_pasted: Seen = ("car", (50, 20, 90, 80), 0.9)
    assert keys(same_objects(seen(car), seen(mostly_pasted), pasted=PASTED)) == [("lost", "object 0")]


def test_a_box_grown_over_the_pasted_object_still_counts_for_its_own() -> None:
    car: Seen = ("car", (0, 20, 60, 80), 0.9)
    grown: Seen = ("car", (0, 20, 80, 80), 0.9)
    assert same_objects(seen(car), seen(grown), pasted=PASTED).status is Status.HELD


SCORES = st.floats(0.0625, 1.0, width=32)


@st.composite
def answers(draw: st.DrawFn) -> Detections:
    corner, side = st.integers(0, 200), st.integers(4, 80)
    drawn = draw(
        st.lists(st.tuples(st.sampled_from(["car", "dog"]), corner, corner, side, side, SCORES), max_size=8)
    )
    return seen(*((label, (x, y, x + w, y + h), score) for label, x, y, w, h, score in drawn))


@settings(deadline=None)
@given(answers(), st.randoms(use_true_random=False))
def test_an_unchanged_answer_is_never_accused_in_whatever_order(answer: Detections, random) -> None:
    order = list(range(len(answer)))
    random.shuffle(order)
    assert same_objects(answer, answer.select(np.array(order, np.intp))).status is Status.HELD


@settings(deadline=None)
@given(answers(), answers())
def test_what_is_held_is_never_negative_and_what_is_violated_never_positive(
    before: Detections, after: Detections
) -> None:
    verdict = same_objects(before, after)
    if verdict.status is Status.HELD:
        assert verdict.margin >= -1e-6
    else:
        assert verdict.margin <= 0
        assert all(finding.margin <= 0 for finding in verdict.findings)


@settings(deadline=None)
@given(answers(), st.floats(-0.09, 0.09), st.tuples(*[st.integers(0, 150)] * 2))
def test_a_correct_system_is_not_accused_for_seeing_the_pasted_object(
    answer: Detections, jitter: float, corner: tuple[int, int]
) -> None:
    x, y = corner
    box = (float(x), float(y), x + 40.0, y + 60.0)
    scores = np.clip(answer.scores + np.float32(jitter), 0, 1).astype(np.float32)
    after = Detections(
        np.vstack([answer.boxes, np.float32([box])]),
        (*answer.labels, "person"),
        np.append(scores, np.float32(0.95)),
        answer.confidence,
    )
    assert same_objects(answer, after, pasted=box).status is Status.HELD
