"""A run as one page: a single file without anything from elsewhere, to be opened from disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from instar.report.cards import CaseView, case_card, legend
from instar.report.charts import curve, histogram
from instar.report.figures import Figures, kept_at
from instar.report.groups import Group, groups_headline
from instar.report.summary import RELATION_HEADINGS, Summary
from instar.report.text import alarm_words, empty_words, left_out_words, repeat_words
from instar.report.words import counted, escape, interval_words, name, percent, readable

__all__ = ["Page", "render_html"]

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
MOST_CASES = 200  # of a group that are listed by their ids
MOST_REASONS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """Everything that is on the page; `shown` are the findings that have pictures, by case."""

    summary: Summary
    figures: Figures
    groups: Sequence[Group]
    shown: Mapping[str, CaseView] = field(default_factory=dict)
    passing: Sequence[CaseView] = ()


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
            *_numbers(page),
            *_findings(page),
            *_passing(page),
            "</main>",
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
    if not counts.judged:
        pass
    elif not counts.headline:
        yield f'<p class="verdict">No failure in {counts.judged:,} judged cases.</p>'
    else:
        yield (
            f'<p class="verdict">It fails in <b>{counts.headline:,}</b> of '
            f'{counts.judged:,} judged cases. <a href="#findings">'
            f"{groups_headline(counts.headline, page.groups)}</a></p>"
        )
    relations = ", ".join(name(relation, 80) for relation in summary.relations)
    asked = f"{counted(totals.queries, 'question')}, {totals.asked:,} sent, {totals.seconds:,.1f} s"
    yield f'<p class="quiet">{relations} on {counted(totals.scenes, "scene")}, seed {totals.seed}; {asked}.'
    if totals.differing:
        yield f" Asked again: {escape(repeat_words(totals))}."
    if empty := empty_words(totals):
        yield f" Found: {escape(empty)}."
    if totals.remark:
        yield f" Mind: {escape(totals.remark)}."
    if not totals.finished:
        yield " The run is not complete: it is under way, or a limit or an interrupt ended it."
    yield "</p></header>"


def _numbers(page: Page) -> Iterator[str]:
    summary, counts = page.summary, page.summary.counts
    alarms, of_scenes = summary.false_alarms, summary.scenes_judged
    accused = "-" if alarms is None else f"{alarms.violated:,}"
    share = percent(summary.scenes_failing / of_scenes if of_scenes else None)
    rate = f"{percent(summary.drawn.rate)}, {interval_words(summary.drawn.interval)}"
    other = counts.inapplicable - counts.unstable
    unstable = f"{percent(summary.unstable_share)} of judged, {interval_words(summary.unstable_interval)}"
    headline = f"{percent(summary.drawn.headline_rate)}, {interval_words(summary.drawn.headline_interval)}"
    if summary.drawn.is_yield:
        rate, headline = "failures or not", "a yield: the search looks for failures"
    groups = f"{summary.distinct_real:,} real, in {counted(len(page.groups), 'group')}"
    failed = f"{other:,} inapplicable, {counts.failed:,} failed"
    tiles = [
        ("failing cases", f"{counts.headline:,}", headline, "bad"),
        ("different failures", f"{summary.distinct_failures:,}", groups, "bad"),
        ("scenes affected", f"{summary.scenes_failing:,}", f"{share} of {of_scenes:,} judged", "bad"),
        ("answers differ", f"{counts.violated:,}", rate, ""),
        ("held", f"{counts.held:,}", f"of {counts.judged:,} judged", "good"),
        ("unstable", f"{counts.unstable:,}", unstable, "bad"),
        ("not judged", f"{other + counts.failed:,}", failed, ""),
        ("false alarms", accused, escape(alarm_words(alarms)), "bad"),
    ]
    yield '<section aria-label="numbers"><dl class="tiles">'
    for title, number, below, tone in tiles:
        tone = tone if number not in ("0", "-") else ""
        yield f'<div class="{tone}"><dt>{title}</dt><dd>{number}</dd><dd class="quiet">{below}</dd></div>'
    yield "</dl>"
    yield from _relations(summary)
    yield '<div class="columns">'
    yield from _listing("By kind", summary.kinds, "cases by the kind of their plainest finding")
    yield from _listing("Known", summary.known, "different findings by what truth or referees say of them")
    yield from _listing("Reasons", summary.reasons, "unstable, inapplicable and failed cases by reason")
    yield from _charts(page)
    yield from _cost(page)
    yield "</div></section>"


def _relations(summary: Summary) -> Iterator[str]:
    yield '<div class="wide"><table><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in RELATION_HEADINGS) + "</tr></thead><tbody>"
    for relation, one in summary.relations.items():
        cells = "".join(f"<td>{cell}</td>" for cell in one.cells())
        yield f'<tr><th scope="row">{name(relation)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _listing(title: str, counts: Mapping[str, int], note: str) -> Iterator[str]:
    if not counts:
        return
    most = max(counts.values())
    yield f'<div class="panel"><h3>{title}</h3><p class="quiet">{note}</p><ul class="bars">'
    for what, count in list(counts.items())[:MOST_REASONS]:
        yield (
            f"<li><span>{name(what or 'unnamed', 90)}</span><b>{count:,}</b>"
            f'<i style="width:{100 * count / most:.1f}%"></i></li>'
        )
    if len(counts) > MOST_REASONS:
        yield f'<li class="quiet">and {len(counts) - MOST_REASONS:,} more</li>'
    yield "</ul></div>"


def _charts(page: Page) -> Iterator[str]:
    figures = page.figures
    for relation, margins in sorted(figures.margins.items(), key=lambda item: (-len(item[1]), item[0]))[:6]:
        yield (
            f'<div class="panel"><h3>Margins of {name(relation, 60)}</h3><p class="quiet">how far inside '
            "(right of zero) or outside the relation the answers are</p>"
            f"{histogram(margins, title='margins')}</div>"
        )
    if figures.naturalness:
        kept = kept_at(figures.naturalness)
        yield (
            '<div class="panel"><h3>Naturalness against failures kept</h3><p class="quiet">failures whose '
            "picture is at least so natural</p>"
            f"{curve(kept, title='failures kept', unit='failures')}</div>"
        )


def _cost(page: Page) -> Iterator[str]:
    figures, summary, totals = page.figures, page.summary, page.summary.totals
    others = totals.queries - figures.queries_of_cases - figures.queries_of_nulls
    rows = [
        ("questions in all", f"{totals.queries:,}"),
        ("for cases and their checks", f"{figures.queries_of_cases:,}"),
        ("for false alarms", f"{figures.queries_of_nulls:,}"),
        ("for sources", f"{max(0, others):,}"),
        ("sent to the system", f"{totals.asked:,}"),
        ("seconds", f"{totals.seconds:,.1f}"),
    ]
    if totals.asked and totals.seconds:
        rows.append(("questions a second", f"{totals.asked / totals.seconds:,.1f}"))
    if summary.distinct_failures:
        each = totals.queries / summary.distinct_failures
        rows.append(("questions for a different failure", f"{each:,.1f}"))
    if totals.referees:
        rows.append(("asked of referees", f"{totals.referee_queries:,}"))
    if summary.price is not None:
        rows.append(("price", f"{summary.price:,.2f}"))
    cells = "".join(f'<tr><th scope="row">{what}</th><td>{number}</td></tr>' for what, number in rows)
    yield f'<div class="panel"><h3>Cost</h3><table class="plain"><tbody>{cells}</tbody></table></div>'


def _cards(page: Page, shown: Iterable[CaseView]) -> str:
    totals = page.summary.totals
    return f'<div class="cases">{"".join(case_card(one, totals.run, totals.system) for one in shown)}</div>'


def _findings(page: Page) -> Iterator[str]:
    if not page.groups:
        return
    yield '<section id="findings"><div class="title"><h2>Failures by cause</h2>'
    yield f'<p class="quiet">{groups_headline(page.summary.counts.headline, page.groups)}</p>{legend()}</div>'
    if page.summary.totals.pictures_left_out:
        yield f'<p class="quiet">Pictures: {left_out_words(page.summary.totals)}.</p>'
    for i, group in enumerate(page.groups):
        yield from _group(group, page, is_open=i == 0)
    yield "</section>"


def _group(group: Group, page: Page, *, is_open: bool) -> Iterator[str]:
    share = len(group.cases) / max(1, page.summary.counts.headline)
    yield (
        f'<details class="group"{" open" if is_open else ""}><summary>'
        f'<span class="count">{len(group.cases):,}</span><span class="name"><b>{name(group.title, 220)}</b>'
        f'<span class="quiet">{name(group.relation, 120)} · '
        f"{name(group.kind or 'no kind', 60)} · in {counted(group.scenes, 'scene')} · {percent(share)} of all"
        "</span></span></summary>"
    )
    yield _cards(page, [page.shown[case] for case in group.cases if case in page.shown])
    others = [case for case in group.cases if case not in page.shown]
    if others:
        listed = " ".join(f"<code>{escape(case)}</code>" for case in others[:MOST_CASES])
        more = f" and {len(others) - MOST_CASES:,} more" if len(others) > MOST_CASES else ""
        yield (
            f'<details class="others"><summary>{counted(len(others), "more case")} of this group</summary>'
            f"<p>{listed}{more}</p></details>"
        )
    yield "</details>"


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
    skipped = page.summary.totals.skipped
    yield '<p id="words" hidden><a class="copy" download="no-failures.json">save</a> '
    yield "<span></span> for instar run --known no-failures.json</p><footer>"
    if skipped:
        yield f"<details><summary>{counted(len(skipped), 'scene')} could not be read</summary><ul>"
        for one in skipped[:MOST_CASES]:
            yield f"<li>{name(one.scene)}: {name(one.reason)}</li>"
        yield "</ul></details>"
    yield (
        "<p>A case counts as violated only when its finding does not also show under changes that must do "
        "nothing and does recur under such changes. Intervals are over scenes.</p>"
        f"<p><code>{name(page.summary.totals.run, 300)}</code></p></footer>"
    )
