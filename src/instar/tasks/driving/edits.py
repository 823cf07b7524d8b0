"""From the blocks of a rule to edits: what each condition does to a scene, and what a comparative alters."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.cutouts import CutOuts
from instar.tasks.driving.changes import OF_THE_AIR, RuleEdits
from instar.tasks.driving.edit_effects import changed_by, ground_in, relabel
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.drive_edits import edit_drive
from instar.tasks.driving.engines.placement import take_place
from instar.tasks.driving.facts import unmet
from instar.tasks.driving.rules import Condition, Rule
from instar.tasks.driving.rules.resolve import antecedent

ATTEMPTS = 12
RETRIED = ("no free place", "it is as close as it can be", "it would be too far")


@dataclass(slots=True)
class _Plan:
    """Conditions so far, each with the edits that make it true and the view in which they were decided."""

    rule: Rule
    engines: Engines
    view: SceneView
    rng: np.random.Generator
    cutouts: CutOuts
    done: list[tuple[Condition, tuple[Edit, ...], SceneView]]

    def add(self, condition: Condition, earlier: Sequence[Condition]) -> Inapplicable | None:
        if condition.comparative is None:
            failed = unmet(condition, self.view)
            if failed is not None or not condition.is_change:
                return failed
        name = self.engines.name_for(condition)
        assert name is not None, "every condition has an engine, or the rule was refused"
        engine = self.engines.named(name)
        if condition.comparative is None:
            edits = engine.plan(condition, self.view, self.rng)
            if isinstance(edits, Inapplicable):
                return edits
            self.done.append((condition, edits, self.view))
            self.view = _after(self.view, edits, self.cutouts)
            return None
        brought = condition.new or condition.thing
        found = antecedent(self.view.ontology, brought.element, brought.properties, earlier)
        at = next(i for i, (known, _, _) in reversed(list(enumerate(self.done))) if known == found)
        _, edits, view = self.done[at]
        altered = self._alter(condition, condition.comparative, edits, view)
        if isinstance(altered, Inapplicable):
            return altered
        self.done[at] = (condition, altered, view)
        return None

    def _alter(
        self, condition: Condition, comparative: str, edits: tuple[Edit, ...], view: SceneView
    ) -> tuple[Edit, ...] | Inapplicable:
        engine = self.engines.named(edits[0]["engine"])
        if condition.op == "add" and comparative == "more":
            further = engine.plan(
                dataclasses.replace(condition, comparative=None, count=1), self.view, self.rng
            )
            return further if isinstance(further, Inapplicable) else (*edits, *further)
        if condition.op == "add" and comparative == "less":
            return edits[:-1] if len(edits) > 1 else Inapplicable("there is only one")
        is_moved = comparative == "moved"
        alter = getattr(engine, "move" if is_moved else "alter", None)
        if alter is None:
            return Inapplicable(f"its engine cannot make it {'so far' if is_moved else 'more or less'}")
        altered: list[Edit] = []
        for edit in edits:
            other = alter(edit, condition.distance if is_moved else comparative, view)
            if isinstance(other, Inapplicable):
                return other
            altered.append(other)
        return tuple(altered)


def plan_edits(
    rule: Rule, engines: Engines, view: SceneView, rng: np.random.Generator, cutouts: CutOuts
) -> RuleEdits | Inapplicable:
    """The change that a rule asks for in this view."""
    for _ in range(ATTEMPTS):
        # What was placed may leave no room to come closer: then all is placed anew.
        change = _once(_Plan(rule, engines, view, rng, cutouts, []))
        if isinstance(change, RuleEdits) or change.reason not in RETRIED:
            break
    return change


def _after(view: SceneView, edits: Sequence[Edit], cutouts: CutOuts) -> SceneView:
    """What the next condition finds: the drive or the label map with what was decided so far."""
    for edit in edits:
        if view.drive is not None and "do" in edit:
            view = dataclasses.replace(view, drive=edit_drive(view.drive, edit))
        else:
            if "whole" in edit:
                changed = changed_by(edit)
                earlier = changed if view.repainted is None else view.repainted | changed
                view = dataclasses.replace(view, repainted=earlier)
            labels = relabel(view.labels, edit, cutouts)
            rise = view.gallery.rise if view.gallery is not None else 0.0
            ground = ground_in(labels, rise, view.drive) or view.ground
            ground = dataclasses.replace(ground, placed=view.ground.placed)
            ground = take_place(ground, edit) if "foot" in edit else ground
            view = dataclasses.replace(view, labels=labels, ground=ground)
    return view


def _once(plan: _Plan) -> RuleEdits | Inapplicable:
    blocks = []
    for index, block in enumerate(plan.rule.blocks):
        for condition in block.conditions:
            failed = plan.add(condition, plan.rule.earlier(index))
            if failed is not None:
                return failed
        edits = [edit for _, edits, _ in plan.done for edit in edits]
        # A picture that is painted anew comes first; weather and light fall on everything, so they come last.
        blocks.append(sorted(edits, key=lambda e: (not e.get("whole"), e.get("of") in OF_THE_AIR)))
    return RuleEdits.of(blocks)


def with_painted_source(change: RuleEdits, engines: Engines, view: SceneView) -> RuleEdits:
    """The change with the source painted anew as its first block, where an engine paints whole pictures.

    It would not be fair to compare a painted picture with one that is not; so blocks in which nothing is
    painted yet are made of the painted source too.
    """
    painters = {edit["engine"] for block in change.edits for edit in block if edit.get("whole")}
    if not painters:
        return change
    painter: Any = engines.named(min(painters))
    source = painter.source(view)
    blocks = [block if block[0].get("whole") else [source, *block] for block in change.edits]
    return RuleEdits.of([[source], *blocks])


def set_severity(change: RuleEdits, level: float) -> RuleEdits | Inapplicable:
    """The change with the strength of its weather or darkness set; drawn nights have none."""
    if not all("level" in edit or "strength" in edit for block in change.edits for edit in block):
        return Inapplicable("it has no severity")
    return RuleEdits.of(
        [{**edit, "level" if "level" in edit else "strength": level} for edit in block]
        for block in change.edits
    )
