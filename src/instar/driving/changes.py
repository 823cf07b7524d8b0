"""What a rule does to a picture: edits per block, or something that must not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from instar.cutouts import CutOuts
from instar.driving.choosing import Engines
from instar.driving.engines import Edit
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.photometric import brightened, moved
from instar.relation import Change, Inapplicable
from instar.scene import Image

__all__ = ["Redrawn", "Untouched", "edits_of", "fixed_nulls", "frozen", "made", "random_null", "under_nulls"]

CONDITIONS = ("jpeg", "brighter", "shift")  # under each of them a finding must recur
LEAST_CHANGE = 40.0  # squared grey levels, on average: less, and the source already is in that state

_Edits = tuple[tuple[tuple[str, Any], ...], ...]


@dataclass(frozen=True)
class Redrawn(Change):
    """The pictures of a rule: for each block its edits, each as pairs of name and value.

    Under a condition that must not matter there is one picture more, the source under the same condition,
    because like is compared with like: a driver who never reacts must not be acquitted by noise.
    """

    blocks: tuple[_Edits, ...]
    condition: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Untouched(Change):
    """A change that must do nothing, the same in each of the pictures."""

    how: str
    amount: int
    pictures: int


def frozen(edits: Sequence[Edit]) -> _Edits:
    """Edits as they are kept in a change."""
    return tuple(tuple(sorted(edit.items())) for edit in edits)


def edits_of(change: Redrawn) -> list[list[dict[str, Any]]]:
    """The edits of each block."""
    return [[dict(pairs) for pairs in block] for block in change.blocks]


def made(
    image: Image, change: Change, engines: Engines, cutouts: CutOuts
) -> tuple[Image, ...] | Inapplicable:
    """The pictures of a change, one for each block."""
    if isinstance(change, Untouched):
        return (_under(image, change.how, change.amount),) * change.pictures
    if not isinstance(change, Redrawn):
        raise TypeError(f"{type(change).__name__} is no change of a driving rule")
    pictures = []
    for edits in edits_of(change):
        picture = image
        for edit in edits:
            before = picture
            picture = engines.named(edit["engine"]).make(before, edit, cutouts)
            if _same_state(before, picture, edit):
                return Inapplicable("it already is in that state")
        pictures.append(picture)
    if not change.condition:
        return tuple(pictures)
    return tuple(_under(picture, change.condition, 1) for picture in (image, *pictures))


def fixed_nulls(pictures: int) -> Iterator[Change]:
    """The changes that strike findings out: JPEG 95, one grey level, one pixel."""
    yield Untouched("jpeg", 95, pictures)
    yield from (Untouched("brighter", amount, pictures) for amount in (1, -1))
    yield from (Untouched("shift", amount, pictures) for amount in (1, -1))


def random_null(rng: np.random.Generator, pictures: int) -> Change:
    """A change that must do nothing and is none of those, to measure false alarms with."""
    if rng.random() < 0.5:
        return Untouched("jpeg", int(rng.choice([91, 92, 93, 94, 96, 97])), pictures)
    return Untouched("brighter", int(rng.choice([-2, 2])), pictures)


def _same_state(before: Image, after: Image, edit: Edit) -> bool:
    """Whether a change of weather or time did next to nothing."""
    if edit["engine"] != "atmosphere":
        return False
    difference = before.astype(np.float32) - after
    return float((difference * difference).mean()) < LEAST_CHANGE


def _under(image: Image, how: str, amount: int) -> Image:
    if how == "jpeg":
        return jpeg_round_trip(image, amount if amount > 1 else 95)
    return brightened(image, amount) if how == "brighter" else moved(image, amount, 0)


def under_nulls(image: Image) -> list[Image]:
    """The picture as it is, and under each change that must do nothing."""
    changed = [_under(image, null.how, null.amount) for null in fixed_nulls(1) if isinstance(null, Untouched)]
    return [image, *changed]
