"""Figures of a study as files; matplotlib (the extra `plots`) is imported when they are drawn."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.core.errors import MissingExtra
from instar.report.files import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["make_axes", "require_matplotlib", "save_figures"]

DPI = 160  # sharp in print at the size they have


def require_matplotlib() -> None:
    """Raise MissingExtra before anything is run for figures that cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401  # only whether it is there
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", needed_for="drawing the figures") from None


def make_axes(count: int, *, width: float = 3.6, height: float = 3.2) -> tuple[Figure, list[Any]]:
    """A figure of that many panels, three in a row, without the state that pyplot keeps."""
    from matplotlib.figure import Figure

    columns, rows = min(count, 3), -(-count // 3)
    figure = Figure(figsize=(max(4.2, width * columns), height * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for panel in panels[count:]:
        panel.set_axis_off()
    return figure, panels[:count]


def save_figures(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write each figure into the folder as NAME.png; their paths."""
    for name, figure in figures.items():
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=DPI)
        write_file(folder / f"{name}.png", drawn.getvalue())
    return [folder / f"{name}.png" for name in figures]
