"""The figures of the study of detectors, drawn with matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from instar.studies.detection.counts import DetectorCounts
from instar.studies.output import make_axes, save_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_figures(systems: Sequence[DetectorCounts], folder: Path) -> list[Path]:
    """Draw each figure into the folder as a PNG file; their paths."""
    figures = {"random-guided": _ways(systems), "distances": _distances(systems), "kept": _kept(systems)}
    return save_figures(figures, folder)


def _figure(title: str, **labels: str) -> tuple[Figure, Any]:
    figure, (axes,) = make_axes(1, width=7, height=4)
    axes.set(title=title, **labels)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _ways(systems: Sequence[DetectorCounts]) -> Figure:
    figure, axes = _figure(
        "Errors found by random and by guided insertion (Section 4.3)", ylabel="% of cases"
    )
    for offset, (way, colour) in enumerate((("random", "#9aa5b1"), ("guided", "#146ee6"))):
        counted = [system.campaigns[way] for system in systems]
        rates = np.array([100 * one.violated / max(1, one.judged) for one in counted])
        ends = 100 * np.array([one.interval or (0.0, 0.0) for one in counted])
        at = np.arange(len(systems)) + 0.38 * (offset - 0.5)
        error = [rates - ends[:, 0], ends[:, 1] - rates]
        axes.bar(at, rates, 0.36, label=way, color=colour, yerr=error, capsize=3)
    axes.set_xticks(range(len(systems)), [system.system for system in systems], rotation=15)
    axes.legend(frameon=False)
    return figure


def _distances(systems: Sequence[DetectorCounts]) -> Figure:
    title = "Efficiency of object relocation (Figure 8)"
    figure, axes = _figure(title, xlabel="share of the way to the centroid", ylabel="unique images")
    shares = [list(system.campaigns["relocation"].ends.values()) for system in systems]
    axes.hist(shares, bins=np.linspace(0, 1, 11).tolist(), label=[system.system for system in systems])
    axes.legend(frameon=False)
    return figure


def _kept(systems: Sequence[DetectorCounts]) -> Figure:
    title = "Failures kept against naturalness"
    figure, axes = _figure(title, xlabel="naturalness of at least", ylabel="failing pictures kept")
    grid = np.linspace(0, 1, 101)
    for system in systems:
        parts = [part for one in system.campaigns.values() for part in one.natural.values()]
        values = np.concatenate(parts)
        axes.plot(grid, [(values >= t).sum() for t in grid], label=system.system)
    axes.legend(frameon=False)
    return figure
