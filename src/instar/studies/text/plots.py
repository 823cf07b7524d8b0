"""The figures of the stability paper, drawn with matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from instar.studies.output import make_axes, save_figures
from instar.studies.text.measure import (
    RELATIONS,
    Accuracy,
    LocatorStability,
    brightness_curve,
    compare_locators,
    correlate_relations,
    least_stable,
    on_pictures,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAR = 0.8  # of the room of a relation is taken by bars
SHORT = ("up", "down", "channels", "perspective", "watermark", "mask")


def draw_figures(systems: Sequence[LocatorStability], folder: Path) -> list[Path]:
    """Draw each figure into the folder as a PNG file; their paths."""
    figures = {
        "distribution": _distribution(systems),
        "brightness": _brightness(systems),
        "correlation": _correlation(systems),
        "clarity": _clarity(systems),
    }
    if len(systems) > 1:
        figures["effects"] = _effects(systems)
    chosen = least_stable(systems)
    figures["chosen"] = _chosen(systems, chosen)
    if any(system.sources for system in systems):
        figures["chosen-accuracy"] = _chosen_accuracy(systems, chosen)
    return save_figures(figures, folder)


def _distribution(systems: Sequence[LocatorStability]) -> Figure:
    """Box plots of the pictures' stability, per relation (Fig. 8), and under null changes."""
    figure, panels = make_axes(len(systems))
    for panel, system in zip(panels, systems):
        values = [list(map(float, system.of_scenes(relation).values())) for relation in RELATIONS]
        values.append([float(np.mean(of_scene)) for of_scene in system.null.values()])
        panel.boxplot(values, widths=0.6, medianprops={"color": "tab:red", "linewidth": 1.5})
        panel.set_xticks(range(1, len(values) + 1), [*SHORT, "null"], rotation=40, ha="right")
        panel.set(title=system.system, ylim=(-0.03, 1.03), ylabel="stability")
    return figure


def _brightness(systems: Sequence[LocatorStability]) -> Figure:
    """Stability by grey levels added (Fig. 13)."""
    figure, (panel,) = make_axes(1, width=7, height=3.6)
    for system in systems:
        curve = brightness_curve(system)
        panel.plot(list(curve), list(curve.values()), marker=".", label=system.system)
    panel.set(xlabel="grey levels added", ylabel="stability", ylim=(-0.03, 1.03))
    panel.axvline(0, color="0.7", linewidth=0.8)
    panel.legend()
    return figure


def _effects(systems: Sequence[LocatorStability]) -> Figure:
    """Vargha and Delaney's A of each pair, per relation (Fig. 10)."""
    found = {name: compare_locators(systems, name) for name in RELATIONS}
    shown = {name: one.effect for name, one in found.items() if one is not None}
    figure, panels = make_axes(max(1, len(shown)))
    names = [system.system for system in systems]
    for panel, (name, effect) in zip(panels, shown.items()):
        _map(panel, effect, names, low=0.0)
        panel.set_title(name)
    return figure


def _correlation(systems: Sequence[LocatorStability]) -> Figure:
    """Pearson's coefficients between the relations (Fig. 12)."""
    figure, panels = make_axes(len(systems), height=3.8)
    for panel, system in zip(panels, systems):
        _map(panel, correlate_relations(system), SHORT, low=-1.0)
        panel.set_title(system.system)
    return figure


def _clarity(systems: Sequence[LocatorStability]) -> Figure:
    """Clarity against the number of boxes, coloured by mean stability (Fig. 15)."""
    figure, panels = make_axes(len(systems))
    dots = None
    for panel, system in zip(panels, systems):
        of_scenes = [found.of_scenes() for found in system.relations.values()]
        mean = {
            scene: float(np.mean([one[scene] for one in of_scenes if scene in one]))
            for scene in system.looks
            if any(scene in one for one in of_scenes)
        }
        x = [system.looks[scene].clarity for scene in mean]
        y = [system.looks[scene].boxes for scene in mean]
        dots = panel.scatter(x, y, c=list(mean.values()), vmin=0, vmax=1, cmap="viridis", s=18)
        panel.set(title=system.system, xlabel="clarity", ylabel="boxes")
    if dots is not None:
        figure.colorbar(dots, ax=panels, label="stability")
    return figure


def _chosen(systems: Sequence[LocatorStability], chosen: Mapping[str, Sequence[str]]) -> Figure:
    """Stability on the least stable pictures, and above it the distance to that on all (Fig. 11)."""
    figure, (panel,) = make_axes(1, width=8, height=3.6)
    for number, (system, one) in enumerate(zip(systems, (on_pictures(s, chosen) for s in systems))):
        here = np.array([one.stability(name) for name in RELATIONS])
        away = np.array([system.stability(name) for name in RELATIONS]) - here
        places = _beside(number, len(systems))
        (bar, *_) = panel.bar(places, here, BAR / len(systems), label=system.system)
        panel.bar(
            places,
            away,
            BAR / len(systems),
            here,
            facecolor="none",
            edgecolor=bar.get_facecolor(),
            hatch="///",
        )
    panel.set_xticks(range(len(RELATIONS)), SHORT)
    panel.set(ylim=(0, 1.03), ylabel="stability", title="least stable pictures; hatched: to all pictures")
    panel.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _chosen_accuracy(systems: Sequence[LocatorStability], chosen: Mapping[str, Sequence[str]]) -> Figure:
    """F-scores by words of the least stable pictures and of their follow-ups (Fig. 9)."""
    figure, (panel,) = make_axes(1, width=8, height=3.6)
    for number, one in enumerate(on_pictures(system, chosen) for system in systems):
        every = [one.sources, *(one.relations[name].accuracy for name in RELATIONS if name in one.relations)]
        scores = [sum(hits.values(), Accuracy()).by_words.f_score for hits in every]
        panel.bar(_beside(number, len(systems))[0] + np.arange(len(scores)), scores, BAR / len(systems))
    panel.set_xticks(range(len(RELATIONS) + 1), ["source", *SHORT])
    panel.set(ylim=(0, 1.03), ylabel="F-score by words")
    names = [system.system for system in systems]
    panel.legend(names, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def _beside(number: int, of: int) -> npt.NDArray[np.float64]:
    """Where the bars of one system stand, beside those of the others."""
    return np.asarray(np.arange(len(RELATIONS)) + BAR * ((number + 0.5) / of - 0.5))


def _map(panel: Any, values: Any, names: Sequence[str], *, low: float) -> None:
    """A table of numbers up to 1 in colours; what is not known stays white."""
    panel.imshow(values, vmin=low, vmax=1.0, cmap="coolwarm")
    middle, far = (low + 1) / 2, 0.35 * (1 - low)  # from there on colours are dark
    panel.set_xticks(range(len(names)), names, rotation=40, ha="right")
    panel.set_yticks(range(len(names)), names)
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if np.isfinite(value):
                ink = "white" if abs(value - middle) > far else "black"
                panel.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=ink)
