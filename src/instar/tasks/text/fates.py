"""What became of each box of a case, for whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from instar.core.verdict import Verdict
from instar.imaging.nulls import Conditioned
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Masks, Watermark, carried_along
from instar.tasks.text.compare import AIR, without_partner

__all__ = ["Fates", "fates_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Fates:
    """Boxes by number: those of the source that are lost or unsure, those of the follow-up that are unsure or
    as before; `new` are the corners of those that are new.
    """

    lost: frozenset[int]
    unsure_before: frozenset[int]
    unsure_after: frozenset[int]
    kept_after: frozenset[int]
    new: tuple[npt.NDArray[np.float32], ...]


def fates_of(before: Quads, after: Quads, change: Conditioned, verdict: Verdict, *, eps: float) -> Fates:
    """By the findings that are left; what else has no partner comes and goes by itself."""
    lost = {int(f.subject.rpartition(" ")[2]) for f in verdict.findings if f.kind == "lost"}
    new = tuple(np.array(f.evidence["is"], np.float32) for f in verdict.findings if "is" in f.evidence)
    words = (
        [carried_along(change.quad(air=air), change) for air in (0.0, AIR)]
        if isinstance(change, Watermark)
        else []
    )
    moved = before.moved_to(carried_along(before.quads, change))
    alone_before, alone_after = without_partner(moved, after, eps=eps, words=words)
    told = {
        j for j, quad in enumerate(after.quads) if any(np.allclose(quad, other, atol=0.1) for other in new)
    }
    if isinstance(change, Masks):
        alone_before = set()  # they are covered
    return Fates(
        lost=frozenset(lost),
        unsure_before=frozenset(alone_before - lost),
        unsure_after=frozenset(alone_after - told),
        kept_after=frozenset(set(range(len(after))) - alone_after - told),
        new=new,
    )
