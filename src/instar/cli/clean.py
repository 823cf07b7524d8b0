"""`instar clean`: how much space runs take, and giving it back."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput, RunError
from instar.core.outcome import Outcome
from instar.report.text import table
from instar.report.words import counted, readable

if TYPE_CHECKING:
    from instar.store.clean import Space

LOSS = {
    "pictures": "Pictures of findings are made again when they are looked at; those of your own relations "
    "need their code.",
    "answers": "Without its answers a run can neither be resumed nor replayed from memory: everything would "
    "be asked again.",
    "all": "The runs are gone with everything that was said about them.",
}
UNITS = ("B", "kB", "MB", "GB", "TB")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", nargs="+", metavar="RUN|DIR", help="a run folder, or a folder of them")
    what = parser.add_mutually_exclusive_group()
    for part, words in (
        ("pictures", "the pictures of findings"),
        ("answers", "the answers of the system"),
        ("all", "the whole runs, with marks and ratings"),
    ):
        what.add_argument(f"--{part}", dest="what", action="store_const", const=part, help=f"remove {words}")
    add("--yes", action="store_true", help="do it; without this, only say what would be freed")


def perform(args: argparse.Namespace) -> Outcome:
    from instar.store.clean import PARTS, clean_run, hold_runs

    if args.yes and args.what is None:
        raise BadInput("--yes to what? give --pictures, --answers or --all as well")
    spaces, others = _measure(args.runs)
    freed = {space.folder: space.removable[args.what] if args.what else 0 for space in spaces}
    if args.yes:
        with hold_runs(freed):
            freed = {folder: clean_run(folder, args.what) for folder in freed}
    now = time.time()
    document = {
        "runs": [
            {
                "run": str(space.folder),
                "system": space.system,
                "age_seconds": round(max(0.0, now - space.written)),
                "bytes": {part: space.sizes[part] for part in PARTS},
                "freed": freed[space.folder],
            }
            for space in spaces
        ],
        "left_alone": others,
        "what": args.what,
        "removed": args.yes,
        "freed": sum(freed.values()),
    }
    lines = [_listed(spaces, now), "", *(f"left alone: {readable(reason, 400)}" for reason in others)]
    if args.what:
        runs, size = counted(len(spaces), "run"), _words(sum(freed.values()))
        done = (
            f"{size} freed in {runs}." if args.yes else f"About {size} would be freed in {runs}; say --yes."
        )
        lines += [done, LOSS[args.what]]
    return Outcome("\n".join(lines), document)


def _measure(given: list[str]) -> tuple[list[Space], list[str]]:
    """The runs that were named; and why run files that were found among them are none of ours."""
    from instar.store.clean import find_runs, measure_run

    spaces: dict[Path, Space] = {}
    others = []
    for folder in map(Path, given):
        found = find_runs(folder)
        if not found:
            raise BadInput(f"{folder} is no run folder, and there is none in it")
        for run in found:
            try:
                spaces.setdefault(run.resolve(), measure_run(run))
            except RunError as error:  # noqa: PERF203 - the others are listed all the same
                if run == folder:
                    raise
                others.append(str(error))
    return list(spaces.values()), others


def _listed(spaces: list[Space], now: float) -> str:
    from instar.store.clean import PARTS

    rows = [["run", "system", "age", *PARTS, "in all"]]
    for space in spaces:
        sizes = [space.sizes[part] for part in PARTS]
        names = [readable(str(space.folder), 60), readable(space.system, 40), _age(now - space.written)]
        rows.append([*names, *(_words(size) for size in (*sizes, sum(sizes)))])
    return table(rows, right=range(2, len(rows[0])))


def _age(seconds: float) -> str:
    days, hours = divmod(max(0, round(seconds / 3600)), 24)
    return counted(days, "day") if days else counted(hours, "hour")


def _words(size: float) -> str:
    """A number of bytes.

    >>> _words(0), _words(2_500), _words(3_400_000_000)
    ('0 B', '2.5 kB', '3.4 GB')
    """
    power = 0
    while size >= 1000 and power < len(UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.1f} {UNITS[power]}" if power else f"{size} B"
