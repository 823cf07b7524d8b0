"""The study of detectors as tables: those of the MetaOD paper (ASE 2020), and how far each finding came."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.stats import wilson
from instar.studies.detection.counts import DetectorCounts
from instar.studies.output import Table, format_share, span
from instar.tasks.detection.accuracy import measure_accuracy

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
TENTHS = tuple(i / 10 for i in range(10))
WAYS = ("inserted", "relocated")
MEASURES = {"hog": "HOG", "natural": "naturalness"}


def make_tables(systems: Sequence[DetectorCounts]) -> list[Table]:
    """The tables and figures of the paper, numbered as in its last edition, then our own."""
    parts = (_insertions, _overview, _detectors, _breakdown, _distances, _naturalness)
    return [make(systems) for make in (*parts, _searches, _kept, _believed, _false_alarms)]


def _insertions(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "errors by random insertion", "errors by guided insertion"]]
    rows[0] += ["images by random", "images by guided"]
    better = 0
    for system in systems:
        random, guided = (system.campaigns[way] for way in ("random", "guided"))
        counts = (random.violated, guided.violated, random.judged, guided.judged)
        rows.append([system.system, *map(str, counts)])
        better += guided.violated * max(1, random.judged) > random.violated * max(1, guided.judged)
    title = "Errors found by random and by guided insertion (Section 4.3)"
    note = f"Guided finds more than random on {better} of {len(systems)}."
    return Table("random-guided", title, rows, note)


def _overview(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "synthetic images", "detected objects", "images causing failures", "share"]]
    rows[0] += ["95 % (Wilson)", "queries", "seconds", "price"]
    for system in systems:
        one, totals = system.campaigns["relocation"], system.campaigns["relocation"].totals
        failing = one.violated - one.relocated + len(one.ends)
        counts = [str(n) for n in (one.judged, sum(one.found.values()), failing)]
        spent = ["-", "-", "-"]
        if totals is not None:
            price = totals.asked * totals.price_per_query
            spent = [str(totals.queries), f"{totals.seconds:.0f}", f"{price:.2f}" if price else "-"]
        rows.append([system.system, *counts, format_share(failing, one.judged), _wilson(failing, one.judged)])
        rows[-1] += spent
    note = "Guided insertion and relocation; images with the object at the same end count once. A yield of a "
    note += "search, not a failure rate of scenes."
    return Table("overview", "Result overview (Table 1)", rows, note)


def _detectors(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "ms per query", "AP50", "best F1", "at confidence", "annotated pictures"]]
    for system in systems:
        totals = [one.totals for one in system.campaigns.values() if one.totals is not None]
        asked, seconds = sum(t.asked for t in totals), sum(t.seconds for t in totals)
        seen = {scene: source for one in system.campaigns.values() for scene, source in one.sources.items()}
        told = measure_accuracy(list(seen.values()))
        accuracy = [str(told.get(name, "-")) for name in ("AP50", "best F1", "at confidence", "pictures")]
        rows.append([system.system, f"{1000 * seconds / asked:.0f}" if asked else "-", *accuracy])
    note = "Time of the whole campaign for each query that was sent; accuracy where scenes are annotated."
    return Table("detectors", "Object detectors (Table 2)", rows, note)


def _breakdown(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "with inserted object", "with relocated object", "unique with relocated object"]]
    for system in systems:
        one = system.campaigns["relocation"]
        counts = (one.violated - one.relocated, one.relocated, len(one.ends))
        rows.append([system.system, *map(str, counts)])
    return Table("relocation", "Breakdown of images causing failures (Table 3)", rows)


def _searches(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "errors", "rate", "95 % interval", "different failures", "scenes"]]
    for system in systems:
        for way, one in system.campaigns.items():
            drawn = way in ("random", "guided")
            rate = format_share(one.violated, one.judged) if drawn else "a yield"
            interval = span(one.interval or (0.0, 1.0)) if drawn else "-"
            failing = sum(1 for n in one.failed_by_scene.values() if n)
            counts = [
                str(one.judged),
                str(one.violated),
                rate,
                interval,
                str(len(one.distinct)),
                str(failing),
            ]
            rows.append([system.system, way, *counts])
    title = (
        "Searches with equally many questions: confirmed, stable errors, and the objects that they are about"
    )
    return Table("searches", title, rows, "Intervals are over scenes.")


def _distances(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", *(f"{a:.1f}-{a + 0.1:.1f}" for a in TENTHS)]]
    for system in systems:
        shares = list(system.campaigns["relocation"].ends.values())
        counts, _ = np.histogram(shares, bins=np.linspace(0, 1, 11))
        rows.append([system.system, *map(str, counts.tolist())])
    return Table(
        "distances", "Efficiency of object relocation: share of the way to the centroid (Figure 8)", rows
    )


def _naturalness(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "HOG inserted", "HOG relocated", "naturalness inserted", "naturalness relocated"]]
    for system in systems:
        values = [_values(system, what, way) for what in MEASURES for way in WAYS]
        rows.append([system.system, *(f"{np.mean(v):.3f}" if v else "-" for v in values)])
    return Table(
        "naturalness",
        "Naturalness of images causing failures (Table 4): HOG intersection, and what people see",
        rows,
        "HOG does not measure believability; naturalness is how likely a picture passes at a glance.",
    )


def _kept(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "measure", *(f">= {t:g}" for t in THRESHOLDS)]]
    for system in systems:
        for what, name in MEASURES.items():
            values = _values(system, what, *WAYS)
            rows.append([system.system, name, *(str(sum(v >= t for v in values)) for t in THRESHOLDS)])
    return Table("kept", "Images causing failures that are kept, by the least naturalness", rows)


def _believed(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "no hysteresis", "hysteresis", "stable", "confirmed"]]
    rows[0] += ["need the object", "lose a real object"]
    for system in systems:
        for way in ("random", "guided", "adaptive"):
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
    return Table("false-alarms", title, rows, "Wanted: at most 1 % photometric and 2 % shift.")


def _values(system: DetectorCounts, what: str, *ways: str) -> list[float]:
    return [v for one in system.campaigns.values() for way in ways for v in getattr(one, what)[way]]


def _wilson(part: int, whole: int) -> str:
    return span(wilson(part, whole) if whole else (0.0, 1.0))
