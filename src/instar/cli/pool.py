"""`instar pool`: cut objects out of pictures, or fetch them, keep them, and look at them."""

from __future__ import annotations

import argparse
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput, UnknownName
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from instar.cutouts import Pool

HELPER = "yolox-nano"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "cut objects out of scenes; fetch photographs of Tux Paint (GPL-2); draw a pool as one picture"
    add("action", choices=["build", "fetch", "show"], help=what)
    add("pool", metavar="POOL", help="the folder of the pool")
    add("--scenes", metavar="PATH", help="build: where the objects are cut from")
    add("--objects", metavar="SYSTEM", default=HELPER, help="build: who finds objects if nothing is known")
    add("--outline", default="grabcut", metavar="NAME", help="build: outlines by grabcut, u2net-p or sam2")
    add("--keep", type=float, default=0.10, help="build: the largest share of each class (0.1)")
    add("--least", type=int, default=5, help="build: but so many of each class (5)")
    add("--limit", type=int, metavar="SCENES", help="build: scenes to use, at most")
    add("--package", metavar="FILE.deb", help="fetch: Debian's tuxpaint-stamps-default, if you have it")
    add("--label", help="show: only this class")
    add("--out", metavar="FILE.png", help="show: the contact sheet (POOL/contact-sheet.png)")


def perform(args: argparse.Namespace) -> Outcome:
    return {"build": _build, "fetch": _fetch, "show": _show}[args.action](args)


def _build(args: argparse.Namespace) -> Outcome:
    # OpenCV and the helper, which --help should not wait for.
    from instar.campaigns.catalogue import catalogues, import_home
    from instar.campaigns.plan import Use
    from instar.campaigns.resolve import resolve_system
    from instar.progress import show_steps
    from instar.scenes import load_scenes, require_one_readable

    if args.scenes is None:
        raise BadInput("instar pool build needs --scenes, the pictures to cut from")
    if not 0 < args.keep <= 1 or args.least < 1:
        raise BadInput(f"--keep is {args.keep} and --least {args.least}; a share above 0, and at least 1")
    folder = Path(args.pool)
    if folder.exists():
        raise BadInput(f"{folder} exists; give another folder, or remove it")
    scenes = load_scenes(args.scenes, limit=args.limit)
    require_one_readable(scenes)
    make_pool = import_home(next(one.pool for one in catalogues().values() if one.pool))
    pool: Pool = make_pool(
        scenes, folder,
        objects=HELPER if args.objects == HELPER else resolve_system(Use(args.objects), what="helper"),
        outline=args.outline, progress=partial(show_steps, quiet=args.quiet), keep=args.keep,
        least=args.least,
    )  # fmt: skip
    after = "; --outline sam2 may find more, at 5 s a picture" * bool(pool.without and args.outline != "sam2")
    return _told(pool, folder, after=after)


def _fetch(args: argparse.Namespace) -> Outcome:
    from instar.cutouts.tuxpaint import LICENCE, pool_from_tuxpaint

    folder = Path(args.pool)
    if folder.exists():
        raise BadInput(f"{folder} exists; give another folder, or remove it")
    pool = pool_from_tuxpaint(folder, package=Path(args.package) if args.package else None)
    return _told(pool, folder, f"Pictures of Tux Paint's contributors under {LICENCE}: ")


def _told(pool: Pool, folder: Path, before: str = "", after: str = "") -> Outcome:
    classes = Counter(cutout.label for cutout in pool.cutouts)
    text = f"{before}{len(pool)} cut-outs of {len(classes)} classes in {folder}"
    if pool.without:
        text += f"; found, but none that makes a good cut-out: {', '.join(pool.without)}"
    document = {
        "pool": str(folder),
        "cutouts": len(pool),
        "classes": dict(sorted(classes.items())),
        "without": list(pool.without),
    }
    look = f"; look at them: instar pool show {folder}" * bool(len(pool))
    return Outcome(f"{text}{after}{look}", document)


def _show(args: argparse.Namespace) -> Outcome:
    from instar.cutouts import load_pool
    from instar.cutouts.contact_sheet import contact_sheet
    from instar.report.files import write_picture
    from instar.report.text import table

    pool = load_pool(args.pool)
    labels = sorted({cutout.label for cutout in pool.cutouts})
    if args.label is not None and args.label not in labels:
        raise UnknownName("class", args.label, labels)
    shown = [cutout for cutout in pool.cutouts if args.label in (None, cutout.label)]
    if not shown:
        raise BadInput(f"{args.pool} has no cut-outs: nothing in its scenes made a good one")
    path = Path(args.out or Path(args.pool) / "contact-sheet.png")
    write_picture(path, contact_sheet(pool, shown))
    rows = [["class", "cut-outs", "median size"]]
    for label in dict.fromkeys(cutout.label for cutout in shown):
        group = sorted((c for c in shown if c.label == label), key=lambda c: c.area)
        middle = group[len(group) // 2]
        rows.append([label, str(len(group)), f"{middle.width} x {middle.height}"])
    document = {
        "pool": args.pool,
        "picture": str(path),
        "cutouts": [
            {"digest": c.digest, "label": c.label, "scene": c.scene, "width": c.width, "height": c.height}
            for c in shown
        ],
    }
    return Outcome(f"{table(rows, right=[1])}\n\npicture {path}", document)
