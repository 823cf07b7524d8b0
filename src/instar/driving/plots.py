"""The figures of the driving study, with matplotlib (the extra `plots`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from instar.driving.study import Measured, share_below
from instar.driving.study_rules import STUDY
from instar.studies import save_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["draw_figures"]


def draw_figures(systems: Sequence[Measured], folder: Path) -> Iterator[Path]:
    """Draw each figure into the folder: PNG files, whose paths are given back."""
    figures = {"violations": _violations(systems), "thresholds": _thresholds(systems)}
    return save_figures(figures, folder)


def _violations(systems: Sequence[Measured]) -> Figure:
    """Bars of the bare share per rule, the part that recurs in full colour."""
    from matplotlib.figure import Figure

    names = [rule.name for rule in STUDY if any(_tried(system, rule.name) for system in systems)]
    figure = Figure(figsize=(max(6.0, 0.95 * len(names) + 2), 4.4), layout="constrained")
    panel: Any = figure.subplots()
    width = 0.8 / max(1, len(systems))
    for number, system in enumerate(systems):
        at = np.arange(len(names)) + (number - (len(systems) - 1) / 2) * width
        tried = [max(1, _tried(system, name)) for name in names]
        bare = [100 * _count(system, name, "bare") / n for name, n in zip(names, tried)]
        kept = [100 * _count(system, name, "violated") / n for name, n in zip(names, tried)]
        panel.bar(at, bare, width, color=f"C{number}", alpha=0.35)
        panel.bar(at, kept, width, color=f"C{number}", label=system.system)
    panel.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=8)
    panel.set(ylabel="violations (%)", ylim=(0, 101), title="Pale: the bare inequality. Full: what recurs.")
    panel.legend(fontsize=8)
    return figure


def _thresholds(systems: Sequence[Measured]) -> Figure:
    """The share of violations as the threshold grows (Table 8 as curves)."""
    from matplotlib.figure import Figure

    shown = [
        (rule.name, rule.quantity)
        for rule in STUDY
        if rule.name in ("Rule 1", "Rule 2", "Rule 5", "Rule 6", "Rule 7")
        and any(_tried(system, rule.name) for system in systems)
    ]
    figure = Figure(figsize=(max(4.0, 3.2 * len(shown)), 3.2), layout="constrained")
    panels: Any = np.atleast_1d(figure.subplots(1, max(1, len(shown)), sharey=True))
    for panel, (name, quantity) in zip(panels, shown):
        thresholds = np.linspace(0, 0.5 if quantity == "speed" else 7, 36)
        for system in systems:
            found = system.rules.get(name)
            if found is None or not found.answers:
                continue
            pairs = [share_below(found, quantity, float(threshold)) for threshold in thresholds]
            shares = [100 * violated / max(1, n) for violated, n in pairs]
            panel.plot(thresholds * (100 if quantity == "speed" else 1), shares, label=system.system)
        panel.set(title=name, ylim=(-2, 102))
        panel.set_xlabel("must fall by (%)" if quantity == "speed" else "may change by (degrees)")
    panels[0].set_ylabel("violations (%)")
    panels[0].legend(fontsize=8)
    return figure


def _tried(system: Measured, rule: str) -> int:
    found = system.rules.get(rule)
    return 0 if found is None else found.tried


def _count(system: Measured, rule: str, what: str) -> int:
    found = system.rules.get(rule)
    return 0 if found is None else int(getattr(found, what))
