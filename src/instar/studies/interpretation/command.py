"""`instar study interpretation`: a campaign per interpreter, on a classifier and its twin with a backdoor."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instar.adapters.devices import require_torch
from instar.campaigns.overrides import systems_with
from instar.campaigns.plan import RelationUse, Use
from instar.campaigns.reader import Named, open_run
from instar.campaigns.resolve import build_system
from instar.core.errors import BadInput, UnknownName, UnreadablePicture
from instar.core.options import split_names
from instar.core.outcome import Outcome
from instar.core.scene import Scene
from instar.core.verdict import Status
from instar.report.files import write_picture
from instar.scenes import load_scenes
from instar.studies.arguments import EMBEDDED
from instar.studies.campaign import folder_of, run_campaign
from instar.studies.interpretation.power import measure_power
from instar.studies.interpretation.tables import (
    STUDIED,
    InterpreterMeasures,
    make_tables,
    measure_interpreter,
)
from instar.studies.output import tell
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.catalogue import INTERPRETERS

GALLERY_CASES = 2  # bad cases of each interpreter in its gallery
TIMED_MAPS = 3


def perform(args: argparse.Namespace) -> Outcome:
    require_torch("instar study interpretation")
    names = list(INTERPRETERS) if args.interpreters == "all" else split_names(args.interpreters)
    for name in names:
        if name not in INTERPRETERS:
            raise UnknownName("interpreter", name, INTERPRETERS)
    if not names:
        raise BadInput("--interpreters names none; give some, or all")
    samples = _samples(args.samples)
    scenes = load_scenes(args.scenes, limit=args.limit)
    out = Path(args.out)
    (own,) = systems_with([args.system], args.set)
    left_out = _left_out(own, names) if args.interpreters == "all" else {}
    systems = {"": own}
    if args.twin is not None:
        systems["-twin"] = Use(own.name, {**own.options, "twin": args.twin})
    elif args.system == EMBEDDED:
        systems["-twin"] = Use(f"{EMBEDDED}-twin", own.options)
    found: dict[str, list[InterpreterMeasures]] = {"": [], "-twin": []}
    pictures: list[str] = []
    for suffix, use in systems.items():
        for name in [name for name in names if name not in left_out]:
            options = {"interpreter": name} | ({"samples": samples[name]} if name in samples else {})
            folder = folder_of(args, f"{args.system}{suffix}-{name}")
            explained = Use(use.name, {**use.options, **options})
            found[suffix].append(_measure(explained, name, args, folder, scenes))
            if not args.no_gallery:
                pictures += _draw_gallery(folder, out / "gallery" / folder.name, args.json)
    said = [f"Left out: {reason}" for reason in left_out.values()]
    said.append(f"{len(pictures)} pictures of good and bad explanations are in {out / 'gallery'}.")
    tables = make_tables(found[""], found["-twin"], args.system)
    more = {"system": args.system, "pictures": pictures, "left_out": left_out}
    return tell("interpretation", tables, out, said=said, **more)


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
    try:
        build_system(use)
    except BadInput as error:
        return str(error)
    return None


def _pool_for(folder: Path) -> str | None:
    """The cut-outs of the first campaign serve all others, also on a later day; that one made its own."""
    made = sorted(index.parent for index in folder.parent.glob("*/pool/index.json"))
    return None if not made or made[0].parent == folder else str(made[0])


def _measure(
    use: Use, name: str, args: argparse.Namespace, folder: Path, scenes: Sequence[Scene]
) -> InterpreterMeasures:
    """Run what is not there yet, and count it."""
    pairs = [RelationUse(Use(one), Use("distinct", {"n": args.inserts})) for one in STUDIED]
    pool = args.pool or _pool_for(folder)
    with run_campaign(args, use, pairs, folder, objects=args.objects, pool=pool) as store:
        records = list(store.records(changes=False))
    measured = measure_interpreter(name, records)
    with open_run(str(folder), named=Named(trusted=True), quiet=args.json) as reader:
        measured.power = measure_power(reader, records)
    measured.seconds = _seconds(use, scenes)
    return measured


def _seconds(use: Use, scenes: Sequence[Scene]) -> float:
    """Processor time for ten maps, from a few."""
    system: Any = build_system(use)
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


def _draw_gallery(folder: Path, gallery: Path, quiet: bool) -> list[str]:
    """Pictures of the explanations that agree least with what they should be, and of the best: the one that
    is nearest to its object, and the one that a change moved least.
    """
    pictures: dict[Path, str] = {}
    with open_run(str(folder), named=Named(trusted=True), quiet=quiet) as reader:
        judged = [
            record
            for record in reader.store.records(changes=False)
            if record.role == "case" and "iomin" in record.verdict.evidence
        ]
        # Many have an IoMin of one; of those the box that is not too large either is the better one.
        judged.sort(key=lambda one: (one.verdict.evidence["iomin"], one.verdict.evidence["iou"], one.case))
        bad = [one.case for one in judged if one.verdict.status is Status.VIOLATED][:GALLERY_CASES]
        held = {one.relation == "truth": one.case for one in judged if one.verdict.status is Status.HELD}
        good = [held[kind] for kind in (True, False) if kind in held]
        for what, cases in (("bad", bad), ("good", good)):
            pictures |= {gallery / f"{what}-{i}.png": case for i, case in enumerate(cases, start=1)}
        for path, case in pictures.items():
            if not path.exists() and (picture := reader.picture(case)) is not None:
                write_picture(path, picture)
    return [str(path) for path in pictures if path.exists()]


def _samples(text: str) -> dict[str, int]:
    """What `rise=200,lime=100` says."""
    found = {}
    for part in split_names(text):
        name, _, number = part.partition("=")
        if name not in INTERPRETERS:
            raise UnknownName("interpreter", name, INTERPRETERS)
        if not number.isdigit() or int(number) < 1:
            raise BadInput(f"--samples {part!r} is not of the form rise=200")
        found[name] = int(number)
    return found
