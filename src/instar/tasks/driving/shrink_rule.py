"""Simpler changes of a rule: fewer blocks, fewer edits, then what is there farther, smaller, weaker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from instar.tasks.driving.changes import RuleEdits
from instar.tasks.driving.engine_table import Engines
from instar.tasks.driving.engines import Edit, SceneView

COMPARED = ("distance", "scale", "level", "foot", "size", "strength", "density")
"""The numbers of an edit that a comparative alters."""


def smaller_edits(
    change: RuleEdits, engines: Engines, view: SceneView
) -> Iterator[RuleEdits | list[RuleEdits]]:
    """Best first. What a later block has more or less of than an earlier one, it still has so."""
    first = int(change.paints_source)
    for number in range(first + 1, len(change.blocks)):
        yield RuleEdits(change.blocks[:number])
    most = max(len(block) for block in change.blocks)
    for left_out in range(most if most > 1 else 0):
        # A block adds to the one before it, so the same edit is left out of all.
        fewer = tuple(block[:left_out] + block[left_out + 1 :] for block in change.blocks)
        nothing = first and fewer[0] in fewer[1:]
        if all(fewer) and fewer != change.blocks and not nothing:
            yield RuleEdits(fewer)
    for edit in _distinct(change.edits):
        less = getattr(engines.named(edit["engine"]), "less", None)
        for line in less(edit, view) if less is not None else ():
            changes = [_replace(change, edit, other) for other in line]
            yield [one for one in changes if _comparisons(one) == _comparisons(change)]


def _distinct(blocks: Sequence[Sequence[Edit]]) -> list[Edit]:
    edits: list[Edit] = []
    for block in blocks:
        edits += [edit for edit in block if edit not in edits]
    return edits


def _replace(change: RuleEdits, edit: Edit, other: Edit) -> RuleEdits:
    """The change with another edit in the place of one, in every block that has it."""
    return RuleEdits.of([other if one == edit else one for one in block] for block in change.edits)


def _comparisons(change: RuleEdits) -> list[tuple[int, int, str, bool, bool]]:
    """Which numbers are more, and which are less, than in the first block."""
    first, *later = change.edits[change.paints_source :]
    return [
        (number, place, name, own[name] > other[name], own[name] < other[name])
        for number, block in enumerate(later)
        for place, (other, own) in enumerate(zip(first, block))
        for name in COMPARED
        if name in own and name in other
    ]
