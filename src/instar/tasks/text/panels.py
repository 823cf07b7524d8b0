"""A case of text localization as panels: the quads before and after, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.core.marks import Fate, Mark, Panel
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.nulls import Conditioned
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Watermark, carried_along
from instar.tasks.text.fates import fates_of
from instar.tasks.text.measures import EPS

__all__ = ["panels"]


def panels(
    source: Observation,
    follow_ups: Sequence[Observation],
    change: Conditioned,
    verdict: Verdict,
    *,
    eps: float = EPS,
) -> list[Panel]:
    """Before and after; a quad that is lost is also outlined where it should have been."""
    before: Quads = source.answer
    after: Quads = follow_ups[0].answer
    fates = fates_of(before, after, change, verdict, eps=eps)
    left = [
        _mark(quad, _fate(k, fates.lost, fates.unsure_before), _text(before, k))
        for k, quad in enumerate(before.quads)
    ]
    right = [
        _mark(after.quads[k], "matched" if k in fates.kept_after else "unsure", _text(after, k))
        for k in sorted(fates.kept_after | fates.unsure_after)
    ]
    if isinstance(change, Watermark):
        right.append(_mark(carried_along(change.quad(air=0.5), change)[0], "change", change.text))
    right += [_mark(quad, "new", "new") for quad in fates.new]
    right += [
        _mark(carried_along(before.quads[k][None], change)[0], "lost", "lost") for k in sorted(fates.lost)
    ]
    return [Panel("before", source.input, tuple(left)), Panel("after", follow_ups[0].input, tuple(right))]


def _fate(k: int, lost: frozenset[int], unsure: frozenset[int]) -> Fate:
    if k in lost:
        return "lost"
    return "unsure" if k in unsure else "matched"


def _mark(quad: npt.NDArray[np.float32], fate: Fate, label: str) -> Mark:
    return Mark(tuple((float(x), float(y)) for x, y in quad), fate, label)


def _text(found: Quads, k: int) -> str:
    return found.texts[k] if found.texts is not None else ""
