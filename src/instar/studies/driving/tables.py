"""The tables of the driving study as rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from instar.studies.driving.measure import DriverMeasures, RuleMeasures, share_below
from instar.studies.driving.rules import AFFINE, STUDY, StudyRule
from instar.studies.output import Table
from instar.tasks.driving.answers import UNIT_OF

SPEED_THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
STEERING_THRESHOLDS = tuple(20.0 * factor for factor in (0.1, 0.25, 0.5, 1, 2, 3))  # at the steering wheel
THRESHOLD_RULES = {"speed": ("Rule 1", "Rule 2", "Rule 7"), "steering": ("Rule 5", "Rule 6")}
Rows = list[list[str]]
COUNTED = "Violations of the bare inequality (share) | those that recur under changes that must not matter."


def make_tables(systems: Sequence[DriverMeasures], own: Sequence[StudyRule] = ()) -> Iterator[Table]:
    """Everything that the study has to say; rules that no system can be asked are left out."""
    every = (*STUDY, *own)
    yield _rules(systems, every)
    if any(system.errors for system in systems):
        yield _errors(systems)
    yield _waver(systems)
    yield _violations(systems, "rules", "table-7", "Violations per rule (Table 7)")
    yield from _thresholds(systems)
    yield _violations(systems, "compound", "table-9", "Compound rules (Table 9)")
    yield _violations(systems, "rain", "table-10", "Rain, steering keeps the same (Table 10)")
    yield _violations(systems, "rain-person", "table-11", "Rain, and rain with a person (Table 11)")
    if own:
        rows, data = _counted(systems, [rule.name for rule in own])
        yield Table("own-rules", "Violations of your own rules", rows, COUNTED, data=data)
    if any(name in system.rules for system in systems for name in AFFINE):
        yield _affine(systems)
    yield _believed(systems, every)
    yield _costs(systems, every)


def _rules(systems: Sequence[DriverMeasures], rules: Sequence[StudyRule]) -> Table:
    rows = [["rule", "in words"]]
    for rule in rules:
        if any(rule.name in system.rules for system in systems):
            how = f" (pictures: {rule.engines})" if rule.engines else ""
            rows.append([rule.name, rule.text + how])
    return Table("rules", "The rules", rows)


def _errors(systems: Sequence[DriverMeasures]) -> Table:
    rows = [["system", "quantity", "on", "pictures", "mean error", "95 % interval", "best constant"]]
    data = [["system", "quantity", "on", "pictures", "mean error", "95 % low", "95 % high", "best constant"]]
    for system in systems:
        for error in system.errors:
            low, high = (f"{end:.2f}" for end in error.interval)
            quantity = f"{error.quantity} ({UNIT_OF[error.quantity]})"
            said = [system.system, quantity, error.on, str(error.pictures)]
            mean, constant = f"{error.mae:.2f}", f"{error.constant:.2f}"
            rows.append([*said, mean, f"{low} to {high}", constant])
            data.append([*said, mean, low, high, constant])
    return Table("errors", "Mean absolute error on unchanged pictures", rows, data=data)


def _waver(systems: Sequence[DriverMeasures]) -> Table:
    rows = [["system", "speed (km/h)", "steering (degrees)"]]
    for system in systems:
        waver = [f"{system.waver[q]:.3f}" if q in system.waver else "-" for q in ("speed", "steering")]
        rows.append([system.system, *waver])
    note = "The mean over pictures of the standard deviation under JPEG 95, one grey level and one pixel."
    return Table("waver", "How much answers waver under changes that must do nothing", rows, note)


def _violations(systems: Sequence[DriverMeasures], part: str, name: str, title: str) -> Table:
    """Bare violations as the paper counts them, and behind the bar those that recur."""
    rules = [rule for rule in STUDY if rule.part == part]
    rows, data = _counted(systems, [rule.name for rule in rules])
    note = COUNTED
    if len(rows) == 1:
        about = {rule.quantity for rule in rules}
        rows.append(["none", "0", *("-" for _ in systems)])
        note = f"These rules are about {' and '.join(sorted(about))}, which none of these systems answers."
        if any(about & system.quantities for system in systems):
            note = "None of these rules could be judged on these scenes."
    return Table(name, title, rows, note, data=data)


def _affine(systems: Sequence[DriverMeasures]) -> Table:
    rows, data = _counted(systems, AFFINE)
    note = f"{COUNTED} Speed may change by 10 %, steering by 20 degrees at the steering wheel."
    title = "DeepTest's affine changes, light and blur: the answer stays the same"
    return Table("affine", title, rows, note, data)


def _counted(systems: Sequence[DriverMeasures], names: Iterable[str]) -> tuple[Rows, Rows]:
    """A row for each rule that has cases: for people, and with one number to a cell."""
    rows = [["rule", "cases", *(system.system for system in systems)]]
    data = [["rule"]]
    for system in systems:
        data[0] += [f"{system.system}: {what}" for what in ("cases", "violated", "violated (%)", "recurring")]
    for name in names:
        found = [system.rules.get(name) for system in systems]
        cases = sorted({one.tried for one in found if one is not None and one.tried})
        if cases:
            rows.append([name, "/".join(map(str, cases)), *map(_cell, found)])
            data.append([name, *(number for one in found for number in _numbers(one))])
    return rows, data


def _cell(found: RuleMeasures | None) -> str:
    if found is None or not found.tried:
        return "-"
    _, bare, share, recurring = _numbers(found)
    return f"{bare} ({share} %) | {recurring}"


def _numbers(found: RuleMeasures | None) -> tuple[str, str, str, str]:
    """Cases, violations of the bare inequality, their share in percent, and those that recur."""
    if found is None or not found.tried:
        return "0", "", "", ""
    share = f"{100 * found.bare / found.tried:.1f}"
    return str(found.tried), str(found.bare), share, str(found.violated)


def _thresholds(systems: Sequence[DriverMeasures]) -> Iterator[Table]:
    for quantity, thresholds, said in (
        ("speed", SPEED_THRESHOLDS, lambda t: f"{100 * t:.0f} %"),
        ("steering", STEERING_THRESHOLDS, lambda t: f"{t:.2f}°"),
    ):
        rows = [["rule", "system", *map(said, thresholds)]]
        for name in THRESHOLD_RULES[quantity]:
            for system in systems:
                found = system.rules.get(name)
                if found is not None and found.answers:
                    rows.append([name, system.system, *_shares(found, quantity, thresholds)])
        if len(rows) > 1:
            meaning = "must fall by at least" if quantity == "speed" else "may change by at most"
            title = f"Violations in percent, where {quantity} {meaning} ... (Table 8)"
            yield Table(f"table-8-{quantity}", title, rows, "By the bare inequality, as in the paper.")


def _shares(found: RuleMeasures, quantity: str, thresholds: Sequence[float]) -> list[str]:
    pairs = [share_below(found, quantity, threshold) for threshold in thresholds]
    return ["-" if not n else f"{100 * violated / n:.1f}" for violated, n in pairs]


def _believed(systems: Sequence[DriverMeasures], rules: Sequence[StudyRule]) -> Table:
    counted = ["unstable", "inapplicable", "failed"]
    rows = [["system", "rule", "judged", "violated", "in %", "95 % interval", *counted]]
    shares = ["violated (%)", "95 % low (%)", "95 % high (%)"]
    data = [["system", "rule", "judged", "violated", *shares, *counted]]
    for system in systems:
        for name in (*(rule.name for rule in rules), *AFFINE):
            found = system.rules.get(name)
            if found is None:
                continue
            share, low, high = "-", "", ""
            if found.interval is not None:
                low, high = (f"{100 * end:.1f}" for end in found.interval)
                share = f"{100 * found.violated / found.judged:.1f}"
            said = [system.system, name, str(found.judged), str(found.violated)]
            counts = [str(n) for n in (found.unstable, found.inapplicable, found.failed)]
            rows.append([*said, share, f"{low} to {high}" if low else "-", *counts])
            data.append([*said, share.strip("-"), low, high, *counts])
    note = "Unstable: the inequality is violated, but not under each change that must not matter."
    return Table("cases", "Cases that stand", rows, note, data=data)


def _costs(systems: Sequence[DriverMeasures], rules: Sequence[StudyRule]) -> Table:
    asking = [f"asking {system.system} (s)" for system in systems]
    rows = [["rule", "cases", "pictures per case", "making (s)", *asking]]
    for rule in rules:
        made = [system.making.get(rule.name) for system in systems]
        known = next((one for one in made if one is not None), None)
        if known is not None:
            numbers = [str(known.cases), str(known.pictures), f"{known.seconds:.4f}"]
            seconds = [system.asking * known.pictures for system in systems]
            rows.append([rule.name, *numbers, *(f"{s:.4f}" if one else "-" for s, one in zip(seconds, made))])
    note = (
        "Making: processor time of one thread, on average over the cases. "
        "Asking: the pictures of a case times the quickest of some questions."
    )
    return Table("table-12", "Seconds per case and rule (Table 12)", rows, note)
