"""A run as one page: a single file without anything from elsewhere, to be opened from disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from instar.core.record import Totals
from instar.report.cards import CaseView, case_card, legend, thumbnail
from instar.report.figures import Figures
from instar.report.findings_list import findings_data, findings_section, toolbar
from instar.report.glossary import glossary_list, term
from instar.report.groups import Group, groups_headline
from instar.report.numbers import number_section
from instar.report.summary import Summary
from instar.report.text import alarm_words, empty_words, left_out_words, repeat_words
from instar.report.words import counted, escape, interval_words, kind_words, name, percent, readable

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MOST_SKIPPED = 200  # scenes that are listed


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Everything that is on the page: `shown` are findings with pictures to compare, by case, and `small`
    are the cards of others.
    """

    summary: Summary
    figures: Figures
    groups: Sequence[Group]
    shown: Mapping[str, CaseView] = field(default_factory=dict)
    passing: Sequence[CaseView] = ()
    small: Mapping[str, str] = field(default_factory=dict)


def render_html(page: Page) -> str:
    """The page as text."""
    system = page.summary.totals.system
    return "".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark"><meta name="generator" content="instar">',
            f"<title>{escape(readable(system, 80))} · instar</title>",
            f"<style>{_resource('page.css')}</style></head><body>",
            *_head(page),
            "<main>",
            *_findings(page),
            *_all(page),
            *number_section(page.summary, page.figures, len(page.groups)),
            *_passing(page),
            f'<section id="glossary"><div class="title"><h2>What the words mean</h2></div>{glossary_list()}'
            "</section></main>",
            *_foot(page),
            f"<script>{_resource('page.js')}</script></body></html>\n",
        ]
    )


def _resource(file: str) -> str:
    return resources.files("instar.report").joinpath(file).read_text(encoding="utf-8")


def _head(page: Page) -> Iterator[str]:
    summary, totals = page.summary, page.summary.totals
    counts = summary.counts
    yield f'<header class="top"><p class="brand">instar</p><h1>{name(totals.system)}</h1>'
    if summary.why_not_judged:
        yield f'<p class="verdict">{escape(summary.why_not_judged.capitalize())}.</p>'
    if counts.judged and not counts.headline:
        yield f'<p class="verdict">No failure in {counts.judged:,} judged cases.</p>'
    elif counts.judged:
        yield f'<p class="verdict">{_failing_words(summary)}</p>'
    yield f'<p class="sure">{_sure_words(summary)}</p>'
    for remark in _remarks(totals):
        yield f'<p class="sure">{escape(remark)}</p>'
    yield "</header>"


def _failing_words(summary: Summary) -> str:
    """What fails and how often."""
    counts, drawn = summary.counts, summary.drawn
    different = counted(summary.distinct_failures, "different failure")
    scenes = f"{summary.scenes_failing:,} of {counted(summary.scenes_judged, 'scene')}"
    often = "found by looking for failures, so this is no rate"
    if not drawn.is_yield:
        often = f"{percent(drawn.headline_rate)} of what was drawn, {interval_words(drawn.headline_interval)}"
    return (
        f"It fails in <b>{counts.headline:,}</b> of {counts.judged:,} judged cases: <b>{different}</b> in "
        f"{scenes} ({often})."
    )


def _sure_words(summary: Summary) -> str:
    """How sure that is."""
    parts = []
    if summary.distinct_failures:
        real, of = summary.distinct_real, summary.distinct_failures
        parts.append(f"{real:,} of {of:,} confirmed {term('real')}, the others {term('not verified')}")
        if real >= of:
            parts[0] = f"{'it is' if of == 1 else f'all {of:,} are'} confirmed {term('real')}"
    parts.append(f"{term('false alarms')}: {escape(alarm_words(summary.false_alarms))}")
    return f"How sure: {'; '.join(parts)}."


def _remarks(totals: Totals) -> Iterator[str]:
    if totals.differing:
        yield f"Asked again: {repeat_words(totals)}."
    if empty := empty_words(totals):
        yield f"Found: {empty}."
    if totals.remark:
        yield f"Mind: {totals.remark}."
    if not totals.finished:
        yield "The run is not complete: it is under way, or a limit or an interrupt ended it."


def _cards(page: Page, shown: Iterable[CaseView]) -> str:
    totals, trust = page.summary.totals, page.summary.names_code
    cards = (case_card(one, totals.run, totals.system, trust=trust) for one in shown)
    return f'<div class="cases">{"".join(cards)}</div>'


def _findings(page: Page) -> Iterator[str]:
    if not page.groups:
        return
    yield f'<section id="findings"><h2 class="hidden">Failures by cause</h2>{toolbar(page.summary.findings)}'
    ranks = {finding.case: rank for rank, finding in reversed([*enumerate(page.summary.findings)])}
    # Groups have numbers by size; the one with the plainest failure comes first and is open.
    ranked = sorted(enumerate(page.groups), key=lambda pair: ranks.get(pair[1].representative, len(ranks)))
    for place, (number, group) in enumerate(ranked):
        yield from _group(number, group, page, is_open=place == 0)
    yield f'{legend()}<p class="quiet">{groups_headline(page.summary.counts.headline, page.groups)}'
    if page.summary.totals.pictures_left_out:
        yield f"; pictures: {left_out_words(page.summary.totals)}"
    yield "</p></section>"


def _group(number: int, group: Group, page: Page, *, is_open: bool) -> Iterator[str]:
    shown = [page.shown[case] for case in group.cases if case in page.shown]
    small = [page.small[case] for case in group.cases if case in page.small]
    others = len(group.cases) - len(shown) - len(small)
    yield (
        f'<details class="group" data-group="{number}" data-title="{escape(readable(group.title))}"'
        f'{" open" * is_open}><summary><span class="count">{len(group.cases):,}</span>'
        f'<span class="name"><b>{name(group.title, 220)}</b>'
        f'<span class="quiet">{name(group.relation, 120)} · '
        f"{name(kind_words(group.kind) or 'no kind', 60)} · in {counted(group.scenes, 'scene')}</span></span>"
        f"{thumbnail(shown[0]) if shown else ''}</summary>{_cards(page, shown)}"
    )
    if small:
        yield f'<div class="cases grid">{"".join(small)}</div>'
    if others:
        yield (
            f'<p class="others">{counted(others, "more case")} of this group '
            f'{"is" if others == 1 else "are"} listed under <a href="#all" data-only="{number}">'
            "every finding</a>.</p>"
        )
    yield "</details>"


def _all(page: Page) -> Iterator[str]:
    findings = page.summary.findings
    if findings:
        yield findings_section(findings)
        yield findings_data(
            findings, page.groups, page.shown.keys() | page.small.keys(), page.summary.totals.run
        )


def _passing(page: Page) -> Iterator[str]:
    if not page.passing:
        return
    yield '<section id="passing"><div class="title"><h2>Cases that passed</h2>'
    yield '<p class="quiet">the narrowest of each relation</p></div>'
    yield '<details class="group"><summary><span class="count good">'
    yield f'{page.summary.counts.held:,}</span><span class="name"><b>held</b>'
    yield f'<span class="quiet">{counted(len(page.passing), "case")} shown</span></span></summary>'
    yield f"{_cards(page, page.passing)}</details></section>"


def _foot(page: Page) -> Iterator[str]:
    summary, totals = page.summary, page.summary.totals
    skipped = totals.skipped
    yield '<p id="words" hidden><a class="copy" download="no-failures.json">save</a> '
    yield "<span></span> for instar run --known no-failures.json</p><footer>"
    if skipped:
        yield f"<details><summary>{counted(len(skipped), 'scene')} could not be read</summary><ul>"
        for one in skipped[:MOST_SKIPPED]:
            yield f"<li>{name(one.scene)}: {name(one.reason)}</li>"
        yield "</ul></details>"
    relations = ", ".join(name(relation, 80) for relation in summary.relations)
    asked = f"{counted(totals.queries, 'question')}, {totals.asked:,} sent, {totals.seconds:,.1f} s"
    yield f"<p>Asked: {relations} on {counted(totals.scenes, 'scene')}, seed {totals.seed}; {asked}.</p>"
    yield (
        "<p>A case counts as violated only when its finding does not also show under changes that must do "
        "nothing and does recur under such changes. Intervals are over scenes.</p>"
        f"<p><code>{name(totals.run, 300)}</code></p></footer>"
    )
