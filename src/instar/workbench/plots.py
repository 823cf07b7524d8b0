"""Charts over a million values: counted in columns here, drawn as the report draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import markupsafe
import numpy as np
import numpy.typing as npt

from instar.report.charts import BASE, BINS, LEFT, TOP, WIDTH, curve, draw_bins
from instar.report.markup import escape

__all__ = ["draw_histogram", "kept_curve", "points_chart"]

Array = npt.NDArray[Any]


def draw_histogram(values: Array, *, title: str) -> markupsafe.Markup:
    """How many values lie where; the far ends of very long tails are put into the last bins."""
    if not len(values):
        return markupsafe.Markup("")
    low, high = np.quantile(values, [0.005, 0.995]) if len(values) > 100 else (values.min(), values.max())
    low, high = min(float(low), 0.0), max(float(high), 0.0)
    if high <= low:
        low, high = -0.5, 0.5
    step = (high - low) / BINS
    first = int(np.floor(low / step))
    bins = np.clip(np.floor(values / step) - first, 0, BINS).astype(np.int64)
    counts = np.bincount(bins, minlength=BINS + 1).tolist()
    return markupsafe.Markup(draw_bins(counts, first=first, step=step, title=title))


def kept_curve(kept: Sequence[tuple[float, int]], *, at: float | None) -> markupsafe.Markup:
    """Failures kept against the naturalness asked for, with a line where the threshold is now."""
    chart = curve(kept[::2], title="failures kept", unit="failures")
    if at:
        x = LEFT + min(1.0, at) * (WIDTH - LEFT - 6)
        line = f'<line class="zero" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{BASE}"/>'
        chart = chart.replace("</svg>", f"{line}</svg>")
    return markupsafe.Markup(chart)


def points_chart(counts: Sequence[int], *, title: str) -> markupsafe.Markup:
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
    return markupsafe.Markup(f"{head}{bars}</svg>")
