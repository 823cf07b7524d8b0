"""The figures of a run as a page shows them, below what was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sized

from instar.report.charts import curve, histogram, severity_chart
from instar.report.figures import Figures, kept_at
from instar.report.glossary import GLOSSARY, term
from instar.report.relation_table import relation_rows
from instar.report.summary import Summary
from instar.report.text import alarm_words
from instar.report.words import counted, escape, interval_words, kind_words, name, percent

MOST_ENTRIES = 12  # of a listing
MOST_CHARTS = 6


def number_section(summary: Summary, figures: Figures, groups: int) -> Iterator[str]:
    """Tiles, relations, listings and charts."""
    yield '<section id="numbers"><div class="title"><h2>Numbers</h2>'
    yield '<p class="quiet">Each word leads to what it means.</p></div><dl class="tiles">'
    for title, number, below, tone in _tiles(summary, groups):
        tone = tone if number not in ("0", "-") else ""
        yield f'<div class="{tone}"><dt>{term(title)}</dt><dd>{number}</dd>'
        yield f'<dd class="quiet">{below}</dd></div>'
    yield "</dl>"
    yield from _relations(summary)
    yield '<div class="columns">'
    for relation in _most(figures.failed_at):
        held, failed = figures.held_at.get(relation, ()), figures.failed_at[relation]
        note = f"failing share of {counted(len(held) + len(failed), 'case')} by {term('severity')}"
        yield _panel(
            f"Severity of {name(relation, 60)}", note, severity_chart(held, failed, title="severity")
        )
    yield from _listing(
        "By kind",
        {kind_words(kind): n for kind, n in summary.kinds.items()},
        "cases by the kind of their plainest finding",
    )
    yield from _listing("Known", summary.known, "different findings by what truth or referees say of them")
    yield from _listing("Reasons", summary.reasons, "unstable, inapplicable and failed cases by reason")
    yield from _listing("Harm", summary.harms, "different failures by how bad they are")
    for relation in _most(figures.margins):
        note = f"{term('margin')}: how far inside (right of zero) or outside the relation the answers are"
        drawn = histogram(figures.margins[relation], title="margins")
        yield _panel(f"Margins of {name(relation, 60)}", note, drawn)
    if figures.naturalness:
        drawn = curve(kept_at(figures.naturalness), title="failures kept", unit="failures")
        note = f"failures whose {term('naturalness')} is at least so much"
        yield _panel("Naturalness against failures kept", note, drawn)
    yield _panel("Evidence and cost", "", _account(summary, figures))
    yield "</div></section>"


def _most(of: Mapping[str, Sized]) -> list[str]:
    """The relations with the most cases."""
    return sorted(of, key=lambda relation: (-len(of[relation]), relation))[:MOST_CHARTS]


def _panel(title: str, note: str, content: str) -> str:
    below = f'<p class="quiet">{note}</p>' if note else ""
    return f'<div class="panel"><h3>{title}</h3>{below}{content}</div>'


def _tiles(summary: Summary, groups: int) -> list[tuple[str, str, str, str]]:
    counts, alarms, of_scenes = summary.counts, summary.false_alarms, summary.scenes_judged
    share = percent(summary.scenes_failing / of_scenes if of_scenes else None)
    rate = f"{percent(summary.drawn.rate)}, {interval_words(summary.drawn.interval)}"
    headline = f"{percent(summary.drawn.headline_rate)}, {interval_words(summary.drawn.headline_interval)}"
    if summary.drawn.is_yield:
        rate, headline = "failures or not", f"a {term('yield')}: the search looks for failures"
    other = counts.inapplicable - counts.unstable
    unstable = f"{percent(summary.unstable_share)} of judged, {interval_words(summary.unstable_interval)}"
    accused = "-" if alarms is None else f"{alarms.violated:,}"
    distinct = f"{summary.distinct_real:,} {term('real')}, in {counted(groups, 'group')}"
    return [
        ("failing cases", f"{counts.headline:,}", headline, "bad"),
        ("different failures", f"{summary.distinct_failures:,}", distinct, "bad"),
        ("scenes affected", f"{summary.scenes_failing:,}", f"{share} of {of_scenes:,} judged", "bad"),
        ("answers differ", f"{counts.violated:,}", rate, ""),
        ("held", f"{counts.held:,}", f"of {counts.judged:,} {term('judged')}", "good"),
        ("unstable", f"{counts.unstable:,}", unstable, "bad"),
        ("not judged", f"{other + counts.failed:,}", f"{other:,} inapplicable, {counts.failed:,} failed", ""),
        ("false alarms", accused, escape(alarm_words(alarms)), "bad"),
    ]


def _relations(summary: Summary) -> Iterator[str]:
    yield '<div class="wide" tabindex="0" role="region" aria-label="relations"><table><thead><tr>'
    headings, *rows = relation_rows(summary.relations)
    yield "".join(f'<th scope="col">{term(head)}</th>' for head in headings)
    yield "</tr></thead><tbody>"
    for relation, *cells in rows:
        yield f'<tr><th scope="row">{name(relation)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    yield "</tbody></table></div>"


def _listing(title: str, counts: Mapping[str, int], note: str) -> Iterator[str]:
    if not counts:
        return
    most = max(counts.values())
    lines = [
        f"<li><span>{term(what) if what in GLOSSARY else name(what or 'unnamed', 90)}</span><b>{count:,}</b>"
        f'<i style="width:{100 * count / most:.1f}%"></i></li>'
        for what, count in list(counts.items())[:MOST_ENTRIES]
    ]
    if len(counts) > MOST_ENTRIES:
        lines.append(f'<li class="quiet">and {len(counts) - MOST_ENTRIES:,} more</li>')
    yield _panel(title, note, f'<ul class="bars">{"".join(lines)}</ul>')


def _account(summary: Summary, figures: Figures) -> str:
    totals = summary.totals
    others = totals.queries - figures.queries_of_cases - figures.queries_of_nulls
    rows = [
        (term("questions"), f"{totals.queries:,}"),
        ("for cases and their checks", f"{figures.queries_of_cases:,}"),
        (f"for {term('false alarms')}", f"{figures.queries_of_nulls:,}"),
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
        rows.append((f"asked of {term('referees')}", f"{totals.referee_queries:,}"))
    if summary.placebos:
        of, same = summary.placebos.tried, summary.placebos.reproduced
        rows.append((f"not shown by a {term('placebo')}", f"{of - same:,} of {of:,}"))
    if summary.price is not None:
        rows.append(("price", f"{summary.price:,.2f}"))
    cells = "".join(f'<tr><th scope="row">{what}</th><td>{number}</td></tr>' for what, number in rows)
    return f'<table class="plain"><tbody>{cells}</tbody></table>'
