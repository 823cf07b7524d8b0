"""A plan carried out: look everything up, open the run folder, run, and count what came out."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from instar.campaign import Campaign
from instar.cli.builtin import USUAL_SEARCH
from instar.cli.plan import Plan, RelationUse, Use, plan_to_toml
from instar.cli.progress import show_campaign, show_steps
from instar.cli.resolve import resolve_relation, resolve_search, resolve_system, takes
from instar.engines.local import run_local
from instar.errors import BadInput
from instar.relation import Relation
from instar.report import Summary, summarise
from instar.running import Folder, identity_of, prepared
from instar.scenes import load_scenes, require_one_readable
from instar.store import RunStore

__all__ = ["execute", "read_summary", "resolve_relations", "settle"]


def settle(plan: Plan, system: Use) -> Plan:
    """The plan of the run of one of its systems: nothing in it depends on where it is read."""
    out = plan.out or f"runs/{_as_file_name(system.name)}"
    if plan.out and len(plan.systems) > 1:
        out = str(Path(plan.out) / _as_file_name(system.name))
    is_path = plan.format is not None or Path(plan.scenes).exists()
    return dataclasses.replace(
        plan,
        systems=(system,),
        out=out,
        scenes=os.path.abspath(plan.scenes) if is_path else plan.scenes,
        pool=None if plan.pool is None else os.path.abspath(plan.pool),
        truth=None if plan.truth is None else os.path.abspath(plan.truth),
        relations=tuple(map(_with_usual_search, plan.relations)),
    )


def execute(plan: Plan, *, resume: bool = False, quiet: bool = False) -> Summary:
    """Run the settled plan into its folder.

    Everything that can be refused is refused before the folder is made.
    """
    (use,) = plan.systems
    assert plan.out is not None, "the plan is not settled"
    relations = resolve_relations(plan, _helpers(plan))
    searches = [resolve_search(pair.search) for pair in plan.relations if pair.search is not None]
    scenes = load_scenes(plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth)
    require_one_readable(scenes)
    campaign = Campaign(
        scenes=scenes,
        relations=list(zip(relations, searches)),
        system=resolve_system(use),
        seed=plan.seed,
        limits=plan.limits,
        name=plan.out,
    )
    written = plan_to_toml(plan)
    is_new = not (Path(plan.out) / "run.sqlite").exists()
    open_run = RunStore.resume if resume else RunStore.create
    with open_run(plan.out, identity=_identity(campaign, plan)) as store:
        store.keep_plan(written)
        if is_new and not quiet:
            print(f"{plan.out} keeps pictures of your data; nothing leaves this machine", file=sys.stderr)
        workspace = Folder(store.folder, partial(show_steps, quiet=quiet))
        ready = [(prepared(relation, scenes, workspace), search) for relation, search in campaign.relations]
        _run(dataclasses.replace(campaign, relations=ready), store, plan, quiet)
        return read_summary(store)


def resolve_relations(plan: Plan, given: Mapping[str, Any]) -> list[Relation]:
    """The relations of a plan, not yet prepared for its scenes; each gets what it takes of `given`."""
    return [resolve_relation(pair.relation, given=given) for pair in plan.relations]


def read_summary(store: RunStore) -> Summary:
    totals = store.totals()
    if totals is None:
        raise BadInput(f"{store.folder} has no result yet: it is being made, or was killed; try --resume")
    return summarise(store.records(changes=False), totals)


def _helpers(plan: Plan) -> dict[str, Any]:
    """The helper system and the cut-outs that were named, refused where nothing would use them."""
    helpers: dict[str, Any] = {}
    if plan.objects is not None:
        helpers["objects"] = resolve_system(Use(plan.objects), what="helper")
    if plan.pool is not None:
        helpers["pool"] = Path(plan.pool)
    for name in helpers:
        if not any(takes(pair.relation, name) for pair in plan.relations):
            raise BadInput(f"{name} was given, but none of the relations makes use of it")
    return helpers


def _run(campaign: Campaign, store: RunStore, plan: Plan, quiet: bool) -> None:
    workers = plan.workers or os.cpu_count() or 1
    with (
        show_campaign(plan.limits, quiet=quiet) as watch,
        closing(run_local(campaign, store, workers=workers, batch=plan.batch, watch=watch)) as records,
    ):
        for _ in records:
            pass  # the store has them


def _identity(campaign: Campaign, plan: Plan) -> dict[str, Any]:
    """What a resumed run must agree with; options count, since other ones make other cases."""
    return identity_of(campaign) | {"options": [dataclasses.asdict(pair) for pair in plan.relations]}


def _with_usual_search(pair: RelationUse) -> RelationUse:
    if pair.search is not None:
        return pair
    return RelationUse(pair.relation, Use(USUAL_SEARCH.get(pair.relation.name, "draws")))


def _as_file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
