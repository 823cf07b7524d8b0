"""Simpler changes of a rule: fewer blocks, fewer edits, then what is there farther, smaller, weaker."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from instar.tasks.driving.changes import Redrawn, edits_of, frozen
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import Edit, View

__all__ = ["lessened"]

COMPARED = ("distance", "scale", "level", "foot", "size", "strength", "density")
"""The numbers of an edit that a comparative alters."""


def lessened(change: Redrawn, engines: Engines, view: View) -> Iterator[Redrawn | list[Redrawn]]:
    """Best first. What a later block has more or less of than an earlier one, it still has so."""
    for number in range(1, len(change.blocks)):
        yield dataclasses.replace(change, blocks=change.blocks[:number])
    most = max(len(block) for block in change.blocks)
    for left_out in range(most if most > 1 else 0):
        # A block adds to the one before it, so the same edit is left out of all.
        fewer = tuple(block[:left_out] + block[left_out + 1 :] for block in change.blocks)
        if all(fewer) and fewer != change.blocks:
            yield dataclasses.replace(change, blocks=fewer)
    for edit in _distinct(edits_of(change)):
        less = getattr(engines.named(edit["engine"]), "less", None)
        for line in less(edit, view) if less is not None else ():
            made = [_with(change, edit, other) for other in line]
            yield [one for one in made if _compares_alike(change, one)]


def _distinct(blocks: Sequence[Sequence[Edit]]) -> list[Edit]:
    edits: list[Edit] = []
    for block in blocks:
        edits += [edit for edit in block if edit not in edits]
    return edits


def _with(change: Redrawn, edit: Edit, other: Edit) -> Redrawn:
    """The change with another edit in the place of one, in every block that has it."""
    blocks = [[other if one == edit else one for one in block] for block in edits_of(change)]
    return dataclasses.replace(change, blocks=tuple(frozen(block) for block in blocks))


def _compares_alike(before: Redrawn, after: Redrawn) -> bool:
    return _comparisons(before) == _comparisons(after)


def _comparisons(change: Redrawn) -> list[tuple[int, int, str, bool, bool]]:
    """Which numbers are more, and which are less, than in the first block."""
    first, *later = edits_of(change)
    return [
        (number, place, name, own[name] > other[name], own[name] < other[name])
        for number, block in enumerate(later)
        for place, (other, own) in enumerate(zip(first, block))
        for name in COMPARED
        if name in own and name in other
    ]
