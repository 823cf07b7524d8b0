"""The spoilt detectors do what they say; otherwise a campaign that finds nothing would prove nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import drawn
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections

PICTURE = np.full((100, 100, 3), 100, np.uint8)


def seeing(*objects: tuple[str, tuple[float, float, float, float]]) -> drawn.Detect:
    """A detector that sees the same everywhere."""
    answer = Detections(
        np.array([box for _, box in objects], np.float32).reshape(-1, 4),
        tuple(label for label, _ in objects),
        np.full(len(objects), 0.9, np.float32),
    )

    def detect(image: Image) -> Detections:
        return answer

    return detect


def answer(system: drawn.Drawn, picture: Image = PICTURE) -> Detections:
    (found,) = system.predict([picture])
    assert isinstance(found, Detections)
    return found


CLOSE = seeing(("car", (10, 10, 30, 30)), ("dog", (36, 10, 56, 30)), ("bus", (10, 70, 30, 90)))
APART = seeing(("car", (10, 10, 30, 30)), ("dog", (46, 10, 66, 30)), ("bus", (10, 70, 30, 90)))


def test_neighbours_within_reach_are_lost_and_others_are_not() -> None:
    assert answer(drawn.loses_neighbours(CLOSE)).labels == ("bus",)
    assert answer(drawn.loses_neighbours(APART)).labels == ("car", "dog", "bus")


def test_labels_are_swapped_from_the_third_object_on() -> None:
    car, person = ("car", (0.0, 0.0, 9.0, 9.0)), ("person", (20.0, 0.0, 29.0, 9.0))
    dog = ("dog", (40.0, 0.0, 49.0, 9.0))
    assert answer(drawn.swaps_labels(seeing(car, person, dog))).labels == ("car", "person", "dog")
    assert answer(drawn.swaps_labels(seeing(car, person, car))).labels == ("person", "car", "person")


def test_boxes_near_another_drift_away_from_it_by_less_than_half() -> None:
    expected = [[1, 10, 21, 30], [45, 10, 65, 30], [10, 70, 30, 90]]
    np.testing.assert_array_equal(answer(drawn.drifts(CLOSE)).boxes, np.array(expected, np.float32))
    np.testing.assert_array_equal(answer(drawn.drifts(APART)).boxes, APART(PICTURE).boxes)


def test_a_bird_is_invented_only_when_two_objects_are_close() -> None:
    assert answer(drawn.invents(CLOSE)).labels == ("car", "dog", "bus", "bird")
    assert answer(drawn.invents(APART)).labels == ("car", "dog", "bus")


def test_grey_levels_flip_the_score_of_a_borderline_object_alone() -> None:
    system = drawn.jitters(CLOSE)
    scores = [answer(system, PICTURE + np.uint8(level)).scores.tolist() for level in range(20)]
    scores = [[round(score, 3) for score in each] for each in scores]
    assert {score[1] for score in scores} == {0.9, 0.2}
    assert {(score[0], score[2]) for score in scores} == {(0.9, 0.9)}


def test_failing_detectors_fail_on_their_share_of_pictures() -> None:
    # The pixels of this one add up to a multiple of 60,000, those of the next do not.
    fussy = drawn.raises(CLOSE, one_in=60_000)
    with pytest.raises(RuntimeError, match="the lens cap is on"):
        fussy.predict([PICTURE])
    assert answer(fussy, PICTURE + np.uint8(1)).labels == ("car", "dog", "bus")
    (nonsense,) = drawn.answers_nan(CLOSE).predict([PICTURE])
    assert np.isnan(nonsense["scores"]).all()
    assert len(drawn.Forgets(CLOSE).predict([PICTURE] * 4)) == 3


def test_the_wavering_one_answers_the_same_question_differently() -> None:
    first, second, third = drawn.Wavers(CLOSE).predict([PICTURE] * 3)
    assert (first.labels, second.labels) == (("car", "dog", "bus"), ("dog", "bus"))
    assert third.labels == first.labels


@pytest.mark.parametrize("make", [drawn.loses_neighbours, drawn.hangs, drawn.jitters, drawn.raises])
def test_a_spoilt_detector_can_be_sent_to_another_process(make) -> None:
    assert pickle.loads(pickle.dumps(make())).name == make().name
