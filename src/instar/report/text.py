"""A summary as plain text, for a terminal or a log."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from statistics import median
from types import MappingProxyType

from instar.core.record import Totals
from instar.report.groups import Group, groups_headline, in_turns
from instar.report.relation_table import RELATION_HEADINGS, relation_rows
from instar.report.summary import (
    Break,
    FalseAlarms,
    RelationSummary,
    Summary,
    Violation,
)
from instar.report.text_style import PLAIN, TextStyle
from instar.report.words import (
    counted,
    interval_words,
    kind_words,
    percent,
    readable,
    reason_words,
    replay_command,
)

WIDEST_REASON = 320
WIDEST_TITLE = 90
WIDEST_WORDS = 76
WIDEST_SCENE = 48
"""Characters of a scene's name that a table shows; of a longer one the end, which tells files apart."""
MOST_STRANGE = 3  # labels that are named


def render_text(
    summary: Summary,
    groups: Sequence[Group] = (),
    *,
    top: int = 10,
    look: TextStyle = PLAIN,
    brief: bool = False,
) -> str:
    """The report, with the `top` largest groups and worst findings; a `brief` one is its first lines."""
    first, *others = (look.wrap(line, 0) for line in _headline(summary))
    colour = "yellow" if summary.why_not_judged else "red" if summary.counts.headline else "green"
    parts = ["\n".join([look.paint(first, "bold", colour), *others])]
    if not brief:
        parts += [
            _relations(summary.relations, look),
            "\n".join(_account_lines(summary, look)),
            "\n".join(_skipped(summary)),
            "\n".join(_groups(summary, groups, top, look)),
            "\n".join(_findings(summary, top, look)),
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_comparison(summaries: Sequence[Summary]) -> str:
    """Several runs of one plan side by side; each goes by the name of its folder."""
    heading = ["run", "judged", "violated", "unstable", "rate", "95 % interval", "different failures"]
    rows = [[*heading, "scenes affected", "false alarms", "seconds"]]
    for summary in summaries:
        counts, totals, alarms = summary.counts, summary.totals, summary.false_alarms
        rows.append(
            [
                readable(PurePath(totals.run).name, WIDEST_SCENE),
                f"{counts.judged:,}",
                f"{counts.violated:,}",
                f"{counts.unstable:,}",
                "a yield" if summary.drawn.is_yield else percent(summary.drawn.rate),
                interval_words(summary.drawn.interval),
                f"{summary.distinct:,}",
                f"{summary.scenes_violated:,} of {summary.scenes_judged:,}",
                "-" if alarms is None else f"{alarms.violated:,} of {alarms.n:,}",
                f"{totals.seconds:,.1f}",
            ]
        )
    return table(rows, right=range(1, len(rows[0]))) + "\n"


def alarm_words(alarms: FalseAlarms | None) -> str:
    """How often a change that must do nothing was accused, and the bound that this gives."""
    if alarms is None:
        return "no change that must do nothing was asked"
    of = f"{alarms.violated:,} of {counted(alarms.n, 'change')} that must do nothing"
    low, high = alarms.interval
    return f"{of}: {interval_words(alarms.interval) if low else f'at most {percent(high)}'}"


def repeat_words(totals: Totals) -> str:
    """What came of asking sources again just as they are."""
    again = counted(totals.repeats, "source")
    if not totals.differing:
        return f"{again}, just as they are: the same answers"
    contradicting = (
        f"{totals.contradicting:,} of them contradicting the first" if totals.contradicting else ""
    )
    other = f"{totals.differing:,} of {again} got another answer{', ' * bool(contradicting)}{contradicting}"
    return f"{other}: the system is not deterministic"


def empty_words(totals: Totals) -> str:
    """Where nothing was found on every second source or more: how many, and what to check."""
    if 2 * totals.empty < totals.scenes or not totals.scenes:
        return ""
    return (
        f"nothing on {totals.empty:,} of {counted(totals.scenes, 'scene')}: check what the system is shown "
        "(order of colours, scale, size), what its answers mean, and its confidence; instar look draws them"
    )


def known_words(summary: Summary) -> str:
    """What is known about the different findings.

    A finding that nobody could verify is a failure as far as is known; one on which referees disagree is not.
    """
    unverified = summary.distinct_failures - summary.distinct_real
    counts = dict(summary.known) | {"not verified": unverified, "unknown": 0}
    disputed = summary.known.get("unknown", 0) - unverified
    counts["disputed"] = disputed
    told = ", ".join(
        f"{readable(name, WIDEST_REASON)} {number:,}" for name, number in counts.items() if number
    )
    return f"{told}, of {counted(summary.distinct, 'different finding')}"


def referee_words(summary: Summary) -> str:
    """Who was asked what is there, how often, and who could not be."""
    totals = summary.totals
    able = [name for name, reason in totals.referees.items() if not reason]
    parts = [f"{', '.join(map(readable, able)) or 'none'}, {counted(totals.referee_queries, 'question')}"]
    if summary.counts.unfair:
        parts.append(f"{counted(summary.counts.unfair, 'case')} held because they lose it too")
    unverified = [one for one in summary.findings if one.headline and one.known == "unknown"]
    strange = sorted({one.label for one in unverified if one.label})
    if strange and totals.referee_queries:
        names = ", ".join(map(readable, strange[:MOST_STRANGE])) + ", ..." * (len(strange) > MOST_STRANGE)
        parts.append(f"none of them knows {names}: --referee-labels says what they call it")
    unable: dict[str, list[str]] = {}
    for name, reason in totals.referees.items():
        if reason:
            unable.setdefault(readable(reason.removeprefix(f"{name} "), 120), []).append(readable(name))
    parts += [f"{' and '.join(names)} could not be asked: {reason}" for reason, names in unable.items()]
    return "; ".join(parts)


def left_out_words(totals: Totals) -> str:
    """How many findings were kept without pictures, and why."""
    kept = counted(totals.pictures_left_out, "finding is", "findings are")
    return f"{kept} kept without any: the disk limit of the run (limits.disk) was reached"


def table(
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    fixed: Sequence[int] = (),
    look: TextStyle = PLAIN,
    styles: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Rows, the first of them headings, as aligned columns; those in `right` end flush.

    Where they are wider than the look allows, columns that are neither in `right` nor `fixed` are shortened,
    the last one is continued below itself. `styles` are those of cells that say just that.

    >>> print(table([["name", "n"], ["insertion", "10"], ["exposure", "7"]], right=[1]))
    name        n
    insertion  10
    exposure    7
    """
    last = len(rows[0]) - 1
    folded = [""] * len(rows)
    if look.width is not None and last not in (*right, *fixed):
        rows, folded = [row[:-1] for row in rows], [row[-1] for row in rows]
    rows = look.fit(rows, [*right, *fixed])
    widths = [max(map(len, column)) for column in zip(*rows)]
    before = sum(widths) + 2 * len(widths)
    lines = []
    for number, (row, rest) in enumerate(zip(rows, folded)):
        cells = []
        for i, (cell, width) in enumerate(zip(row, widths)):
            blank = " " * (width - len(cell))
            style = "dim" if number == 0 else styles.get(cell, "")
            painted = look.paint(cell, *filter(None, [style]))
            cells.append(blank + painted if i in right else painted + blank)
        if rest:
            cells.append(look.paint(look.wrap(rest, before), *(["dim"] if number == 0 else [])))
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def headline_words(summary: Summary) -> str:
    """How often the system fails, in a sentence; or why nothing can be said of it."""
    return next(_headline(summary))


def _headline(summary: Summary) -> Iterator[str]:
    counts, totals = summary.counts, summary.totals
    scenes, system = counted(summary.scenes_judged, "judged scene"), readable(totals.system)
    if summary.why_not_judged:
        of = "" if "scene" in summary.why_not_judged else f", {counted(totals.scenes, 'scene')}"
        why = summary.why_failed if summary.is_failing else ""
        if not counts.judged:
            why = why or next(iter(summary.reasons), "")
        yield f"{system}: {summary.why_not_judged}{of}{why and ': '}{why}."
    if not counts.judged:
        pass
    elif not counts.headline:
        yield f"{system} fails in none of {counts.judged:,} judged cases ({scenes})."
    else:
        yield (
            f"{system} fails in {counts.headline:,} of {counts.judged:,} judged cases: "
            f"{counted(summary.distinct_failures, 'different failure')}, in {summary.scenes_failing:,} of "
            f"{scenes}."
        )
    others = counts.violated - counts.headline
    if others:
        yield f"In {counted(others, 'more case')} the answers differ, but not by a failure (see below)."
    if summary.ended:
        yield f"{summary.ended}."
    elif not totals.finished:
        yield "The run is not complete: it is under way, or a limit or an interrupt ended it."


def _relations(relations: Mapping[str, RelationSummary], look: TextStyle) -> str:
    if not relations:
        return ""
    rows = [[readable(name), *cells] for name, *cells in relation_rows(relations)]
    has_rates = len(rows[0]) == len(RELATION_HEADINGS)
    if look.is_narrow:  # what is 0 everywhere can be missed
        kept = [number for number, column in enumerate(zip(*rows)) if {*column[1:]} != {"0"}]
        rows = [[row[number] for number in kept] for row in rows]
    shown = table(rows, right=range(1, len(rows[0])), look=look)
    if has_rates:
        return shown
    why = "Without rates, since the search goes where failures are: --search draws gives them."
    return f"{shown}\n{look.wrap(why, 0)}"


def _account_lines(summary: Summary, look: TextStyle) -> Iterator[str]:
    account = list(_account(summary))
    wide = max(len(label) for label, _ in account) + 2
    for label, text in account:
        yield look.paint(label, "cyan") + " " * (wide - len(label)) + look.wrap(text, wide)


def _account(summary: Summary) -> Iterator[tuple[str, str]]:
    """One line for each thing that was counted beside the cases."""
    if summary.kinds:
        yield "kinds", _listing({kind_words(kind): n for kind, n in summary.kinds.items()})
    if summary.harms:
        of = counted(summary.distinct_failures, "different failure")
        yield "harm", f"{_listing(summary.harms)} of {of}"
    for relation, side in _sides(summary.breaks):
        levels = sorted((one.level for one in side), key=abs)
        middle = f" (median {median(levels):+.3g})" if len(levels) > 1 else ""
        text = f"{relation} from {levels[0]:+.3g} on{middle}, in {counted(len(levels), 'scene')}"
        yield "first breaks", text
    if summary.placebos:
        tried, reproduced = summary.placebos.tried, summary.placebos.reproduced
        needed = percent(1 - reproduced / tried)
        of = counted(tried, "violated case")
        yield "placebo", f"{needed} of {of} need the real change; a stand-in shows the others too"
    counts, totals = summary.counts, summary.totals
    if summary.known:
        yield "known", known_words(summary)
    none, different = summary.called_none
    if none:
        share = percent(none / different)
        yield "users", f"call {none:,} of {counted(different, 'different failure')} none ({share})"
    if summary.drawn.headline_rate is not None and counts.headline != counts.violated:
        ends = interval_words(summary.drawn.headline_interval)
        yield "failing", f"{percent(summary.drawn.headline_rate)} of what was drawn ({ends})"
    if totals.referees:
        yield "referees", referee_words(summary)
    if counts.judged:
        ends = interval_words(summary.unstable_interval)
        of = counted(counts.judged, "judged case")
        yield "unstable", f"{percent(summary.unstable_share)} of {of} ({ends})"
    if summary.unconfirmed:
        yield "unconfirmed", counted(summary.unconfirmed, "case")
    if summary.reasons:
        yield "reasons", _listing(summary.reasons)
    yield "false alarms", alarm_words(summary.false_alarms)
    if totals.repeats:
        yield "asked again", repeat_words(totals)
    if totals.pictures_left_out:
        yield "pictures", left_out_words(totals)
    if empty := empty_words(totals):
        yield "found", empty
    if totals.remark:
        yield "mind", totals.remark
    if not totals.isolated:
        yield "process", "the system shared instar's process: a crash or a hang of it would have ended both"
    price = "" if summary.price is None else f", price {summary.price:,.2f}"
    queries = counted(totals.queries, "query", "queries")
    yield "spent", f"{queries}, {totals.asked:,} asked, {totals.seconds:,.1f} s{price}"


def _sides(breaks: Sequence[Break]) -> Iterator[tuple[str, list[Break]]]:
    """Each relation that breaks below 0, above it, or both."""
    for relation in dict.fromkeys(one.relation for one in breaks):
        for above in (False, True):
            side = [one for one in breaks if one.relation == relation and (one.level > 0) == above]
            if side:
                yield relation, side


def _skipped(summary: Summary) -> Iterator[str]:
    if summary.totals.skipped:
        yield f"{counted(len(summary.totals.skipped), 'scene')} could not be read:"
        for skipped in summary.totals.skipped:
            yield f"  {readable(skipped.scene)}: {readable(skipped.reason)}"


def _groups(summary: Summary, groups: Sequence[Group], top: int, look: TextStyle) -> Iterator[str]:
    if not groups:
        return
    yield look.paint(groups_headline(summary.counts.headline, groups), "bold")
    rows, fixed = [["cases", "scenes", "group", "for example"]], 3
    for group in groups[:top]:
        title = readable(group.title, WIDEST_TITLE)
        rows.append([f"{len(group.cases):,}", f"{group.scenes:,}", title, group.representative])
    if look.is_narrow:
        rows, fixed = [[cases, scenes, case, title] for cases, scenes, title, case in rows], 2
    yield table(rows, right=[0, 1], fixed=[fixed], look=look)
    if len(groups) > top:
        yield f"and {len(groups) - top:,} smaller groups"


def _findings(summary: Summary, top: int, look: TextStyle) -> Iterator[str]:
    failures = [one for one in summary.findings if one.headline]
    others = [one for one in summary.findings if not one.headline]
    worst = [*in_turns(failures, lambda one: one.identity), *others][:top]
    if not worst:
        return
    everything = len(worst) == len(summary.findings)
    total = f"{len(summary.findings):,} findings"
    yield look.paint(
        "Findings, the plainest first" if everything else f"The plainest {top} of {total}", "bold"
    )
    rows, fixed = [["case", "scene", "relation", "what", "known", "margin"], *map(_row, worst)], [0, 4]
    if look.is_narrow:
        rows, fixed = [[case, known, what] for case, _, _, what, known, _ in rows], [0, 1]
    styles = {"real": "red", "not verified": "yellow"}
    yield table(rows, right=[5], fixed=fixed, look=look, styles=styles)
    yield ""
    run = shlex.quote(summary.totals.run)
    replay = replay_command(summary.totals.run, worst[0].case, trust=summary.names_code)
    for what, command in (
        ("See one again: ", replay),
        ("As a page:     ", f"instar report {run} --html report.html"),
        ("In the browser:", f"instar view {run}"),
    ):
        yield f"{what} {look.paint(readable(command, 400), 'cyan')}"


def _row(violation: Violation) -> list[str]:
    scene = readable(violation.scene, 4 * WIDEST_SCENE)
    if len(scene) > WIDEST_SCENE:
        scene = "..." + scene[3 - WIDEST_SCENE :]
    known = violation.known
    if known == "unknown":
        known = "not verified" if violation.headline else "disputed"
    return [
        violation.case,
        scene,
        readable(violation.relation, WIDEST_SCENE),
        readable(violation.words or violation.kind or "-", WIDEST_WORDS),
        readable(known),
        f"{violation.margin:.3f}",
    ]


def _listing(counted: Mapping[str, int]) -> str:
    return ", ".join(
        f"{readable(reason_words(name)) or 'unnamed'} {number:,}" for name, number in counted.items()
    )
