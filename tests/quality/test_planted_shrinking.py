"""Planted faults with a known smallest change are reduced to it, with few questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

import drawn
import instar
import planted_text
from instar.detection import guided, insertion
from instar.errors import BadInput
from instar.running import Folder, prepared
from instar.shrinking import MOST_QUESTIONS, shrink_case, words_of
from instar.system import ask
from instar.text import brightness_up
from instar.verdict import Status
from instar.worlds import page
from instar.worlds.street import scenes

TALLEST = 28  # pixels that a neighbour may have before the planted fault shows


def loses_beside_the_large(image):
    """Objects with a neighbour within ten pixels that is taller than so much are lost."""
    found = drawn.exact(image)
    gaps = drawn._gaps(found.boxes)
    tall = (found.boxes[:, 3] - found.boxes[:, 1]) >= TALLEST
    return found.select(~((gaps <= 10) & tall[None]).any(axis=1))


def shrunk(relation, system, record, scene):
    (reply,) = ask(system, [scene.image])
    source = instar.Observation.of(scene.image, relation.accept(scene.image, reply.answer), scene)
    keys = [finding.key for finding in record.verdict.findings]
    return source, shrink_case(relation, source, record.change, keys, partial(ask, system))


def a_step_less(relation, source, change):
    for one in relation.smaller(source, change):
        moved = max(abs(one.x - change.x), abs(one.y - change.y))
        less = max(change.width - one.width, change.height - one.height)
        if less == 1 or (less == 0 and moved == 1):
            yield one


def fails(relation, source, record, change):
    """Whether a change shows the same finding, also under every condition that must not matter."""
    keys = {finding.key for finding in record.verdict.findings}

    def shown(one):
        (follow_up,) = relation.apply(source.input, one)
        seen = instar.Observation.of(follow_up, loses_beside_the_large(follow_up))
        return {finding.key for finding in relation.check(source, [seen], one).findings}

    return all(keys & shown(one) for one in [change, *relation.again(source, change)])


def violated(records):
    return [r for r in records if r.role == "case" and r.verdict.status is Status.VIOLATED]


def test_a_pasted_object_becomes_as_small_and_as_far_as_the_fault_allows(tmp_path):
    streets = scenes(8, size=(240, 320))
    relation = prepared(insertion(), streets, Folder(tmp_path))
    system = drawn.Drawn("loses beside the large", loses_beside_the_large)
    records = violated(instar.run(streets, relation, system, search=guided(per_object=2)))
    by_scene = {scene.id: scene for scene in streets}
    # What is lost is what the object was put beside: of others it is not known how near it has to be.
    chosen = {
        record.scene: record
        for record in records
        if [finding.subject for finding in record.verdict.findings] == [f"object {record.change.anchor}"]
    }
    assert len(chosen) >= 4
    heights = []
    for record in list(chosen.values())[:5]:
        scene = by_scene[record.scene]
        source, found = shrunk(relation, system, record, scene)
        assert found.questions <= MOST_QUESTIONS
        assert found.complete, found.questions
        change = found.change
        assert change.height * change.width <= record.change.height * record.change.width
        # By one pixel less, or one pixel farther, nothing fails for good.
        assert not any(fails(relation, source, record, one) for one in a_step_less(relation, source, change))
        assert words_of(relation, found) == f"{change} suffices"
        heights.append(height_seen(relation, source, change))
    # As tall as the fault needs it, as the detector sees it: a pixel taller at most.
    assert all(TALLEST <= height <= TALLEST + 1 for height in heights), heights


def height_seen(relation, source, change):
    (follow_up,) = relation.apply(source.input, change)
    x, y = change.x + change.width / 2, change.y + change.height / 2
    (height,) = [y2 - y1 for x1, y1, x2, y2 in drawn.exact(follow_up).boxes if x1 < x < x2 and y1 < y < y2]
    return height


def test_brightness_is_reduced_to_the_level_at_which_it_breaks():
    system = planted_text.loses_boxes_when_bright()
    relation = brightness_up()
    checked = 0
    for scene in page.scenes(6):
        smallest = 226 - int(np.median(scene.image))
        if not 1 <= smallest <= 100:
            continue
        (reply,) = ask(system, [scene.image])
        source = instar.Observation.of(scene.image, relation.accept(scene.image, reply.answer), scene)
        change = relation.at(source, 100)
        (made,) = relation.apply(scene.image, change)
        seen = instar.Observation.of(made, ask(system, [made])[0].answer)
        keys = [finding.key for finding in relation.check(source, [seen], change).findings]
        found = shrink_case(relation, source, change, keys, partial(ask, system))
        assert abs(found.change.levels - smallest) <= 1
        assert found.questions <= MOST_QUESTIONS
        assert words_of(relation, found) == f"breaks at {found.change}"
        checked += 1
    assert checked >= 2


@dataclass(frozen=True)
class Fog(instar.Change):
    density: float


def foggy(limit):
    """A relation that has only a severity, and a system that breaks beyond a limit."""

    def check(source, follow_ups, change):
        return instar.Verdict.at_most(follow_ups[0].answer, limit, "fog")

    def apply(image, change):
        return (np.full((4, 4, 3), round(100 * change.density), np.uint8),)

    relation = instar.Relation(
        "fog", lambda s, rng: Fog(1.0), apply, check, at=lambda source, level: Fog(round(level, 3))
    )
    return relation, lambda images: [instar.system.Reply(float(image.mean()) / 100) for image in images]


@pytest.mark.parametrize("limit", [0.07, 0.33, 0.5, 0.91])
def test_a_relation_with_a_severity_alone_can_shrink(limit):
    import instar.system

    relation, asking = foggy(limit)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    found = shrink_case(relation, source, Fog(1.0), [("fog", "")], asking)
    assert limit < found.change.density <= limit + 0.02
    assert found.questions <= MOST_QUESTIONS


def test_what_does_not_fail_any_more_and_what_cannot_shrink_is_refused():
    relation, asking = foggy(2.0)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    with pytest.raises(BadInput, match="does not fail any more"):
        shrink_case(relation, source, Fog(1.0), [("fog", "")], asking)
    with pytest.raises(BadInput, match="neither smaller"):
        shrink_case(replace(relation, at=None), source, Fog(1.0), [("fog", "")], asking)


def test_questions_end_where_they_were_said_to():
    relation, asking = foggy(0.001)
    source = instar.Observation.of(np.zeros((4, 4, 3), np.uint8), 0.0)
    found = shrink_case(relation, source, Fog(1.0), [("fog", "")], asking, most=4)
    assert (found.questions, found.complete) == (4, False)
    assert words_of(relation, found).endswith("the questions ended before less was tried")
