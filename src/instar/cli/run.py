"""`instar run`: a campaign, from a plan, from flags, or from both."""

from __future__ import annotations

import argparse
from pathlib import Path

from instar.cli.merge import override, put_settings
from instar.cli.outcome import Outcome, status_of
from instar.cli.plan import Plan, Tables, make_plan, read_tables
from instar.errors import BadInput
from instar.report.summary import Summary, to_json
from instar.report.text import render, render_comparison

__all__ = ["arguments", "perform"]


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("plan", nargs="?", metavar="PLAN.toml", help="a plan; flags override what it says")
    add("--system", metavar="NAME", help="what is tested: a built-in name or module:attr")
    add(
        "--relation",
        action="append",
        metavar="NAME",
        help="what must hold: a built-in name or module:attr; repeat it, or give a,b,c",
    )
    add("--scenes", metavar="PATH", help="a folder, a picture, a COCO json, ..., or street:N for drawn ones")
    add("--objects", metavar="SYSTEM", help="the helper that finds objects where the data knows none")
    add("--pool", metavar="DIR", help="cut-outs to use instead of those made from the scenes")
    add("--search", metavar="NAME", help="which changes to try: guided, random, draws, ...")
    add("--seed", type=int, metavar="N", help="where random numbers start (0)")
    add("--budget", type=int, metavar="N", help="questions to the system, at most")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--max-seconds", type=float, metavar="S", help="stop after so many seconds")
    add(
        "--set",
        action="append",
        default=[],
        metavar="RELATION.KEY=VALUE",
        help="an option of a relation, of the system, the search or the limits; repeat it",
    )
    add("--out", metavar="RUN", help="the run folder (runs/SYSTEM)")
    add("--resume", action="store_true", help="go on with a run that is there")
    add("--workers", type=int, metavar="N", help="threads (as many as there are processors)")
    add("--batch", type=int, metavar="N", help="inputs per call of the system")


def perform(args: argparse.Namespace) -> Outcome:
    plan = _plan(args)
    # Loads OpenCV and SQLite, which neither --help nor a wrong plan should wait for.
    from instar.cli.execute import execute

    try:
        summaries = execute(plan, resume=args.resume, quiet=args.json)
    except BadInput as error:
        # Options are checked only when what they are for has been found; they may stand in the file.
        raise BadInput(f"{args.plan}: {error}" if args.plan else str(error)) from error
    return _outcome(summaries)


def _plan(args: argparse.Namespace) -> Plan:
    tables: Tables = {} if args.plan is None else read_tables(Path(args.plan))
    plain = ("scenes", "objects", "pool", "search", "seed", "limit", "out", "workers", "batch")
    flags = {name: getattr(args, name) for name in plain} | {
        "system": None if args.system is None else [args.system],
        "relation": _names(args.relation),
        "limits": {"queries": args.budget, "seconds": args.max_seconds},
    }
    return make_plan(put_settings(override(tables, flags), args.set))


def _names(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    return [name.strip() for names in given for name in names.split(",") if name.strip()]


def _outcome(summaries: list[Summary]) -> Outcome:
    """One system's report, or those of several one after the other and a comparison below."""
    if len(summaries) == 1:
        (summary,) = summaries
        return Outcome(render(summary), to_json(summary), status_of(summary.counts))
    text = "\n\n".join([*map(render, summaries), render_comparison(summaries)])
    return Outcome(
        text,
        {"runs": [to_json(summary) for summary in summaries]},
        max(status_of(summary.counts) for summary in summaries),
    )
