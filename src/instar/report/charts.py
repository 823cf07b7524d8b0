"""Small charts as SVG, drawn in the colours of the page they stand in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from instar.report.words import escape
from instar.stats import wilson

WIDTH, HEIGHT, LEFT, BASE, TOP = 520, 180, 44, 150, 12
BINS = 40
STEPS = 8  # of severity


def histogram(values: Sequence[float] | npt.NDArray[np.float64], *, title: str) -> str:
    """How many values lie where; those below zero in the colour of violations.

    The far ends of very long tails are put into the last bins.
    """
    column = np.asarray(values, np.float64)
    if not len(column):
        return ""
    low, high = np.quantile(column, [0.005, 0.995]) if len(column) > 100 else (column.min(), column.max())
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if high == low:
        low, high = -0.5, 0.5
    step = (high - low) / BINS
    first = math.floor(low / step)  # zero falls on an edge between two bins
    bins = np.bincount(np.clip(np.floor(column / step) - first, 0, BINS).astype(np.intp), minlength=BINS + 1)
    most, wide = int(bins.max()), (WIDTH - LEFT) / len(bins)
    bars = "".join(
        f'<rect class="{"out" if first + i < 0 else "in"}" x="{LEFT + i * wide + 0.5:.1f}" '
        f'y="{BASE - _tall(count, most):.1f}" width="{max(1.0, wide - 1):.1f}" '
        f'height="{_tall(count, most):.1f}">'
        f"<title>{escape(_number((first + i) * step))} to {escape(_number((first + i + 1) * step))}: "
        f"{count:,}</title></rect>"
        for i, count in enumerate(bins.tolist())
        if count
    )
    zero = LEFT - first * wide
    marks = [(float(LEFT), first * step, "start"), (float(WIDTH), (first + len(bins)) * step, "end")]
    if LEFT + 40 < zero < WIDTH - 40:
        marks.append((zero, 0.0, "middle"))
        bars += _upright(zero)
    return _svg(title, bars + _axis(marks) + _most(most))


def curve(points: Sequence[tuple[float, float]], *, title: str, unit: str, at: float | None = None) -> str:
    """A falling or rising line through points whose x runs from 0 to 1, with an upright line at `at`."""
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
    if at:
        shape += _upright(LEFT + min(1.0, at) * (WIDTH - LEFT - 6))
    return _svg(title, shape + _axis(marks) + _most(most))


def points_chart(counts: Sequence[int], *, title: str) -> str:
    """How often each of a few points was given, as small bars."""
    most = max([*counts, 1])
    bars = "".join(
        f'<rect class="point" x="{12 + 28 * i}" y="{60 - 52 * count / most:.1f}" width="20" '
        f'height="{52 * count / most:.1f}"><title>{i + 1}: {count}</title></rect>'
        f'<text x="{22 + 28 * i}" y="76" text-anchor="middle">{i + 1}</text>'
        for i, count in enumerate(counts)
    )
    width = 16 + 28 * len(counts)
    head = f'<svg class="chart points" viewBox="0 0 {width} 80" role="img" aria-label="{escape(title)}">'
    return f"{head}{bars}</svg>"


def severity_chart(held: Iterable[float], failed: Iterable[float], *, title: str) -> str:
    """What share of the cases failed at which severity, with the ends of its interval."""
    held, failed = np.asarray([*held], np.float64), np.asarray([*failed], np.float64)
    low, high = (float(end([*held, *failed])) for end in (min, max))
    if high == low:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, STEPS + 1)
    counts = [np.histogram(values, edges)[0].tolist() for values in (held, failed)]
    wide = (WIDTH - LEFT) / STEPS
    bars = ""
    for i, (kept, lost) in enumerate(zip(*counts)):
        if not kept + lost:
            continue
        x, share, ends = LEFT + i * wide, lost / (kept + lost), wilson(lost, kept + lost)
        words = f"{_number(edges[i])} to {_number(edges[i + 1])}: {lost:,} of {kept + lost:,} fail"
        bars += (
            f'<rect class="out" x="{x + 3:.1f}" y="{BASE - _tall(share, 1):.1f}" width="{wide - 6:.1f}" '
            f'height="{max(1.0, _tall(share, 1)):.1f}"><title>{words}</title></rect>'
            f'<line class="ends" x1="{x + wide / 2:.1f}" x2="{x + wide / 2:.1f}" '
            f'y1="{BASE - _tall(ends[0], 1):.1f}" y2="{BASE - _tall(ends[1], 1):.1f}"/>'
        )
    marks = [(float(LEFT), low, "start"), (float(WIDTH), high, "end")]
    top = f'<text x="{LEFT - 6}" y="{TOP + 10}" text-anchor="end">100 %</text>'
    return _svg(title, bars + _axis(marks) + top)


def _upright(x: float) -> str:
    return f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BASE}"/>'


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
