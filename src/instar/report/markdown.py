"""A run as Markdown, short enough for a pull request: the numbers, and a picture of each large group."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from instar.report.by_scene import FailureObject, key_words
from instar.report.groups import Group, groups_headline
from instar.report.known import Against
from instar.report.relation_table import relation_rows
from instar.report.summary import Summary
from instar.report.text import alarm_words
from instar.report.words import counted, interval_words, percent, readable, replay_command

MOST_GROUPS = 10
MOST_KEYS = 20


def render_markdown(
    summary: Summary,
    groups: Sequence[Group],
    *,
    pictures: Mapping[str, str] | None = None,
    against: Against | None = None,
) -> str:
    """The text; `pictures` are addresses by case."""
    return "\n".join(_lines(summary, groups, pictures or {}, against)) + "\n"


def literal(text: str, longest: int = 120) -> str:
    r"""Text that Markdown and the HTML in it leave alone.

    >>> print(literal("a|b <b>*c*</b> [d](e)"))
    a\|b &lt;b\>\*c\*&lt;/b\> \[d\]\(e\)
    """
    shown = readable(text, longest).replace("&", "&amp;").replace("<", "&lt;")
    # What begins an address of its own is broken up as well: servers make links of bare ones, and of @names.
    shown = re.sub(r"([\\`*_{}\[\]()#+!|~>$])", r"\\\1", shown)
    return re.sub(r"(://|www\.|@)", lambda found: f"{found[0][0]}\u2060{found[0][1:]}", shown)


def _lines(
    summary: Summary, groups: Sequence[Group], pictures: Mapping[str, str], against: Against | None
) -> Iterator[str]:
    counts, totals = summary.counts, summary.totals
    yield f"### instar: {literal(totals.system)}"
    yield ""
    if summary.why_not_judged:
        yield f"**{summary.why_not_judged.capitalize()}.**"
    if counts.judged:
        drawn = summary.drawn
        share, ends = drawn.headline_rate, drawn.headline_interval
        rate = f" ({percent(share)}, {interval_words(ends)})" if share is not None else ""
        yield (
            f"**{counts.headline:,}** of {counts.judged:,} judged cases fail{rate}, in "
            f"{summary.scenes_failing:,} of {counted(summary.scenes_judged, 'judged scene')}: "
            f"{groups_headline(counts.headline, groups)}."
        )
    if against is not None:
        yield ""
        yield from _against(against)
    yield ""
    headings, *rows = relation_rows(summary.relations)
    yield f"| {' | '.join(headings)} |"
    yield f"|---{'|--:' * (len(headings) - 1)}|"
    for relation, *cells in rows:
        yield f"| {' | '.join([literal(relation), *cells])} |"
    yield ""
    unstable, questions = percent(summary.unstable_share), counted(totals.queries, "question")
    alarms = alarm_words(summary.false_alarms)
    yield f"Unstable {unstable}; false alarms {alarms}; {questions}, {totals.seconds:,.1f} s."
    for group in groups[:MOST_GROUPS]:
        yield from _group(group, summary, pictures)
    if len(groups) > MOST_GROUPS:
        yield ""
        yield f"And {counted(len(groups) - MOST_GROUPS, 'smaller group')}."


def _against(against: Against) -> Iterator[str]:
    new = f"**{counted(len(against.new), 'new failure')}**"
    yield f"{new}, {counted(len(against.known), 'known failure')}, {len(against.fixed):,} fixed."
    unseen = ("Not fixed: what these are about is not found any more, changed or not", against.unseen)
    for title, keys in (("New", against.new), ("Fixed", against.fixed), unseen):
        if keys:
            yield ""
            yield f"{title}:"
            for key in keys[:MOST_KEYS]:
                yield f"- {literal(key_words(key, against.things.get(key, FailureObject())), 240)}"
            if len(keys) > MOST_KEYS:
                yield f"- and {len(keys) - MOST_KEYS:,} more"


def _group(group: Group, summary: Summary, pictures: Mapping[str, str]) -> Iterator[str]:
    yield ""
    scenes = counted(group.scenes, "scene")
    title = html.escape(readable(group.title, 160), quote=False)  # inside a tag HTML is read, Markdown not
    yield f"<details><summary>{len(group.cases):,} × {title} ({scenes})</summary>"
    yield ""
    if group.representative in pictures:
        yield f"![before and after]({pictures[group.representative]})"
        yield ""
    # Indented, so that it is code whatever is in it.
    command = replay_command(summary.totals.run, group.representative, trust=summary.names_code)
    yield f"    {readable(command, 300)}"
    yield ""
    yield "</details>"
