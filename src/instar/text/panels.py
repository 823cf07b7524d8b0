"""A case of text localization as panels: the quads before and after, and what became of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from instar.nulls import Conditioned
from instar.panel import Fate, Mark, Panel
from instar.scene import Observation
from instar.text.answers import Quads
from instar.text.changes import Watermark, carried_along
from instar.verdict import Verdict

__all__ = ["panels"]


def panels(
    source: Observation, follow_ups: Sequence[Observation], change: Conditioned, verdict: Verdict
) -> list[Panel]:
    """Before and after; a quad that is lost is also outlined where it should have been."""
    before: Quads = source.answer
    after: Quads = follow_ups[0].answer
    lost = sorted(int(f.subject.rpartition(" ")[2]) for f in verdict.findings if f.kind == "lost")
    left = [
        _mark(quad, "lost" if k in lost else "matched", _text(before, k))
        for k, quad in enumerate(before.quads)
    ]
    new = [finding.evidence["is"] for finding in verdict.findings if "is" in finding.evidence]
    right = [
        _mark(quad, "matched", _text(after, k))
        for k, quad in enumerate(after.quads)
        if not any(np.allclose(quad, other, atol=0.1) for other in new)
    ]
    if isinstance(change, Watermark):
        right.append(_mark(carried_along(change.quad(air=0.5), change)[0], "change", change.text))
    right += [_mark(np.array(quad, np.float32), "new", "new") for quad in new]
    right += [_mark(carried_along(before.quads[k][None], change)[0], "lost", "lost") for k in lost]
    return [Panel("before", source.input, tuple(left)), Panel("after", follow_ups[0].input, tuple(right))]


def _mark(quad: npt.NDArray[np.float32], fate: Fate, label: str) -> Mark:
    return Mark(tuple((float(x), float(y)) for x, y in quad), fate, label)


def _text(found: Quads, k: int) -> str:
    return found.texts[k] if found.texts is not None else ""
