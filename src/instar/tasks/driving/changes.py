"""What a rule does to a picture: edits, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import Edit
from instar.tasks.driving.format_edit import format_edit
from instar.tasks.driving.recover_drive import recover_drive
from instar.worlds.drive.scenes import drive_of, showing

__all__ = ["OF_THE_AIR", "RuleEdits", "apply_edits"]

LEAST_CHANGE = 40.0  # squared grey levels, on average: less, and the source already is in that state
OF_THE_AIR = ("weather", "time")


@dataclass(frozen=True)
class RuleEdits(Change):
    """For each block of a rule its edits, each as sorted pairs of name and value."""

    blocks: tuple[tuple[tuple[tuple[str, Any], ...], ...], ...]

    @classmethod
    def of(cls, blocks: Iterable[Iterable[Edit]]) -> RuleEdits:
        """The change that makes these edits, given as mappings."""
        return cls(tuple(tuple(tuple(sorted(edit.items())) for edit in block) for block in blocks))

    @property
    def edits(self) -> list[list[dict[str, Any]]]:
        """The edits of each block as mappings."""
        return [[dict(pairs) for pairs in block] for block in self.blocks]

    def __str__(self) -> str:
        return "; ".join(", ".join(map(format_edit, block)) for block in self.edits)


def apply_edits(
    image: Image, blocks: Sequence[Sequence[Edit]], engines: Engines, cutouts: CutOuts
) -> tuple[Image, ...] | Inapplicable:
    """The edited pictures, one for each block."""
    pictures = []
    for edits in blocks:
        picture = image
        for edit in edits:
            before = picture
            made = engines.named(edit["engine"]).make(before, edit, cutouts)
            if edit.get("of") in OF_THE_AIR and _alike(before, made):
                return Inapplicable("it already is in that state")
            # What the engine did not draw anew still is the drive it was, but for what the edit did.
            picture = made if drive_of(made) else showing(made, recover_drive(drive_of(before), edit, before))
        pictures.append(picture)
    return tuple(pictures)


def _alike(before: Image, after: Image) -> bool:
    """Whether a change of weather or time did next to nothing."""
    difference = before.astype(np.float32) - after
    return float((difference * difference).mean()) < LEAST_CHANGE
