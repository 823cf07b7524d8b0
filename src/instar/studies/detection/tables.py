"""The study of detectors as tables: those of the MetaOD paper, and how far each finding came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from instar.stats import bootstrap_rate, wilson
from instar.studies import Table
from instar.studies.detection.counts import CampaignCounts, DetectorCounts

__all__ = ["tables"]

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)
TENTHS = tuple(i / 10 for i in range(10))


def tables(systems: Sequence[DetectorCounts]) -> Iterator[Table]:
    yield _ways(systems)
    yield _overview(systems)
    yield _relocation(systems)
    yield _distances(systems)
    yield _naturalness(systems)
    yield _kept(systems)
    yield _believed(systems)
    yield _false_alarms(systems)


def _ways(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "errors", "rate", "95 % interval", "different failures", "scenes"]]
    better = 0
    for system in systems:
        rates = {}
        for way in ("random", "guided"):
            one = system.campaigns[way]
            scenes = sorted(one.judged)
            rates[way] = _share(one.confirmed, one.cases)
            interval = (
                bootstrap_rate([one.violated[s] for s in scenes], [one.judged[s] for s in scenes])
                if one.cases
                else (0.0, 1.0)
            )
            rows.append(
                [
                    system.system, way, str(one.cases), str(one.confirmed), _percent(rates[way]),
                    f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %", str(len(one.distinct)),
                    str(sum(1 for s in scenes if one.violated[s])),
                ]
            )  # fmt: skip
        better += (rates["guided"] or 0) > (rates["random"] or 0)
    return Table(
        "random-guided",
        "Random against guided insertion (Table 1): confirmed, stable errors",
        rows,
        f"Guided finds more than random on {better} of {len(systems)}. Intervals are over scenes.",
    )


def _overview(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "images made", "objects found", "causing failures", "share", "95 % (Wilson)"]]
    rows[0] += ["queries", "seconds", "price"]
    for system in systems:
        made = sum(one.cases for one in system.campaigns.values())
        failing = sum(one.confirmed for one in system.campaigns.values())
        found: dict[str, int] = {}
        for one in system.campaigns.values():
            found |= one.found
        totals = [one.totals for one in system.campaigns.values() if one.totals is not None]
        low, high = wilson(failing, made) if made else (0.0, 1.0)
        price = sum(t.asked * t.price_per_query for t in totals)
        rows.append(
            [
                system.system, str(made), str(sum(found.values())), str(failing),
                _percent(_share(failing, made)), f"{100 * low:.1f} to {100 * high:.1f} %",
                str(sum(t.queries for t in totals)), f"{sum(t.seconds for t in totals):.0f}",
                f"{price:.2f}" if price else "-",
            ]
        )  # fmt: skip
    return Table("overview", "Overview (Table 2)", rows, "Yields of searches, not failure rates of scenes.")


def _relocation(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "inserted", "relocated", "unique relocated"]]
    for system in systems:
        one = system.campaigns["relocation"]
        rows.append(
            [system.system, str(one.confirmed - one.relocated), str(one.relocated), str(len(one.ends))]
        )
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
        values = [
            _all(system, lambda c: c.hog["inserted"]),
            _all(system, lambda c: c.hog["relocated"]),
            _all(system, lambda c: c.natural["inserted"]),
            _all(system, lambda c: c.natural["relocated"]),
        ]
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
        for name, values in (
            ("HOG", _all(system, lambda c: [*c.hog["inserted"], *c.hog["relocated"]])),
            ("naturalness", _all(system, lambda c: [*c.natural["inserted"], *c.natural["relocated"]])),
        ):
            rows.append([system.system, name, *(str(sum(v >= t for v in values)) for t in THRESHOLDS)])
    return Table("kept", "Failures kept against threshold (Fig. 10)", rows)


def _believed(systems: Sequence[DetectorCounts]) -> Table:
    rows = [["system", "search", "cases", "no hysteresis", "hysteresis", "stable", "confirmed"]]
    rows[0] += ["need the object", "lose a real object"]
    for system in systems:
        for way in ("random", "guided"):
            one = system.campaigns[way]
            rows.append(
                [
                    system.system, way, str(one.cases), _percent(_share(one.raw, one.rejudged)),
                    _percent(_share(one.hysteresis, one.cases)), _percent(_share(one.stable, one.cases)),
                    _percent(_share(one.confirmed, one.cases)),
                    f"{one.needing} of {one.tried}",
                    f"{one.truly} of {one.annotated}" if one.annotated else "-",
                ]
            )  # fmt: skip
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
            asked, accused = system.alarms.asked[kind], system.alarms.accused[kind]
            low, high = wilson(accused, asked) if asked else (0.0, 1.0)
            row += [f"{accused} of {asked}", _percent(_share(accused, asked))]
            row.append(f"{100 * low:.1f} to {100 * high:.1f} %")
        rows.append(row)
    return Table(
        "false-alarms",
        "Fresh null changes, none of them used to strike findings out, judged like cases",
        rows,
        "Wanted: at most 2 % photometric and 5 % shift.",
    )


def _all(system: DetectorCounts, of: Callable[[CampaignCounts], Sequence[float]]) -> list[float]:
    return [value for one in system.campaigns.values() for value in of(one)]


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
