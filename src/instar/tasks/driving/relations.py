"""A relation out of a rule: the pictures that it speaks of, and whether the answers keep it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.change import Change, Inapplicable
from instar.core.errors import BadInput
from instar.core.relation import Relation, Workspace
from instar.core.scene import Observation, Scene
from instar.core.system import System
from instar.core.verdict import Finding, Verdict
from instar.cutouts import CutOuts
from instar.imaging.nulls import null
from instar.tasks.driving.answers import Control, accept
from instar.tasks.driving.changes import CONDITIONS, OF_THE_AIR, Redrawn, edits_of, made
from instar.tasks.driving.edits import at_severity, planned
from instar.tasks.driving.engine_table import USUAL, Engines, read_engines, usual_engines
from instar.tasks.driving.engines import View
from instar.tasks.driving.gallery import Gallery, collect_gallery
from instar.tasks.driving.ground import ground_of
from instar.tasks.driving.judgement import judge_block, judge_rule
from instar.tasks.driving.lines import with_lines
from instar.tasks.driving.maps import labels_of, with_maps
from instar.tasks.driving.panels import panels
from instar.tasks.driving.picture import picture
from instar.tasks.driving.rules import Language, Rule, read_ontology, read_rule, say, usual_ontology
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.shrink_rule import lessened

__all__ = ["rule"]


def rule(
    text: str,
    *,
    ontology: Path | str | None = None,
    engines: Path | str | None = None,
    pool: Gallery | CutOuts | None = None,
    maps: System | None = None,
    paper: bool = False,
    least_lines: float = 0.01,
    least_objects: float = 0.05,
) -> Relation:
    """What a sentence says: the scene is changed so, and speed or steering must then do that.

    `ontology` and `engines` are files of one's own. Without them, drawn drives are drawn anew ("rendered")
    and all other pictures are edited ("pasted"), with cut-outs from the campaign's own scenes, which need
    label maps; `maps` is a segmentation system that makes them. `least_lines` and `least_objects` are the
    shares of the picture that must be there to be removed or replaced. With `paper`, words may be guessed and
    the bare inequality decides, as in the paper: nothing is asked again and noise is not told apart.
    """
    if isinstance(pool, (str, Path)):
        raise BadInput("rule: cut-outs come from the scenes and their label maps; leave the pool out")
    words = usual_ontology() if ontology is None else read_ontology(Path(ontology))
    usual = ontology is None and not paper
    meaning = read_rule(text, language=None if usual else Language(words, paper=paper))
    if engines is None:
        chosen, drawn = usual_engines("pasted"), usual_engines("rendered")
    else:
        chosen = drawn = usual_engines(str(engines)) if engines in USUAL else read_engines(Path(engines))
    _require_engines(meaning, chosen, drawn)
    return _Ruling(meaning, words, chosen, drawn, pool, maps, paper, (least_lines, least_objects)).relation()


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Ruling:
    """A rule with all that is needed to test it. `drawn` are the engines for drawn drives."""

    rule: Rule
    ontology: Ontology
    engines: Engines
    drawn: Engines
    pool: Gallery | CutOuts | None
    maps: System | None
    paper: bool
    least: tuple[float, float]

    def relation(self) -> Relation:
        sentence = say(self.rule, ontology=self.ontology)
        return Relation(
            sentence,
            self.draw,
            self.apply,
            self.check,
            null=null if self.allows_no_change and not self.paper else None,
            again=None if self.paper else self.again,
            at=self.at if self.has_severity else None,
            smaller=self.smaller,
            accept=self.accept,
            pixels=self.pixels,
            prepare=self.prepare if self.pool is None else None,
            picture=partial(picture, sentence),
            panels=panels,
        )

    @property
    def allows_no_change(self) -> bool:
        """Whether answers that are all the same keep the rule; a reaction that is demanded has no nulls."""
        return judge_rule(self.rule, [50.0] * (len(self.rule.blocks) + 1)).held is True

    @property
    def has_severity(self) -> bool:
        """Whether the rule is about weather or time alone, which can be weaker or stronger."""
        conditions = [condition for block in self.rule.blocks for condition in block.conditions]
        return len(conditions) == 1 and conditions[0].element in OF_THE_AIR

    def at(self, source: Observation, level: float) -> Change | Inapplicable:
        """The same weather or darkness at a severity from 0 to 1."""
        change = self.draw(source, np.random.default_rng(0))
        if not isinstance(change, Redrawn):
            return change if isinstance(change, Inapplicable) else Inapplicable("it has no severity")
        return at_severity(change, level)

    def prepare(self, scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        if all(self._for(scene).needs_no_gallery for scene in scenes):
            return self.relation()
        known = [with_maps(scene, self.maps) for scene in scenes]
        return dataclasses.replace(self, pool=collect_gallery(known, workspace)).relation()

    def draw(self, source: Observation, rng: np.random.Generator) -> Change | Inapplicable:
        view = self._view(source)
        if isinstance(view, Inapplicable):
            return view
        engines = self._for(source.scene)
        lacking = engines.lacking(self.rule)
        if lacking is not None:
            return Inapplicable(lacking)
        if view.gallery is None and not engines.needs_no_gallery:
            raise BadInput("rule: there is no gallery to draw from; it is made when a campaign begins")
        return planned(self.rule, self.ontology, engines, view, rng, self._cutouts())

    def smaller(self, source: Observation, change: Change) -> Iterator[Change | Sequence[Change]]:
        view = self._view(source)
        if isinstance(change, Redrawn) and isinstance(view, View):
            yield from lessened(change, self._for(source.scene), view)

    def _for(self, scene: Scene) -> Engines:
        return self.engines if scene.knowledge.get("drive") is None else self.drawn

    def _view(self, source: Observation) -> View | Inapplicable:
        labels = labels_of(with_maps(source.scene, self.maps))
        if labels is None:
            return Inapplicable("no label map")
        image = source.input
        if self._speaks_of("line"):
            labels = with_lines(labels, image)
        gallery = self.pool if isinstance(self.pool, Gallery) else None
        ground = ground_of(labels, rise=gallery.rise if gallery is not None else 0.0)
        if ground is None:
            return Inapplicable("no road in the label map")
        drive = source.scene.knowledge.get("drive")
        return View(source.scene.id, image, labels, ground, gallery, self.ontology, drive, *self.least)

    def _speaks_of(self, element: str) -> bool:
        return any(c.element == element for block in self.rule.blocks for c in block.conditions)

    def apply(self, image: Any, change: Change) -> tuple[Any, ...] | Inapplicable:
        return made(image, change, self._all_engines(), self._cutouts(), blocks=len(self.rule.blocks))

    def _all_engines(self) -> Engines:
        return dataclasses.replace(self.engines, modules={**self.engines.modules, **self.drawn.modules})

    def check(self, source: Observation, follow_ups: Sequence[Observation], change: Change) -> Verdict:
        answers = [follow_up.answer for follow_up in follow_ups]
        if not (isinstance(change, Redrawn) and change.condition):  # which has the source among its pictures
            answers.insert(0, source.answer)
        findings: list[Finding] = []
        margins: list[float] = []
        unfit = ""
        # A change that was made smaller may have fewer blocks than the rule.
        for number, block in enumerate(self.rule.blocks[: len(answers) - 1], start=1):
            values = [getattr(answer, block.expectation.quantity) for answer in answers]
            judged = judge_block(block.expectation, values, number, paper=self.paper)
            if judged.held is None:
                unfit = unfit or judged.reason
            elif judged.held:
                margins.append(judged.margin)
            else:
                kind = f"{block.expectation.quantity} {block.expectation.direction}"
                # In words for groups of failures: what should have been and was not.
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
        return self.pool.pool if isinstance(self.pool, Gallery) else self.pool or _NoCutOuts()


class _NoCutOuts:
    """Where none are needed, as in drawn drives."""

    def pixels(self, name: str, /) -> Any:
        raise BadInput("rule: there are no cut-outs yet; they are made when a campaign begins")


def _require_engines(rule: Rule, *choices: Engines) -> None:
    lacking = [engines.lacking(rule) for engines in choices]
    if all(lacking):
        raise BadInput(str(lacking[0]))
