"""Rate: the human study's two questions on pairs of pictures, and how far raters agree."""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool

from instar.core.errors import BadInput
from instar.ratings import Rated, summarise_ratings
from instar.ratings.page import POINTS, QUESTIONS
from instar.report.charts import points_chart
from instar.store import RunStore
from instar.store.marks import Rating
from instar.workbench.columns import STATUSES, Columns
from instar.workbench.library import LibraryRun
from instar.workbench.pages.pictures import known_case
from instar.workbench.site import Site, form_of, go_to

SAMPLE = 40  # pairs
CHOICES = {str(points): points for points in range(1, POINTS + 1)}


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/rate")
    def rate(of: str | None = None, rater: str = "") -> Response:
        runs = site.library.readable_runs()
        if of is None and len(runs) == 1:
            of = runs[0].name
        if of is None:
            return site.page("rate.html", title="Rate", runs=runs, run=None, rater="", case=None, unknown=[])
        run = site.library.run(of)
        if run.columns is None:
            raise BadInput(f"{run.name} cannot be read: {run.problem}")
        cases, ratings = _sample(run.columns), run.marks.ratings()
        rater = rater.strip()
        case, done = _next_case(cases, ratings, rater) if rater else (None, 0)
        return site.page(
            "rate.html",
            title="Rate",
            runs=runs,
            run=run,
            rater=rater,
            case=case,
            done=done,
            total=len(cases),
            questions=QUESTIONS,
            points=range(1, POINTS + 1),
            unknown=site.trust.unknown(run.folder),
            **_agreement(run, ratings),
        )

    @routes.get("/rate/{case}/answers")
    async def answers(case: str, of: str) -> Response:
        known = await run_in_threadpool(known_case, site, of, case)
        said = await asyncio.wrap_future(site.studio.answers(known.wanted))
        return site.page("answers.html", said=said)

    @routes.post("/rate/{case}")
    def keep(request: Request, case: str, of: str) -> Response:
        run, form = known_case(site, of, case).run, form_of(request)
        rater = form.get("rater", [""])[0].strip()
        points = {q: form[q][0] for q in QUESTIONS if form.get(q)}
        if len(points) < len(QUESTIONS) or not set(points.values()) <= CHOICES.keys():
            raise BadInput(f"both questions want 1 to {POINTS} points; go back and choose")
        run.marks.rate(case, rater, {question: CHOICES[value] for question, value in points.items()})
        return go_to("/rate", of=run.name, rater=rater)

    return routes


def _agreement(run: LibraryRun, ratings: list[Rating]) -> dict[str, Any]:
    """What all raters said so far, and how far they agree."""
    if not ratings:
        return {"rated": None, "charts": [], "boxes": []}
    with RunStore.read(run.folder) as store:
        records = {case: store.record(case, change=False) for case in {rating.case for rating in ratings}}
    rated = summarise_ratings(_sheets_of(ratings), records)
    charts = []
    for question, (text, _, _) in QUESTIONS.items():
        points = [rating.points for rating in ratings if rating.question == question]
        counts = [points.count(value) for value in range(1, POINTS + 1)]
        alpha = rated.alpha[question]
        charts.append((text, points_chart(counts, title=text), None if math.isnan(alpha) else alpha))
    return {"rated": rated, "charts": charts, "boxes": [box for box in rated.boxes if box.relation == "all"]}


def _sample(columns: Columns, n: int = SAMPLE) -> list[str]:
    """Cases to rate: half violated, half held, the same for every rater, in an order that tells nothing."""
    cases: list[bytes] = []
    for status in ("violated", "held"):
        rows = columns.rows
        ids = rows["case"][(rows["status"] == STATUSES.index(status)) & ~rows["is_null"]]
        if len(ids):  # ids are hashes: evenly spaced ones are a random sample
            cases += ids[np.linspace(0, len(ids) - 1, min(len(ids), n // 2)).astype(int)].tolist()
    return sorted((case.decode() for case in cases), key=lambda case: hashlib.sha256(case.encode()).digest())


def _next_case(cases: Sequence[str], ratings: Sequence[Rating], rater: str) -> tuple[str | None, int]:
    """The first case that a rater has not rated in full, and how many were."""
    done = defaultdict(set)
    for rating in ratings:
        if rating.rater == rater:
            done[rating.case].add(rating.question)
    left = [case for case in cases if done[case] < set(QUESTIONS)]
    return (left[0] if left else None), len(cases) - len(left)


def _sheets_of(ratings: Sequence[Rating]) -> list[Rated]:
    """The ratings as one sheet for each rater."""
    sheets: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for rating in ratings:
        sheets[rating.rater][rating.case][rating.question] = rating.points
    return [Rated(rater, points) for rater, points in sorted(sheets.items())]
