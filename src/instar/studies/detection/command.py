"""`instar study detection`: random, guided and relocating campaigns over detectors, and their tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from instar.campaigns.plan import Plan, RelationUse, Use
from instar.core.outcome import Outcome
from instar.core.system import Limits
from instar.studies.output import folder_name, outcome, system_names

if TYPE_CHECKING:
    from instar.campaigns.reader import RunReader
    from instar.core.record import Record
    from instar.core.replay import Replay
    from instar.core.scene import Scene
    from instar.core.system import System
    from instar.studies.detection.counts import DetectorCounts, FalseAlarms

__all__ = ["arguments", "perform"]

SEARCHES = ("random", "guided", "relocation")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", required=True, metavar="A,B,C", help="the detectors, by name or module:attr")
    add("--scenes", required=True, metavar="PATH", help="a folder, a COCO json, ..., or street:N")
    add("--queries", type=int, default=1600, metavar="N", help="questions of each search (1600)")
    add("--nulls", type=int, default=6, metavar="N", help="fresh null changes of each scene (6)")
    add("--price-per-query", type=float, default=0.0, metavar="X", help="for the account only (0)")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add("--plots", action="store_true", help="also draw the figures; needs the extra 'plots'")
    add("--out", default="studies/detection", metavar="DIR", help="runs and tables (studies/detection)")


def perform(args: argparse.Namespace) -> Outcome:
    names = system_names(args.systems)
    # OpenCV, SciPy and SQLite, which --help should not wait for.
    from instar.campaigns.resolve import resolve_system
    from instar.scenes import load_scenes
    from instar.studies.detection.tables import tables

    if args.plots:
        from instar.studies import require_matplotlib

        require_matplotlib()
    scenes = load_scenes(args.scenes, limit=args.limit)
    detectors = {name: resolve_system(Use(name)) for name in names}  # all of them, before the first is run
    out = Path(args.out)
    systems = [_count_system(name, system, scenes, args, out) for name, system in detectors.items()]
    made = list(tables(systems))
    figures: list[str] = []
    if args.plots:
        from instar.studies.detection.plots import draw_figures

        figures = [str(path) for path in draw_figures(systems, out)]
    return outcome("detection", made, out, figures, names=2)


def _count_system(
    name: str, system: System, scenes: Sequence[Scene], args: argparse.Namespace, out: Path
) -> DetectorCounts:
    """Run the campaigns that have not been run, and count all of them."""
    from instar.campaigns.reader import open_run
    from instar.campaigns.run import execute
    from instar.studies.detection.counts import DetectorCounts, count_campaign

    folder = out / folder_name(name)
    campaigns = {}
    for search in SEARCHES:
        plan = Plan(
            systems=(Use(name),),
            relations=(RelationUse(Use("insertion"), Use(search, {"per_object": 1000})),),
            scenes=args.scenes,
            seed=args.seed,
            limit=args.limit,
            pool=_pool(scenes, out, quiet=args.json),
            out=str(folder / search),
            limits=Limits(queries=args.queries, price_per_query=args.price_per_query),
        )
        execute(plan, resume=True, quiet=args.json)
        with open_run(str(folder / search), quiet=args.json) as there:
            campaigns[search] = count_campaign(_replayed(there), there.store.totals())
    return DetectorCounts(name, campaigns, _count_false_alarms(system, scenes, args, folder / "nothing"))


def _pool(scenes: Sequence[Scene], out: Path, *, quiet: bool) -> str:
    """One pool of cut-outs for all campaigns, made once."""
    from functools import partial

    from instar.campaigns.progress import show_steps
    from instar.tasks.detection.pool import pool_from_scenes

    folder = out / "pool"
    if not (folder / "index.json").is_file():
        progress = partial(show_steps, quiet=quiet)
        pool_from_scenes(scenes, folder, objects="yolox-nano", outline="grabcut", progress=progress)
    return str(folder)


def _replayed(there: RunReader) -> Iterator[tuple[Record, Replay | None]]:
    """Every record, cases with their pictures: made again from the recipe and the stored answers."""
    for record in there.store.records():
        is_case = record.role == "case" and record.change is not None
        yield record, there.replay(record, there.remembered) if is_case else None


def _count_false_alarms(
    system: System, scenes: Sequence[Scene], args: argparse.Namespace, out: Path
) -> FalseAlarms:
    from instar import draws, run
    from instar.studies.detection.counts import count_false_alarms, null_relation

    relation = null_relation()
    return count_false_alarms(
        run(scenes, relation, system, search=draws(args.nulls), seed=args.seed, out=out, resume=True)
    )
