"""Box plots of ratings, with matplotlib (the extra `plots`)."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from instar.installation import import_extra
from instar.ratings.counts import Ratings
from instar.ratings.page import POINTS, QUESTIONS
from instar.user_file import write_file

COLOURS = {"passed": "#d6e4f7", "violated": "#d07f50"}  # light and dark, which grey tells apart too
WIDEST, LINES = 44, 4


def draw_boxes(ratings: Ratings, path: Path) -> None:
    """A panel for each question, a box for each relation, passes and violations apart; triangles: means."""
    import_extra("matplotlib.figure", "matplotlib", extra="plots", needed_for="drawing box plots")
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    relations = list(dict.fromkeys(box.relation for box in ratings.boxes))
    figure = Figure(figsize=(11, 1.7 + 0.74 * len(relations)), layout="constrained")
    panels: Any = figure.subplots(1, len(QUESTIONS), sharey=True)
    for panel, (question, (text, low, high)) in zip(panels, QUESTIONS.items()):
        for box in (box for box in ratings.boxes if box.question == question):
            at = relations.index(box.relation) + (-0.18 if box.verdict == "passed" else 0.18)
            panel.boxplot(
                [box.values],
                positions=[at],
                widths=0.3,
                orientation="horizontal",
                showmeans=True,
                patch_artist=True,
                boxprops={"facecolor": COLOURS[box.verdict]},
                medianprops={"color": "black", "linewidth": 2.2},
                meanprops={"marker": "^", "markerfacecolor": "white", "markeredgecolor": "black"},
            )
        panel.set_xlim(0.5, POINTS + 0.5)
        panel.set_xticks(range(1, POINTS + 1))
        panel.set_title(text, fontsize=10)
        panel.set_xlabel(f"points: 1 {low}, {POINTS} {high}; the triangle is the mean", fontsize=8)
        panel.grid(axis="x", alpha=0.3)
    panels[0].set_yticks(range(len(relations)), [_short(name) for name in relations], fontsize=8)
    panels[0].invert_yaxis()
    handles = [Patch(facecolor=colour, edgecolor="black", label=name) for name, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=130)
    write_file(path, drawn.getvalue())


def _short(name: str) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(name, WIDEST, max_lines=LINES, placeholder=" ..."))
