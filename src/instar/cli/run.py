"""`instar run`: a campaign, from a plan, from flags, or from both."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.overrides import add_settings, override, put_settings
from instar.campaigns.plan import Plan, Tables, Use, make_plan, read_tables, require_trust, uses_of
from instar.campaigns.rule_texts import read_rules
from instar.campaigns.toml import parse_value
from instar.cli.flags import gate_arguments, gate_from
from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.report.text import render_comparison
from instar.report.text_style import terminal_style
from instar.user_file import parse_toml

if TYPE_CHECKING:
    from instar.campaigns.result import Gate


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("plan", nargs="?", metavar="PLAN.toml", help="a plan; flags override what it says")
    add("--system", metavar="NAME", help="what is tested: a built-in name or module:attr")
    names = "what must hold, as a,b,c: built-in names or module:attr (the suite of the system's task)"
    add("--relation", action="append", metavar="NAMES", help=names)
    rules = 'a driving rule, "If: ..., Then: ...", or a file with one on each line; repeat it'
    add("--rule", action="append", metavar="TEXT", help=rules)
    add("--ontology", metavar="FILE", help="words of your own for driving rules, added to instar's")
    add(
        "--engines", metavar="FILE", help="what makes the pictures of driving rules: a name, or your own file"
    )
    add("--paper", action="store_true", help="judge as in the paper: a rule's bare inequality, IoMin")
    add("--scenes", metavar="PATH", help="a folder, a picture, a COCO json, ..., or street:N for drawn ones")
    add("--interpreter", metavar="NAME", help="of a classifier: grad-cam, rise, lime, ...")
    add("--objects", metavar="SYSTEM", help="the helper that finds objects where the data knows none")
    add("--referees", metavar="NAMES", help="systems that say what is there, as a,b, or none (the task's)")
    add("--referee-labels", metavar="FILE", help="a TOML file: a referee's label = the system's name for it")
    add("--changes", metavar="RUN", help="ask the changes of that run, on its scenes, of another system")
    add("--palette", metavar="NAME", help="what label maps mean: cityscapes, camvid, a2d2, ..., or a file")
    add("--maps", metavar="SYSTEM", help="what makes label maps where the data has none (street-maps)")
    add("--pool", metavar="DIR", help="cut-outs to use instead of those made from the scenes")
    add("--search", metavar="NAME", help="which changes to try: guided, random, draws, ...")
    add("--seed", type=int, metavar="N", help="where random numbers start (0)")
    add("--budget", type=int, metavar="N", help="questions to the system, at most")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--timeout", type=float, metavar="S", help="seconds that one call of the system may take (120)")
    add("--max-seconds", type=float, metavar="S", help="stop after so many seconds")
    add_settings(parser, "OWNER.KEY=VALUE", "an option of a relation, system, search or limits; repeat it")
    add("--out", metavar="RUN", help="the run folder (runs/SYSTEM, numbered)")
    add("--resume", action="store_true", help="continue an existing run")
    add("--trust", action="store_true", help="import the code that RUN/plan.toml or --changes RUN names")
    add("--yes", action="store_true", help="send pictures to a service that is paid for without asking first")
    add("--on", choices=("local", "ray"), help="where the system is: here (local), or in actors of a cluster")
    add("--address", metavar="HOST:PORT", help="of the head of the cluster (the one this machine is part of)")
    add("--workers", type=int, metavar="N", help="threads (as many as there are processors)")
    add("--batch", type=int, metavar="N", help="inputs per call of the system")
    gate_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    # Loads OpenCV and SQLite, which neither --help nor a wrong plan should wait for.
    plan = plan_from(args)
    gate = gate_from(args)
    from instar.campaigns.run import execute

    try:
        runs = execute(plan, resume=args.resume, quiet=args.quiet, yes=args.yes)
    except BadInput as error:
        # Options are checked only when what they are for has been found; they may stand in the file.
        if args.plan is None:
            raise
        raise BadInput(f"{args.plan}: {error}") from error
    return outcome_of(runs, gate, brief=args.quiet)


def plan_from(args: argparse.Namespace) -> Plan:
    """The plan that a file and flags make together; what a run folder names must be trusted."""
    tables: Tables = {} if args.plan is None else read_tables(Path(args.plan))
    if args.changes is not None:
        tables = _tables_of(args) | tables
    names = _names(args.relation)
    if args.rule:
        # Like --relation, rules take the place of what the plan says, and may stand beside --relation.
        kept = tables.get("relation", []) if names else []
        rules = [{"use": "rule", "text": text, **_rule_options(args)} for text in read_rules(args.rule)]
        tables = tables | {"relation": [*kept, *rules]}
        names = [*names, "rule"] if names else None
    elif args.ontology or args.engines:
        raise BadInput("--ontology and --engines are about rules; give --rule as well")
    scenes = ("scenes", "palette", "maps", "objects", "pool", "limit", "referees", "referee_labels")
    plain = (*scenes, "changes", "search", "seed", "out", "workers", "batch")
    flags = {name: getattr(args, name) for name in plain} | {
        "system": None if args.system is None else [args.system],
        "relation": names,
        "limits": {"queries": args.budget, "seconds": args.max_seconds, "timeout": args.timeout},
    }
    if args.on == "local":
        tables = {key: value for key, value in tables.items() if key != "ray"}
    if args.on == "ray" or "ray" in tables:
        flags["ray"] = {"address": args.address}
    elif args.address is not None:
        raise BadInput("--address is of a cluster; give --on ray")
    settings = list(args.set)
    if args.paper and not args.rule:
        settings += _as_in_the_paper(names or [one["use"] for one in tables.get("relation", [])])
    if args.interpreter is not None:
        settings.append(f"system.interpreter={args.interpreter}")
    plan = make_plan(put_settings(override(tables, flags), settings))
    if args.plan is not None and _is_of_a_run(Path(args.plan)):
        values = [str(parse_value(setting.partition("=")[2].strip())) for setting in settings]
        referees = (args.referees or "").split(",")
        given = {args.system, *(names or ()), args.search, args.objects, args.maps, *referees, *values}
        require_trust(uses_of(plan), args.plan, trusted=args.trust, given=given)
    return plan


def _as_in_the_paper(names: list[str]) -> list[str]:
    """The settings that judge relations as their paper does."""
    from instar.campaigns.resolve import takes

    found = [f"{name}.paper=true" for name in names if takes(Use(name), "paper")]
    if not found:
        raise BadInput("--paper is for rules of driving and for relations such as insert; name one of them")
    return found


def _is_of_a_run(plan: Path) -> bool:
    """Whether a plan lies in a run folder, which may be anybody's; any other is the user's own word."""
    folders = (plan.parent, plan.resolve().parent)
    return any((folder / name).exists() for folder in folders for name in ("run.sqlite", "provenance.json"))


def _tables_of(args: argparse.Namespace) -> Tables:
    """What the run whose changes are asked again was asked for; all but the system and where it goes."""
    from instar.store import RunStore

    for flag in ("relation", "rule", "search", "objects", "pool", "seed"):
        if getattr(args, flag) is not None:
            raise BadInput(f"--{flag} cannot be given with --changes: it is as in {args.changes}")
    with RunStore.read(args.changes) as store:
        tables = parse_toml(store.plan())
    named = ("relation", "referees") if args.referees is None else ("relation",)
    uses = [use for use in uses_of(make_plan(tables, complete=False)) if use[0] in named]
    require_trust(uses, args.changes, trusted=args.trust)
    # What is fair and what is real is judged as it was there.
    kept = ("scenes", "relation", "truth", "palette", "referees", "referee_labels", "limit", "seed")
    return {key: tables[key] for key in kept if key in tables}


def _rule_options(args: argparse.Namespace) -> dict[str, Any]:
    """What flags say of how rules are read and made; files are named wherever the run is resumed from."""
    options: dict[str, Any] = {"paper": True} if args.paper else {}
    for name in ("ontology", "engines"):
        value = getattr(args, name)
        if value is not None:
            options[name] = os.path.abspath(value) if Path(value).is_file() else value
    return options


def _names(given: list[str] | None) -> list[str] | None:
    if given is None:
        return None
    return [name.strip() for names in given for name in names.split(",") if name.strip()]


def outcome_of(runs: list[str], gate: Gate, *, brief: bool = False) -> Outcome:
    """One system's report, or those of several one after the other and a comparison below."""
    from instar.campaigns.result import read_result
    from instar.store import RunStore

    look, results = terminal_style(), []
    for run in runs:
        with RunStore.read(run) as store:
            results.append(read_result(store, gate))
    if len(results) == 1:
        return Outcome(results[0].text(look, brief=brief), results[0].document(), results[0].status)
    comparison = render_comparison([result.summary for result in results])
    text = "\n\n".join([*(result.text(look, brief=brief) for result in results), comparison])
    document = {"runs": [result.document() for result in results]}
    return Outcome(text, document, max(result.status for result in results))
