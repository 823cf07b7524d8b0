"""Marks and notes as a file: saved from one copy of a run, read into another."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from instar.core.errors import BadInput
from instar.report.words import counted
from instar.store.marks import LONGEST_NOTE, MARKS
from instar.workbench.library import LibraryRun
from instar.workbench.site import Site, file_of

TITLE = "instar marks"
MOST = 100_000


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/marks.json")
    def save(of: str) -> Response:
        run = site.library.run(of)
        entries = [
            {"case": case, "mark": last.mark, "note": last.note, "at": last.at}
            for case in sorted(run.marks.current())
            for last in run.marks.history(case)[:1]
        ]
        document = {"what": TITLE, "run": run.name, "system": run.system, "marks": entries}
        headers = {"content-disposition": 'attachment; filename="marks.json"'}
        return Response(json.dumps(document, indent=1), media_type="application/json", headers=headers)

    @routes.post("/marks")
    def read(request: Request, of: str) -> Response:
        """Add what a file says to what was said here; what is the same already is not said again."""
        try:
            run = site.library.run(of)
            told, added, strange = _entries(file_of(request)), 0, 0
            for one in told:
                if site.library.table.row(run.name, one["case"]) is None:
                    strange += 1
                    continue
                added += _add(site, run, one)
        except BadInput as error:
            return JSONResponse({"error": str(error)}, status_code=400)
        words = f"{counted(added, 'mark')} added of {len(told):,}"
        if strange:
            words += f"; {counted(strange, 'case is', 'cases are')} not of this run"
        return JSONResponse({"words": f"{words}."})

    return routes


def _add(site: Site, run: LibraryRun, one: dict[str, str]) -> bool:
    last = next(iter(run.marks.history(one["case"])), None)
    if last is not None and (last.mark, last.note) == (one["mark"], one["note"]):
        return False
    site.library.mark(run, one["case"], one["mark"], one["note"])
    return True


def _entries(content: bytes) -> list[dict[str, str]]:
    """The marks in a file, or what is wrong with it."""
    try:
        document: Any = json.loads(content)
        entries = document["marks"] if document["what"] == TITLE else ()
        told = [{name: one.get(name, "") for name in ("case", "mark", "note")} for one in entries]
        fits = all(
            isinstance(value, str) and len(value) <= LONGEST_NOTE for one in told for value in one.values()
        )
        known = document["what"] == TITLE and all(one["mark"] in MARKS for one in told)
        if not (fits and known) or len(told) > MOST:
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadInput("this is no file of marks; the summary of a run saves one") from None
    return told
