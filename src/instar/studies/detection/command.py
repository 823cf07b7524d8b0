"""`instar study detection`: campaigns of four searches over detectors, and the tables of the paper."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from instar import draws, run
from instar.campaigns.overrides import put_settings
from instar.campaigns.plan import RelationUse, Use
from instar.campaigns.reader import Named, RunReader, open_run
from instar.campaigns.resolve import resolve_relation
from instar.core.outcome import Outcome
from instar.core.record import Record
from instar.core.replay import Replay
from instar.core.scene import Scene
from instar.core.system import Limits, System
from instar.progress import show_steps
from instar.scenes import load_scenes
from instar.studies.campaign import find_systems, folder_of, run_campaign
from instar.studies.detection.counts import (
    DetectorCounts,
    count_campaign,
    count_false_alarms,
    null_relation,
)
from instar.studies.detection.plots import draw_figures
from instar.studies.detection.tables import make_tables
from instar.studies.output import tell
from instar.tasks.detection.pool import pool_from_scenes

SEARCHES = {
    "random": {"per_object": 1000},
    "guided": {"per_object": 1000},
    "relocation": {"per_object": 1000},
    "adaptive": {"draws": 1000},
}
"""Each with enough changes to spend all questions on."""
OF_RELATION = ("insertion.", "relation.")


def perform(args: argparse.Namespace) -> Outcome:
    systems = find_systems(args, [one for one in args.set if not one.startswith(OF_RELATION)])
    relation = _insertion(one for one in args.set if one.startswith(OF_RELATION))
    scenes = load_scenes(args.scenes, limit=args.limit)
    out = Path(args.out)
    counted = [_count_system(use, system, relation, scenes, args) for use, system in systems]
    figures = draw_figures(counted, out) if args.plots else []
    return tell("detection", make_tables(counted), out, words=2, figures=figures)


def _insertion(settings: Iterable[str]) -> Use:
    """The relation with the options that were set for it."""
    (options,) = put_settings({"relation": [{"use": "insertion"}]}, settings)["relation"]
    use = Use("insertion", {key: value for key, value in options.items() if key != "use"})
    resolve_relation(use)  # refused before anything is asked
    return use


def _count_system(
    use: Use, system: System, relation: Use, scenes: Sequence[Scene], args: argparse.Namespace
) -> DetectorCounts:
    """Run the campaigns that have not been run, and count all of them."""
    folder = folder_of(args, use.name)
    limits = Limits(queries=args.queries, price_per_query=args.price_per_query)
    campaigns = {}
    pool = args.pool or _pool(scenes, Path(args.out) / "pool", quiet=args.json)
    for search, options in SEARCHES.items():
        pair = RelationUse(relation, Use(search, options))
        more = {"pool": pool, "limits": limits, "referees": args.referees}
        with run_campaign(args, use, [pair], folder / search, **more):
            pass
        with open_run(str(folder / search), named=Named(trusted=True), quiet=args.json) as reader:
            campaigns[search] = count_campaign(_replayed(reader), reader.store.totals())
    fresh, nothing = draws(args.nulls), folder / "nothing"
    nulls = run(scenes, null_relation(), system, search=fresh, seed=args.seed, out=nothing, resume=True)
    return DetectorCounts(use.name, campaigns, count_false_alarms(nulls))


def _pool(scenes: Sequence[Scene], folder: Path, *, quiet: bool) -> str:
    """One pool of cut-outs for all campaigns, made once."""
    if not (folder / "index.json").is_file():
        progress = partial(show_steps, quiet=quiet)
        pool_from_scenes(scenes, folder, objects="yolox-nano", outline="grabcut", progress=progress)
    return str(folder)


def _replayed(reader: RunReader) -> Iterator[tuple[Record, Replay | None]]:
    """Every record, cases with their pictures: made again from the recipe and the stored answers."""
    for record in reader.store.records():
        is_case = record.role == "case" and record.change is not None
        yield record, reader.replay(record, reader.remembered) if is_case else None
