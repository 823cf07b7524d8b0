"""Pictures of cases: thumbnails, panels, heat maps and the family's drawing."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from fastapi import APIRouter, Response

from instar.errors import InstarError
from instar.workbench import NotHere
from instar.workbench.desk import Desk
from instar.workbench.library import Run

__all__ = ["known_case", "router"]

NOTHING = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3" width="280" height="210"><path d="M1 1l2 1M3 1L1 2" stroke="#888" stroke-width=".04"/></svg>'  # noqa: E501
KEPT = {"cache-control": "private, max-age=3600"}


def router(desk: Desk) -> APIRouter:
    routes = APIRouter()

    @routes.get("/thumbnail/{case}")
    async def thumbnail(case: str, of: str) -> Response:
        run = known_case(desk, of, case)
        return await _picture(desk.studio.thumbnail(run.folder, case))

    @routes.get("/panel/{case}/{number}")
    async def panel(case: str, number: int, of: str, heat: bool = False) -> Response:
        run = known_case(desk, of, case)
        return await _picture(desk.studio.panel(run.folder, case, number, heat=heat))

    @routes.get("/drawing/{case}")
    async def drawing(case: str, of: str) -> Response:
        run = known_case(desk, of, case)
        return await _picture(desk.studio.drawing(run.folder, case), kind="image/png")

    @routes.get("/shrunk/{case}")
    def shrunk(case: str, of: str) -> Response:
        """What `instar shrink` left of a case, drawn."""
        path = known_case(desk, of, case).folder / "shrunk" / f"{case}.png"
        if not path.is_file():
            raise NotHere(f"case {case} was not shrunk yet")
        return Response(path.read_bytes(), media_type="image/png")

    return routes


def known_case(desk: Desk, of: str, case: str) -> Run:
    """The run of that name, if it has such a case; nothing else is ever opened."""
    run = desk.library.run(of)
    if desk.library.table.row(run.name, case) is None:
        desk.library.look()
        if desk.library.table.row(run.name, case) is None:
            raise NotHere(f"there is no case {case[:80]!r} in {run.name}")
    return run


async def _picture(future: Future[bytes], kind: str = "image/webp") -> Response:
    """The picture once it is made; no thread waits for it meanwhile."""
    try:
        made = await asyncio.wrap_future(future)
    except InstarError:
        made = b""
    if not made:
        return Response(NOTHING, media_type="image/svg+xml", headers=KEPT)
    return Response(made, media_type=kind, headers=KEPT)
