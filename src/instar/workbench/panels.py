"""A case's panels as pages draw them: one SVG each, so that outlines lie on the picture at any size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instar.core.marks import Dial, Mark, Panel

__all__ = ["DrawnPanel", "Tag", "draw_panel"]

LOUD = frozenset({"lost", "new", "moved", "renamed", "change"})


@dataclass(frozen=True, slots=True)
class Tag:
    """A label beside an outline."""

    x: float
    y: float
    anchor: str
    fate: str
    text: str


@dataclass(frozen=True, slots=True)
class DrawnPanel:
    """What a template needs of a panel; sizes are in pixels of its picture."""

    number: int
    title: str
    width: int
    height: int
    has_heat: bool
    outlines: Sequence[tuple[str, str, str]]
    """Fate, points and label of each."""
    tags: Sequence[Tag]
    letters: float
    dials: Sequence[tuple[Dial, float, float]]
    """Each with the begin and the length of its bar, in percent."""


def draw_panel(number: int, panel: Panel) -> DrawnPanel:
    height, width = panel.picture.shape[:2]
    letters = max(width, height) / 38
    return DrawnPanel(
        number=number,
        title=panel.title,
        width=width,
        height=height,
        has_heat=panel.heat is not None,
        outlines=[(mark.fate, _points(mark), mark.label) for mark in panel.marks],
        tags=[_tag(mark, width, height, letters) for mark in panel.marks if mark.label and mark.fate in LOUD],
        letters=letters,
        dials=[(dial, *_bar(dial)) for dial in panel.dials],
    )


def _points(mark: Mark) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.outline)


def _tag(mark: Mark, width: int, height: int, letters: float) -> Tag:
    xs, ys = zip(*mark.outline)
    # Above its outline where there is room, and what was changed below, so that the two rarely meet.
    is_low = (mark.fate == "change" and max(ys) < 0.95 * height) or min(ys) < 1.6 * letters
    y = max(ys) + 1.1 * letters if is_low else min(ys) - 0.4 * letters
    at_right = min(xs) > 0.7 * width
    x = min(max(xs), width - 2) if at_right else max(min(xs), 2)
    return Tag(x, min(y, height - 0.3 * letters), "end" if at_right else "start", mark.fate, mark.label)


def _bar(dial: Dial) -> tuple[float, float]:
    span = dial.high - dial.low or 1.0
    share, rest = (min(1.0, max(0.0, (at - dial.low) / span)) for at in (dial.value, 0.0))
    begin, end = sorted([share, rest])
    return 100 * begin, max(1.0, 100 * (end - begin))
