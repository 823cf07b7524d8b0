"""What a failure is about: what was lost, by what change, where, among what.

All of it is read from what a run keeps as JSON, so that neither the relation nor its modules are needed. A
check may say it better in a finding's evidence, under `cause`: a mapping with any of `what`, `label`,
`by` and `where`, in words (a label that is empty: `what` says it all), and `words` for the whole finding.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from instar.core.record import Record
from instar.core.verdict import Finding
from instar.report.words import FATE_SENTENCES, FATES

NOT_A_KIND = {"type", "condition", "blend", "cutout", "font", "text", "unit"}
"""Fields of a change whose text does not say what kind of change it is."""
TOUCHING = 10  # pixels between two boxes, at most
THING_MEASURES = ("width", "height", "x", "y")
"""Of a thing: how large it is, and where its middle is, in pixels."""

Measures: TypeAlias = tuple[float, float, float, float]
LabelledThing: TypeAlias = tuple[str, Measures]
"""A label and its measures, which may not be known."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A violated case, and its change as the run file has it."""

    record: Record
    recipe: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a failure is about, in words; each may be empty.

    `measures` are those of the thing it is about, `among` are the things in the scene.
    """

    what: str
    label: str
    by: str
    where: str
    measures: Measures
    among: tuple[LabelledThing, ...]


def traits_of(failure: Failure, worst: Finding) -> Traits:
    """The traits of a failure, by its plainest finding."""
    verdict = failure.record.verdict
    told = worst.evidence.get("cause", {})
    return Traits(
        what=told.get("what") or what_of(worst),
        label=told.get("label", thing_in(worst)),
        by=told.get("by") or brought_by(failure.recipe),
        where=told.get("where") or _where(failure.recipe, worst),
        measures=_measured(_box(worst)),
        among=_things(
            tuple(verdict.evidence.get("among", ())), tuple(map(tuple, verdict.evidence.get("places", ())))
        ),
    )


@lru_cache(maxsize=65536)
def _things(labels: tuple[str, ...], boxes: tuple[tuple[float, ...], ...]) -> tuple[LabelledThing, ...]:
    """Failures of one scene share what is in it: there may be very many of them."""
    places = boxes if len(boxes) == len(labels) else [None] * len(labels)
    return tuple((label, _measured(box)) for label, box in zip(labels, places))


def _measured(box: Sequence[float] | None) -> Measures:
    try:
        x1, y1, x2, y2 = map(float, box or ())
    except (TypeError, ValueError):
        return math.nan, math.nan, math.nan, math.nan
    return x2 - x1, y2 - y1, (x1 + x2) / 2, (y1 + y2) / 2


def _box(finding: Finding) -> Any:
    seen = finding.evidence.get("was") or finding.evidence.get("is")
    return seen.get("box") if isinstance(seen, Mapping) else None


def what_of(finding: Finding) -> str:
    """What became of it: one of the usual fates where its kind or the evidence tells, else its kind.

    >>> what_of(Finding("moved", "class 1", -0.1, {"was": {"label": "class 1"}}))
    'moved'
    """
    if finding.kind in FATES:
        return finding.kind
    was, now = _named(finding, "was"), _named(finding, "is")
    if was and now:
        return "moved" if was == now else "renamed"
    if was or now:
        return "lost" if was else "new"
    return finding.kind or "violated"


def thing_in(finding: Finding) -> str:
    """The label of what it is about; where things have no label, what they are: "box" for "box 3".

    >>> thing_in(Finding("lost", "box 3"))
    'box'
    """
    was, now = _named(finding, "was"), _named(finding, "is")
    if was and now and was != now:
        return " and ".join(sorted([was, now]))
    return was or now or re.sub(r"\s*\d+$", "", finding.subject)


def finding_words(finding: Finding) -> str:
    """A finding in one line.

    >>> finding_words(Finding("lost", "object 4", -0.9, {"was": {"label": "car", "score": 0.9}}))
    'car 0.90 is lost'
    """
    cause = finding.evidence.get("cause", {})
    if cause.get("words"):
        return str(cause["words"])
    if cause.get("what"):
        is_said = finding.subject in cause["what"]
        return str(cause["what"]) if is_said else f"{cause['what']}: {finding.subject}"
    seen = {when: _scored(finding, when) for when in ("was", "is", "instead of")}
    if any(seen.values()):
        what = what_of(finding)
        return FATE_SENTENCES["instead of" if what == "new" and seen["instead of"] else what].format_map(seen)
    kind = f"is {FATES[finding.kind]}" if finding.kind in FATES and finding.subject else finding.kind
    return " ".join(filter(None, [finding.subject, kind])) or "it does not hold"


def worth_words(finding: Finding) -> str:
    """What is known about it, in a word or two."""
    if finding.known != "unknown":
        return finding.known
    return "not verified" if finding.is_failure else "disputed"


def brought_by(recipe: Mapping[str, Any]) -> str:
    """The kind of a change within its relation: the label of what it brings, or another telling field."""
    for name in ("label", *recipe):
        value = recipe.get(name)
        if isinstance(value, str) and value and name not in NOT_A_KIND:
            return value
    return ""


def _named(finding: Finding, when: str) -> str:
    seen = finding.evidence.get(when)
    if type(seen) is dict or isinstance(seen, Mapping):  # the second takes ten times as long
        return str(seen.get("label", ""))
    return ""


def _scored(finding: Finding, when: str) -> str:
    label, seen = _named(finding, when), finding.evidence.get(when, {})
    return f"{label} {seen['score']:.2f}" if label and "score" in seen else label


def _where(recipe: Mapping[str, Any], finding: Finding) -> str:
    """How far what was put there is from what it is about."""
    box = _box(finding)
    try:
        x, y, width, height = (float(recipe[name]) for name in ("x", "y", "width", "height"))
        x1, y1, x2, y2 = map(float, box or ())
    except (KeyError, TypeError, ValueError):
        return ""
    gap = max(x - x2, x1 - (x + width), y - y2, y1 - (y + height))
    if gap <= TOUCHING:
        return "right beside it"
    return "close by" if gap <= max(x2 - x1, y2 - y1) else "far away"
