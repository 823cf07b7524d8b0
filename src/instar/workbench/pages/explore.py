"""Explore: all cases, by filters that stand in the address."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request, Response

from instar.workbench.filters import CaseFilter, select_cases
from instar.workbench.site import Site, view_of
from instar.workbench.table import FACETS, SORTS, UNMARKED, CaseTable

__all__ = ["Card", "card_of", "router"]

TITLES = {
    "status": "Status", "relation": "Relation", "kind": "Kind", "group": "Group", "mark": "Mark",
    "system": "System", "run": "Run", "scene": "Scene", "reason": "Reason",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Card:
    """A case among others."""

    run: str
    case: str
    scene: str
    relation: str
    status: str
    kind: str
    mark: str
    group: str
    margin: float
    naturalness: float


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
            facets=[(facet, TITLES[facet]) for facet in FACETS if _tells(facet, table, view)],
            cards=[card_of(table, row) for row in found.on(view.page)],
            sorts=SORTS,
        )

    return routes


def card_of(table: CaseTable, row: int) -> Card:
    names = {f: table.name(f, row) for f in ("run", "scene", "relation", "status", "kind", "mark", "group")}
    if names["mark"] == UNMARKED:
        names["mark"] = ""
    return Card(
        case=table.case_id(row),
        margin=float(table.margin[row]),
        naturalness=float(table.naturalness[row]),
        **names,
    )


def _tells(facet: str, table: CaseTable, view: CaseFilter) -> bool:
    """Whether a facet tells cases apart."""
    named = [word for word in table.words[facet] if word]
    return len(named) > 1 or bool(view.chosen.get(facet)) or facet in ("system", "relation")
