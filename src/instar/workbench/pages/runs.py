"""The first page: the runs in the folder, or at once the cases where there is only one."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from instar.workbench.pages.campaign import state_of
from instar.workbench.site import Desk

__all__ = ["router"]


def router(desk: Desk) -> APIRouter:
    routes = APIRouter()

    @routes.get("/")
    def first() -> Response:
        runs = desk.library.runs
        if len(runs) == 1 and not desk.campaigns.running():
            return RedirectResponse("/explore?status=violated", status_code=303)
        return listed()

    @routes.get("/runs")
    def listed() -> Response:
        states = {name: state_of(desk, name) for name in sorted(desk.library.runs)}
        runs = desk.library.runs  # not before: a state that is final comes with all its cases
        lines = [(runs[name], runs[name].counts(), state) for name, state in states.items() if name in runs]
        return desk.page("runs.html", title="Runs", lines=lines)

    return routes
