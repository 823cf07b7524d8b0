"""Explore: all cases, by filters that stand in the address."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from instar.workbench.cards import cards_of
from instar.workbench.filters import CaseFilter, select_cases
from instar.workbench.site import Site, view_of
from instar.workbench.table import FACETS, SORTS, CaseTable


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/explore")
    def explore(request: Request) -> Response:
        view, table = view_of(request), site.library.table
        found = select_cases(table, view)
        return site.page(
            "explore.html",
            title="Explore",
            view=view,
            found=found,
            total=len(table),
            facets=[(facet, facet.capitalize()) for facet in FACETS if _tells(facet, table, view)],
            cards=cards_of(site.words, table, found.on(view.page)),
            sorts=SORTS,
        )

    return routes


def _tells(facet: str, table: CaseTable, view: CaseFilter) -> bool:
    """Whether a facet tells cases apart."""
    named = [word for word in table.words[facet] if word]
    return len(named) > 1 or bool(view.chosen.get(facet)) or facet in ("system", "relation")
