"""What the study of the MetaOD paper counts, from finished campaigns of one detector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from instar.core.change import plain
from instar.core.recipe import recorded
from instar.core.record import Record, Totals
from instar.core.relation import Relation
from instar.core.replay import Replay
from instar.core.scene import Image, Observation
from instar.core.task import Null
from instar.core.verdict import Status
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import Brighten, Reencode, Shift, draw_null
from instar.studies.campaign import CaseCounts
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.naturalness import measure_naturalness

NULLS: Mapping[str, type[Null]] = {null.__name__: null for null in (Reencode, Brighten, Shift)}


def _by_way() -> dict[str, list[float]]:
    return {"inserted": [], "relocated": []}


@dataclass(eq=False)
class CampaignCounts(CaseCounts):
    """One campaign, counted. Judged are also cases whose findings were struck out.

    Findings are checked in stages, and a case counts for each stage that one of its findings reached:
    `hysteresis` (found at all), `stable` (no null change shows it), violated (it recurs). `raw` are
    contradictions without hysteresis, of the cases in `rejudged`; `needing` those that a placebo does not
    reproduce, of the `tried`; `truly` those that lose, rename or move an annotated object, of the confirmed
    cases in `annotated` scenes.
    """

    found: dict[str, int] = field(default_factory=dict)  # objects, by scene
    rejudged: int = 0
    raw: int = 0
    hysteresis: int = 0
    stable: int = 0
    tried: int = 0
    needing: int = 0
    annotated: int = 0
    truly: int = 0
    distinct: set[tuple[str, str]] = field(default_factory=set)  # scene and object
    sources: dict[str, Observation] = field(default_factory=dict)  # by scene
    relocated: int = 0
    ends: dict[tuple[object, ...], float] = field(default_factory=dict)  # share of the way, by end
    hog: dict[str, list[float]] = field(default_factory=_by_way)
    natural: dict[str, list[float]] = field(default_factory=_by_way)
    totals: Totals | None = None


@dataclass(eq=False)
class DetectorCounts:
    """One detector: its campaigns by search, and fresh null changes judged like cases, by kind."""

    system: str
    campaigns: dict[str, CampaignCounts]
    alarms: dict[str, CaseCounts]


@recorded
def null_relation() -> Relation:
    """Fresh null changes as cases: every violation is a false alarm."""

    def draw(source: Observation, rng: np.random.Generator) -> dict[str, Any]:
        null = draw_null(source, rng)
        return {"null": type(null).__name__, **asdict(null)}

    def apply(picture: Image, change: Mapping[str, Any]) -> Any:
        options = {key: value for key, value in change.items() if key != "null"}
        return NULLS[change["null"]](**options).apply(picture)

    return Relation("nothing", "detection", apply=apply, draw=draw)


def count_false_alarms(records: Iterable[Record]) -> dict[str, CaseCounts]:
    """Null changes of each kind; every violation is a false alarm."""
    alarms = {"photometric": CaseCounts(), "shift": CaseCounts()}
    for record in records:
        if record.role != "case" or record.change is None or record.verdict.status is Status.FAILED:
            continue
        kind = "shift" if plain(record.change)["null"] == "Shift" else "photometric"
        alarms[kind].judge(record.scene, violated=record.verdict.status is Status.VIOLATED)
    return alarms


def count_campaign(cases: Iterable[tuple[Record, Replay | None]], totals: Totals | None) -> CampaignCounts:
    """Count the cases of a campaign; the replay is the case made again from the stored answers."""
    counts = CampaignCounts(totals=totals)
    for record, again in cases:
        verdict, change = record.verdict, record.change
        struck = verdict.evidence.get("struck", ())
        judged = verdict.status in (Status.HELD, Status.VIOLATED) or bool(struck)
        if record.role != "case" or not isinstance(change, Insertion) or not judged:
            continue
        violated = verdict.status is Status.VIOLATED
        counts.judge(record.scene, violated=violated)
        counts.hysteresis += violated or bool(struck)
        counts.stable += violated or any(not one["by"].startswith("null") for one in struck)
        if again is not None and again.source is not None and again.follow_ups:
            _count_pictures(counts, record, change, again.source, again.follow_ups[0])
        if violated:
            counts.distinct |= {(record.scene, finding.subject) for finding in verdict.findings}
            if change.start is not None:
                _count_relocation(counts, record, change)
    return counts


def _count_pictures(
    counts: CampaignCounts, record: Record, change: Insertion, source: Observation, follow_up: Observation
) -> None:
    before, findings = source.answer, record.verdict.findings
    counts.found[record.scene] = len(before.confident())
    counts.sources[record.scene] = source
    counts.rejudged += 1
    bare = same_objects(before, follow_up.answer, pasted=change.box, hysteresis=0.0)
    counts.raw += bare.status is Status.VIOLATED
    if record.verdict.status is not Status.VIOLATED:
        return
    where = "inserted" if change.start is None else "relocated"
    counts.hog[where].append(hog_intersection(source.input, follow_up.input))
    counts.natural[where].append(measure_naturalness(source, follow_up.input, change).overall)
    if source.scene.objects is not None:
        counts.annotated += 1
        counts.truly += any(finding.known == "real" and "was" in finding.evidence for finding in findings)
    placebo = record.verdict.evidence.get("placebo")
    if placebo is not None:
        counts.tried += 1
        recurs = {tuple(key) for key in placebo["recurs"]}
        counts.needing += any(finding.key not in recurs for finding in findings)


def _count_relocation(counts: CampaignCounts, record: Record, change: Insertion) -> None:
    counts.relocated += 1
    # Several starts that end in the same place count once: the same object, pasted alike at the same place.
    end = (record.scene, replace(change, start=None, travelled=0.0, anchor=None))
    counts.ends[end] = max(counts.ends.get(end, 0.0), change.travelled)
