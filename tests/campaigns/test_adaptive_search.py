"""The adaptive search: weak subjects by harmful changes first, none twice, the same again for a seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import instar
from instar.campaigns.adaptive_search import adaptive
from instar.core.errors import BadInput
from instar.core.scene import Observation
from instar.core.search import Arm, is_across_scenes, is_representative
from instar.core.verdict import Finding, Verdict
from instar.tasks.classification.task import TASK

IMAGE = np.zeros((4, 4, 3), np.uint8)
HARM = {"mild": 0.05, "harsh": 0.3, "once": 0.1}
STRENGTH = {"weak": 0.2, "strong": 0.9}


def relations() -> list[instar.Relation]:
    def same(picture, change):
        return picture

    graded = [instar.Relation(name, TASK, same, severity=instar.Range(0, 1)) for name in ("mild", "harsh")]
    return [*graded, instar.Relation("once", TASK, same)]


def arms(scenes: dict[str, str]) -> list[Arm]:
    sources = [Observation.of(IMAGE, None, instar.Scene.of(name, IMAGE)) for name in scenes]
    kinds = relations()
    return [Arm(relation, source) for source in sources for relation in kinds]


def judged(arm: Arm, change, scenes: dict[str, str]) -> Verdict:
    """A scene's one object is lost where the harm is larger than its strength."""
    change = change() if callable(change) else change
    level = 1.0 if change.value is None else change.value
    left = STRENGTH[scenes[arm.source.id]] - HARM[arm.relation.name] * level
    if left >= 0:
        return Verdict(instar.Status.HELD, left, margins={"object": left})
    finding = Finding("lost", "object", left, known="real")
    return Verdict(instar.Status.VIOLATED, left, "lost", findings=(finding,), margins={"object": left})


def asked(scenes: dict[str, str], *, seed: int = 0, **options) -> list[list[tuple[str, str, float | None]]]:
    """What it asks round by round until it ends."""
    search = adaptive(**options)(arms(scenes), np.random.default_rng(seed))
    rounds, verdicts = [], None
    try:
        while True:
            batch = search.send(verdicts)
            made = [(arm, change() if callable(change) else change) for arm, change in batch]
            rounds.append([(arm.source.id, arm.relation.name, change.value) for arm, change in made])
            verdicts = [judged(arm, change, scenes) for arm, change in made]
    except StopIteration:
        return rounds


MIXED = {f"{i}": "weak" if i % 5 == 0 else "strong" for i in range(20)}


def test_it_looks_for_failures_across_scenes() -> None:
    assert is_across_scenes(adaptive())
    assert not is_representative(adaptive())


def test_each_change_is_asked_once_and_one_of_a_scene_in_each_round() -> None:
    rounds = asked({"a": "strong", "b": "strong"}, levels=3)
    everything = Counter(one for batch in rounds for one in batch)
    assert set(everything.values()) == {1}
    assert len(everything) == 2 * (3 + 3 + 1)
    assert all(len({scene for scene, *_ in batch}) == len(batch) for batch in rounds)


def test_a_broken_object_is_not_asked_about_again() -> None:
    rounds = asked({"a": "weak"}, levels=2, at_once=1)
    *before, last = [one for batch in rounds for one in batch]
    assert last == ("a", "harsh", 1.0)
    assert ("a", "harsh", 1.0) not in before


def test_a_relation_that_is_inapplicable_to_a_scene_is_not_tried_there_again() -> None:
    given = arms({"a": "strong"})
    search = adaptive(levels=4, at_once=1)(given, np.random.default_rng(0))
    tried, verdicts = Counter(), None
    try:
        while True:
            ((arm, change),) = search.send(verdicts)
            tried[arm.relation.name] += 1
            is_mild = arm.relation.name == "mild"
            verdicts = [Verdict.inapplicable("indoors") if is_mild else judged(arm, change, {"a": "strong"})]
    except StopIteration:
        pass
    assert tried == {"mild": 1, "harsh": 4, "once": 1}


def test_it_learns_which_changes_do_harm_and_which_scenes_are_weak() -> None:
    order = [one for batch in asked(MIXED, levels=2, at_once=4) for one in batch]
    breaking = [order.index((scene, "harsh", 1.0)) for scene, kind in MIXED.items() if kind == "weak"]
    assert max(breaking) < len(order) / 2
    first = Counter(relation for _, relation, _ in order[: len(order) // 4])
    assert first["harsh"] > first["mild"]


def test_a_seed_gives_the_same_rounds_and_another_one_others() -> None:
    assert asked(MIXED, seed=3) == asked(MIXED, seed=3)
    assert asked(MIXED, seed=3, at_once=4) != asked(MIXED, seed=4, at_once=4)


@pytest.mark.parametrize("option", ["levels", "draws", "at_once"])
def test_options_are_checked(option: str) -> None:
    with pytest.raises(BadInput, match=f"adaptive: {option} is 0; it must be a whole number of at least 1"):
        adaptive(**{option: 0})
