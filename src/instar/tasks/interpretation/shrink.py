"""Smaller changes of the same kind: a smaller object, less of it removed, a background squeezed less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from instar.core.scene import Observation
from instar.cutouts.placement import smaller_sizes
from instar.imaging.geometry import mask_bounds
from instar.imaging.mask_text import mask_from_text
from instar.tasks.interpretation.changes import Delete, Insert, Squeeze

LEAST_SHRUNK_SIDE = 4  # pixels of what is pasted
MOST_BITS = 8  # of a colour: all of them


def shrink_insertion(change: Insert, shape: tuple[int, int]) -> list[Insert]:
    """A line of smaller ones whose feet stay where they are; `shape` is the cut-out's own."""
    return [
        replace(
            change,
            x=change.x + (change.width - width) // 2,
            y=change.y + change.height - height,
            width=width,
            height=height,
        )
        for height, width in smaller_sizes((change.height, change.width), shape, least=LEAST_SHRUNK_SIDE)
    ]


def delete_less(source: Observation, change: Delete) -> Iterator[list[Delete]]:
    """Lines along which more of the object stays: from its head on, its foot, its left, its right."""
    x1, y1, x2, y2 = change.part or mask_bounds(mask_from_text(change.hole)) or (0, 0, 0, 0)
    parts = [
        [(x1, y, x2, y2) for y in range(y2 - 1, y1, -1)],
        [(x1, y1, x2, y) for y in range(y1 + 1, y2)],
        [(x, y1, x2, y2) for x in range(x2 - 1, x1, -1)],
        [(x1, y1, x, y2) for x in range(x1 + 1, x2)],
    ]
    yield from ([replace(change, part=part) for part in line] for line in parts)


def squeeze_less(source: Observation, change: Squeeze) -> Iterator[list[Squeeze]]:
    """A line of the same squeezing with more bits left, or a smaller filter."""
    weaker = (
        range(MOST_BITS - 1, change.strength, -1) if change.how == "depth" else range(3, change.strength, 2)
    )
    yield [replace(change, strength=strength) for strength in weaker]
