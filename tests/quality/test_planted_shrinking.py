"""Planted faults with a known smallest change are reduced to it, with few questions: detectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import drawn
import instar
from instar.campaigns.shrink import MOST_QUESTIONS, format_shrunk, shrink_case
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of, under_null
from instar.core.system import Reply
from instar.core.workspace import Folder, prepare_relation
from instar.tasks.detection import guided, insertion
from instar.worlds.street import scenes
from planted_shrinking import every_violated, fails, shrunk_case

TALLEST = 28  # pixels that a neighbour may have before the planted fault shows


def loses_beside_the_large(image):
    """Objects with a neighbour within ten pixels that is taller than so much are lost."""
    found = drawn.exact(image)
    gaps = drawn._gaps(found.boxes)
    tall = (found.boxes[:, 3] - found.boxes[:, 1]) >= TALLEST
    return found.select(~((gaps <= 10) & tall[None]).any(axis=1))


def street(tmp_path, n, seed):
    streets = scenes(n, size=(240, 320), seed=seed)
    return streets, prepare_relation(insertion(pool="scenes", least_natural=0.0), streets, Folder(tmp_path))


def check_all(system, tmp_path, *, n, seed):
    """Shrinks every violated case; what each came to, and the case."""
    streets, relation = street(tmp_path, n, seed)
    for record, source in every_violated(streets, relation, system, search=guided(per_object=2)):
        found = shrunk_case(relation, system, record, source)
        assert found.questions <= MOST_QUESTIONS
        before, change = record.change, found.change
        assert change.height * change.width <= before.height * before.width
        assert format_shrunk(relation, found).startswith(f"{change} suffices")
        yield relation, record, source, change


def a_step_less(relation, source, change):
    """A pixel smaller or farther, wherever that is tried."""
    return [line[-1] for line in relation.smaller(source, change) if line]


def seen(relation, source, change):
    """How tall the detector sees what was pasted, where it sees the least of it."""
    task, heights = relation.resolved_task, []
    made = follow_ups_of(relation, source.input, change)
    for one in [made, *(under_null(task, null, made, source.input) for null in task.nulls.conditions)]:
        follow_up = one[0].input
        x, y = change.x + change.width / 2, change.y + change.height / 2
        boxes = drawn.exact(follow_up).boxes
        heights += [y2 - y1 for x1, y1, x2, y2 in boxes.tolist() if x1 < x < x2 and y1 < y < y2]
    return min(heights)


def test_every_pasted_object_becomes_as_small_as_the_fault_allows(tmp_path):
    system = drawn.Drawn("loses beside the large", loses_beside_the_large)
    heights = []
    for seed in (1, 8):
        for relation, record, source, change in check_all(system, tmp_path / str(seed), n=2, seed=seed):
            heights.append(seen(relation, source, change))
            # By one pixel less, or one pixel farther, nothing fails for good.
            less = a_step_less(relation, source, change)
            assert not any(fails(relation, system, source, record, one) for one in less)
    assert len(heights) >= 25
    # As tall as the fault needs it, as the detector sees it: a pixel taller at most.
    assert {TALLEST} <= set(heights) <= {TALLEST, TALLEST + 1}


@pytest.mark.real
@pytest.mark.parametrize("seed", range(10, 20))
def test_every_pasted_object_of_many_streets_becomes_as_small_as_the_fault_allows(seed, tmp_path):
    system = drawn.Drawn("loses beside the large", loses_beside_the_large)
    cases = list(check_all(system, tmp_path, n=10, seed=seed))
    assert len(cases) >= 50
    assert {seen(relation, source, change) for relation, _, source, change in cases} <= {28, 29}


@pytest.mark.parametrize(
    ("system", "n", "seed"),
    [
        (drawn.loses_neighbours(), 2, 5),
        (drawn.drifts(), 2, 1),
        (drawn.invents(), 2, 2),
        (drawn.swaps_labels(), 4, 2),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_step_less_does_not_fail_where_the_detector_hardly_sees_the_pasted_object(
    system, n, seed, tmp_path
):
    cases = list(check_all(system, tmp_path, n=n, seed=seed))
    assert len(cases) >= 4
    for relation, record, source, change in cases:
        assert max(change.width, change.height) <= 20
        less = a_step_less(relation, source, change)
        assert not any(fails(relation, system, source, record, one) for one in less)


@dataclass(frozen=True)
class Fog(instar.Change):
    density: float


NUMBERS = instar.Task(
    "numbers",
    read=lambda image, answer: float(answer),
    compare=lambda before, after: instar.Verdict.held(1.0),
    marks=lambda seen: instar.Panel("", seen.input),
)


def foggy(limit):
    """A relation that has only a severity, and a system that breaks beyond a limit."""

    def expect(source, follow_ups, change):
        return instar.Verdict.at_most(follow_ups[0].answer, limit, "fog")

    def apply(image, change):
        return np.full((4, 4, 3), round(100 * change.density), np.uint8)

    severity = instar.Range(0.0, 1.0, "density", at=lambda source, level: Fog(round(level, 3)))
    relation = instar.Relation("fog", NUMBERS, apply, expect=expect, severity=severity)
    return relation, lambda queries: [Reply(float(query.input.mean()) / 100) for query in queries]


@pytest.mark.parametrize("limit", [0.07, 0.33, 0.5, 0.91])
def test_a_relation_with_a_severity_alone_can_shrink(limit):
    relation, asking = foggy(limit)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    found = shrink_case(relation, source, Fog(1.0), [("fog", "")], asking)
    assert limit < found.change.density <= limit + 0.01
    assert format_shrunk(relation, found) == f"breaks at {found.change}"
    assert found.questions <= 15


def test_what_does_not_fail_any_more_and_what_cannot_shrink_is_refused():
    relation, asking = foggy(2.0)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    with pytest.raises(BadInput, match="does not fail any more"):
        shrink_case(relation, source, Fog(1.0), [("fog", "")], asking)
    with pytest.raises(BadInput, match="neither smaller"):
        shrink_case(replace(relation, severity=None), source, Fog(1.0), [("fog", "")], asking)


def test_questions_end_where_they_were_said_to():
    relation, asking = foggy(0.001)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    found = shrink_case(relation, source, Fog(1.0), [("fog", "")], asking, most=4)
    assert (found.questions, found.complete) == (4, False)
    assert format_shrunk(relation, found).endswith("the questions ended before less was tried")
