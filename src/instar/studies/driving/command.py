"""`instar study driving`: campaigns of the paper's rules over several drivers, and what follows from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from instar.campaigns.definite_plan import world_for
from instar.campaigns.plan import RelationUse, Use
from instar.campaigns.rule_texts import read_rules
from instar.core.errors import BadInput
from instar.core.frame import Moved
from instar.core.outcome import Outcome
from instar.core.picture_cache import PictureCache
from instar.core.scene import Scene
from instar.core.system import Reply, System, ask
from instar.imaging.nulls import STRIKERS
from instar.scenes import load_scenes
from instar.studies.campaign import find_systems, folder_of, run_campaign
from instar.studies.driving.measure import (
    DriverMeasures,
    Error,
    error_of,
    errors_on_card,
    measure_rules,
)
from instar.studies.driving.plots import draw_figures
from instar.studies.driving.rules import AFFINE, StudyRule, own_rules, rules_for
from instar.studies.driving.shared_pictures import SharedPictures
from instar.studies.driving.tables import make_tables
from instar.studies.output import tell
from instar.tasks.driving.answers import QUANTITIES, read
from instar.tasks.driving.task import TASK

KEPT_BYTES = 2**30  # of pictures; those that were looked at longest ago are made again
TIMED = 12  # scenes that asking is timed on
WAVERED = 40  # scenes that are asked under changes that must do nothing


def perform(args: argparse.Namespace) -> Outcome:
    systems = find_systems(args)
    args.scenes = world_for(args.scenes, ["driving"])
    scenes = load_scenes(args.scenes, limit=args.limit, palette=args.palette)
    own = own_rules(read_rules(args.rule) if args.rule else (), args.ontology)
    shared = SharedPictures(PictureCache(max(1, KEPT_BYTES // scenes[0].image.nbytes)))
    measured = [_measure(use, system, scenes, args, shared, own) for use, system in systems]
    if not any(rule.tried for one in measured for rule in one.rules.values()):
        raise BadInput(
            f"no rule can be judged on {args.scenes}; rules need pictures of roads with label maps"
        )
    figures = draw_figures(measured, Path(args.out)) if args.plots else []
    return tell("driving", list(make_tables(measured, own)), Path(args.out), figures=figures)


def _measure(
    use: Use,
    system: System,
    scenes: Sequence[Scene],
    args: argparse.Namespace,
    shared: SharedPictures,
    own: Sequence[StudyRule],
) -> DriverMeasures:
    """Run what is not there yet, and count it."""
    answers = [_ask(system, [scene.image])[0] for scene in scenes]
    quantities = {q for q in QUANTITIES if any(getattr(answer, q, None) is not None for answer in answers)}
    if not quantities:
        raise BadInput(f"system {system.name!r} says neither speed nor steering; it is no driver")
    drawn = all(scene.knowledge.get("drive") is not None for scene in scenes)
    rules = (*rules_for(quantities, drawn=drawn), *(rule for rule in own if rule.quantity in quantities))
    asked = [_use(rule, drawn, args) for rule in rules]
    if args.affine:
        asked += [Use("deeptest", {"kind": kind}, called=called) for called, kind in AFFINE.items()]
    pairs = [RelationUse(one, Use("draws", {"n": args.cases})) for one in asked]
    folder = folder_of(args, use.name)
    with run_campaign(args, use, pairs, folder, prepare=shared.prepare, palette=args.palette) as store:
        found = DriverMeasures(use.name, quantities, measure_rules(store.records(changes=False)))
    found.errors = _errors(scenes, answers) or errors_on_card(system)
    found.waver = _waver(system, scenes, quantities)
    made = {rule.name: shared.making(rule.name) for rule in rules}
    found.making = {name: cost for name, cost in made.items() if cost is not None}
    # The quickest, because nothing but the system takes part in every one of them.
    found.asking = min(ask(system, [scene.image])[0].seconds for scene in scenes[:TIMED])
    return found


def _use(rule: StudyRule, drawn: bool, args: argparse.Namespace) -> Use:
    engines = {"deeptest": f"deeptest_{'rendered' if drawn else 'pasted'}", "pasted": "pasted"}
    given = {name: getattr(args, name) for name in ("ontology", "engines") if getattr(args, name)}
    options = {"text": rule.text} | given | ({"engines": engines[rule.engines]} if rule.engines else {})
    return Use("rule", options, called=rule.name)


def _ask(system: System, pictures: Sequence[Any]) -> list[Any]:
    """What the system says to each picture, None where it fails: the campaign has that among the failed."""
    return [_answer(reply) for reply in ask(system, pictures)]


def _answer(reply: Reply) -> Any:
    try:
        return None if reply.error else read(None, reply.answer)
    except (TypeError, ValueError):
        return None


def _errors(scenes: Sequence[Scene], answers: Sequence[Any]) -> list[Error]:
    errors = []
    for quantity in QUANTITIES:
        known = [
            (given, scene.knowledge[quantity], scene.id)
            for scene, answer in zip(scenes, answers)
            if (given := getattr(answer, quantity, None)) is not None
            and scene.knowledge.get(quantity) is not None
        ]
        if known:
            errors.append(error_of(quantity, *zip(*known)))
    return errors


def _waver(system: System, scenes: Sequence[Scene], quantities: set[str]) -> dict[str, float]:
    """The standard deviation of answers to a picture under changes that must do nothing, on average."""
    spreads: dict[str, list[float]] = {quantity: [] for quantity in quantities}
    for scene in scenes[:WAVERED]:
        made = [null.apply(scene.image) for null in STRIKERS]
        pictures = [one.picture if isinstance(one, Moved) else one for one in made]
        answers = _ask(system, [scene.image, *(TASK.with_picture(scene.image, one) for one in pictures)])
        if None not in answers:
            for quantity, spread in spreads.items():
                spread.append(float(np.std([getattr(answer, quantity) for answer in answers])))
    return {quantity: sum(each) / len(each) for quantity, each in spreads.items() if each}
