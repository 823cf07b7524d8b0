"""When an explanation contradicts itself, or the truth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.errors import BadInput
from instar.core.scene import Mask
from instar.core.verdict import Finding, Verdict
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box
from instar.tasks.interpretation.answers import Explanation
from instar.tasks.interpretation.boxes import KEPT_SHARE, Location, agreement, locate_heat, quality
from instar.tasks.interpretation.floor import Floor
from instar.tasks.interpretation.measures import (
    MEASURES,
    amount_difference,
    hot_grid,
    is_empty,
    leak,
    map_differences,
)

BETA, THETA = 0.6, 0.5
AS_SURE = 0.1  # of confidence: where it changes by more, what was changed mattered, and the map may tell so
NO_MATTER = 1.0  # of log-odds: where a thing was pasted or removed and they moved by more, it mattered
SPEAKS_FOR = 0.25  # of log-odds: where they grew by more, heat on what was changed tells the truth
LEAST_SURE = 1e-4  # nearer to 0 and 1 log-odds tell rounding
SUBJECT = "explanation"  # of every finding: there is one
NOT_AS_SURE = "the classifier is not as sure as it was"
CUTS = (0.15, 0.3, 0.5)
"""The paper does not say where a heat map is cut, so that the truth is looked at with each of these."""
FIXED = 0.9  # of the most: how hot a place may be in maps of quite different pictures
AS_MUCH = 0.02  # of the mean heat: maps of quite different pictures differ by far more in how much is how hot
EVERYWHERE = 0.9  # of the picture is hot: then a map says nothing, whatever IoMin says
NOT_LARGE = 0.5  # of the picture: an object larger than this may well be explained by all of it


@dataclass(frozen=True)
class Settings:
    """What explanations are judged by.

    `beta` is the least confidence, before and after; `kept` where a heat map is cut. Differences are
    compared with the `floor`, or as in the `paper`: IoMin of two boxes is at least `theta`.
    """

    beta: float = BETA
    kept: float = KEPT_SHARE
    paper: bool = False
    theta: float = THETA
    floor: Floor = Floor()  # noqa: RUF009  # frozen

    def __post_init__(self) -> None:
        for name in ("beta", "theta", "kept"):
            value = getattr(self, name)
            if not (isinstance(value, (int, float)) and 0 < value < 1):
                raise BadInput(f"{name} is {value!r}; it must be a number between 0 and 1")


def same_explanation(
    before: Explanation,
    after: Explanation,
    size: tuple[int, int],
    *,
    objects: Sequence[Box],
    settings: Settings,
    changed: Mask | None = None,
    is_real: bool = False,
) -> Verdict:
    """The explanation must be as it was, where the classifier is as sure as it was.

    `size` is that of the picture, `objects` the boxes of the class where they are known, `changed` the part
    of the picture that is another one: heat there has leaked. Where the change `is_real` and beside the
    objects, an explanation that points everywhere is a contradiction as well: it says that what was changed
    mattered, and it did not.

    Maps explain log-odds. Where those grew, heat on what was changed is no leak; where a part of the picture
    alone was changed and they moved by a whole unit, it mattered.
    """
    ended = unfit(before, after, settings.beta)
    if ended is not None:
        return ended
    if is_empty(after.heat):
        return _gone(before, after, mattered=not settings.paper and _mattered(before, after, changed))
    was = _located(before, size, settings.kept, tuple((x1, y1, x2, y2) for x1, y1, x2, y2 in objects))
    now = locate_heat(after.heat, size, kept=settings.kept, split=objects)
    assert was.whole is not None
    assert now.whole is not None
    agreed = agreement(was, now)
    evidence: dict[str, Any] = {
        "iomin": round(agreed.io_min, 4),
        "iou": round(agreed.iou, 4),
        "covered": [round(was.covered, 4), round(now.covered, 4)],
        "confidence": _sureness(before, after),
    }
    places = {"was": was.whole, "is": now.whole}
    findings = _everywhere([was, now], objects, size) if is_real else []
    if settings.paper:
        slack = agreed.io_min - settings.theta
        findings += [Finding("moved", SUBJECT, slack, places)] if slack < 0 else []
    else:
        different = measure(before, after, size, objects=objects, kept=settings.kept, changed=changed)
        evidence |= different
        if _mattered(before, after, changed):
            return Verdict.inapplicable(NOT_AS_SURE, **evidence)
        if _grew(before, after) > SPEAKS_FOR:  # what came speaks for the class, and heat on it says the truth
            different.pop("leak", None)
        slacks = {name: 1 - value / settings.floor.tolerance(name) for name, value in different.items()}
        slack = min(slacks.values())
        for kind, names in (("leak", ["leak"]), ("moved", MEASURES)):
            broken = [name for name in names if slacks.get(name, 0.0) < 0]
            if broken:
                worst = min(broken, key=lambda name: slacks[name])
                how = {"measure": worst, "times": round(settings.floor.times(worst, different[worst]), 1)}
                findings.append(Finding(kind, SUBJECT, slacks[worst], {**places, **how}))
    return Verdict.violated(findings, **evidence) if findings else Verdict.held(slack, **evidence)


def changed_explanation(
    before: Explanation, after: Explanation, *, settings: Settings, blind_to: str
) -> Verdict:
    """The explanation must be another one: an interpreter whose map stays is blind to what was changed.

    It stays where no measure says more than null changes do. One that is empty now is another one.
    """
    ended = _unexplained(before, settings.beta)
    if ended is not None:
        return ended
    if is_empty(after.heat):
        return Verdict.held(1.0, confidence=_sureness(before, after), empty=True)
    different = map_differences(before.heat, after.heat, kept=settings.kept)
    evidence: dict[str, Any] = {name: round(value, 4) for name, value in different.items()}
    evidence["confidence"] = _sureness(before, after)
    margin = max(value / settings.floor.least(name) - 1 for name, value in different.items())
    if margin > 0:
        return Verdict.held(min(1.0, margin), **evidence)
    cause = {"words": f"the explanation stays as it was, blind to the {blind_to}"}
    finding = Finding(f"blind to the {blind_to}", SUBJECT, margin - 1e-6, {"cause": cause})
    return Verdict.violated([finding], **evidence)


def unfixed_explanation(before: Explanation, others: Sequence[Explanation], *, settings: Settings) -> Verdict:
    """No place may be among the hottest both before and in the maps of others, which show no class at all;
    and not in all of them may as much of the map be as hot.

    A frame, a corner or the middle that is always hot is none of the classifier's. Where there is always as
    much heat, the map tells the order of the places alone.
    """
    ended = _unexplained(before, settings.beta)
    if ended is not None:
        return ended
    fixed = float(np.minimum.reduce([hot_grid(one.heat) for one in (before, *others)]).max())
    amount = max(amount_difference(before.heat, one.heat) for one in others)
    evidence = {
        "fixed": round(fixed, 4),
        "amount": round(amount, 4),
        "confidence": round(before.confidence, 4),
    }
    findings = []
    if fixed >= FIXED:
        cause = {"words": "a part of the explanation is as hot whatever the picture shows"}
        findings.append(Finding("always hot", SUBJECT, FIXED - fixed - 1e-6, {"cause": cause}))
    if amount < AS_MUCH:
        cause = {"words": "the explanation has as much heat whatever the picture shows: it has no amounts"}
        findings.append(Finding("always as much", SUBJECT, amount - AS_MUCH, {"cause": cause}))
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(min(1 - fixed / FIXED, amount, 1.0), **evidence)


def _unexplained(before: Explanation, beta: float) -> Verdict | None:
    """The verdict where there is nothing to compare with."""
    if before.confidence < beta:
        sure = round(before.confidence, 4)
        return Verdict.inapplicable("the classifier is not sure of the class", confidence=sure)
    return Verdict.inapplicable("an explanation is empty") if is_empty(before.heat) else None


def measure(
    before: Explanation,
    after: Explanation,
    size: tuple[int, int],
    *,
    objects: Sequence[Box],
    kept: float,
    changed: Mask | None = None,
) -> dict[str, float]:
    """Every measure of how two explanations differ, and how much heat is now on what was changed."""
    different = dict(map_differences(before.heat, after.heat, kept=kept, objects=objects, size=size))
    if changed is not None:
        different["leak"] = leak(before.heat, after.heat, changed)
    return {name: round(value, 4) for name, value in different.items()}


@by_identity(32)
def _located(before: Explanation, size: tuple[int, int], kept: float, objects: tuple[Box, ...]) -> Location:
    """Where the explanation points that many are held against."""
    return locate_heat(before.heat, size, kept=kept, split=objects)


def _sureness(before: Explanation, after: Explanation) -> list[float]:
    return [round(before.confidence, 4), round(after.confidence, 4)]


def _mattered(before: Explanation, after: Explanation, changed: Mask | None) -> bool:
    """Whether the classifier minds the change, so that its explanation may be another one."""
    if changed is not None and abs(_grew(before, after)) > NO_MATTER:
        return True
    return abs(after.confidence - before.confidence) > AS_SURE


def _gone(before: Explanation, after: Explanation, *, mattered: bool) -> Verdict:
    """The verdict where there was heat on the picture and there is none now."""
    evidence: dict[str, Any] = {"iomin": 0.0, "iou": 0.0, "confidence": _sureness(before, after)}
    if mattered:
        return Verdict.inapplicable(NOT_AS_SURE, **evidence)
    cause = {"words": "the explanation is gone: the map is empty now"}
    return Verdict.violated([Finding("gone", SUBJECT, -1.0, {"cause": cause})], **evidence)


def _grew(before: Explanation, after: Explanation) -> float:
    return _log_odds(after) - _log_odds(before)


def _log_odds(one: Explanation) -> float:
    sure = min(max(one.confidence, LEAST_SURE), 1 - LEAST_SURE)
    return math.log(sure / (1 - sure))


def unfit(before: Explanation, after: Explanation, beta: float) -> Verdict | None:
    """The verdict where the premise does not hold."""
    sure = _sureness(before, after)
    if before.confidence < beta:
        return Verdict.inapplicable("the classifier is not sure of the class", confidence=sure)
    if after.confidence < beta:
        return Verdict.inapplicable("the classifier is not sure of the class any more", confidence=sure)
    if is_empty(before.heat):
        return Verdict.inapplicable("an explanation is empty", confidence=sure)
    return None


def true_explanation(
    found: Explanation, truth: Sequence[Box], size: tuple[int, int], *, settings: Settings
) -> Verdict:
    """The explanation must be on the objects of its class."""
    sure, kept, theta = round(found.confidence, 4), settings.kept, settings.theta
    if found.confidence < settings.beta:
        return Verdict.inapplicable("the classifier is not sure of the class", confidence=sure)
    cuts = {}
    for cut in dict.fromkeys((*CUTS, kept)):
        here = locate_heat(found.heat, size, kept=cut, split=truth)
        if here.whole is None:
            return Verdict.inapplicable("an explanation is empty", confidence=sure)
        cuts[cut] = (here, quality(here, truth))
    where, good = cuts[kept]
    evidence: dict[str, Any] = {
        "iomin": round(good.io_min, 4),
        "iou": round(good.iou, 4),
        "hit": good.hit,
        "covered": round(where.covered, 4),
        "confidence": sure,
        "cuts": {f"{cut:g}": round(one.io_min, 4) for cut, (_, one) in cuts.items()},
    }
    findings = []
    if good.io_min < theta:
        findings.append(Finding("beside the object", SUBJECT, good.io_min - theta, {"is": where.whole}))
    findings += _everywhere([where], truth, size)
    if findings:
        return Verdict.violated(findings, **evidence)
    return Verdict.held(good.io_min - theta, **evidence)


def _everywhere(maps: Sequence[Location], objects: Sequence[Box], size: tuple[int, int]) -> list[Finding]:
    """A finding where all the maps are hot nearly everywhere, and no known object is that large."""
    least = min(one.hot for one in maps)
    large = max(((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in objects), default=0.0) / (size[0] * size[1])
    if least < EVERYWHERE or large > NOT_LARGE:
        return []
    return [Finding("everywhere", SUBJECT, EVERYWHERE - least - 1e-6, {"hot": round(least, 4)})]
