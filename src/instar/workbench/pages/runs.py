"""The first page: the runs in the folder, or at once the cases where there is only one."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from instar.workbench.pages.campaign import state_of
from instar.workbench.site import Site

__all__ = ["router"]


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/")
    def first() -> Response:
        runs = site.library.runs
        if len(runs) == 1 and not site.campaigns.running():
            return RedirectResponse("/explore?status=violated", status_code=303)
        return listed()

    @routes.get("/runs")
    def listed() -> Response:
        states = {name: state_of(site, name) for name in sorted(site.library.runs)}
        runs = site.library.runs  # not before: a state that is final comes with all its cases
        lines = [(runs[name], runs[name].counts(), state) for name, state in states.items() if name in runs]
        return site.page("runs.html", title="Runs", lines=lines)

    return routes
