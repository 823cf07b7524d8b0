"""A plan carried out: look everything up, open the run folder, run, and count what came out."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from instar.cli.catalogue import usual_search
from instar.cli.plan import Plan, RelationUse, Use, plan_to_toml
from instar.cli.progress import show_campaign, show_steps
from instar.cli.resolve import resolve_relation, resolve_search, resolve_system, takes
from instar.core.campaign import Campaign
from instar.core.change import Change
from instar.core.errors import BadInput
from instar.core.record import Totals
from instar.core.relation import Relation
from instar.core.run import Folder, identity_of, prepared
from instar.core.scene import Scene
from instar.core.search import Search, SearchAcross, stored
from instar.core.system import System
from instar.engines.local import run_local
from instar.report import Summary, summarise
from instar.scenes import load_scenes, require_one_readable
from instar.store import RunStore
from instar.store.pictures import Pictures

__all__ = ["as_driven", "execute", "read_summary", "read_totals", "resolve_relations"]

HELPER = "yolox-nano"
"""What finds objects where the data knows none and no helper was named."""


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What a plan asks for one of its systems: the plan of that run alone, and what it names, looked up."""

    plan: Plan
    out: str
    campaign: Campaign


Ready = Callable[[Relation, Sequence[Scene], Folder], Relation]


def execute(
    plan: Plan, *, resume: bool = False, quiet: bool = False, ready: Ready = prepared
) -> list[Summary]:
    """Run the plan for each of its systems, into a folder each.

    Whatever can be refused, of any of them, is refused before the first is asked anything. `ready` makes
    relations fit for the scenes.
    """
    jobs = look_up(plan)
    with ExitStack() as stack:
        stores = [stack.enter_context(_opened(job, resume=resume, quiet=quiet)) for job in jobs]
        return [_carry_out(job, store, ready, quiet=quiet) for job, store in zip(jobs, stores)]


def look_up(plan: Plan) -> list[Job]:
    """Everything that a plan names, found and made."""
    plan = _settled(plan)
    relations = resolve_relations(plan, _helpers(plan))
    if plan.changes is None:
        searches = [resolve_search(pair.search) for pair in plan.relations if pair.search is not None]
    else:
        searches = _stored_changes(plan.changes, relations)
    scenes = load_scenes(
        plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth, palette=plan.palette
    )
    require_one_readable(scenes)
    return [
        Job(
            dataclasses.replace(plan, systems=(use,), out=out),
            out,
            Campaign(
                scenes=scenes,
                relations=list(zip(relations, searches)),
                system=resolve_system(use),
                seed=plan.seed,
                limits=plan.limits,
                name=out,
            ),
        )
        for use, out in zip(plan.systems, _folders(plan))
    ]


def resolve_relations(plan: Plan, given: Mapping[str, Any]) -> list[Relation]:
    """The relations of a plan, not yet prepared for its scenes; each gets what it takes of `given`."""
    relations = [resolve_relation(pair.relation, given=given) for pair in plan.relations]
    names = [relation.name for relation in relations]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f'two relations are called {name!r}; write name = "..." into one in the plan')
    return relations


def read_summary(store: RunStore) -> Summary:
    """What the run found."""
    return summarise(store.records(changes=False), read_totals(store))


def read_totals(store: RunStore) -> Totals:
    """The account of a run; it goes by the folder it is in now, wherever it was made."""
    totals = store.totals()
    if totals is None:
        raise BadInput(f"{store.folder} has no result yet: it is being made, or was killed; try --resume")
    return dataclasses.replace(totals, run=str(store.folder))


def _stored_changes(run: str, relations: Sequence[Relation]) -> list[Search | SearchAcross]:
    """For each relation the changes that a run has tried, as a search."""
    changes: dict[str, dict[str, list[Change]]] = {relation.name: {} for relation in relations}
    with RunStore.read(run) as store:
        for relation, source, change in store.changes():
            changes.setdefault(relation, {}).setdefault(source, []).append(change)
    return [stored(changes[relation.name]) for relation in relations]


def _helpers(plan: Plan) -> dict[str, Any]:
    """The helper system and the cut-outs that were named, refused where nothing would use them."""
    if plan.changes is not None:
        # A run carries the cut-outs it used, and nothing new is drawn.
        return {"pool": Pictures(Path(plan.changes) / "pictures")}
    helpers: dict[str, Any] = {}
    if plan.objects is not None:
        helpers["objects"] = resolve_system(Use(plan.objects), what="helper")
    if plan.maps is not None:
        helpers["maps"] = resolve_system(Use(plan.maps), what="helper")
    if plan.pool is not None:
        helpers["pool"] = Path(plan.pool)
    for name in helpers:
        if not any(takes(pair.relation, name) for pair in plan.relations):
            raise BadInput(f"{name} was given, but none of the relations makes use of it")
    helpers.setdefault("objects", Helper(HELPER))
    return helpers


class Helper:
    """A system that is looked up when it is asked for the first time: most scenes know their objects."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._system: System | None = None

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        if self._system is None:
            self._system = resolve_system(Use(self.name), what="helper")
        return self._system.predict(inputs)


@contextmanager
def _opened(job: Job, *, resume: bool, quiet: bool) -> Iterator[RunStore]:
    written = plan_to_toml(job.plan)
    is_new = not (Path(job.out) / "run.sqlite").exists()
    open_run = RunStore.resume if resume else RunStore.create
    with open_run(job.out, identity=_identity(job)) as store:
        store.keep_plan(written)
        if is_new and not quiet and _are_files(job.plan):
            host = getattr(job.campaign.system, "sends_to", "")
            where = (
                f"{job.campaign.system.name} sends them to {host}" if host else "instar sends them nowhere"
            )
            print(f"{job.out} keeps pictures of your data; {where}", file=sys.stderr)
        yield store


def _carry_out(job: Job, store: RunStore, ready: Ready, *, quiet: bool) -> Summary:
    plan, campaign = job.plan, job.campaign
    workspace = Folder(store.folder, partial(show_steps, quiet=quiet))
    relations = [(ready(relation, campaign.scenes, workspace), how) for relation, how in campaign.relations]
    campaign = dataclasses.replace(campaign, relations=relations)
    workers = plan.workers or os.cpu_count() or 1
    with (
        show_campaign(plan.limits, what=campaign.system.name, quiet=quiet) as watch,
        closing(run_local(campaign, store, workers=workers, batch=plan.batch, watch=watch)) as records,
    ):
        for _ in records:
            pass  # the store has them
    return read_summary(store)


def _identity(job: Job) -> dict[str, Any]:
    """What a resumed run must agree with, one short value a key: the first that differs is told.

    Options count, since other ones make other cases.
    """
    plan, campaign = job.plan, job.campaign
    (system,) = plan.systems
    ids = [scene.id for scene in campaign.scenes]
    digest = hashlib.sha256(json.dumps(ids).encode()).hexdigest()[:8]
    identity = identity_of(campaign) | {
        "scenes": f"{plan.scenes}: {len(ids)} in all, {digest}",
        "scenes.format": plan.format,
        "objects": plan.objects,
        "pool": plan.pool,
        "truth": plan.truth,
        "changes": plan.changes,
        "palette": plan.palette,
        "maps": plan.maps,
    }
    named = [("system", system)]
    for (relation, _), pair in zip(campaign.relations, plan.relations):
        assert pair.search is not None, "the plan is not settled"
        named += [(relation.name, pair.relation), (f"{relation.name}.search", pair.search)]
    for owner, use in named:
        identity |= {f"{owner}.use": use.name} | {f"{owner}.{k}": v for k, v in use.options.items()}
    return identity


def _settled(plan: Plan) -> Plan:
    """The same plan, with nothing in it that depends on where it is read."""
    return dataclasses.replace(
        plan,
        scenes=os.path.abspath(plan.scenes) if _are_files(plan) else _world(plan),
        pool=None if plan.pool is None else os.path.abspath(plan.pool),
        truth=None if plan.truth is None else os.path.abspath(plan.truth),
        changes=None if plan.changes is None else os.path.abspath(plan.changes),
        palette=plan.palette
        if plan.palette is None or not Path(plan.palette).is_file()
        else os.path.abspath(plan.palette),
        relations=tuple(map(_with_usual_search, plan.relations)),
    )


def _world(plan: Plan) -> str:
    """The drawn scenes that are meant."""
    rules = all(pair.relation.name == "rule" for pair in plan.relations)
    return as_driven(plan.scenes) if rules else plan.scenes


def as_driven(scenes: str) -> str:
    """`street:N` in a driver's eyes, which is `drive:N`; any other scenes as they are."""
    world, colon, rest = scenes.partition(":")
    return f"drive{colon}{rest}" if world == "street" and colon else scenes


def _are_files(plan: Plan) -> bool:
    return plan.format is not None or Path(plan.scenes).exists()


def _folders(plan: Plan) -> list[str]:
    """A run folder for each system, by its name; a second one of that name gets `-2`."""
    if plan.out and len(plan.systems) == 1:
        return [plan.out]
    names: list[str] = []
    for use in plan.systems:
        name = own = _as_file_name(use.called or use.name)
        n = 1
        while name in names:
            n += 1
            name = f"{own}-{n}"
        names.append(name)
    return [str(Path(plan.out or "runs") / name) for name in names]


def _with_usual_search(pair: RelationUse) -> RelationUse:
    if pair.search is not None:
        return pair
    return RelationUse(pair.relation, Use(usual_search(pair.relation.name)))


def _as_file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
