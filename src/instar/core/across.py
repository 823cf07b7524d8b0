"""A search across scenes: it proposes rounds, and what a round has for one scene is judged together."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from instar.core.case import Case, RelationState, Steps
from instar.core.confirmation import afford, ask_again
from instar.core.relation import Drawn
from instar.core.scene_run import RunSettings, SceneRun, decide_all, random_for, sample
from instar.core.schedule import MOST_REPEATS, key_of, without_evidence
from instar.core.search import Arm, SearchAcross
from instar.core.verdict import Verdict

ASKED_AGAIN_AT = 3
"""The visit at which a scene is asked again just as it is: by then it was worth some questions."""

Proposed: TypeAlias = "Drawn | Callable[[], Drawn]"


@dataclass(eq=False)
class SceneRound:
    """What a round tries on one scene: its number in the round, the state and the change."""

    order: int  # of the scene among all
    visit: int  # how often rounds have come to it
    items: deque[tuple[int, RelationState, Proposed]] = field(default_factory=deque)
    verdicts: dict[int, Verdict] = field(default_factory=dict)
    asked: int = 0
    _waiting: dict[tuple[RelationState, bytes], list[int]] = field(default_factory=dict)
    _keys: dict[int, bytes] = field(default_factory=dict)
    _last: RelationState | None = None

    def next(self) -> Case | None:
        """The next case; a change that was judged before is not asked again."""
        null = None if self._last is None else self._last.of_source.null_due()
        if self._last is not None and null is not None:
            return Case.of(self._last, null)
        while self.items:
            number, state, proposed = self.items.popleft()
            drawn = proposed() if callable(proposed) else proposed
            key = key_of(drawn)
            if key in state.judged:
                self.verdicts[number] = state.judged[key]
                continue
            same = self._waiting.setdefault((state, key), [])
            same.append(number)
            if len(same) > 1:
                continue
            self._last = state
            self.asked += 1
            case = Case.of(state, drawn)
            state.of_source.count(case)
            self._keys[id(case)] = key
            return case
        return None

    def tell(self, case: Case) -> None:
        key = self._keys.pop(id(case), None)
        if key is not None and case.verdict is not None:
            self.verdicts |= dict.fromkeys(self._waiting.pop((case.state, key)), case.verdict)
            case.state.judged[key] = without_evidence(case.verdict)


class Rounds:
    """The rounds of a search over all relations on all scenes, as long as it proposes any."""

    def __init__(self, settings: RunSettings, search: SearchAcross, states: Sequence[RelationState]) -> None:
        self._arms = [Arm(state.relation, state.source) for state in states]
        self._states = {id(arm): state for arm, state in zip(self._arms, states)}
        scenes = dict.fromkeys(state.source.scene.id for state in states)
        self._orders = {scene: order for order, scene in enumerate(scenes)}
        rng = random_for(settings.seed, "", "", "across")
        self._search = search(self._arms, rng)
        self._visits: Counter[str] = Counter()
        self._round: list[SceneRound] | None = None
        self._count = self._repeats = 0

    def next(self) -> list[SceneRound] | None:
        """What to try next, scene by scene; None when the search has ended, or could not be answered."""
        try:
            if self._round is None:
                batch = next(self._search)
            else:
                verdicts = {n: verdict for part in self._round for n, verdict in part.verdicts.items()}
                if len(verdicts) < self._count:  # the budget or the time is over
                    return None
                self._repeats = 0 if any(part.asked for part in self._round) else self._repeats + 1
                if self._repeats == MOST_REPEATS:
                    return None
                batch = self._search.send([verdicts[n] for n in range(self._count)])
        except StopIteration:
            return None
        parts: dict[str, SceneRound] = {}
        for number, (arm, proposed) in enumerate(batch):
            scene = arm.source.scene.id
            if scene not in parts:
                self._visits[scene] += 1
                parts[scene] = SceneRound(self._orders[scene], self._visits[scene])
            parts[scene].items.append((number, self._states[id(arm)], proposed))
        self._count, self._round = len(batch), sorted(parts.values(), key=lambda part: part.order)
        return self._round


def run_round(settings: RunSettings, part: SceneRound, run: SceneRun) -> Steps[None]:
    """Judge what a round has for one scene."""
    states = [state for _, state, _ in part.items]
    yield from decide_all(settings, run, part)
    again = sample(states, run) if part.visit == ASKED_AGAIN_AT else []
    if again and (yield from afford(run.budget, len(again))):
        run.notes += yield from ask_again(run.budget, again)
