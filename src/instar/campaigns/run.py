"""The one way to run: from Python, from a plan, from a test or from the workbench.

Whatever was named is looked up, the run folder is opened, relations prepare, and the engine goes. The plan is
kept with the run, so that whoever has the folder can report, replay, shrink, compare and resume it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast

import instar.report.notebook  # noqa: F401  # gives records their look in notebooks
from instar.adapters.elsewhere import QUESTIONS_FOLDER, Elsewhere
from instar.campaigns.catalogue import usual_search
from instar.campaigns.consent import agree
from instar.campaigns.definite_plan import (
    UNNAMED,
    are_files,
    plan_identity,
    remark_on,
    run_folders,
    settle_plan,
    use_of,
)
from instar.campaigns.plan import Plan, RelationUse, Use, plan_to_toml
from instar.campaigns.progress import show_campaign
from instar.campaigns.referees import find_referees
from instar.campaigns.rehearsal import Rehearsal
from instar.campaigns.resolve import (
    LazySystem,
    resolve_relation,
    resolve_searches,
    resolve_system,
    takes,
    tasks_of_system,
)
from instar.campaigns.task_choice import name_tasks
from instar.core.campaign import AnswerKey, Campaign, Store
from instar.core.change import Change
from instar.core.errors import BadInput
from instar.core.fingerprint import fingerprint_of
from instar.core.record import Record, Totals
from instar.core.referees import Referee
from instar.core.relation import Relation
from instar.core.scene import Scene
from instar.core.search import Search, SearchAcross, stored_changes
from instar.core.system import Limits, Reply, System, is_isolated
from instar.core.task import TASKS
from instar.core.workspace import Folder, prepare_relation
from instar.engines.account import Tally
from instar.engines.cluster import Cluster
from instar.engines.local import batch_size, run_local
from instar.engines.ray_system import send_to_cluster
from instar.engines.worker import Isolated
from instar.progress import say, show_steps
from instar.scenes import load_scenes, require_one_readable
from instar.store import MemoryStore, RunStore
from instar.store.pictures import Pictures

HELPER = "yolox-nano"
"""What finds objects where the data knows none and no helper was named."""
AnySearch = Search | SearchAcross
Prepare = Callable[[Relation, Sequence[Scene], Folder], Relation]


def run(
    scenes: str | Iterable[Scene],
    relation: str | Relation | Sequence[str | Relation],
    system: str | System,
    *,
    search: str | AnySearch | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    referees: str | Sequence[System] = "none",
    out: str | Path | None = None,
    resume: bool = False,
    workers: int = 1,
    batch: int | None = None,
    cluster: Cluster | None = None,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Generator[Record, None, None]:
    """Test a system; the records come one by one, those of null changes (`role == "null"`) included.

    Scenes, relations, system and search are objects, or names as the command line takes them. With `out`
    everything is kept in that folder, from which the command line reports, replays, shrinks and resumes;
    without it, nothing is written. With a `cluster` the system lives in actors of it. `referees` are systems,
    or names as `--referees` takes them ("" for the task's own).
    """
    several = [relation] if isinstance(relation, (str, Relation)) else list(relation)
    several = name_tasks(several, system, use_of("system", system, ""))
    relations = [one if isinstance(one, Relation) else resolve_relation(Use(one)) for one in several]
    tasks = [one.resolved_task.name for one in relations]
    if isinstance(system, str):
        tested = resolve_system(Use(system), tasks=tasks, cluster=cluster)
    else:
        tested = system if cluster is None else send_to_cluster(system, cluster)
    found = load_scenes(scenes) if isinstance(scenes, str) else scenes
    uses = [use_of("relation", one, relation.name) for one, relation in zip(several, relations)]
    searches = [use_of("search", search or usual_search(use.name), "search") for use in uses]
    campaign = Campaign(
        scenes=found if isinstance(found, list) else list(found),
        relations=list(
            zip(relations, [search] * len(uses) if callable(search) else resolve_searches(searches))
        ),
        system=tested,
        seed=seed,
        limits=limits or Limits(),
        name=str(out or ""),
    )
    plan = Plan(
        systems=(use_of("system", system, getattr(tested, "name", "")),),
        relations=tuple(RelationUse(use, one) for use, one in zip(uses, searches)),
        scenes=scenes if isinstance(scenes, str) else getattr(found, "source", UNNAMED),
        limit=getattr(found, "limit", None),
        seed=seed,
        out=str(out) if out is not None else None,
        referees=(referees or None) if isinstance(referees, str) and referees != "none" else None,
        limits=campaign.limits,
        ray=cluster,
    )
    if not isinstance(referees, str):
        asked = [Referee(one) for one in referees]
    else:
        asked = find_referees(plan, tasks, tested) if referees != "none" else []
    campaign = dataclasses.replace(campaign, referees=asked)
    batch = batch_size(tested, batch=batch, workers=workers)  # refused before a run folder is made
    with contextlib.ExitStack() as stack:
        if out is None:
            if resume:
                raise BadInput("resume needs a run folder; give out as well")
            store: Store = MemoryStore()
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="instar-")))
        else:
            kept = stack.enter_context(_open_run(settle_plan(plan), campaign, resume=resume))
            store, folder = kept, kept.folder
        rehearsal = Rehearsal(campaign, store, workers, batch)
        campaign = _prepare(campaign, Folder(folder, rehearse=rehearsal), prepare_relation)
        records = run_local(
            campaign, store, workers=workers, batch=batch, watch=watch, before=rehearsal.accounts
        )
        yield from stack.enter_context(contextlib.closing(records))


def execute(
    plan: Plan,
    *,
    resume: bool = False,
    quiet: bool = False,
    prepare: Prepare = prepare_relation,
    given: Sequence[GivenAnswer] = (),
    yes: bool = False,
) -> list[str]:
    """Run the plan for each of its systems; the folders that the runs are in.

    Whatever can be refused, of any of them, is refused before the first is asked anything. `prepare` makes
    relations fit for the scenes. `given` are answers that were made elsewhere; what is to be asked there
    next is written into the run folder. Without `yes` the user is asked before a paid service is.
    """
    campaigns = agree(_look_up(settle_plan(plan), resume=resume), yes=yes)
    with contextlib.ExitStack() as stack:
        stores = []
        for own, campaign in campaigns:
            is_new = not (Path(campaign.name) / "run.sqlite").exists()
            stores.append(stack.enter_context(_open_run(own, campaign, resume=resume)))
            if is_new and are_files(plan):
                say(_what_is_kept(campaign), quiet=quiet)
            if remark := remark_on(campaign):
                say(remark, quiet=quiet)
        for (own, campaign), store in zip(campaigns, stores):
            workers = own.workers or os.cpu_count() or 1
            rehearsal = Rehearsal(campaign, store, workers, own.batch)
            tell = partial(say, quiet=quiet)
            workspace = Folder(store.folder, partial(show_steps, quiet=quiet), tell, rehearsal)
            campaign = _prepare(campaign, workspace, prepare)
            later = campaign.system if isinstance(campaign.system, Elsewhere) else None
            if later is not None:
                store.keep_answers([one.key(fingerprint_of(later)) for one in given])
                later.open(store.folder / QUESTIONS_FOLDER)
            with show_campaign(own.limits, what=campaign.system.name, quiet=quiet) as watch:
                records = run_local(
                    campaign, store, workers=workers, batch=own.batch, watch=watch, before=rehearsal.accounts
                )
                with contextlib.closing(records):
                    for _ in records:
                        pass  # the store has them
            if later is not None:
                later.finish()
    return [campaign.name for _, campaign in campaigns]


@dataclasses.dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer that was made elsewhere, and the question that it answers."""

    digest: str
    repeat: int
    answer: Any

    def key(self, fingerprint: str) -> tuple[AnswerKey, Reply]:
        return AnswerKey(fingerprint, self.digest, self.repeat), Reply(self.answer)


def _look_up(plan: Plan, *, resume: bool) -> list[tuple[Plan, Campaign]]:
    """For each system of a plan the plan of its run alone, and everything that it names, found and made."""
    relations = resolve_relations(plan, _helpers(plan))
    if plan.changes is None:
        searches = resolve_searches([pair.search for pair in plan.relations if pair.search is not None])
    else:
        searches = _stored_changes(plan.changes, relations)
    scenes = load_scenes(
        plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth, palette=plan.palette
    )
    require_one_readable(scenes)
    tasks = [relation.resolved_task.name for relation in relations]
    for use in plan.systems:
        own = tasks_of_system(use)
        for relation, task in zip(relations, tasks):
            if own and task in set(TASKS) - set(own):
                raise BadInput(
                    f"relation {relation.name!r} is one of {task}, and {use.name!r} is a system for "
                    f"{' and '.join(own)}: see instar relations"
                )
    found = []
    for use, out in zip(plan.systems, run_folders(plan, resume=resume)):
        system = resolve_system(use, tasks=tasks, cluster=plan.ray)
        if plan.ray is not None and len(plan.systems) > 1 and is_isolated(system):
            cast(Isolated, system).close()  # so that there is room for the next
        campaign = Campaign(
            scenes=scenes,
            relations=list(zip(relations, searches)),
            system=system,
            seed=plan.seed,
            limits=plan.limits,
            name=out,
            referees=find_referees(plan, tasks, system),
        )
        found.append((dataclasses.replace(plan, systems=(use,), out=out), campaign))
    return found


def resolve_relations(plan: Plan, given: Mapping[str, Any]) -> list[Relation]:
    """The relations of a plan, not yet prepared for its scenes; each gets what it takes of `given`."""
    tasks = [task for use in plan.systems for task in tasks_of_system(use)]
    relations = [resolve_relation(pair.relation, given=given, tasks=tasks) for pair in plan.relations]
    names = [relation.name for relation in relations]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f'two relations are called {name!r}; write name = "..." into one in the plan')
    return relations


def read_totals(store: RunStore) -> Totals:
    """The account of a run; it goes by the folder it is in now, wherever it was made."""
    totals = store.totals()
    if totals is None:
        raise BadInput(f"{store.folder} has no result yet: it is being made, or was killed; try --resume")
    return dataclasses.replace(totals, run=str(store.folder))


def _prepare(campaign: Campaign, workspace: Folder, prepare: Prepare) -> Campaign:
    ready = [(prepare(relation, campaign.scenes, workspace), how) for relation, how in campaign.relations]
    return dataclasses.replace(campaign, relations=ready)


@contextlib.contextmanager
def _open_run(plan: Plan, campaign: Campaign, *, resume: bool) -> Iterator[RunStore]:
    open_run = RunStore.resume if resume else RunStore.create
    with open_run(campaign.name, identity=plan_identity(plan, campaign)) as store:
        store.limit_pictures(round(1e6 * campaign.limits.disk))
        store.keep_plan(plan_to_toml(plan))
        yield store


def _what_is_kept(campaign: Campaign) -> str:
    host = getattr(campaign.system, "sends_to", "")
    where = f"{campaign.system.name} sends them to {host}" if host else "instar sends them nowhere"
    return f"{campaign.name} keeps pictures of your data; {where}"


def _stored_changes(run: str, relations: Sequence[Relation]) -> list[AnySearch]:
    """For each relation the changes that a run has tried, as a search."""
    changes: dict[str, dict[str, list[Change]]] = {relation.name: {} for relation in relations}
    with RunStore.read(run) as store:
        for relation, source, change in store.changes():
            changes.setdefault(relation, {}).setdefault(source, []).append(change)
        totals = store.totals()
    yields = () if totals is None else totals.yields
    return [stored_changes(changes[one.name], were_drawn=one.name not in yields) for one in relations]


def _helpers(plan: Plan) -> dict[str, Any]:
    """The helper systems and the cut-outs that were named, refused where nothing would use them."""
    if plan.changes is not None:
        # A run carries the cut-outs it used, and nothing new is drawn.
        kept = Pictures(Path(plan.changes) / "pictures")
        return {"pool": kept, "cutouts": kept}
    helpers: dict[str, Any] = {}
    for name in ("objects", "maps"):
        if getattr(plan, name) is not None:
            helpers[name] = resolve_system(Use(getattr(plan, name)), what="helper")
    if plan.pool is not None:
        helpers["pool"] = Path(plan.pool)
    for name in helpers:
        if not any(takes(pair.relation, name) for pair in plan.relations):
            raise BadInput(f"{name} was given, but none of the relations makes use of it")
    helpers.setdefault("objects", LazySystem(HELPER, partial(resolve_system, Use(HELPER), what="helper")))
    return helpers
