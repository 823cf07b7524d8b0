from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

import instar
from instar.core.change import Change, Inapplicable
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.tasks.detection import Detections, guided, random


@dataclass(frozen=True)
class Way(Change):
    name: str
    at: int = 0


def relation_with(guided, random=lambda source, rng: Way("random")) -> Relation:
    ways = {"guided": guided, "random": random}
    return Relation("r", "detection", lambda image, change: image, guided, ways=ways)


def source(found: int) -> Observation:
    boxes = np.array([(9 * i, 0, 9 * i + 5, 5) for i in range(found + 1)], np.float32)
    scores = np.array([0.9] * found + [0.2], np.float32)
    return Observation.of(np.zeros((9, 99, 3), np.uint8), Detections(boxes, ("car",) * (found + 1), scores))


def batches(search, relation: Relation, observed: Observation) -> list[list]:
    generator = search(relation, observed, np.random.default_rng(0))
    result = []
    try:
        batch = next(generator)
        while True:
            result.append(list(batch))
            batch = generator.send([Verdict.held()] * len(batch))
    except StopIteration:
        return result


def test_ten_insertions_per_found_object_by_default() -> None:
    count = itertools.count()
    ways = [lambda source, rng, name=name: Way(name, next(count)) for name in ("guided", "random")]
    relation = relation_with(*ways)
    drawn = batches(guided(), relation, source(3))
    assert drawn == [[Way("guided", 3 * i + k) for k in range(3)] for i in range(10)]
    assert [len(batch) for batch in batches(random(per_object=2), relation, source(3))] == [3, 3]


def test_the_same_insertion_is_not_tried_twice() -> None:
    relation = relation_with(lambda source, rng: Way("guided", int(rng.integers(4))))
    drawn = [change.at for batch in batches(guided(), relation, source(3)) for change in batch]
    assert sorted(drawn) == [0, 1, 2, 3]


def test_a_picture_without_objects_is_counted_once() -> None:
    nothing = Inapplicable("nothing found in the source")
    assert batches(guided(), relation_with(lambda *_: nothing), source(0)) == [[nothing]]


def test_a_picture_without_room_is_counted_once() -> None:
    full = Inapplicable("no free place")
    assert batches(guided(), relation_with(lambda *_: full), source(4)) == [[full]]


def test_a_number_below_one_is_refused() -> None:
    for search in (guided, random):
        with pytest.raises(BadInput, match="per_object is 0; it must be a whole number of at least 1"):
            search(per_object=0)


def test_a_relation_without_such_ways_is_refused() -> None:
    plain = instar.Relation("plain", "detection", lambda image, change: image)
    with pytest.raises(BadInput, match="relation 'plain' cannot be searched by 'guided'"):
        batches(guided(), plain, source(1))
