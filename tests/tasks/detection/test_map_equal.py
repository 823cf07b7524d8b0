"""The paper's oracle: right where it should be, blind where it is known to be."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from instar import Status
from instar.tasks.detection import Detections, map_equal, same_objects


def answer(*rows: tuple[str, float, Sequence[float]], confidence: float = 0.5) -> Detections:
    return Detections(
        np.array([box for _, _, box in rows], np.float32).reshape(-1, 4),
        tuple(label for label, _, _ in rows),
        np.array([score for _, score, _ in rows], np.float32),
        confidence,
    )


DOG = ("dog", 0.9, (10, 10, 50, 50))
CAT = ("cat", 0.8, (100, 10, 160, 60))


def test_the_same_answer_holds_and_an_empty_one_too():
    assert map_equal(answer(DOG, CAT), answer(CAT, DOG)).status is Status.HELD
    assert map_equal(answer(), answer()).status is Status.HELD


def told(verdict) -> list[tuple[str, str, float]]:
    return [(f.kind, f.subject, round(f.margin, 4)) for f in verdict.findings]


def test_a_lost_object_is_told_as_such_with_what_precision_it_cost_its_class():
    verdict = map_equal(answer(DOG, ("dog", 0.7, (60, 60, 90, 90)), CAT), answer(DOG, CAT))
    assert verdict.status is Status.VIOLATED
    assert told(verdict) == [("lost", "object 1", -0.7)]
    assert verdict.findings[0].evidence["average precision"] == 0.5
    assert verdict.findings[0].evidence["was"] == {"label": "dog", "score": 0.7, "box": [60, 60, 90, 90]}
    assert verdict.evidence["mAP"] == 0.75


def test_objects_have_the_numbers_that_they_have_in_the_answer():
    """Weak boxes before them count too, as in `same_objects`, so that marks and strikes agree."""
    before = answer(("bird", 0.2, (0, 0, 5, 5)), DOG, CAT)
    assert told(map_equal(before, answer(DOG))) == [("lost", "object 2", -0.8)]
    assert told(same_objects(before, answer(DOG))) == [("lost", "object 2", -0.8)]


def test_it_says_what_became_of_an_object():
    moved = ("dog", 0.9, (35, 10, 75, 50))
    overlap = 15 * 40 / (2 * 1600 - 15 * 40)
    assert told(map_equal(answer(DOG), answer(moved))) == [
        ("drifted", "object 0", round(-0.9 * (1 - overlap), 4))
    ]
    assert told(map_equal(answer(DOG), answer(("cat", 0.6, DOG[2])))) == [("renamed", "object 0", -0.6)]
    louder = ("dog", 0.95, (200, 200, 240, 240))
    assert told(map_equal(answer(DOG), answer(DOG, louder))) == [("invented", "new dog", -0.95)]


def test_a_moved_or_renamed_object_is_a_lost_one():
    moved = ("dog", 0.9, (35, 10, 75, 50))
    assert map_equal(answer(DOG), answer(moved)).status is Status.VIOLATED
    assert map_equal(answer(DOG), answer(("cat", *DOG[1:]))).status is Status.VIOLATED


def test_the_overlap_must_be_above_a_half():
    half = ("dog", 0.9, (10, 10, 50, 30))
    assert map_equal(answer(DOG), answer(half)).status is Status.VIOLATED
    assert map_equal(answer(DOG), answer(("dog", 0.9, (10, 10, 50, 31)))).status is Status.HELD


def test_the_known_hole_a_further_box_below_all_right_ones_changes_nothing():
    ghost = ("dog", 0.85, (200, 200, 240, 240))
    assert map_equal(answer(DOG), answer(DOG, ghost)).status is Status.HELD
    assert same_objects(answer(DOG), answer(DOG, ghost)).status is Status.VIOLATED
    # Scored above a right one, the same ghost is seen; a ghost of another class never is.
    louder = ("dog", 0.95, ghost[2])
    assert map_equal(answer(DOG), answer(DOG, louder)).status is Status.VIOLATED
    assert map_equal(answer(DOG), answer(DOG, ("bird", 0.95, ghost[2]))).status is Status.HELD


def test_what_is_on_the_pasted_object_is_set_aside_unless_it_is_an_object_of_the_source():
    pasted = (200.0, 200.0, 240.0, 240.0)
    loud = ("dog", 0.99, (201, 199, 241, 240))
    assert map_equal(answer(DOG), answer(DOG, loud), pasted=pasted).status is Status.HELD
    assert map_equal(answer(DOG), answer(DOG, loud)).status is Status.VIOLATED
    covering = (8.0, 8.0, 60.0, 60.0)  # a paste that the dog's own box lies on
    assert map_equal(answer(DOG), answer(DOG), pasted=covering).status is Status.HELD


def test_it_has_no_hysteresis():
    faded = ("dog", 0.499, DOG[2])
    assert map_equal(answer(("dog", 0.501, DOG[2])), answer(faded)).status is Status.VIOLATED
    assert same_objects(answer(("dog", 0.501, DOG[2])), answer(faded)).status is Status.HELD


@st.composite
def answers(draw) -> tuple[Detections, Detections]:
    """Truth in cells of a grid, so that no box can be right for two objects, and boxes around and between."""
    cells = draw(st.lists(st.integers(0, 15), min_size=1, max_size=5, unique=True))
    truth = [(60 * (cell % 4), 60 * (cell // 4)) for cell in cells]
    found = []
    for _ in range(draw(st.integers(0, 8))):
        x, y = draw(st.sampled_from([*truth, (0, 300)]))
        shift = draw(st.integers(-25, 25))
        found.append((x + shift, y + draw(st.integers(-10, 10))))
    scores = draw(st.permutations([0.99 - 0.04 * i for i in range(len(found))]))
    return (
        answer(*(("dog", 0.9, (x, y, x + 40, y + 40)) for x, y in truth)),
        answer(*(("dog", s, (x, y, x + 40, y + 40)) for s, (x, y) in zip(scores, found))),
    )


def by_pycocotools(truth: Detections, found: Detections) -> float:
    """COCO's evaluation, asked at the middle of every step of recall: that is every-point interpolation."""

    def xywh(box: np.ndarray) -> list[float]:
        x1, y1, x2, y2 = (float(v) for v in box)
        return [x1, y1, x2 - x1, y2 - y1]

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        annotations = [
            {"id": i + 1, "image_id": 1, "category_id": 1, "bbox": xywh(box), "area": 1600, "iscrowd": 0}
            for i, box in enumerate(truth.boxes)
        ]
        coco.dataset = {
            "images": [{"id": 1}], "categories": [{"id": 1}], "annotations": annotations, "info": {}
        }  # fmt: skip
        coco.createIndex()
        if not len(found):
            return 0.0
        results = coco.loadRes(
            [
                {"image_id": 1, "category_id": 1, "bbox": xywh(box), "score": float(score)}
                for box, score in zip(found.boxes, found.scores)
            ]
        )
        evaluation = COCOeval(coco, results, "bbox")
        evaluation.params.iouThrs = np.array([0.5 + 1e-6])  # above, not at least
        evaluation.params.recThrs = (np.arange(len(truth)) + 0.5) / len(truth)
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e9]], ["all"]
        evaluation.params.maxDets = [100]
        evaluation.evaluate()
        evaluation.accumulate()
    return float(evaluation.eval["precision"].mean())


@settings(max_examples=60, deadline=None)
@given(answers())
def test_it_agrees_with_an_independent_implementation(pair: tuple[Detections, Detections]):
    truth, found = pair
    assert map_equal(truth, found).evidence["mAP"] == pytest.approx(by_pycocotools(truth, found), abs=1e-4)
