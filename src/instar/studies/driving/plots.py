"""The figures of the driving study, with matplotlib (the extra `plots`); systems differ also in grey."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from instar.studies.driving.measure import DriverMeasures, share_below
from instar.studies.driving.rules import STUDY, StudyRule
from instar.studies.driving.tables import SPEED_THRESHOLDS, STEERING_THRESHOLDS, THRESHOLD_RULES
from instar.studies.output import save_figures
from instar.tasks.driving.answers import UNIT_OF

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours that colour-blind people tell apart (Okabe and Ito), each with a marker and a kind of line.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000")
MARKERS = "os^DvPX"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))
COUNTED = "0.83"  # grey
ROW = 0.27  # inches
WIDEST = 20  # letters of a name on one line


def draw_figures(systems: Sequence[DriverMeasures], folder: Path) -> list[Path]:
    """Draw each figure into the folder as a PNG file; their paths."""
    figures = {"violations": _violations(systems), "thresholds": _thresholds(systems)}
    if any(system.errors for system in systems):
        figures["behaviour"] = _behaviour(systems)
    return save_figures(figures, folder)


def _violations(systems: Sequence[DriverMeasures]) -> Figure:
    """A panel for each system and a row for each rule: what the bare inequality counts, and what recurs."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    rules = _asked(systems)
    at = np.arange(len(rules))
    figure = Figure(figsize=(2.6 + 1.75 * len(systems), 1.5 + ROW * len(rules)), layout="constrained")
    panels: Any = np.atleast_1d(figure.subplots(1, len(systems), sharey=True))
    for panel, system in zip(panels, systems):
        for row, rule in enumerate(rules):
            found = system.rules.get(rule.name)
            if found is None or not found.tried:
                panel.text(2, row, "not asked", va="center", fontsize=7, color="0.5")
                continue
            bare, kept = 100 * found.bare / found.tried, 100 * found.violated / found.tried
            panel.barh(row, bare, 0.72, color=COUNTED, edgecolor="0.4", linewidth=0.5)
            panel.barh(row, kept, 0.72, color=COLOURS[0])
            panel.text(bare + 2, row, f"{found.bare}/{found.tried}", va="center", fontsize=7)
        panel.set(title=_wrapped(system.system), xlim=(0, 132), xticks=(0, 50, 100), xlabel="violations (%)")
        panel.title.set_fontsize(9)
        _tidy(panel)
    panels[0].set_yticks(at, [rule.label for rule in rules])
    panels[0].set_ylim(len(rules) - 0.4, -0.6)
    patches = [Patch(facecolor=COUNTED, edgecolor="0.4"), Patch(facecolor=COLOURS[0])]
    names = ["violated, as the paper counts", "and under every change that must not matter"]
    _add_legend(figure, patches, names, ncols=min(2, len(systems)))
    return figure


def _thresholds(systems: Sequence[DriverMeasures]) -> Figure:
    """The share of violations as the threshold grows (Table 8 as curves); marks are the table's columns."""
    from matplotlib.figure import Figure

    shown = [rule for rule in _asked(systems) if rule.name in THRESHOLD_RULES[rule.quantity]]
    figure = Figure(figsize=(max(4.5, 2.3 * len(shown) + 0.4), 3.3), layout="constrained")
    panels: Any = np.atleast_1d(figure.subplots(1, max(1, len(shown)), sharey=True))
    for panel, rule in zip(panels, shown):
        columns = SPEED_THRESHOLDS if rule.quantity == "speed" else STEERING_THRESHOLDS
        scale = 100 if rule.quantity == "speed" else 1
        for number, system in enumerate(systems):
            found = system.rules.get(rule.name)
            if found is None or not found.answers:
                continue

            def share(threshold: float, found: Any = found, quantity: str = rule.quantity) -> float:
                violated, cases = share_below(found, quantity, threshold)
                return 100 * violated / cases if cases else float("nan")

            fine = np.linspace(0, columns[-1], 400)
            colour, marker, line = _look(number)
            panel.plot(scale * fine, [share(float(t)) for t in fine], color=colour, ls=line, lw=1.3)
            at = [scale * t for t in columns]
            panel.plot(at, [share(t) for t in columns], color=colour, ls="", marker=marker, markersize=4)
        panel.set(ylim=(-4, 104), xlabel="must fall by (%)" if scale == 100 else "may change by (degrees)")
        panel.set_title(f"{rule.name}:\n{rule.short}", fontsize=9)
        panel.tick_params(labelsize=8)
        panel.xaxis.label.set_fontsize(8)
        panel.grid(color="0.9", linewidth=0.6)
    panels[0].set_ylabel("violations (%)", fontsize=8)
    _name_systems(figure, systems, lines=True)
    return figure


def _behaviour(systems: Sequence[DriverMeasures]) -> Figure:
    """Error beside behaviour, a row of panels for each quantity: who errs alike need not act alike."""
    from matplotlib.figure import Figure

    rules = {
        quantity: [rule for rule in _asked(systems) if rule.quantity == quantity]
        for quantity in UNIT_OF
        if any(error.quantity == quantity for system in systems for error in system.errors)
    }
    rows = [max(len(of_quantity), 3) for of_quantity in rules.values()]
    spread = 0.75 / len(systems)
    height = 1.3 * len(rows) + max(0.34, 0.085 * len(systems)) * sum(rows)
    figure = Figure(figsize=(8.2, height), layout="constrained")
    ratios = {"height_ratios": rows, "width_ratios": (2, 3)}
    panels: Any = figure.subplots(len(rules), 2, squeeze=False, gridspec_kw=ratios)
    for (left, right), (quantity, asked) in zip(panels, rules.items()):
        for number, system in enumerate(systems):
            colour, marker, _ = _look(number)
            look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1}
            for error in system.errors:
                if error.quantity == quantity:
                    left.plot(error.interval, [number] * 2, color=colour, linewidth=1)
                    left.plot(error.mae, number, **look)
                    left.plot([error.constant] * 2, [number - 0.4, number + 0.4], color="0.35", linewidth=1.5)
            for row, rule in enumerate(asked):
                found = system.rules.get(rule.name)
                if found is None or found.interval is None:
                    continue
                at = row + (number - (len(systems) - 1) / 2) * spread
                right.plot([100 * end for end in found.interval], [at, at], color=colour, linewidth=1)
                right.plot(100 * found.violated / found.judged, at, **look)
        on = {error.on for system in systems for error in system.errors if error.quantity == quantity}
        error_label = f"mean {quantity} error, {' or '.join(sorted(on))} ({UNIT_OF[quantity]})"
        left.set(xlabel=error_label, xlim=(0, None))
        right.set(xlabel="violations that recur (%), 95 % interval", xlim=(-3, 103))
        for edge in range(1, len(asked)):
            right.axhline(edge - 0.5, color="0.85", linewidth=0.6)
        names = [_wrapped(system.system) for system in systems]
        for panel, labels in ((left, names), (right, [rule.label for rule in asked])):
            panel.set_yticks(range(len(labels)), labels)
            panel.set_ylim(len(labels) - 0.5, -0.5)
            _tidy(panel)
    panels[0][0].set_title("Error (upright bar: a constant answer)", fontsize=9)
    panels[0][1].set_title("Behaviour", fontsize=9)
    _name_systems(figure, systems, lines=False)
    return figure


def _name_systems(figure: Figure, systems: Sequence[DriverMeasures], *, lines: bool) -> None:
    """A legend above all panels."""
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=colour, marker=marker, ls=line if lines else "-", lw=1.3, markersize=5)
        for colour, marker, line in map(_look, range(len(systems)))
    ]
    names = [system.system for system in systems]
    columns = min(4 if max(map(len, names)) <= WIDEST else 2, len(names))
    _add_legend(figure, marks, names, ncols=columns, handlelength=3)


def _add_legend(figure: Figure, marks: Sequence[Any], names: Sequence[str], **look: Any) -> None:
    figure.legend(marks, names, loc="outside upper center", fontsize=8, frameon=False, **look)


def _look(number: int) -> tuple[Any, ...]:
    """Colour, marker and line of a system."""
    return tuple(cycle[number % len(cycle)] for cycle in (COLOURS, MARKERS, LINES))


def _tidy(panel: Any) -> None:
    panel.tick_params(labelsize=8)
    panel.xaxis.label.set_fontsize(8)
    panel.spines[["top", "right"]].set_visible(False)


def _asked(systems: Sequence[DriverMeasures]) -> list[StudyRule]:
    """The rules of which any system has cases."""
    found = [(rule, [system.rules.get(rule.name) for system in systems]) for rule in STUDY]
    return [rule for rule, counted in found if any(one is not None and one.tried for one in counted)]


def _wrapped(name: str) -> str:
    """A long name on several lines."""
    return "\n".join(textwrap.wrap(name.replace(":", ": "), WIDEST))
