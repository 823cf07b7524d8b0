"""What a rule does to a picture: edits per block, perhaps under a condition that must not matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.nulls import Brighten, Conditioned, Reencode, Shift, fixed_nulls, null_made, under
from instar.imaging.photometric import brightened
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import Edit
from instar.tasks.driving.format_edit import tell_edit
from instar.tasks.driving.recover_drive import as_driven
from instar.worlds.drive.picture import drive_of, showing

__all__ = ["CONDITIONS", "Redrawn", "edits_of", "frozen", "made", "under_condition", "under_nulls"]

CONDITIONS = ("jpeg", "brighter", "shift")  # under each of them a finding must recur
LEAST_CHANGE = 40.0  # squared grey levels, on average: less, and the source already is in that state
OF_THE_AIR = ("weather", "time")

_Edits = tuple[tuple[tuple[str, Any], ...], ...]


@dataclass(frozen=True)
class Redrawn(Conditioned):
    """The pictures of a rule: for each block its edits, each as pairs of name and value.

    Under a condition that must not matter there is one picture more, the source under the same condition,
    because like is compared with like: a driver who never reacts must not be acquitted by noise.
    """

    blocks: tuple[_Edits, ...]

    def __str__(self) -> str:
        return "; ".join(", ".join(tell_edit(dict(edit)) for edit in block) for block in self.blocks)


def frozen(edits: Sequence[Edit]) -> _Edits:
    """Edits as they are kept in a change."""
    return tuple(tuple(sorted(edit.items())) for edit in edits)


def edits_of(change: Redrawn) -> list[list[dict[str, Any]]]:
    """The edits of each block."""
    return [[dict(pairs) for pairs in block] for block in change.blocks]


def made(
    image: Image, change: Change, engines: Engines, cutouts: CutOuts, *, blocks: int
) -> tuple[Image, ...] | Inapplicable:
    """The pictures of a change, one for each block."""
    if isinstance(change, (Reencode, Brighten, Shift)):
        return (showing(null_made(image, change), drive_of(image)),) * blocks
    if not isinstance(change, Redrawn):
        raise TypeError(f"{type(change).__name__} is no change of a driving rule")
    pictures = []
    for edits in edits_of(change):
        picture = image
        for edit in edits:
            before = picture
            drawn = engines.named(edit["engine"]).make(before, edit, cutouts)
            if edit.get("of") in OF_THE_AIR and _alike(before, drawn):
                return Inapplicable("it already is in that state")
            # What the engine did not draw anew still is the drive it was, but for what the edit did.
            picture = drawn if drive_of(drawn) else showing(drawn, as_driven(drive_of(before), edit, before))
        pictures.append(picture)
    return under_condition(image, pictures, change.condition)


def under_condition(image: Image, pictures: Sequence[Image], condition: str) -> tuple[Image, ...]:
    """The pictures of a change as they are; under a condition, with the source before them."""
    if not condition:
        return tuple(pictures)
    return tuple(_under(picture, condition) for picture in (image, *pictures))


def _alike(before: Image, after: Image) -> bool:
    """Whether a change of weather or time did next to nothing."""
    difference = before.astype(np.float32) - after
    return float((difference * difference).mean()) < LEAST_CHANGE


def _under(image: Image, condition: str) -> Image:
    changed = brightened(image, 1) if condition == "brighter" else under(image, condition)
    return showing(changed, drive_of(image))


def under_nulls(image: Image) -> list[Image]:
    """The picture as it is, and under each change that must do nothing."""
    return [image, *(showing(null_made(image, change), drive_of(image)) for change in fixed_nulls())]
