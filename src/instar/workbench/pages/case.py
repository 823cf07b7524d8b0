"""One case: its pictures, what was found, what people said of it, and what can be done with it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import zipfile
from concurrent.futures import TimeoutError as NotYet
from itertools import zip_longest
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, RedirectResponse

from instar.campaigns.result import names_code
from instar.core.errors import InstarError
from instar.imaging.codecs import encode_png
from instar.report.cards import CaseView, panel_figure
from instar.report.causes import finding_words
from instar.report.close_up import close_ups
from instar.report.words import replay_command
from instar.store import RunStore
from instar.store.marks import MARKS
from instar.store.rows import dump_json
from instar.workbench.cards import cards_of
from instar.workbench.filters import select_cases
from instar.workbench.library import LibraryRun
from instar.workbench.pages.pictures import KnownCase, known_case
from instar.workbench.site import Site, form_of, view_of
from instar.workbench.table import CaseTable

AT_ONCE = 0.12  # seconds that a page waits for its pictures; later they are loaded into it
ACTIONS = ("replay", "shrink")


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/case/{case}")
    def show(request: Request, case: str, of: str) -> Response:
        known = known_case(site, of, case)
        run, table, view = known.run, known.table, view_of(request)
        found = select_cases(table, view, facets=())
        place, before, after = found.beside(known.row)
        with RunStore.read(run.folder) as store:
            record = store.record(case, change=False)
            recipe = store.recipe(case)
        shown = _shown_at_once(site, known)
        return site.page(
            "case.html",
            title=f"Case {case}",
            run=run,
            case=case,
            card=cards_of(site.words, table, [known.row])[0],
            record=record,
            recipe=recipe,
            findings=[(finding_words(finding), finding) for finding in record.verdict.findings],
            evidence=dict(record.verdict.evidence),
            shown=shown,
            figures=_figures(run, shown) if shown is not None else (),
            view=view,
            place=place,
            total=len(found.rows),
            before=_address_of(table, before, view.query),
            after=_address_of(table, after, view.query),
            marks=MARKS,
            history=run.marks.history(case),
            command=_command(run, case),
            unknown=known.unknown,
            back=f"{request.url.path}?{request.url.query}",
        )

    @routes.get("/case/{case}/pictures")
    async def pictures(case: str, of: str) -> Response:
        known = await run_in_threadpool(known_case, site, of, case)
        run, back = known.run, f"/case/{case}?{urlencode({'of': of})}"
        try:
            shown = await asyncio.wrap_future(site.studio.show(known.wanted))
        except InstarError as error:
            shown = _without(run, case, str(error))
        figures, unknown = _figures(run, shown), known.unknown
        return site.page(
            "pictures.html", run=run, case=case, shown=shown, figures=figures, unknown=unknown, back=back
        )

    @routes.post("/case/{case}/mark")
    def mark(request: Request, case: str, of: str) -> Response:
        run, form = known_case(site, of, case).run, form_of(request)
        said, note = (form.get(name, [""])[0] for name in ("mark", "note"))
        site.library.mark(run, case, said, note.strip())
        back = urlencode([("of", run.name), *view_of(request).pairs()])
        return RedirectResponse(f"/case/{case}?{back}", status_code=303)

    @routes.post("/case/{case}/do/{action}")
    def begin(case: str, action: str, of: str) -> Response:
        known = known_case(site, of, case)
        run = known.run
        if action not in ACTIONS:
            return JSONResponse({"error": "there is no such thing to do"}, status_code=404)
        if known.unknown:
            why = f"the run names code that would be run: {', '.join(known.unknown)}"
            return JSONResponse({"error": why}, status_code=403)
        words = [action, str(run.folder), case, *site.trust.flags(run.folder)]
        job = site.jobs.start(action, run.name, *words)
        return JSONResponse({"job": job.id})

    @routes.get("/job/{id}")
    def look(id: str) -> Response:
        job = site.jobs.job(id)
        if job.document is None:
            return JSONResponse({"done": False})
        made = site.page("done.html", job=job, document=job.document).body
        return JSONResponse({"done": True, "html": bytes(made).decode()})

    @routes.get("/case/{case}/export.zip")
    async def export(case: str, of: str) -> Response:
        files = await _files(site, await run_in_threadpool(known_case, site, of, case), case)
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        headers = {"content-disposition": f'attachment; filename="case-{case}.zip"'}
        return Response(made.getvalue(), media_type="application/zip", headers=headers)

    return routes


def _shown_at_once(site: Site, known: KnownCase) -> CaseView | None:
    try:
        return site.studio.show(known.wanted).result(timeout=AT_ONCE)
    except NotYet:
        return None
    except InstarError as error:
        return _without(known.run, known.wanted.case, str(error))


def _figures(run: LibraryRun, shown: CaseView) -> list[str]:
    """The panels of a case; their pictures are fetched by address."""
    figures = []
    parts = close_ups(shown.record, shown.panels)
    for number, (panel, part) in enumerate(zip_longest(shown.panels, parts)):
        address = f"/panel/{shown.record.case}/{number}?{urlencode({'of': run.name})}"
        figures.append(panel_figure(panel, picture=address, heat=f"{address}&heat=1", part=part))
    return figures


def _without(run: LibraryRun, case: str, why: str) -> CaseView:
    """A case of a run that cannot be opened."""
    with RunStore.read(run.folder) as store:
        return CaseView(store.record(case, change=False), why=why)


def _address_of(table: CaseTable, row: int | None, query: str) -> str | None:
    if row is None:
        return None
    return f"/case/{table.case_id(row)}?{urlencode({'of': table.name('run', row)})}" + (
        f"&{query}" if query else ""
    )


def _command(run: LibraryRun, case: str) -> str:
    """How to see the case again where the workbench was started."""
    folder = os.path.relpath(run.folder)
    shown = str(run.folder) if folder.startswith(os.pardir) else folder
    return replay_command(shown, case, trust=names_code(str(run.folder)))


async def _files(site: Site, known: KnownCase, case: str) -> dict[str, bytes]:
    """All that is needed to show the case to somebody else."""
    run = known.run
    with RunStore.read(run.folder) as store:
        record, recipe = store.record(case, change=False), store.recipe(case)
    verdict = record.verdict
    told = {
        "run": run.name, "system": run.system, "case": case,
        "scene": record.scene, "relation": record.relation,
        "change": recipe, "status": verdict.status.value, "kind": verdict.kind, "margin": verdict.margin,
        "reason": verdict.reason, "naturalness": record.naturalness,
        "findings": [
            {"what": finding_words(f), "kind": f.kind, "subject": f.subject, "margin": f.margin, **f.evidence}
            for f in verdict.findings
        ],
        "evidence": dict(verdict.evidence),
        "marks": [{"mark": m.mark, "note": m.note, "at": m.at} for m in run.marks.history(case)],
        "replay": _command(run, case),
    }  # fmt: skip
    files = {"case.json": json.dumps(json.loads(dump_json(told)), indent=2).encode()}
    shown = await asyncio.wrap_future(site.studio.show(known.wanted))
    for number, panel in enumerate(shown.panels):
        files["source.png" if not number else f"follow-up-{number}.png"] = encode_png(panel.picture)
    drawing = await asyncio.wrap_future(site.studio.drawing(known.wanted))
    return files | ({"drawing.png": drawing} if drawing else {})
