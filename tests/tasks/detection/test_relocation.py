"""Relocation: halving between the last place that was violated and the first that was not."""

from __future__ import annotations

import numpy as np
import pytest

from instar import Inapplicable, Relation, Status, Verdict
from instar.core.errors import BadInput
from instar.core.scene import Observation
from instar.core.verdict import Finding
from instar.tasks.detection import Detections, relocation
from instar.tasks.detection.changes import Insertion

VIOLATED = Verdict.violated([Finding("lost", "object 0", -0.5)])
HELD = Verdict.held(0.1)
# The centroid of the found object is (300, 50); what is pasted begins at (10, 50), 12 pixels wide and high.
SOURCE = Observation.of(
    np.zeros((100, 400, 3), np.uint8),
    Detections(np.float32([[290, 40, 310, 60]]), ("dog",), np.float32([0.9])),
)
START = Insertion("ab", "dog", 4, 44, 12, 12, "hard", 1.0, 0.0)


def relation(fair=lambda source, change: None) -> Relation:
    ways = {"guided": lambda source, rng: START}
    return Relation("insertion", "detection", lambda *a: SOURCE.input, fair=fair, ways=ways)


def walk(judge, *, of: Relation | None = None, **options) -> list[Insertion]:
    search = relocation(per_object=1, **options)(of or relation(), SOURCE, np.random.default_rng(0))
    batch, asked = next(search), []
    while True:
        asked += batch
        try:
            batch = search.send([judge(change) for change in batch])
        except StopIteration:
            return asked


def test_it_tries_the_goal_first_and_ends_there_when_that_is_violated():
    steps = walk(lambda change: VIOLATED)
    assert [step.travelled for step in steps] == [0.0, 1.0]
    assert (steps[1].x, steps[1].y, steps[1].start) == (294, 44, (4, 44))


def test_it_jumps_back_to_the_middle_until_it_is_violated_and_goes_forward_from_there():
    steps = walk(lambda change: VIOLATED if change.travelled <= 0.3 else HELD)
    assert [step.travelled for step in steps[1:5]] == [1.0, 0.5, 0.25, 0.375]
    best = max(step.travelled for step in steps if step.travelled <= 0.3)
    # A sixth of the diagonal of 12 x 12 is 2.8 of 290 pixels, and the way is halved down to that.
    assert best == pytest.approx(0.3, abs=2 * 2.83 / 290)
    assert all(abs(step.travelled - best) * 290 > 2 for step in steps if step.travelled != best)


def test_places_that_are_taken_fail_without_a_question():
    blocked = relation(lambda source, change: Inapplicable("taken") if change.x > 100 else None)
    steps = walk(lambda change: VIOLATED, of=blocked)
    assert all(step.x <= 100 for step in steps)
    assert max(step.x for step in steps) > 90


def test_beside_a_way_that_is_taken_a_free_place_is_found():
    """The found object itself covers the centroid: what is moved ends beside it, as near as there is room."""

    def keeps_clear(source, change):
        x1, y1, x2, y2 = change.box
        covers = x1 < 310 and x2 > 290 and y1 < 60 and y2 > 40
        return Inapplicable("taken") if covers else None

    steps = walk(lambda change: VIOLATED, of=relation(keeps_clear))
    assert len(steps) == 2
    end = steps[1]
    distance = np.hypot(end.x + 6 - 300, end.y + 6 - 50)
    assert 16 <= distance < 16 + 3  # half of both, and a step of the rings
    assert end.travelled == pytest.approx(1 - distance / 290, abs=0.005)


def test_what_is_not_violated_stays_where_it_is():
    assert walk(lambda change: HELD) == [START]


def test_the_goal_is_a_parameter():
    steps = walk(lambda change: VIOLATED, goal=[0.5, 0.5])
    assert (steps[-1].x, steps[-1].y) == (194, 44)
    with pytest.raises(
        BadInput, match=r"relocation: goal is \[3, 0\]; it must be two numbers between 0 and 1"
    ):
        relocation(goal=[3, 0])


def test_status_matters_and_not_a_finding_that_was_struck_out():
    unstable = Verdict.inapplicable("unstable: it does not recur", kind="unstable")
    assert unstable.status is Status.INAPPLICABLE
    assert walk(lambda change: unstable) == [START]
