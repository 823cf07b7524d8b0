"""A relation out of a rule: the pictures that it speaks of, and whether the answers keep it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.cutouts import CutOuts
from instar.driving.answers import Control, accept
from instar.driving.changes import CONDITIONS, Redrawn, edits_of, fixed_nulls, frozen, made, random_null
from instar.driving.choosing import Engines, read_engines, usual_engines
from instar.driving.engines import Edit, View
from instar.driving.gallery import Gallery, collect_gallery, labels_of
from instar.driving.ground import ground_of
from instar.driving.judging import judge_block, judge_rule
from instar.driving.panels import panels
from instar.driving.rules import Condition, Language, Rule, read_ontology, read_rule, say, usual_ontology
from instar.driving.rules.ontology import Ontology
from instar.driving.rules.resolving import antecedent
from instar.errors import BadInput
from instar.relation import Change, Inapplicable, Relation, Workspace
from instar.scene import Observation, Scene
from instar.verdict import Finding, Verdict

__all__ = ["rule"]

ATTEMPTS = 8


def rule(
    text: str,
    *,
    ontology: Path | str | None = None,
    engines: Path | str | None = None,
    pool: Gallery | CutOuts | None = None,
) -> Relation:
    """What a sentence says: the scene is changed so, and speed or steering must then do that.

    `ontology` and `engines` are files of one's own. Cut-outs come from the campaign's own scenes, which need
    label maps.
    """
    if isinstance(pool, (str, Path)):
        raise BadInput("rule: cut-outs come from the scenes and their label maps; leave the pool out")
    words = usual_ontology() if ontology is None else read_ontology(Path(ontology))
    meaning = read_rule(text, language=None if ontology is None else Language(words))
    chosen = usual_engines() if engines is None else read_engines(Path(engines))
    _require_engines(meaning, chosen)
    return _Ruling(meaning, words, chosen, pool).relation()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Ruling:
    """A rule with all that is needed to test it."""

    rule: Rule
    ontology: Ontology
    engines: Engines
    pool: Gallery | CutOuts | None

    def relation(self) -> Relation:
        return Relation(
            say(self.rule, ontology=self.ontology),
            self.draw,
            self.apply,
            self.check,
            null=self.null if self.allows_no_change else None,
            again=self.again,
            accept=self.accept,
            pixels=self.pixels,
            prepare=self.prepare if self.pool is None else None,
            panels=panels,
        )

    @property
    def allows_no_change(self) -> bool:
        """Whether answers that are all the same keep the rule; a reaction that is demanded has no nulls."""
        return judge_rule(self.rule, [50.0] * (len(self.rule.blocks) + 1)).held is True

    def prepare(self, scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        return dataclasses.replace(self, pool=collect_gallery(scenes, workspace)).relation()

    def draw(self, source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        labels = labels_of(source.scene)
        if labels is None:
            return Inapplicable("no label map")
        ground = ground_of(labels)
        if ground is None:
            return Inapplicable("no road in the label map")
        if not isinstance(self.pool, Gallery):
            raise BadInput("rule: there is no gallery to draw from; it is made when a campaign begins")
        view = View(source.scene.id, source.input, labels, ground, self.pool, self.ontology)
        for _ in range(ATTEMPTS):
            # What was placed may leave no room to come closer: then all is placed anew.
            change = self._drawn(view, rng)
            if isinstance(change, Redrawn):
                break
        return change

    def _drawn(self, view: View, rng: np.random.Generator) -> Redrawn | Inapplicable:
        planned: list[tuple[Condition, tuple[Edit, ...]]] = []
        blocks = []
        for index, block in enumerate(self.rule.blocks):
            for condition in block.conditions:
                failed = self._plan(condition, self.rule.earlier(index), planned, view, rng)
                if failed is not None:
                    return failed
            edits = [edit for _, edits in planned for edit in edits]
            # Weather and light fall on everything, so they come last.
            blocks.append(frozen(sorted(edits, key=lambda edit: edit["engine"] == "atmosphere")))
        return Redrawn(tuple(blocks))

    def _plan(
        self,
        condition: Condition,
        earlier: Sequence[Condition],
        planned: list[tuple[Condition, tuple[Edit, ...]]],
        view: View,
        rng: np.random.Generator,
    ) -> Inapplicable | None:
        """Add the edits of a condition to those planned, or alter those that it compares with."""
        name = self.engines.name_for(condition)
        assert name is not None, "every condition has an engine, or the rule was refused"
        engine = self.engines.named(name)
        if condition.comparative is None:
            edits = engine.plan(condition, view, rng)
            if isinstance(edits, Inapplicable):
                return edits
            planned.append((condition, edits))
            return None
        brought = condition.new or condition.thing
        found = antecedent(self.ontology, brought.element, brought.properties, earlier)
        at = next(i for i, (known, _) in reversed(list(enumerate(planned))) if known == found)
        altered: list[Edit] = []
        for edit in planned[at][1]:
            other = engine.alter(edit, condition.comparative, view)
            if isinstance(other, Inapplicable):
                return other
            altered.append(other)
        planned[at] = (condition, tuple(altered))
        return None

    def apply(self, image: Any, change: Change) -> tuple[Any, ...] | Inapplicable:
        return made(image, change, self.engines, self._cutouts())

    def check(self, source: Observation, follow_ups: Sequence[Observation], change: Change) -> Verdict:
        answers = [follow_up.answer for follow_up in follow_ups]
        if not (isinstance(change, Redrawn) and change.condition):  # which has the source among its pictures
            answers.insert(0, source.answer)
        findings: list[Finding] = []
        margins: list[float] = []
        unfit = ""
        for number, block in enumerate(self.rule.blocks, start=1):
            values = [getattr(answer, block.expectation.quantity) for answer in answers]
            judged = judge_block(block.expectation, values, number)
            if judged.held is None:
                unfit = unfit or judged.reason
            elif judged.held:
                margins.append(judged.margin)
            else:
                kind = f"{block.expectation.quantity} {block.expectation.direction}"
                cause = {"what": f"{kind} is missing", "label": "the"}
                findings.append(Finding(kind, f"block {number}", judged.margin, {"cause": cause}))
        evidence: dict[str, Any] = {"answers": [dataclasses.asdict(answer) for answer in answers]}
        if findings:
            return Verdict.violated(findings, **evidence)
        if unfit:
            return Verdict.inapplicable(unfit, kind="", **evidence)
        return Verdict.held(min(margins), **evidence)

    def accept(self, input: Any, answer: Any) -> Control:
        control = accept(input, answer)
        for quantity in {block.expectation.quantity for block in self.rule.blocks}:
            if getattr(control, quantity) is None:
                raise ValueError(f"the rule is about {quantity}, and the system does not say it")
        return control

    def null(self, source: Observation, rng: np.random.Generator) -> Iterator[Change]:
        yield random_null(rng, len(self.rule.blocks))
        yield from fixed_nulls(len(self.rule.blocks))

    def again(self, source: Observation, change: Change) -> Iterator[Change]:
        if isinstance(change, Redrawn):
            for condition in CONDITIONS:
                yield dataclasses.replace(change, condition=condition)

    def pixels(self, change: Change) -> Mapping[str, npt.NDArray[np.uint8]]:
        if not isinstance(change, Redrawn):
            return {}
        used = {edit["cutout"] for block in edits_of(change) for edit in block if "cutout" in edit}
        return {name: self._cutouts().pixels(name) for name in sorted(used)}

    def _cutouts(self) -> CutOuts:
        if self.pool is None:
            raise BadInput("rule: there are no cut-outs yet; they are made when a campaign begins")
        return self.pool.pool if isinstance(self.pool, Gallery) else self.pool


def _require_engines(rule: Rule, engines: Engines) -> None:
    for block in rule.blocks:
        for condition in block.conditions:
            if engines.name_for(condition) is None:
                known = ", ".join(engines.choices.get(condition.op, {}))
                raise BadInput(f"no engine can {condition.op} a {condition.element}, only: {known}")
