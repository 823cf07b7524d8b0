"""What the study of the MetaOD paper counts, from finished campaigns of one detector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from instar.core.change import plain
from instar.core.record import Record, Totals
from instar.core.relation import Relation
from instar.core.replay import Replay
from instar.core.scene import Image, Observation, SceneObject
from instar.core.task import Null
from instar.core.verdict import Finding, Status
from instar.imaging.geometry import iou
from instar.imaging.naturalness import hog_intersection
from instar.imaging.nulls import Brighten, Reencode, Shift, draw_null
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.compare import same_objects
from instar.tasks.detection.naturalness import looks

__all__ = ["Calm", "Campaigned", "Measured", "count", "count_calm", "nothing_changed"]

LEAST_IOU = 0.5


@dataclass(eq=False)
class Campaigned:
    """One campaign, counted. A case is in `raw`, `hysteresis`, `stable` and `confirmed` as far as it came.

    `raw` are contradictions without hysteresis, of the cases in `rejudged`; `needing` those that a placebo
    does not reproduce, of the `tried`; `truly` those that lose or misplace an object that is annotated, of
    the confirmed cases in scenes that are.
    """

    judged: Counter[str] = field(default_factory=Counter)  # by scene
    violated: Counter[str] = field(default_factory=Counter)
    found: dict[str, int] = field(default_factory=dict)  # objects, by scene
    rejudged: int = 0
    raw: int = 0
    hysteresis: int = 0
    stable: int = 0
    confirmed: int = 0
    tried: int = 0
    needing: int = 0
    annotated: int = 0
    truly: int = 0
    distinct: set[tuple[str, str, str]] = field(default_factory=set)
    relocated: int = 0
    ends: dict[tuple[object, ...], float] = field(default_factory=dict)  # of the way, by what ended where
    hog: dict[str, list[float]] = field(default_factory=lambda: {"inserted": [], "relocated": []})
    natural: dict[str, list[float]] = field(default_factory=lambda: {"inserted": [], "relocated": []})
    totals: Totals | None = None

    @property
    def cases(self) -> int:
        """Everything that was judged, whether or not its findings were believed."""
        return self.judged.total()


@dataclass(eq=False)
class Calm:
    """Fresh null changes judged like cases: how many there were, and how many were accused, by kind."""

    asked: Counter[str] = field(default_factory=Counter)
    accused: Counter[str] = field(default_factory=Counter)


@dataclass(eq=False)
class Measured:
    """One detector: its campaigns by search, and its false alarms."""

    system: str
    campaigns: dict[str, Campaigned]
    calm: Calm


def nothing_changed() -> Relation:
    """Fresh null changes as cases: every violation is a false alarm."""
    return Relation("nothing", "detection", apply=_apply_null, draw=_draw_null)


def _draw_null(source: Observation, rng: np.random.Generator) -> dict[str, Any]:
    null = draw_null(source, rng)
    return {"null": type(null).__name__, **asdict(null)}


def _apply_null(picture: Image, change: Mapping[str, Any]) -> Any:
    options = {key: value for key, value in change.items() if key != "null"}
    null: Null = {"Reencode": Reencode, "Brighten": Brighten, "Shift": Shift}[change["null"]](**options)
    return null.apply(picture)


def count_calm(records: Iterable[Record]) -> Calm:
    calm = Calm()
    for record in records:
        if record.role != "case" or record.change is None or record.verdict.status is Status.FAILED:
            continue
        kind = "shift" if plain(record.change)["null"] == "Shift" else "photometric"
        calm.asked[kind] += 1
        calm.accused[kind] += record.verdict.status is Status.VIOLATED
    return calm


def count(cases: Iterable[tuple[Record, Replay | None]], totals: Totals | None) -> Campaigned:
    """Count the cases of a campaign; the replay is the case made again from the answers that were kept."""
    counted = Campaigned(totals=totals)
    for record, again in cases:
        verdict, change = record.verdict, record.change
        struck = verdict.evidence.get("struck", ())
        judged = verdict.status in (Status.HELD, Status.VIOLATED) or bool(struck)
        if record.role != "case" or not isinstance(change, Insertion) or not judged:
            continue
        counted.judged[record.scene] += 1
        violated = verdict.status is Status.VIOLATED
        counted.violated[record.scene] += violated
        counted.hysteresis += violated or bool(struck)
        counted.stable += violated or any(not one["by"].startswith("null") for one in struck)
        counted.confirmed += violated
        if again is not None and again.source is not None and again.follow_ups:
            _look(counted, record, change, again)
        if violated:
            counted.distinct |= {
                (record.scene, finding.kind, finding.subject) for finding in verdict.findings
            }
            _relocated(counted, record, change)
    return counted


def _look(counted: Campaigned, record: Record, change: Insertion, again: Replay) -> None:
    source, (follow_up, *_) = again.source, again.follow_ups
    assert source is not None
    before, after = source.answer, follow_up.answer
    counted.found[record.scene] = len(before.confident())
    counted.rejudged += 1
    bare = same_objects(before, after, pasted=change.box, hysteresis=0.0)
    counted.raw += bare.status is Status.VIOLATED
    if record.verdict.status is not Status.VIOLATED:
        return
    where = "inserted" if change.start is None else "relocated"
    counted.hog[where].append(hog_intersection(source.input, follow_up.input))
    counted.natural[where].append(looks(source, follow_up.input, change).overall)
    if source.scene.objects is not None:
        counted.annotated += 1
        counted.truly += any(_is_there(f, source.scene.objects, before) for f in record.verdict.findings)
    placebo = record.verdict.evidence.get("placebo")
    if placebo is not None:
        counted.tried += 1
        recurs = {tuple(key) for key in placebo["recurs"]}
        counted.needing += any(finding.key not in recurs for finding in record.verdict.findings)


def _is_there(finding: Finding, objects: Sequence[SceneObject], before: Detections) -> bool:
    """Whether the object that a finding is about is annotated: same label, more than half overlapping."""
    was = finding.evidence.get("was")
    if was is None:
        return False
    same = [one.box for one in objects if one.label == was["label"]]
    boxes = np.array(same, np.float32).reshape(-1, 4)
    return bool((iou(np.array([was["box"]], np.float32), boxes) > LEAST_IOU).any())


def _relocated(counted: Campaigned, record: Record, change: Insertion) -> None:
    if change.start is None:
        return
    counted.relocated += 1
    # Several starts that end in the same place count once, by content: what is pasted, how and where.
    content = replace(change, start=None, travelled=0.0, anchor=None)
    place = (record.scene, content)
    counted.ends[place] = max(counted.ends.get(place, 0.0), change.travelled)
