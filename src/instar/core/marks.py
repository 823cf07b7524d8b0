"""A case as panels: pictures and what is marked on them.

A task says what shows an answer (`Task.marks`); here that becomes before and after, with what became of each
mark. Report, workbench, terminal and notebook draw every case of every task from these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from instar.core.change import Change
from instar.core.frame import Frame
from instar.core.scene import Image, Observation
from instar.core.task import Task
from instar.core.verdict import Finding, Verdict

Fate: TypeAlias = Literal["matched", "lost", "new", "moved", "renamed", "change", "unsure"]
"""What became of something that was marked; "change" is what the change itself put there, "unsure" what comes
and goes by itself: a difference that was struck out, since null changes show it too or it does not recur.
"""
FATES: Mapping[str, Fate] = {
    "lost": "lost",
    "invented": "new",
    "new": "new",
    "renamed": "renamed",
    "drifted": "moved",
    "moved": "moved",
}
"""What becomes of the mark that a finding of this kind is about; any other kind is drawn as lost or new."""
WORDS = {"new": "new", "renamed": "now", "moved": "moved"}

Corners: TypeAlias = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A closed outline in pixels of the picture, what became of what it is around, and a label.

    `subject` is what findings call it; empty where no finding can be about it.
    """

    outline: Corners
    fate: Fate = "matched"
    label: str = ""
    subject: str = ""

    @classmethod
    def box(cls, box: Iterable[float], fate: Fate = "matched", label: str = "", subject: str = "") -> Mark:
        """Around x1, y1, x2, y2.

        >>> Mark.box([0, 0, 4, 2], "lost").outline
        ((0.0, 0.0), (4.0, 0.0), (4.0, 2.0), (0.0, 2.0))
        """
        x1, y1, x2, y2 = map(float, box)
        return cls(((x1, y1), (x2, y1), (x2, y2), (x1, y2)), fate, label, subject)


@dataclass(frozen=True, slots=True)
class Dial:
    """A number beside a picture, such as a speed; `low` and `high` are the ends of its scale."""

    name: str
    value: float
    unit: str
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One picture of a case. `heat` is `float32 (h, w)` in [0, 1], laid over the whole picture; `frame` is
    how a follow-up's picture lies to the source, where it was moved.
    """

    title: str
    picture: Image
    marks: tuple[Mark, ...] = ()
    dials: tuple[Dial, ...] = ()
    heat: npt.NDArray[np.float32] | None = None
    frame: Frame | None = None


def make_panels(
    task: Task, source: Observation, follow_ups: Sequence[Observation], change: Change, verdict: Verdict
) -> list[Panel]:
    """The source and each follow-up as panels; what is lost is outlined where it should have been.

    Answers of follow-ups are in the source's frame, and so are the marks that are made of them: they are
    moved to where they are in the follow-up's picture.
    """
    struck = {(s["kind"], s["subject"]) for s in verdict.evidence.get("struck", ())}
    unsure = {subject for _, subject in struck}
    fates = {f.subject: fate for f in verdict.findings if (fate := _fate(f)) != "new"}
    before = task.marks(source)
    replaced = [
        mark for f in verdict.findings if (mark := _mark_at(f.evidence.get("instead of"))) is not None
    ]

    def fate_of(mark: Mark) -> Fate:
        if any(_same_place(mark, other) for other in replaced):
            return "renamed"
        return fates.get(mark.subject, "unsure" if mark.subject in unsure else "matched")

    named = tuple(replace(mark, fate=fate_of(mark)) for mark in before.marks)
    panels = [replace(before, title=_titled("before", before), marks=named)]
    told = [mark for finding in verdict.findings if (mark := _mark_of(finding)) is not None]
    for number, one in enumerate(follow_ups, start=1):
        after = task.marks(one)
        marks = [mark for mark in after.marks if not any(_same_place(mark, other) for other in told)]
        title = "after" if len(follow_ups) == 1 else f"after {number}"
        marks += _change_marks(change) + told
        shown = tuple(_in_follow_up(mark, one.frame) for mark in marks)
        panels.append(replace(after, title=_titled(title, after), marks=shown, frame=one.frame))
    return _on_one_scale(panels)


def region_of(told: Any) -> Corners | None:
    """The place that a finding's `was` or `is` speaks of: a box, or corners."""
    if isinstance(told, Mapping):
        told = told.get("box") or told.get("corners")
    try:
        values = np.asarray(told if told is not None else [], np.float64)
    except (TypeError, ValueError, OverflowError):  # a relation may compare something else than places
        return None
    if values.shape == (4,):
        return Mark.box(values.tolist()).outline
    return (
        tuple((float(x), float(y)) for x, y in values) if values.ndim == 2 and values.shape[1] == 2 else None
    )


def _fate(finding: Finding) -> Fate:
    return FATES.get(finding.kind, "lost" if "was" in finding.evidence else "new")


def _mark_of(finding: Finding) -> Mark | None:
    """Where a finding shows in the follow-up, and what is written there."""
    fate = _fate(finding)
    told = finding.evidence.get("is", finding.evidence.get("was"))
    region = region_of(told)
    if region is None:
        return None
    label = str(told.get("label", "")) if isinstance(told, Mapping) else ""
    score = told.get("score") if isinstance(told, Mapping) else None
    what = WORDS.get(fate, finding.kind) if finding.kind in FATES else finding.kind
    words = f"{label} {finding.kind}" if fate == "lost" else f"{what} {label}"
    if score is not None and fate != "lost":
        words = f"{words} {score:.2f}"
    return Mark(region, fate, words.strip())


def _mark_at(told: Any) -> Mark | None:
    region = region_of(told)
    return None if region is None else Mark(region)


def _change_marks(change: Change) -> list[Mark]:
    box = getattr(change, "box", None)
    return [] if box is None else [Mark.box(box, "change", str(getattr(change, "mark", "change")))]


def _same_place(a: Mark, b: Mark) -> bool:
    return len(a.outline) == len(b.outline) and bool(np.allclose(a.outline, b.outline, atol=0.1))


def _in_follow_up(mark: Mark, frame: Frame | None) -> Mark:
    if frame is None:
        return mark
    moved = frame.to_follow_up(np.asarray(mark.outline))
    return replace(mark, outline=tuple((float(x), float(y)) for x, y in moved))


def _titled(when: str, panel: Panel) -> str:
    return f"{panel.title}, {when}" if panel.title else when


def _on_one_scale(panels: Sequence[Panel]) -> list[Panel]:
    """The same dial has the same ends in every panel, so that pointers can be compared."""
    ends: dict[str, float] = {}
    for dial in (dial for panel in panels for dial in panel.dials):
        ends[dial.name] = max(ends.get(dial.name, 0.0), abs(dial.low), abs(dial.high), abs(dial.value))

    def scaled(dial: Dial) -> Dial:
        end = ends[dial.name]
        return replace(dial, low=np.sign(dial.low) * end if dial.low else 0.0, high=np.sign(dial.high) * end)

    return [replace(panel, dials=tuple(map(scaled, panel.dials))) for panel in panels]
