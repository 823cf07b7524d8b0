"""Summary: the report's figures over whatever the filters leave, with naturalness as a slider."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from instar.report.markup import readable
from instar.workbench.desk import Desk, view_of
from instar.workbench.figures import account_of, figures_of
from instar.workbench.filters import find
from instar.workbench.pages.explore import card_of
from instar.workbench.plots import histogram, kept_curve

__all__ = ["router"]


def router(desk: Desk) -> APIRouter:
    routes = APIRouter()

    @routes.get("/summary")
    def summary(request: Request) -> Response:
        return desk.page("summary.html", title="Summary", **_figures(desk, request, make=False))

    @routes.get("/summary/figures")
    def figures(request: Request) -> Response:
        """The figures alone, for the slider and for intervals that were not known at first."""
        whole = request.query_params.get("whole") == "1"
        return desk.page("figures.html", **_figures(desk, request, make=whole))

    return routes


def _figures(desk: Desk, request: Request, *, make: bool) -> dict[str, Any]:
    view, table = view_of(request), desk.library.table
    found = find(table, view, facets=("run", "system"))
    figures = figures_of(table, found.rows, desk.intervals, make=make)
    every = find(table, view.without("natural"), facets=()).rows if view.natural is not None else found.rows
    kept = figures.kept if every is found.rows else _kept(table, every)
    runs = [run for run in desk.library.runs.values() if run.columns is not None]
    names = view.chosen.get("run")
    chosen = [run for run in runs if not names or run.name in names]
    return {
        "view": view,
        "found": found,
        "figures": figures,
        "kept": kept,
        "charts": [
            (name, histogram(margins, title=f"margins of {readable(name, 60)}"))
            for name, margins in figures.margins
        ],
        "curve": kept_curve(kept, at=view.natural) if kept else "",
        "groups": [(group, card_of(table, group.worst)) for group in figures.groups],
        "runs": runs,
        "account": account_of(chosen),
        "is_whole": not (
            view.chosen.keys() - {"run"} or view.text or view.natural or view.least or view.most
        ),
    }


def _kept(table: Any, rows: Any) -> Any:
    from instar.workbench.figures import VIOLATED, kept_at

    return kept_at(table.naturalness[rows[table.codes["status"][rows] == VIOLATED]])
