"""Small charts as SVG, drawn in the colours of the page they stand in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from instar.report.markup import escape

__all__ = ["BASE", "BINS", "LEFT", "TOP", "WIDTH", "curve", "draw_bins", "histogram"]

WIDTH, HEIGHT, LEFT, BASE, TOP = 520, 180, 40, 150, 12
BINS = 40


def histogram(values: Sequence[float], *, title: str) -> str:
    """How many values lie where; those below zero in the colour of violations.

    The far ends of very long tails are put into the last bins.
    """
    if not values:
        return ""
    low, high = _ends(values)
    step = (high - low) / BINS
    edge = -math.floor(low / step) * step  # zero falls on an edge between two bins
    first = -round(edge / step)
    bins = [0] * (BINS + 1)
    for value in values:
        bins[min(max(math.floor(value / step) - first, 0), BINS)] += 1
    return draw_bins(bins, first=first, step=step, title=title)


def draw_bins(bins: Sequence[int], *, first: int, step: float, title: str) -> str:
    """What was counted already: bin i holds the values from (first + i) times `step` on."""
    most, wide = max(bins), (WIDTH - LEFT) / len(bins)
    bars = "".join(
        f'<rect class="{"out" if first + i < 0 else "in"}" x="{LEFT + i * wide + 0.5:.1f}" '
        f'y="{BASE - _tall(count, most):.1f}" width="{max(1.0, wide - 1):.1f}" '
        f'height="{_tall(count, most):.1f}">'
        f"<title>{escape(_number((first + i) * step))} to {escape(_number((first + i + 1) * step))}: "
        f"{count:,}</title></rect>"
        for i, count in enumerate(bins)
        if count
    )
    zero = LEFT - first * wide
    marks = [(float(LEFT), first * step, "start"), (float(WIDTH), (first + len(bins)) * step, "end")]
    if LEFT + 40 < zero < WIDTH - 40:
        marks.append((zero, 0.0, "middle"))
        bars += f'<line class="zero" x1="{zero:.1f}" x2="{zero:.1f}" y1="{TOP}" y2="{BASE}"/>'
    return _svg(title, bars + _axis(marks) + _most(most))


def curve(points: Sequence[tuple[float, float]], *, title: str, unit: str) -> str:
    """A falling or rising line through points whose x runs from 0 to 1."""
    most = max(y for _, y in points) or 1
    path = " ".join(
        f"{'M' if not i else 'L'}{LEFT + x * (WIDTH - LEFT - 6):.1f} {BASE - _tall(y, most):.1f}"
        for i, (x, y) in enumerate(points)
    )
    area = f"{path} L{WIDTH - 6} {BASE} L{LEFT} {BASE} Z"
    dots = "".join(
        f'<circle cx="{LEFT + x * (WIDTH - LEFT - 6):.1f}" cy="{BASE - _tall(y, most):.1f}" r="7">'
        f"<title>{x:.2f}: {y:,g} {escape(unit)}</title></circle>"
        for x, y in points
    )
    marks = [(LEFT, 0.0, "start"), (LEFT + (WIDTH - LEFT - 6) / 2, 0.5, "middle"), (WIDTH - 6, 1.0, "end")]
    shape = f'<path class="area" d="{area}"/><path class="line" d="{path}"/>{dots}'
    return _svg(title, shape + _axis(marks) + _most(most))


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The range of nearly all values, with zero in it."""
    ordered = sorted(values)
    last = len(ordered) - 1
    low, high = ordered[int(0.005 * last)], ordered[math.ceil(0.995 * last)]
    low, high = min(low, 0.0), max(high, 0.0)
    return (low, high) if high > low else (-0.5, 0.5)


def _tall(count: float, most: float) -> float:
    return (BASE - TOP) * count / most if most else 0.0


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")


def _axis(marks: Sequence[tuple[float, float, str]]) -> str:
    line = f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{BASE + 0.5}" y2="{BASE + 0.5}"/>'
    return line + "".join(
        f'<text x="{x:.1f}" y="{BASE + 18}" text-anchor="{anchor}">{escape(_number(value))}</text>'
        for x, value, anchor in marks
    )


def _most(most: float) -> str:
    return f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">{most:,g}</text>'


def _svg(title: str, body: str) -> str:
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="chart" {box} role="img" aria-label="{escape(title)}">{body}</svg>'
