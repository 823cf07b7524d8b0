"""The study of detectors as tables: those of the MetaOD paper, and how far each finding came."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.stats import wilson
from instar.studies.detection.counts import DetectorCounts
from instar.studies.output import Table, format_share, span

__all__ = ["make_tables"]

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
TENTHS = tuple(i / 10 for i in range(10))
WAYS = ("inserted", "relocated")
MEASURES = {"hog": "HOG", "natural": "naturalness"}


def make_tables(systems: Sequence[DetectorCounts]) -> list[Table]:
    parts = (_ways, _overview, _relocation, _distances, _naturalness, _kept, _believed, _false_alarms)
    return [make(systems) for make in parts]


def _ways(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "errors", "rate", "95 % interval", "different failures", "scenes"]]
    better = 0
    for system in systems:
        for way in ("random", "guided"):
            one = system.campaigns[way]
            counts = [str(one.judged), str(one.violated), format_share(one.violated, one.judged)]
            failing = sum(1 for n in one.failed_by_scene.values() if n)
            interval = span(one.interval or (0.0, 1.0))
            rows.append([system.system, way, *counts, interval, str(len(one.distinct)), str(failing)])
        random, guided = (system.campaigns[way] for way in ("random", "guided"))
        better += guided.violated * max(1, random.judged) > random.violated * max(1, guided.judged)
    title = "Random against guided insertion (Table 1): confirmed, stable errors"
    note = f"Guided finds more than random on {better} of {len(systems)}. Intervals are over scenes."
    return Table("random-guided", title, rows, note)


def _overview(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "images made", "objects found", "causing failures", "share", "95 % (Wilson)"]]
    rows[0] += ["queries", "seconds", "price"]
    for system in systems:
        campaigns = system.campaigns.values()
        made, failing = sum(one.judged for one in campaigns), sum(one.violated for one in campaigns)
        found: dict[str, int] = {}
        for one in campaigns:
            found |= one.found
        totals = [one.totals for one in campaigns if one.totals is not None]
        price = sum(t.asked * t.price_per_query for t in totals)
        counts = [str(n) for n in (made, sum(found.values()), failing)]
        shares = [format_share(failing, made), _wilson(failing, made)]
        queries, seconds = sum(t.queries for t in totals), sum(t.seconds for t in totals)
        spent = [str(queries), f"{seconds:.0f}", f"{price:.2f}" if price else "-"]
        rows.append([system.system, *counts, *shares, *spent])
    return Table("overview", "Overview (Table 2)", rows, "Yields of searches, not failure rates of scenes.")


def _relocation(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "inserted", "relocated", "unique relocated"]]
    for system in systems:
        one = system.campaigns["relocation"]
        counts = (one.violated - one.relocated, one.relocated, len(one.ends))
        rows.append([system.system, *map(str, counts)])
    return Table("relocation", "Failures by insertion and by relocation toward the centroid (Table 3)", rows)


def _distances(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", *(f"{a:.1f}-{a + 0.1:.1f}" for a in TENTHS)]]
    for system in systems:
        shares = list(system.campaigns["relocation"].ends.values())
        counts, _ = np.histogram(shares, bins=np.linspace(0, 1, 11))
        rows.append([system.system, *map(str, counts.tolist())])
    return Table("distances", "Share of the way to the centroid that failures travelled (Fig. 9)", rows)


def _naturalness(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "HOG inserted", "HOG relocated", "naturalness inserted", "naturalness relocated"]]
    for system in systems:
        values = [_values(system, what, way) for what in MEASURES for way in WAYS]
        rows.append([system.system, *(f"{np.mean(v):.3f}" if v else "-" for v in values)])
    return Table(
        "naturalness",
        "Naturalness of failing pictures (Table 4): HOG intersection, and what people see",
        rows,
        "HOG does not measure believability; naturalness is the geometric mean of colour, contrast, "
        "sharpness, scale and ground line.",
    )


def _kept(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "measure", *(f">= {t:g}" for t in THRESHOLDS)]]
    for system in systems:
        for what, name in MEASURES.items():
            values = _values(system, what, *WAYS)
            rows.append([system.system, name, *(str(sum(v >= t for v in values)) for t in THRESHOLDS)])
    return Table("kept", "Failures kept against threshold (Fig. 10)", rows)


def _believed(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "no hysteresis", "hysteresis", "stable", "confirmed"]]
    rows[0] += ["need the object", "lose a real object"]
    for system in systems:
        for way in ("random", "guided"):
            one = system.campaigns[way]
            stages = [format_share(n, one.judged) for n in (one.hysteresis, one.stable, one.violated)]
            real = f"{one.truly} of {one.annotated}" if one.annotated else "-"
            row = [system.system, way, str(one.judged), format_share(one.raw, one.rejudged), *stages]
            rows.append([*row, f"{one.needing} of {one.tried}", real])
    return Table(
        "believed",
        "How far findings came: shares of cases, each a part of the one before",
        rows,
        "Without hysteresis 0.501 -> 0.499 counts as lost. Stable: no null change shows it. Confirmed: it "
        "recurs under JPEG 95 and under a shift. What a flat blob in its place does not reproduce needs the "
        "object. A real object is one that is annotated.",
    )


def _false_alarms(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "photometric", "share", "95 % (Wilson)", "shift", "share", "95 % (Wilson)"]]
    for system in systems:
        row = [system.system]
        for kind in ("photometric", "shift"):
            one = system.alarms[kind]
            row += [f"{one.violated} of {one.judged}", format_share(one.violated, one.judged)]
            row.append(_wilson(one.violated, one.judged))
        rows.append(row)
    title = "Fresh null changes, none of them used to strike findings out, judged like cases"
    return Table("false-alarms", title, rows, "Wanted: at most 2 % photometric and 5 % shift.")


def _values(system: DetectorCounts, what: str, *ways: str) -> list[float]:
    return [v for one in system.campaigns.values() for way in ways for v in getattr(one, what)[way]]


def _wilson(part: int, whole: int) -> str:
    return span(wilson(part, whole) if whole else (0.0, 1.0))
