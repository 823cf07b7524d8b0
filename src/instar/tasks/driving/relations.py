"""A relation out of a rule: the pictures that it speaks of, and whether the answers keep it."""

from __future__ import annotations

import dataclasses
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.core.relation import Range, Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.core.system import System
from instar.core.task import Task
from instar.core.verdict import Verdict
from instar.core.workspace import Folder
from instar.cutouts import CutOuts
from instar.tasks.driving.answers import Control, read
from instar.tasks.driving.changes import OF_THE_AIR, RuleEdits, apply_edits
from instar.tasks.driving.edit_effects import ground_in
from instar.tasks.driving.edits import plan_edits, set_severity, with_painted_source
from instar.tasks.driving.engine_table import USUAL, Engines, read_engines, usual_engines
from instar.tasks.driving.engines import SceneView
from instar.tasks.driving.gallery import Gallery, collect_gallery
from instar.tasks.driving.judgement import judge_block
from instar.tasks.driving.maps import labels_of, with_lines, with_maps
from instar.tasks.driving.rules import Block, Expectation, Rule, format_rule, open_language, read_rule
from instar.tasks.driving.rules.ontology import Ontology
from instar.tasks.driving.shrink_rule import smaller_edits
from instar.tasks.driving.systems.street_maps import street_maps
from instar.tasks.driving.task import NULLS, TASK, judge_controls

WIDEST = (10.0, 150.0)  # degrees, of a lens
LEAST = 0.25  # of the full strength: weaker rain or dusk is hardly seen, and is then no change


@recorded
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
    lens: float | None = None,
) -> Relation:
    """What a sentence says: the scene is changed so, and speed or steering must then do that.

    `ontology` and `engines` are files that add to instar's own. Without them, drawn drives are drawn anew
    ("rendered") and all other pictures are edited ("pasted"), with cut-outs from the campaign's own scenes,
    which need label maps; `maps` is a segmentation system that makes them where there are none
    ("street-maps", unless another is named). `least_lines` and `least_objects` are the shares of the picture
    that must be there to be removed or replaced; `lens` how many degrees wide photographs are, without which
    nobody can tell metres on them. With `paper`, words may be guessed and the bare inequality
    decides, as in the paper: nothing is asked again and noise is not told apart.
    """
    if isinstance(pool, (str, Path)):
        raise BadInput("rule: cut-outs come from the scenes and their label maps; leave the pool out")
    for name, value in (("least_lines", least_lines), ("least_objects", least_objects)):
        require_fraction("rule", name, value)
    if lens is not None and not WIDEST[0] <= lens <= WIDEST[1]:
        raise BadInput(f"rule: lens is from {WIDEST[0]} to {WIDEST[1]} degrees, not {lens}")
    language = open_language(ontology, paper=paper)
    meaning = read_rule(text, language=language)
    if engines is None:
        chosen, drawn = usual_engines("pasted"), usual_engines("rendered")
    else:
        chosen = usual_engines(str(engines)) if engines in USUAL else read_engines(Path(engines))
        drawn = chosen if engines in USUAL else read_engines(Path(engines), "rendered")
    lacking = [one.lacking(meaning) for one in (chosen, drawn)]
    if all(lacking):
        raise BadInput(str(lacking[0]))
    return _RuleTest(
        meaning,
        language.ontology,
        chosen,
        drawn,
        pool,
        maps or street_maps(),
        paper,
        (least_lines, least_objects),
        lens,
    ).relation()


def try_scenes(relation: Relation, scenes: Sequence[Scene]) -> tuple[int, Counter[str]]:
    """On how many scenes a rule can be made, and why not on the others; no system is asked."""
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="instar-") as folder:
        if relation.prepare is not None:
            relation = relation.prepare(scenes, Folder(Path(folder)))
        for number, scene in enumerate(scenes):
            source = Observation.of(scene.image, Control(), scene)
            assert relation.draw is not None, "a rule draws"
            change: Any = relation.draw(source, np.random.default_rng(number))
            made = change if isinstance(change, Inapplicable) else relation.apply(source.input, change)
            if isinstance(made, Inapplicable):
                reasons[made.reason] += 1
    return len(scenes) - sum(reasons.values()), reasons


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _RuleTest:
    """A rule with all that is needed to test it. `drawn` are the engines for drawn drives."""

    rule: Rule
    ontology: Ontology
    engines: Engines
    drawn: Engines
    pool: Gallery | CutOuts | None
    maps: System
    paper: bool
    least: tuple[float, float]
    lens: float | None

    def relation(self) -> Relation:
        conditions = [condition for block in self.rule.blocks for condition in block.changes]
        is_of_the_air = len(conditions) == 1 and conditions[0].element in OF_THE_AIR
        return Relation(
            format_rule(self.rule, ontology=self.ontology),
            self.task(),
            self.apply,
            draw=self.draw,
            expect=self.expect,
            severity=Range(LEAST, 1, "of the full strength", at=self.at) if is_of_the_air else None,
            prepare=self.prepare if self.pool is None else None,
            pixels=self.pixels,
            smaller=self.smaller,
        )

    def task(self) -> Task:
        """Driving, where null changes strike out only what may stay the same: a demanded reaction stands."""
        expectations, blocks = _numbered(self.rule.blocks), len(self.rule.blocks)
        unmoved = [50.0] * (blocks + 1)
        strikable = [(n, one) for n, one in expectations if judge_block(one, unmoved, n).held is True]

        def compare(before: Observation, after: Observation) -> Verdict:
            return judge_controls(strikable, [before.answer, *[after.answer] * blocks])

        nulls = NULLS if strikable else dataclasses.replace(NULLS, fresh=None, strikers=None)
        return dataclasses.replace(TASK, read=self.read, compare=compare, nulls=None if self.paper else nulls)

    def read(self, input: Any, answer: Any) -> Control:
        control = read(input, answer)
        for quantity in {one.quantity for _, one in _numbered(self.rule.blocks)}:
            if getattr(control, quantity) is None:
                raise ValueError(f"the rule is about {quantity}, and the system does not say it")
        return control

    def at(self, source: Observation, level: float) -> RuleEdits | Inapplicable:
        """The same weather or darkness at a severity from 0 to 1."""
        change = self.draw(source, np.random.default_rng(0))
        return change if isinstance(change, Inapplicable) else set_severity(change, level)

    def prepare(self, scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        if all(self._for(scene).needs_no_gallery for scene in scenes):
            return self.relation()
        known = [with_maps(scene, self.maps) for scene in scenes]
        made = sum("labels" not in scene.knowledge for scene in scenes)
        if made:
            note = getattr(self.maps, "note", "")
            workspace.say(
                f"{made} of {len(scenes)} scenes have no label map: {self.maps.name} makes them{note}"
            )
        return dataclasses.replace(self, pool=collect_gallery(known, workspace)).relation()

    def draw(self, source: Observation, rng: np.random.Generator) -> RuleEdits | Inapplicable:
        view = self._view(source)
        if isinstance(view, Inapplicable):
            return view
        engines = self._for(source.scene)
        lacking = engines.lacking(self.rule)
        if lacking is not None:
            return Inapplicable(lacking)
        if view.gallery is None and not engines.needs_no_gallery:
            raise BadInput("rule: there is no gallery to draw from; it is made when a campaign begins")
        change = plan_edits(self.rule, engines, view, rng, self._cutouts())
        if self.paper or isinstance(change, Inapplicable):
            return change
        return with_painted_source(change, engines, view)

    def smaller(self, source: Observation, change: RuleEdits) -> Iterator[RuleEdits | list[RuleEdits]]:
        view = self._view(source)
        if isinstance(view, SceneView):
            yield from smaller_edits(change, self._for(source.scene), view)

    def _for(self, scene: Scene) -> Engines:
        return self.engines if scene.knowledge.get("drive") is None else self.drawn

    def _view(self, source: Observation) -> SceneView | Inapplicable:
        labels = labels_of(with_maps(source.scene, self.maps))
        assert labels is not None, "where there was no map, one was made"
        image = source.input
        if any(c.element == "line" for block in self.rule.blocks for c in block.conditions):
            labels = with_lines(labels, image)
        gallery = self.pool if isinstance(self.pool, Gallery) else None
        drive = source.scene.knowledge.get("drive")
        ground = ground_in(labels, gallery.rise if gallery is not None else 0.0, drive)
        if ground is None:
            return Inapplicable("no road in the label map")
        known = (image, labels, ground, gallery, self.ontology, drive)
        return SceneView(source.scene.id, *known, *self.least, self.lens)

    def apply(self, image: Image, change: RuleEdits) -> tuple[Image, ...] | Inapplicable:
        engines = dataclasses.replace(self.engines, modules={**self.engines.modules, **self.drawn.modules})
        return apply_edits(image, change.edits, engines, self._cutouts())

    def expect(self, source: Observation, follow_ups: Sequence[Observation], change: RuleEdits) -> Verdict:
        answers = [source.answer, *(follow_up.answer for follow_up in follow_ups)]
        if change.paints_source:
            answers = answers[1:]
        # A change that was made smaller may have fewer blocks than the rule.
        expectations = _numbered(self.rule.blocks[: len(answers) - 1])
        return judge_controls(expectations, answers, all_must_apply=True, paper=self.paper)

    def pixels(self, change: RuleEdits) -> Mapping[str, npt.NDArray[np.uint8]]:
        used = {edit["cutout"] for block in change.edits for edit in block if "cutout" in edit}
        return {name: self._cutouts().pixels(name) for name in sorted(used)}

    def _cutouts(self) -> CutOuts:
        return self.pool.pool if isinstance(self.pool, Gallery) else self.pool or _NoCutOuts()


def _numbered(blocks: Sequence[Block]) -> list[tuple[int, Expectation]]:
    """Every expectation with the number of its block, counted from 1."""
    return [(number, one) for number, block in enumerate(blocks, start=1) for one in block.expectations]


class _NoCutOuts:
    """Where none are needed, as in drawn drives."""

    def pixels(self, name: str, /) -> Any:
        raise BadInput("rule: there are no cut-outs yet; they are made when a campaign begins")
