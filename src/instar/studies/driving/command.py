"""`instar study driving`: campaigns of the paper's rules over several drivers, and what follows from them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.plan import Plan, RelationUse, Use
from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.studies.output import folder_name, outcome, system_names

if TYPE_CHECKING:
    from instar.core.relation import Relation
    from instar.core.scene import Scene
    from instar.core.system import System
    from instar.core.workspace import Folder
    from instar.studies.driving.measure import Costs, Error, Measured
    from instar.studies.driving.rules import StudyRule
    from instar.studies.driving.shared_pictures import SharedPictures

__all__ = ["arguments", "perform"]

USUAL = "epoch-street,vgg16-street,resnet101-street,vgg16-blind"
KEPT_BYTES = 2**30  # of pictures; those that were looked at longest ago are made again
TIMED = 12  # scenes that asking is timed on
WAVERED = 40  # scenes that are asked under changes that must do nothing


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", default=USUAL, metavar="A,B,C", help=f"the drivers, by name or module:attr ({USUAL})")
    add("--scenes", required=True, metavar="PATH", help="scenes with label maps, such as drive:60:7")
    add("--cases", type=int, default=1, metavar="N", help="cases per scene and rule (1)")
    add("--affine", action="store_true", help="also DeepTest's affine changes, light and blur, in a table")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add("--plots", action="store_true", help="also draw the figures; needs the extra 'plots'")
    add("--out", default="studies/driving", metavar="DIR", help="where runs and tables go (studies/driving)")


def perform(args: argparse.Namespace) -> Outcome:
    names = system_names(args.systems)
    # OpenCV and SQLite, which --help should not wait for.
    from instar.campaigns.resolve import resolve_system
    from instar.campaigns.run import world_for
    from instar.core.picture_cache import PictureCache
    from instar.scenes import load_scenes
    from instar.studies.driving.shared_pictures import SharedPictures
    from instar.studies.driving.tables import tables

    if args.plots:
        from instar.studies import require_matplotlib

        require_matplotlib()
    args.scenes = world_for(args.scenes, ["driving"])
    scenes = load_scenes(args.scenes, limit=args.limit)
    drivers = {name: resolve_system(Use(name)) for name in names}  # all of them, before the first is run
    out = Path(args.out)
    drawn = all(scene.knowledge.get("drive") is not None for scene in scenes)
    engines = {"deeptest": f"deeptest_{'rendered' if drawn else 'pasted'}", "pasted": "pasted"}
    shared = SharedPictures(PictureCache(max(1, KEPT_BYTES // scenes[0].image.nbytes)))
    ready: dict[str, Relation] = {}
    systems = [
        _measured(name, one, scenes, args, out, engines, shared, ready) for name, one in drivers.items()
    ]
    if not any(rule.tried for system in systems for rule in system.rules.values()):
        raise BadInput(
            f"no rule can be judged on {args.scenes}; rules need pictures of roads with label maps"
        )
    made = list(tables(systems))
    figures: list[str] = []
    if args.plots:
        from instar.studies.driving.plots import draw_figures

        figures = [str(path) for path in draw_figures(systems, out)]
    return outcome("driving", made, out, figures, names=1)


def _measured(
    name: str,
    system: System,
    scenes: Sequence[Scene],
    args: argparse.Namespace,
    out: Path,
    engines: dict[str, str],
    shared: SharedPictures,
    ready: dict[str, Relation],
) -> Measured:
    """Run what is not there yet, and count it."""
    from instar.campaigns.run import execute
    from instar.core.workspace import prepare_relation
    from instar.store import RunStore
    from instar.studies.driving.measure import Measured, measure
    from instar.studies.driving.rules import AFFINE, rules_for

    quantities, controls = _asked(system, scenes)
    drawn = all(scene.knowledge.get("drive") is not None for scene in scenes)
    rules = rules_for(quantities, drawn=drawn)
    asked = [_use(rule, engines) for rule in rules]
    if args.affine:
        asked += [Use("deeptest", {"kind": kind}, called=called) for called, kind in AFFINE.items()]
    plan = Plan(
        systems=(Use(name),),
        relations=tuple(RelationUse(use, Use("draws", {"n": args.cases})) for use in asked),
        scenes=args.scenes,
        seed=args.seed,
        limit=args.limit,
        out=str(out / folder_name(name)),
    )

    def once(relation: Relation, scenes: Sequence[Scene], workspace: Folder) -> Relation:
        """What a rule has to collect from the scenes is the same for all drivers."""
        if relation.name not in ready:
            ready[relation.name] = shared.relation(prepare_relation(relation, scenes, workspace))
        return ready[relation.name]

    (run,) = execute(plan, resume=True, quiet=args.json, prepare=once)
    with RunStore.read(run) as store:
        found = Measured(name, quantities, measure(store.records(changes=False)))
    found.errors = _errors(scenes, controls) or _errors_on_card(system)
    found.waver = _waver(system, scenes, quantities)
    found.costs = _costs(rules, system, scenes, shared)
    return found


def _use(rule: StudyRule, engines: dict[str, str]) -> Use:
    options = {"text": rule.text}
    if rule.engines is not None:
        options["engines"] = engines[rule.engines]
    return Use("rule", options, called=rule.name)


def _asked(system: System, scenes: Sequence[Scene]) -> tuple[set[str], list[Any]]:
    """What the system says, and its answers to the unchanged scenes (None where there is none)."""
    from instar.core.system import ask
    from instar.tasks.driving.answers import read

    controls: list[Any] = []
    for scene in scenes:
        (reply,) = ask(system, [scene.image])
        try:
            controls.append(None if reply.error else read(None, reply.answer))
        except (TypeError, ValueError):
            controls.append(None)  # the campaign has it among the failed
    known = [control for control in controls if control is not None]
    quantities = {q for q in ("speed", "steering") if any(getattr(c, q) is not None for c in known)}
    if not quantities:
        raise BadInput(f"system {system.name!r} says neither speed nor steering; it is no driver")
    return quantities, controls


def _errors(scenes: Sequence[Scene], controls: Sequence[Any]) -> list[Error]:
    from instar.studies.driving.measure import error_of

    errors = []
    for quantity in ("speed", "steering"):
        known = [
            (getattr(control, quantity), scene.knowledge[quantity], scene.id)
            for scene, control in zip(scenes, controls)
            if control is not None
            and getattr(control, quantity) is not None
            and scene.knowledge.get(quantity) is not None
        ]
        if known:
            given, truth, ids = zip(*known)
            errors.append(error_of(quantity, given, truth, ids))
    return errors


def _errors_on_card(system: Any) -> list[Error]:
    from instar.studies.driving.measure import errors_on_card

    try:
        return errors_on_card(json.loads(system.card))
    except (AttributeError, TypeError, ValueError, KeyError):
        return []  # it has no card of instar's


def _waver(system: System, scenes: Sequence[Scene], quantities: set[str]) -> dict[str, float]:
    from instar.core.system import ask
    from instar.studies.driving.measure import pictures_under_nulls, spread
    from instar.tasks.driving.answers import read

    spreads: dict[str, list[float]] = {quantity: [] for quantity in quantities}
    for scene in scenes[:WAVERED]:
        pictures = pictures_under_nulls(scene.image)
        replies = ask(system, pictures)
        if any(reply.error for reply in replies):
            continue
        answers = [read(None, reply.answer) for reply in replies]
        for quantity in quantities:
            spreads[quantity].append(spread(answers, quantity))
    return {quantity: sum(each) / len(each) for quantity, each in spreads.items() if each}


def _costs(
    rules: Sequence[StudyRule], system: System, scenes: Sequence[Scene], shared: SharedPictures
) -> dict[str, Costs]:
    """What a case of each rule costs: its pictures made, and shown to this system one by one."""
    from instar.core.system import ask
    from instar.studies.driving.measure import Costs

    # The quickest, because nothing but the system takes part in every one of them.
    asking = min(ask(system, [scene.image])[0].seconds for scene in scenes[:TIMED])
    made = {rule.name: shared.making(rule.name) for rule in rules}
    return {
        name: Costs(making.cases, making.pictures, making.seconds, making.pictures * asking)
        for name, making in made.items()
        if making is not None
    }
