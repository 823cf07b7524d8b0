"""The workbench as an ASGI application: pages over the runs in a folder, behind `Guard`."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from instar.core.errors import InstarError
from instar.workbench import NotHere
from instar.workbench.access import Access, Guard
from instar.workbench.cards import CardWords
from instar.workbench.case_pictures import Studio
from instar.workbench.children import Campaigns, Jobs
from instar.workbench.figures import figures_of, yields_of
from instar.workbench.filters import CaseFilter, matching
from instar.workbench.library import Library
from instar.workbench.orders import Offers
from instar.workbench.pages import (
    campaign,
    case,
    compare,
    explore,
    marks,
    pictures,
    rate,
    rule,
    summary,
    trust,
)
from instar.workbench.picture_sets import PictureSets
from instar.workbench.rule_previews import RulePreviews
from instar.workbench.site import Site, prepare_templates
from instar.workbench.trust import Trust
from instar.workbench.workers import Results, Workers

INSTAR = (sys.executable, "-m", "instar")
PAGES = (explore, case, pictures, summary, compare, campaign, rule, rate, trust, marks)
STATIC = {
    "page.css": ("text/css", "report/page.css"),
    "workbench.css": ("text/css", "workbench/static/workbench.css"),
    "workbench.js": ("text/javascript", "report/page.js", "workbench/static/workbench.js"),
}
"""What is served: its kind, and the files that it is made of."""


def make_site(root: Path, offers: Offers, access: Access, *, workers: Executor | None = None) -> Site:
    """What the pages need, for the runs in a folder. `workers` do what takes a process of its own."""
    workers = workers or Workers()
    library = Library(root, workers=workers)
    campaigns = Campaigns(root.resolve(), INSTAR)
    return Site(
        library=library,
        words=CardWords(library),
        studio=Studio(),
        campaigns=campaigns,
        pictures=PictureSets(campaigns.home / "pictures"),
        jobs=Jobs(INSTAR),
        offers=offers,
        access=access,
        comparisons=Results(workers, 100),
        intervals=Results(workers, 5_000),
        rules=RulePreviews(),
        trust=Trust(offers.systems),
    )


def make_app(site: Site) -> Any:
    """The application. The library must have been loaded; it is watched while the application runs."""

    @asynccontextmanager
    async def while_running(_: FastAPI) -> AsyncIterator[None]:
        site.library.watch()
        _begin_with_the_whole(site)
        try:
            yield
        finally:
            site.campaigns.close()
            site.jobs.close()
            site.library.close()
            site.studio.close()

    prepare_templates()
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, lifespan=while_running)
    for page in PAGES:
        app.include_router(page.router(site))
    static = {}
    for name, (kind, *files) in STATIC.items():
        content = b"".join(resources.files("instar").joinpath(file).read_bytes() for file in files)
        static[name] = Response(content, media_type=kind, headers={"cache-control": "max-age=60"})

    @app.get("/static/{file}")
    def serve_static(file: str) -> Response:
        """The files of our own, by name: there is no path to wander off from."""
        if file not in static:
            raise HTTPException(404)
        return static[file]

    def complaint(status: int, why: str) -> Response:
        return site.page("complaint.html", status=status, title="That did not work", why=why)

    @app.exception_handler(InstarError)
    def refused(request: Request, error: InstarError) -> Response:
        return complaint(404 if isinstance(error, NotHere) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        return complaint(400, "the address has a value that cannot be used")

    @app.exception_handler(HTTPException)
    def missing(request: Request, error: HTTPException) -> Response:
        why = "there is no such page" if error.status_code == 404 else str(error.detail)
        return complaint(error.status_code, why)

    return Guard(app, site.access)


def _begin_with_the_whole(site: Site) -> None:
    """Have the figures of everything made, which is what most people look at first."""
    table = site.library.table
    yields = yields_of(site.library.readable_runs())
    figures_of(table, matching(table, CaseFilter()), site.intervals, yields=yields, wait=False)
