"""`instar study interpretation`: a campaign per interpreter, on a classifier and its twin with a backdoor."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.overrides import add_settings, systems_with
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.core.errors import BadInput, UnknownName
from instar.core.options import split_names
from instar.core.outcome import Outcome
from instar.studies.output import folder_name, write_csv

if TYPE_CHECKING:
    from instar.core.scene import Scene
    from instar.studies import Table
    from instar.studies.interpretation.measure import Measured

__all__ = ["arguments", "perform"]

EMBEDDED, EMBEDDED_TWIN = "street-classifier", "street-classifier-twin"
GALLERY_CASES = 2  # good and bad cases of each interpreter in its gallery
TIMED_MAPS = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--system", default=EMBEDDED, metavar="NAME", help=f"the classifier ({EMBEDDED}, drawn and embedded)")
    add_settings(parser, "system.KEY=VALUE", "an option of the classifier, such as system.device=cuda")
    add("--interpreters", default="all", metavar="A,B", help="by name, or all of them (all)")
    add("--scenes", default="street:8", metavar="PATH", help="annotated pictures (street:8)")
    add("--twin", metavar="FILE", help="a twin of the classifier that `instar backdoor plant` made")
    add("--inserts", type=int, default=2, metavar="N", help="objects pasted and removed per question (2)")
    add("--samples", default="", metavar="rise=N,lime=N", help="fewer masks or samples than usual")
    add("--pool", metavar="DIR", help="cut-outs to use instead of those made from the scenes")
    add("--objects", metavar="SYSTEM", help="the helper that finds objects where the data knows none")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add("--no-gallery", action="store_true", help="draw no pictures of good and bad explanations")
    add(
        "--out",
        default="studies/interpretation",
        metavar="DIR",
        help="where runs, tables and galleries go (studies/interpretation)",
    )


def perform(args: argparse.Namespace) -> Outcome:
    from instar.core.errors import MissingExtra

    try:
        from instar.tasks.interpretation.interpreters import INTERPRETERS
    except ImportError:
        raise MissingExtra("torch", extra="torch", needed_for="instar study interpretation") from None
    from instar.scenes import load_scenes
    from instar.studies.interpretation.measure import tables

    names = list(INTERPRETERS) if args.interpreters == "all" else split_names(args.interpreters)
    for name in names:
        if name not in INTERPRETERS:
            raise UnknownName("interpreter", name, INTERPRETERS)
    if not names:
        raise BadInput("--interpreters names none; give some, or all")
    samples = _samples(args.samples, INTERPRETERS)
    scenes = load_scenes(args.scenes, limit=args.limit)
    out = Path(args.out)
    (own,) = systems_with([args.system], args.set)
    left_out = _left_out(own, names) if args.interpreters == "all" else {}
    names = [name for name in names if name not in left_out]
    systems = [(own, "")]
    if args.twin is not None:
        systems.append((Use(own.name, {**own.options, "twin": args.twin}), "-twin"))
    elif args.system == EMBEDDED:
        systems.append((Use(EMBEDDED_TWIN, own.options), "-twin"))
    found: list[list[Measured]] = []
    pictures: list[str] = []
    for use, suffix in systems:
        found.append([])
        for name in names:
            options = dict(use.options) | {"interpreter": name}
            options |= {"samples": samples[name]} if name in samples else {}
            folder = out / f"{folder_name(args.system)}{suffix}-{name}"
            pool = args.pool or _pool_for(folder, out)
            measured = _measured(Use(use.name, options), name, args, folder, scenes, pool)
            found[-1].append(measured)
            if not args.no_gallery:
                pictures += _gallery(folder, out / "gallery" / f"{folder.name}", args.json)
    made = tables(found[0], found[1] if len(found) > 1 else [], args.system)
    for table in made:
        write_csv(out / f"{table.name}.csv", table.rows)
    document = {
        "study": "interpretation",
        "out": str(out),
        "system": args.system,
        "pictures": pictures,
        "left_out": left_out,
        "tables": {table.name: table.to_json() for table in made},
    }
    return Outcome(_text(made, out, len(pictures), left_out), document)


def _left_out(use: Use, names: Sequence[str]) -> dict[str, str]:
    """Why some interpreters cannot be asked about a network of the user's own; ours fit all of them."""
    if ":" not in use.name:
        return {}
    told = {name: _why_not(Use(use.name, {**use.options, "interpreter": name})) for name in names}
    refused = {name: reason for name, reason in told.items() if reason is not None}
    if len(refused) == len(names):
        raise BadInput(refused[names[0]])
    return refused


def _why_not(use: Use) -> str | None:
    from instar.campaigns.resolve import resolve_system

    try:
        resolve_system(use)
    except BadInput as error:
        return str(error)
    return None


def _pool_for(folder: Path, out: Path) -> str | None:
    """The cut-outs of the first campaign serve all others, also on a later day; that one made its own."""
    made = sorted(index.parent for index in out.glob("*/pool/index.json"))
    return None if not made or made[0].parent == folder else str(made[0])


def _measured(
    use: Use, name: str, args: argparse.Namespace, folder: Path, scenes: Sequence[Scene], pool: str | None
) -> Measured:
    """Run what is not there yet, and count it."""
    from instar.campaigns.run import execute
    from instar.store import RunStore
    from instar.studies.interpretation.measure import STUDIED, measure

    plan = Plan(
        systems=(use,),
        relations=tuple(RelationUse(Use(one), Use("distinct", {"n": args.inserts})) for one in STUDIED),
        scenes=args.scenes,
        objects=args.objects,
        pool=pool,
        seed=args.seed,
        limit=args.limit,
        out=str(folder),
    )
    (run,) = execute(plan, resume=True, quiet=args.json)
    with RunStore.read(run) as store:
        measured = measure(name, store.records(changes=False))
    measured.seconds = _seconds(use, scenes)
    return measured


def _seconds(use: Use, scenes: Sequence[Scene]) -> float:
    """Processor time for ten maps, from a few."""
    from instar.campaigns.resolve import resolve_system
    from instar.core.errors import UnreadablePicture
    from instar.tasks.interpretation import Asked

    system: Any = resolve_system(use)
    spent = []
    for scene in scenes:
        try:
            asked = Asked(scene.image, system.classifier.labels[0])
        except UnreadablePicture:
            continue
        began = time.process_time()
        system.predict([asked])
        spent.append(time.process_time() - began)
        if len(spent) > TIMED_MAPS:
            break
    return 10 * sum(spent[1:]) / max(1, len(spent[1:]))  # the first one warms up


def _gallery(folder: Path, pictures: Path, quiet: bool) -> list[str]:
    """Pictures of the explanations that agree least with what they should be, and of the best: the one that
    is nearest to its object, and the one that a change moved least.
    """
    from instar.campaigns.reader import open_run
    from instar.core.verdict import Status
    from instar.report.files import write_picture
    from instar.store import RunStore

    with RunStore.read(folder) as store:
        judged = [
            record
            for record in store.records(changes=False)
            if record.role == "case" and "iomin" in record.verdict.evidence
        ]
    # Many have an IoMin of one; of those the box that is not too large either is the better one.
    judged.sort(key=lambda one: (one.verdict.evidence["iomin"], one.verdict.evidence["iou"], one.case))
    bad = [one.case for one in judged if one.verdict.status is Status.VIOLATED][:GALLERY_CASES]
    held = {one.relation == "truth": one.case for one in judged if one.verdict.status is Status.HELD}
    good = [held[kind] for kind in (True, False) if kind in held]
    written: list[str] = []
    with open_run(str(folder), quiet=quiet) as there:
        for what, cases in (("bad", bad), ("good", good)):
            for i, case in enumerate(cases, start=1):
                path = pictures / f"{what}-{i}.png"
                if not path.exists():
                    picture = there.picture(case)
                    if picture is None:
                        continue
                    write_picture(path, picture)
                written.append(str(path))
    return written


def _samples(text: str, known: Sequence[str]) -> dict[str, int]:
    """What `rise=200,lime=100` says."""
    found = {}
    for part in split_names(text):
        name, _, number = part.partition("=")
        if name not in known:
            raise UnknownName("interpreter", name, known)
        if not number.isdigit() or int(number) < 1:
            raise BadInput(f"--samples {part!r} is not of the form rise=200")
        found[name] = int(number)
    return found


def _text(made: Sequence[Table], out: Path, pictures: int, left_out: Mapping[str, str]) -> str:
    from instar.report.text import table as aligned

    parts = ["\n".join([one.title, aligned(one.rows, right=()), one.note]) for one in made]
    parts += [f"Left out: {reason}" for reason in left_out.values()]
    parts.append(
        f"Tables as CSV, the runs and {pictures} pictures of good and bad explanations are in {out}."
    )
    return "\n\n".join(parts)
