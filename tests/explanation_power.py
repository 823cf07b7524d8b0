"""How many faults of explanations the relations find: each question is asked once, and every fault is planted
over the answers.

The verdicts are those of a campaign before it repeats anything, so that accusations here are an upper bound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_relation
from instar.core.change import Inapplicable
from instar.core.follow_up import follow_ups_of, judge, observe
from instar.core.scene import Observation
from instar.core.system import Reply
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.tasks.interpretation import Classes
from instar.tasks.interpretation.task import TASK
from planted_explanations import Honest, spoil


class PowerBench:
    """Scenes with their questions; what relations make of them is drawn once for all faults."""

    def __init__(self, system, scenes, folder, *, draws=1, seed=0):
        self.honest = Honest(system, [scene.image for scene in scenes])
        self.scenes, self._folder, self._draws, self._seed = scenes, folder, draws, seed
        self._made, self._rehearsed = {}, {}
        self.sources = [source for scene in scenes for source in self._ask(scene)]

    def _ask(self, scene):
        steps = TASK.questions(scene)
        next(steps)
        try:
            steps.send(self.honest.ask(Classes(scene.image)))
        except StopIteration as end:
            if isinstance(end.value, Inapplicable):
                return
            for label, build in end.value:
                asked = build(scene.image)
                yield Observation.of(asked, self.honest.ask(asked), scene, label)

    def judge(self, name, fault, **options):
        """The verdicts of a relation over an interpreter with a fault."""
        relation = resolve_relation(Use(name, options), tasks=["interpretation"])
        if relation.prepare is not None:
            folder = Folder(self._folder, rehearse=lambda quiet, search: self._rehearse(quiet, fault))
            relation = relation.prepare(self.scenes, folder)
        return [one.verdict for one in self._verdicts(relation, fault)]

    def _rehearse(self, quiet, fault):
        if (quiet.name, fault) not in self._rehearsed:
            self._rehearsed[quiet.name, fault] = list(self._verdicts(quiet, fault))
        return self._rehearsed[quiet.name, fault]

    def _verdicts(self, relation, fault):
        for number, source in enumerate(self.sources):
            faulty = replace(source, answer=spoil(fault, self.honest, source.input))
            for change, made in self._changes(relation, faulty, number, fault):
                answers = [Reply(spoil(fault, self.honest, one.input, one.variant)) for one in made]
                seen = observe(relation.resolved_task, faulty, made, answers)
                yield SimpleNamespace(verdict=judge(relation, seen, change))

    def _changes(self, relation, source, number, fault):
        # Where things are pasted, removed and covered goes by the map itself.
        by_map = relation.name.endswith(("insert", "delete", "covered"))
        key = (relation.name, number, fault if by_map else None)
        if key not in self._made:
            rng = np.random.default_rng([self._seed, number])
            ways = list(relation.ways) or [None] * self._draws
            drawn = dict.fromkeys(relation.drawn(source, rng, way=way) for way in ways)
            fit = [one for one in drawn if not isinstance(one, Inapplicable)]
            made = [(one, follow_ups_of(relation, source.input, one)) for one in fit]
            self._made[key] = [(change, one) for change, one in made if not isinstance(one, Inapplicable)]
        return self._made[key]


def count(verdicts):
    """(violated, judged)"""
    ends = Counter(verdict.status for verdict in verdicts)
    return ends[Status.VIOLATED], ends[Status.VIOLATED] + ends[Status.HELD]
