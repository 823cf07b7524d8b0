"""The adaptive search: the weakest objects first, no failure twice, the same again for a seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from instar import Inapplicable, Relation, Verdict
from instar.core.errors import BadInput
from instar.core.scene import Observation, Scene
from instar.core.search import is_across_scenes
from instar.core.verdict import Finding
from instar.tasks.detection import Detections, adaptive
from instar.tasks.detection.changes import Insertion

IMAGE = np.zeros((200, 400, 3), np.uint8)
# Object 0 is sure, object 1 hardly found; they are far apart.
ANSWER = Detections(
    np.float32([[20, 80, 60, 120], [320, 80, 360, 120]]), ("cat", "dog"), np.float32([0.7, 0.52])
)


def source(name: str) -> Observation:
    return Observation.of(IMAGE, ANSWER, Scene(name, lambda: IMAGE))


def close(source: Observation, rng: np.random.Generator) -> Insertion | Inapplicable:
    if source.scene.id == "full":
        return Inapplicable("no free place")
    anchor = int(rng.integers(2))
    x1 = int(ANSWER.boxes[anchor, 0])
    x, y = x1 + 42 + int(rng.integers(5)), 80 + int(rng.integers(9))
    return Insertion("ab", "cat", x, y, 20, 20, "hard", 1.0, 0.0, anchor=anchor)


RELATION = Relation("insertion", "detection", lambda *a: IMAGE, close, ways={"close": close})


def asked(judge, names=("a", "b"), **options) -> list[list[tuple[str, Insertion]]]:
    search = adaptive(**options)(RELATION, [source(name) for name in names], np.random.default_rng(5))
    rounds, verdicts = [], None
    while True:
        try:
            batch = next(search) if verdicts is None else search.send(verdicts)
        except StopIteration:
            return rounds
        rounds.append([(one.scene.id, change) for one, change in batch])
        verdicts = [judge(change) for _, change in batch]


def held(change) -> Verdict:
    return Verdict.held(0.1)


def test_the_weakest_objects_come_first_in_every_scene():
    first = asked(held, rounds=1, at_once=4)[0]
    assert {change.anchor for _, change in first} == {1}
    assert Counter(scene for scene, _ in first) == {"a": 2, "b": 2}


def test_hope_in_what_was_tried_often_fades():
    anchors = Counter(change.anchor for batch in asked(held, rounds=40, at_once=2) for _, change in batch)
    assert anchors[1] > anchors[0] > 0


def lost(change) -> Verdict:
    if not isinstance(change, Insertion) or change.anchor != 1:
        return Verdict.held(0.1)
    return Verdict.violated([Finding("lost", "object 1", -0.5)])


def test_an_object_that_has_failed_is_left_in_peace():
    rounds = asked(lost, names=("a",), at_once=1, rounds=12)
    assert rounds[0][0][1].anchor == 1
    assert {change.anchor for batch in rounds[1:] for _, change in batch} == {0}


def test_what_a_null_change_breaks_is_left_in_peace_and_what_did_not_recur_nearly():
    def struck(by: str):
        evidence = {"struck": [{"kind": "lost", "subject": "object 1", "margin": -0.5, "by": by}]}
        return lambda change: (
            Verdict.inapplicable("unstable", kind="unstable", **evidence)
            if change.anchor == 1
            else Verdict.held(0.1)
        )

    by_null = asked(struck("null JPEG 95"), names=("a",), at_once=1, rounds=12)
    assert {change.anchor for batch in by_null[1:] for _, change in batch} == {0}
    fickle = asked(struck("again JPEG"), names=("a",), at_once=1, rounds=12)
    patient = asked(held, names=("a",), at_once=1, rounds=12)
    near = [sum(c.anchor == 1 for batch in rounds for _, c in batch) for rounds in (fickle, patient)]
    assert near[0] < near[1]


def test_what_would_break_the_same_object_again_is_too_dear():
    # Between two objects, the first of which it breaks, or a little farther off, beside the second only.
    answer = Detections(
        np.float32([[20, 80, 60, 120], [84, 80, 124, 120]]), ("cat", "dog"), np.float32([0.52, 0.52])
    )

    def beside(source: Observation, rng: np.random.Generator) -> Insertion:
        x, y = int(rng.choice([62, 130])), 80 + int(rng.integers(9))
        return Insertion("ab", "cat", x, y, 20, 20, "hard", 1.0, 0.0, anchor=1)

    relation = Relation("insertion", "detection", lambda *a: IMAGE, beside, ways={"close": beside})
    observed = Observation.of(IMAGE, answer, Scene("a", lambda: IMAGE))
    search = adaptive(at_once=1, rounds=4)(relation, [observed], np.random.default_rng(5))
    places, verdicts = [], None
    for _ in range(4):
        ((_, change),) = next(search) if verdicts is None else search.send(verdicts)
        places.append(change.x)
        breaks = Verdict.violated([Finding("lost", "object 0", -0.5)])
        verdicts = [breaks if change.x == 62 else held(change)]
    assert places == [62, 130, 130, 130]


def test_a_score_that_fell_draws_questions():
    def weakens(change) -> Verdict:
        return Verdict.held(0.1, weakened={"0": 0.5} if change.anchor == 0 else {})

    def sure(rounds) -> int:
        return sum(change.anchor == 0 for batch in rounds for _, change in batch)

    options = {"names": ("a",), "at_once": 1, "rounds": 16}
    assert sure(asked(weakens, **options)) > sure(asked(held, **options))


def test_scenes_without_room_are_told_once_and_nothing_is_asked_twice():
    rounds = asked(held, names=("a", "full"), per_object=5)
    assert rounds[0] == [("full", Inapplicable("no free place"))]
    changes = [pair for batch in rounds[1:] for pair in batch]
    assert len(changes) == len(set(changes)) == 5 * 2


def test_a_seed_gives_the_same_questions_again():
    assert asked(lost, rounds=8) == asked(lost, rounds=8)
    assert is_across_scenes(adaptive())


def test_what_cannot_be_is_refused():
    with pytest.raises(BadInput, match="adaptive: at_once is 0; it must be a whole number of at least 1"):
        adaptive(at_once=0)
    other = Relation("blur", "detection", lambda *a: IMAGE, close)
    with pytest.raises(BadInput, match="relation 'blur' cannot be searched by 'close'"):
        next(adaptive()(other, [source("a")], np.random.default_rng(0)))
