"""Pictures of cases: thumbnails, panels, heat maps, and whole cases in one picture."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from instar.core.errors import InstarError
from instar.workbench import NotHere
from instar.workbench.case_pictures import Wanted
from instar.workbench.library import LibraryRun
from instar.workbench.site import Site
from instar.workbench.table import CaseTable

NOTHING = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3" width="280" height="210"><path d="M1 1l2 1M3 1L1 2" stroke="#888" stroke-width=".04"/></svg>'  # noqa: E501


@dataclass(frozen=True, slots=True, eq=False)
class KnownCase:
    """A case of a run, and where it stands in the table as of now."""

    run: LibraryRun
    table: CaseTable
    row: int
    unknown: Sequence[str] = ()
    """Code that its run would import and that nobody has vouched for."""

    @property
    def wanted(self) -> Wanted:
        table, row = self.table, self.row
        verdict = (table.name("status", row), float(table.margin[row]))
        return Wanted(self.run.folder, self.run.identity, table.case_id(row), verdict, not self.unknown)


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/thumbnail/{case}")
    async def thumbnail(request: Request, case: str, of: str, place: str = "") -> Response:
        make = partial(site.studio.thumbnail, place=_box(place))
        return await _picture(site, request, of, case, make)

    @routes.get("/panel/{case}/{number}")
    async def panel(request: Request, case: str, number: int, of: str, heat: bool = False) -> Response:
        return await _picture(site, request, of, case, partial(site.studio.panel, number=number, heat=heat))

    @routes.get("/drawing/{case}")
    async def drawing(request: Request, case: str, of: str) -> Response:
        return await _picture(site, request, of, case, site.studio.drawing, kind="image/png")

    @routes.get("/shrunk/{case}")
    def shrunk(case: str, of: str) -> Response:
        """What `instar shrink` left of a case, drawn."""
        path = known_case(site, of, case).run.folder / "shrunk" / f"{case}.png"
        if not path.is_file():
            raise NotHere(f"case {case} was not shrunk yet")
        return Response(path.read_bytes(), media_type="image/png")

    return routes


def _box(text: str) -> tuple[float, ...]:
    try:
        box = tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        box = (math.nan,)
    if len(box) not in (0, 4) or not all(map(math.isfinite, box)):
        raise NotHere(f"{text[:80]!r} is no place in a picture")
    return box


def known_case(site: Site, of: str, case: str) -> KnownCase:
    """A case that is in a run of that name; nothing else is ever opened."""
    run = site.library.run(of)
    table = site.library.table
    row = table.row(run.name, case)
    if row is None:  # it may be newer than the last look
        site.library.look()
        table = site.library.table
        row = table.row(run.name, case)
    if row is None:
        raise NotHere(f"there is no case {case[:80]!r} in {run.name}")
    return KnownCase(run, table, row, site.trust.unknown(run.folder))


async def _picture(
    site: Site, request: Request, of: str, case: str, make: Callable[[Wanted], Future[bytes]],
    *, kind: str = "image/webp",
) -> Response:  # fmt: skip
    """The picture once it is made; no thread waits for it meanwhile. What a browser has is not made again."""
    wanted = (await run_in_threadpool(known_case, site, of, case)).wanted
    tag = f'"{hashlib.sha256(repr((str(request.url), wanted)).encode()).hexdigest()[:32]}"'
    kept = {"etag": tag, "cache-control": "private, no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=kept)
    try:
        made = await asyncio.wrap_future(make(wanted))
    except InstarError:
        made = b""
    if not made:
        return Response(NOTHING, media_type="image/svg+xml")  # it may be possible the next time
    return Response(made, media_type=kind, headers=kept)
