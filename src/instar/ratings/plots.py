"""Box plots of ratings, with matplotlib (the extra `plots`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from instar.errors import MissingExtra, RunError
from instar.ratings.counting import Ratings
from instar.ratings.page import POINTS, QUESTIONS

__all__ = ["draw_boxes"]

COLOURS = {"passed": "#5b8fd9", "violated": "#d9705b"}
WIDEST = 44


def draw_boxes(ratings: Ratings, path: Path) -> None:
    """A panel for each question, a box for each relation, passes and violations apart; triangles: means."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        raise MissingExtra("matplotlib", extra="plots", needed_for="drawing box plots") from None
    relations = list(dict.fromkeys(box.relation for box in ratings.boxes))
    figure = Figure(figsize=(11, 1.6 + 0.62 * len(relations)), layout="constrained")
    panels: Any = figure.subplots(1, len(QUESTIONS), sharey=True)
    for panel, (question, (text, _, _)) in zip(panels, QUESTIONS.items()):
        for box in (box for box in ratings.boxes if box.question == question):
            at = relations.index(box.relation) + (-0.18 if box.verdict == "passed" else 0.18)
            panel.boxplot(
                [box.values],
                positions=[at],
                widths=0.3,
                orientation="horizontal",
                showmeans=True,
                patch_artist=True,
                boxprops={"facecolor": COLOURS[box.verdict], "alpha": 0.75},
                medianprops={"color": "black"},
                meanprops={"marker": "^", "markerfacecolor": "white", "markeredgecolor": "black"},
            )
        panel.set_xlim(0.5, POINTS + 0.5)
        panel.set_xticks(range(1, POINTS + 1))
        panel.set_title(text, fontsize=10)
        panel.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(relations)), [_short(name) for name in relations], fontsize=8)
    panels[0].invert_yaxis()
    panels[-1].legend(handles=[Patch(facecolor=c, label=v) for v, c in COLOURS.items()], loc="lower left")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; choose another file") from error


def _short(name: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(name, WIDEST)[:3])
