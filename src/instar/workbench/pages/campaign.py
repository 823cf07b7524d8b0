"""Runs and campaigns: list them, or order one, watch it, stop it, go on with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from instar.core.errors import BadInput, InstarError
from instar.workbench.cards import cards_of
from instar.workbench.filters import CaseFilter, select_cases
from instar.workbench.orders import Offer, read_order
from instar.workbench.site import Site, file_of, form_of, go_to

SHOWN = 24  # violations on the page of a campaign
USUAL = "yolox-nano"  # the system of a form that nobody has filled in
ACTIVE_SECONDS = 8.0  # since the last record, within which a run is taken to be under way elsewhere


@dataclass(frozen=True, slots=True)
class State:
    """How a campaign is getting on. `word` says it; "elsewhere" is another process that writes to the run."""

    word: str
    queries: int = 0
    budget: int | None = None
    seconds: float = 0.0
    error: str = ""

    @property
    def is_running(self) -> bool:
        return self.word in ("running", "stopping")


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/")
    def first() -> Response:
        """The runs in the folder, or at once the cases where there is only one."""
        if len(site.library.runs) == 1 and not site.campaigns.running():
            return go_to("/explore", status="violated")
        return listed()

    @routes.get("/runs")
    def listed() -> Response:
        states = {name: state_of(site, name) for name in sorted(site.library.runs)}
        runs = site.library.runs  # not before: a state that is final comes with all its cases
        failing = site.library.table.failing_by_run()
        lines = [
            (runs[name], runs[name].counts(), failing.get(name, 0), state)
            for name, state in states.items()
            if name in runs
        ]
        return site.page("runs.html", title="Runs", lines=lines)

    @routes.get("/running")
    def running() -> Response:
        """What is under way, for the line above every page."""
        return site.page("running.html")

    @routes.get("/campaign/new")
    def new() -> Response:
        threading.Thread(target=site.rules.prepare, daemon=True).start()
        return _form(site, {})

    @routes.post("/campaign/new")
    def order(request: Request) -> Response:
        form = form_of(request)
        try:
            run = site.campaigns.start(read_order(form, site.offers, site.pictures.paths()))
        except InstarError as error:
            return _form(site, form, error=str(error), status=400)
        return go_to("/campaign", of=run)

    @routes.post("/pictures")
    def bring(request: Request, to: str, file: str) -> Response:
        """Keep a picture that was dragged into the page, in the set of that name."""
        try:
            return JSONResponse({"kept": site.pictures.keep(to, file, file_of(request))})
        except BadInput as error:
            return JSONResponse({"error": str(error)}, status_code=400)

    @routes.get("/campaign")
    def watch(of: str) -> Response:
        return site.page("campaign.html", title="Campaign", **_told(site, of))

    @routes.get("/campaign/state")
    def state(of: str) -> Response:
        return site.page("progress.html", **_told(site, of))

    @routes.post("/campaign/stop")
    def stop(of: str) -> Response:
        site.campaigns.stop(of)
        return go_to("/campaign", of=of)

    @routes.post("/campaign/resume")
    def resume(of: str) -> Response:
        folder = site.library.run(of).folder
        unknown = site.trust.unknown(folder)
        if unknown:
            raise BadInput(f"{of} names code that would be run: {', '.join(unknown)}; trust it first")
        site.campaigns.resume(of, folder, site.trust.flags(folder))
        return go_to("/campaign", of=of)

    return routes


def state_of(site: Site, name: str) -> State:
    """How the run of that name is getting on, whoever started it."""
    child = site.campaigns.child(name)
    is_running = child is not None and child.is_running
    if child is not None and not is_running:
        site.library.look(name)  # its last words may be younger than the last look
    run = site.library.runs.get(name)
    totals = run.totals if run is not None else None
    queries = totals.queries if totals is not None else 0
    if child is not None and is_running:
        word = "stopping" if child.is_stopped else "running"
        return State(word, queries, child.budget, time.monotonic() - child.began)
    error = child.error() if child is not None and not child.is_stopped else ""
    if error:
        return State("failed", queries, None, 0.0, error)
    is_stopped = child is not None and child.is_stopped
    if run is not None and run.problem and not is_stopped:  # stopped at once, it may not have its tables yet
        return State("failed", error=run.problem)
    seconds = totals.seconds if totals is not None else 0.0
    if totals is not None and totals.finished:
        return State("finished", queries, None, seconds)
    if child is None and run is not None and time.monotonic() - run.changed_at < ACTIVE_SECONDS:
        return State("elsewhere", queries, None, seconds)
    return State("stopped" if is_stopped else "unfinished", queries, None, seconds)


def _told(site: Site, name: str) -> dict[str, Any]:
    if site.campaigns.child(name) is None:
        site.library.run(name)  # or there is none
    state = state_of(site, name)
    run = site.library.runs.get(name)  # not before: a state that is final comes with all its cases
    counts = run.counts() if run is not None else {}
    table = site.library.table
    violated = select_cases(table, CaseFilter({"run": (name,), "status": ("violated",)}), facets=())
    return {
        "name": name,
        "state": state,
        "counts": counts,
        "cases": sum(counts.values()),
        "cards": cards_of(site.words, table, [int(row) for row in violated.rows[:SHOWN]]),
        "failing": int(table.failing[violated.rows].sum()),
        "system": run.system if run is not None else "",
        "has_run": run is not None,
        "unknown": [] if run is None else site.trust.unknown(run.folder),
    }


def _form(site: Site, form: dict[str, list[str]], *, error: str = "", status: int = 200) -> Response:
    offers = site.offers
    return site.page(
        "new.html",
        status=status,
        title="New campaign",
        error=error,
        form=form,
        one={"system": USUAL} | {name: values[0] for name, values in form.items() if values},
        systems=_by_task(offers.systems),
        relations=_by_task(offers.relations),
        searches=_by_task(offers.searches),
        interpreters=offers.interpreters,
        worlds=offers.worlds,
        scenes=[*site.pictures.paths(), *offers.scenes],
        free=next(name for n in count(1) if (name := f"run-{n}") not in site.library.runs),
    )


def _by_task(offered: Mapping[str, Offer]) -> dict[str, dict[str, Offer]]:
    """In the order in which they are offered."""
    by_task: dict[str, dict[str, Offer]] = {}
    for name, offer in offered.items():
        for task in offer.tasks or [""]:
            by_task.setdefault(task, {})[name] = offer
    return by_task
