"""Summary: the report's figures over whatever the filters leave, with naturalness as a slider."""

from __future__ import annotations

from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response

from instar.report.charts import curve, histogram, severity_chart
from instar.report.figures import kept_at
from instar.report.glossary import glossary_list
from instar.report.words import readable
from instar.workbench.cards import cards_of
from instar.workbench.figures import VIOLATED, ColumnFigures, account_of, figures_of, yields_of
from instar.workbench.filters import CaseFilter, matching
from instar.workbench.library import LibraryRun
from instar.workbench.site import Site, view_of


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/summary")
    def summary(request: Request) -> Response:
        return site.page("summary.html", title="Summary", **_figures(site, request, wait=False))

    @routes.get("/words")
    def words() -> Response:
        """What the words and figures mean."""
        return site.page("words.html", title="Words", glossary=glossary_list())

    @routes.get("/summary/figures")
    def figures(request: Request) -> Response:
        """The figures alone, for the slider and for intervals that were not known at first."""
        whole = request.query_params.get("whole") == "1"
        return site.page("figures.html", **_figures(site, request, wait=whole))

    return routes


def _figures(site: Site, request: Request, *, wait: bool) -> dict[str, Any]:
    view, table = view_of(request), site.library.table
    every = rows = matching(table, view.without("natural"))
    if view.natural is not None:
        # What is known to be less natural is left out; of cases that held it is not known, and they stay.
        rows = every[~(table.naturalness[every] < np.float32(view.natural))]
    runs = site.library.readable_runs()
    names = view.chosen.get("run")
    chosen = [run for run in runs if not names or run.name in names]
    figures = figures_of(table, rows, site.intervals, yields=yields_of(chosen), wait=wait)
    violated = every[table.codes["status"][every] == VIOLATED]
    kept = kept_at(table.naturalness[violated], steps=100)
    several = len({run.system for run in chosen}) > 1
    cards = cards_of(site.words, table, [group.worst for group in figures.groups])
    return {
        "view": view,
        "figures": figures,
        "kept": kept,
        "charts": [
            (name, histogram(margins, title=f"margins of {readable(name, 60)}"))
            for name, margins in figures.margins
        ],
        "curve": curve(kept[::2], title="failures kept", unit="failures", at=view.natural) if kept else "",
        "groups": list(zip(figures.groups, cards)),
        "severities": [
            (name, severity_chart(*levels, title=f"severity of {readable(name, 60)}"))
            for name, levels in figures.severities
        ],
        # Rates of systems that have nothing to do with each other are not put together.
        "apart": [(run, _alone(site, view, run)) for run in chosen] if several else [],
        "several": several,
        "runs": runs,
        "account": account_of(chosen),
        "is_whole": not (
            view.chosen.keys() - {"run"}
            or view.text
            or view.natural
            or (view.least, view.most) != (None, None)
        ),
    }


def _alone(site: Site, view: CaseFilter, run: LibraryRun) -> ColumnFigures:
    """The figures of one run among several."""
    table = site.library.table
    rows = matching(table, view.with_only("run", run.name))
    return figures_of(table, rows, site.intervals, yields=yields_of([run]), wait=False)
