"""What a rule does to a picture: edits, block by block, and how they are put into words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.tasks.driving.edit_effects import recover_drive
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import SOURCE, Edit
from instar.worlds.drive.scenes import drive_of, showing

LEAST_CHANGE = 40.0  # squared grey levels, on average: less, and the source already is in that state
OF_THE_AIR = ("road surface", "weather", "time")
MASKS = ("mask", "hole", "beside")
UNSAID = ("engine", "whole", *MASKS, "cutout", "seed", "look", "marks", "things")  # of an edit, in words


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

    @property
    def paints_source(self) -> bool:
        """Whether the first block is the source painted anew, with which the others are compared."""
        return any(dict(pairs).get("of") == SOURCE for pairs in self.blocks[0])

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
            if edit.get("of") in ("weather", "time") and _alike(before, made):
                return Inapplicable("it already is in that state")
            if np.array_equal(before, made):
                return Inapplicable("nothing of it is seen")
            # What the engine did not draw anew still is the drive it was, but for what the edit did.
            picture = made if drive_of(made) else showing(made, recover_drive(drive_of(before), edit, before))
        pictures.append(picture)
    return tuple(pictures)


def _alike(before: Image, after: Image) -> bool:
    """Whether a change of weather or time did next to nothing."""
    difference = before.astype(np.float32) - after
    return float((difference * difference).mean()) < LEAST_CHANGE


def format_edit(edit: Edit) -> str:
    """What an edit does, as a person would say it; an engine of one's own is told by what it noted.

    >>> format_edit({"engine": "rendered", "do": "weather", "weather": "rain", "level": 0.5})
    'rain of strength 0.5'
    >>> format_edit({"engine": "fill", "of": "line", "mask": ""})
    'no line (fill)'
    """
    if "do" in edit:
        return _drawn(edit)
    if edit.get("state") and "of" in edit:
        return f"{edit['state']} {edit['of']}"
    if edit.get("kind") and "strength" in edit and edit.get("of") in OF_THE_AIR:
        return f"{edit['kind']} of strength {edit['strength']:g}"
    if edit.get("of") == SOURCE:
        return "painted as it is"
    if "becomes" in edit:
        return f"{edit['becomes']} for {edit['of']}"
    if "label" in edit and "width" in edit:
        what = _kind(edit["label"], edit.get("variant", ""))
        return f"{what} of {edit['width']} x {edit['height']} px at ({edit['x']}, {edit['y']})"
    if "of" in edit and ("map" in edit or edit.keys() <= {"engine", "of", *MASKS}):
        return f"no {edit['of']} ({edit['engine']})"
    told = [f"{name} {value}" for name, value in sorted(edit.items()) if name not in UNSAID]
    return f"{edit['engine']} ({', '.join(told)})"


def _drawn(edit: Edit) -> str:
    match edit["do"]:
        case "add":
            side = "right" if edit["offset"] > 0 else "left"
            where = f"{edit['distance']:.0f} m ahead, {abs(edit['offset']):.1f} m to the {side} of the middle"
            size = "" if edit["scale"] == 1 else f", {edit['scale']:.2g} of the usual size"
            return f"{_kind(edit['kind'], edit['variant'])} {where}{size}"
        case "take":
            return f"without {_counted(edit)}"
        case "swap":
            return f"{edit['variant']} {edit['kind']} for {_counted(edit)}".lstrip()
        case "mark":
            return "marked: " + ", ".join(name.replace("_", " ") for name, _ in edit["marks"])
        case "unmark":
            return "without " + ", ".join(name.replace("_", " ") for name, _ in edit["marks"])
        case "raze":
            return f"without {len(edit['houses'])} buildings"
        case "build":
            return f"a building {edit['start']:.0f} m ahead"
        case "plant":
            return f"trees for {len(edit['houses'])} buildings"
        case "hour":
            return str(edit["time"])
    return f"{edit['weather']} of strength {edit['level']:g}"


def _kind(kind: str, variant: str) -> str:
    name = f"{variant} {kind}".strip()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _counted(edit: Edit) -> str:
    kinds = Counter(kind for kind, _, _ in edit["things"])
    return ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
