"""Figures of a study as files; matplotlib (the extra `plots`) is imported when they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import MissingExtra, RunError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["require_matplotlib", "save_figures"]

DPI = 160  # sharp in print at the size they have


def require_matplotlib() -> None:
    """Raise MissingExtra before anything is run for figures that cannot be drawn."""
    try:
        import matplotlib.figure  # noqa: F401  # only whether it is there
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", needed_for="drawing the figures") from None


def save_figures(figures: Mapping[str, Figure], folder: Path) -> Iterator[Path]:
    """Write each figure into the folder as NAME.png; the paths, as they are written."""
    for name, figure in figures.items():
        path = folder / f"{name}.png"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, dpi=DPI)
        except OSError as error:
            raise RunError(f"cannot write {path}: {error.strerror or error}; choose another --out") from error
        yield path
