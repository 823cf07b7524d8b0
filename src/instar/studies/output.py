"""Tables and figures of a study, as files and on the terminal.

matplotlib (the extra `plots`) is imported when figures are drawn.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.core.outcome import Outcome
from instar.installation import import_extra
from instar.report.files import write_csv
from instar.report.text import table as aligned
from instar.user_file import write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160  # sharp in print at the size they have


@dataclass(frozen=True, slots=True)
class Table:
    """A title, rows of text of which the first are headings, and a sentence on what they say.

    `data` is the same with one number to a cell, for files, where the rows for people have more in one.
    """

    name: str
    title: str
    rows: Sequence[Sequence[str]]
    note: str = ""
    data: Sequence[Sequence[str]] = ()

    def to_json(self) -> dict[str, Any]:
        document = {"title": self.title, "rows": [list(row) for row in self.rows], "note": self.note}
        return document | {"data": [list(row) for row in self.data]} if self.data else document

    def to_text(self, words: int) -> str:
        """As people read it, its first columns `words` and what is numbers behind them to the right."""
        heading, *body = self.rows
        right = [i for i in range(words, len(heading)) if all(_is_number(row[i]) for row in body)]
        return "\n".join(filter(None, [self.title, aligned(self.rows, right=right), self.note]))


def format_share(part: float, whole: float) -> str:
    """A share in percent, or a dash where there is nothing to share."""
    return f"{100 * part / whole:.1f} %" if whole else "-"


def span(interval: tuple[float, float]) -> str:
    """An interval of shares in percent."""
    return f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %"


def tell(
    study: str,
    tables: Sequence[Table],
    out: Path,
    *,
    words: int = 1,
    figures: Sequence[Path] = (),
    said: Sequence[str] = (),
    **more: Any,
) -> Outcome:
    """Write the tables as CSV and show those that are not empty; their first `words` columns are text."""
    for table in tables:
        write_csv(out / f"{table.name}.csv", table.data or table.rows)
    parts = [table.to_text(words) for table in tables if len(table.rows) > 1]
    parts.append("\n".join([f"Tables as CSV and the runs are in {out}.", *map(str, figures), *said]))
    document = {"study": study, "out": str(out), "figures": list(map(str, figures)), **more}
    return Outcome("\n\n".join(parts), document | {"tables": {one.name: one.to_json() for one in tables}})


def require_matplotlib() -> None:
    """Raise MissingExtra before anything is run for figures that cannot be drawn."""
    import_extra("matplotlib.figure", "matplotlib", extra="plots", needed_for="drawing the figures")


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


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell[:1] in "+-"
