"""The tables of a retraining: accuracy by configuration, over steps and by round, and fresh failures."""

from __future__ import annotations

from collections.abc import Sequence

from instar.stats import clustered_mean
from instar.studies.output import Table
from instar.studies.retraining.loop import Rates, Round
from instar.training.detection.retrain import CONFIGURATIONS

PAPER = {"natural": "9.3", "failing": "10.5", "passing": "8.6"}
"""mAP, Table 6 of MetaOD (other pictures, another detector)."""
LEARNED = {"natural": "natural pictures", "failing": "and failing ones", "passing": "and passing ones"}


def make_tables(rounds: Sequence[Round]) -> list[Table]:
    first = rounds[0]
    return [
        _accuracy(first),
        _curve(first),
        _failures(first),
        _compared(first),
        *([_rounds(rounds)] if len(rounds) > 1 else []),
    ]


def _accuracy(one: Round) -> Table:
    before = one.trained[0].curve[0]
    rows = [
        ["learned from", "seeds", "mAP", "95 %", "AP50", "95 %", "mAP over natural", "95 %", "paper's mAP"]
    ]
    rows.append(["(before)", "", *_percent([before[0]]), *_percent([before[1]]), "", "", ""])
    natural = _ends(one, "natural")
    for name in CONFIGURATIONS:
        ends = _ends(one, name)
        gains = [end[0] - base[0] for end, base in zip(ends, natural)]
        over = ["", ""] if name == "natural" else _percent(gains)
        precise, loose = (_percent([end[k] for end in ends]) for k in (0, 1))
        rows.append([LEARNED[name], str(len(ends)), *precise, *loose, *over, PAPER[name]])
    note = "Intervals are Student's over seeds; differences are between trainings of the same seed."
    return Table("accuracy", "On pictures that nobody trained on", rows, note)


def _curve(one: Round) -> Table:
    steps = sorted(one.trained[0].curve)
    rows = [["learned from", *(f"{step} steps" for step in steps)]]
    for name in CONFIGURATIONS:
        own = [trained.curve for trained in one.trained if trained.configuration == name]
        means = [_percent([curve[step][0] for curve in own]) for step in steps]
        rows.append([LEARNED[name], *(f"{mean} ({span})" if span else mean for mean, span in means)])
    return Table("curve", "mAP over steps, the mean of all seeds (95 %)", rows)


def _failures(one: Round) -> Table:
    there = {name for rates in (one.before, *one.rates) for name in rates}
    names = sorted(there, key=lambda name: (name not in one.relations, name))
    rows = [["relation", "trained on", "before", *LEARNED.values()]]
    for label, relations in [*((name, [name]) for name in names), ("all", names)]:
        cells = [_share([one.before], relations)]
        for configuration in CONFIGURATIONS:
            pairs = zip(one.trained, one.rates)
            own = [rates for trained, rates in pairs if trained.configuration == configuration]
            cells.append(_share(own, relations))
        is_trained_on = {True: "yes", False: "no"}[label in one.relations]
        rows.append([label, "" if label == "all" else is_trained_on, *cells])
    note = "Cases with a failure of those judged, on the pictures tested on; all seeds together."
    return Table("failures", "Failures on fresh changes", rows, note)


def _compared(one: Round) -> Table:
    rows = [["learned from", "same changes", "fixed", "still failing", "newly broken"]]
    for name in CONFIGURATIONS:
        own = [pairs for trained, pairs in zip(one.trained, one.compared) if trained.configuration == name]
        numbers = (sum(pairs[key] for pairs in own) for key in ("pairs", "fixed", "still", "broken"))
        rows.append([LEARNED[name], *map(str, numbers)])
    note = "By instar compare, against the network before; all seeds together."
    return Table("compared", "Fresh changes, before and after", rows, note)


def _rounds(rounds: Sequence[Round]) -> Table:
    rows = [["round", "failing pictures", "mAP before", "mAP after", "gain"]]
    for number, one in enumerate(rounds, 1):
        before = one.trained[0].curve[0][0]
        cells = [f"{100 * value:.1f}" for value in (before, one.precision, one.gain)]
        rows.append([str(number), str(len(one.sets.failing)), *cells])
    return Table("rounds", "Round by round, learning from failures", rows)


def _ends(one: Round, configuration: str) -> list[tuple[float, float]]:
    own = [trained for trained in one.trained if trained.configuration == configuration]
    return [trained.curve[max(trained.curve)] for trained in own]


def _percent(values: Sequence[float]) -> list[str]:
    """The mean and its interval, where there are several."""
    mean = f"{100 * sum(values) / len(values):.1f}"
    if len(values) < 2:
        return [mean, ""]
    low, high = clustered_mean([100 * value + 100 for value in values], [f"{i}" for i in range(len(values))])
    return [mean, f"{low - 100:.1f} to {high - 100:.1f}"]


def _share(rates: Sequence[Rates], relations: Sequence[str]) -> str:
    pairs = [one[name] for one in rates for name in relations if name in one]
    failed, judged = (sum(pair[k] for pair in pairs) for k in (0, 1))
    return f"{100 * failed / judged:.1f} % of {judged}" if judged else "-"
