"""The table of a run's relations: the same in the terminal, in Markdown, on pages and in notebooks."""

from __future__ import annotations

from collections.abc import Mapping

from instar.report.summary import RelationSummary
from instar.report.words import interval_words, percent

RELATION_HEADINGS = (
    "relation", "cases", "held", "violated", "unstable", "inapplicable", "failed", "rate", "95 % interval",
)  # fmt: skip


def relation_rows(relations: Mapping[str, RelationSummary]) -> list[list[str]]:
    """A line of headings and one for each relation, without rates where no relation has one."""
    rows = [list(RELATION_HEADINGS), *([name, *_cells(one)] for name, one in relations.items())]
    return [row[:-2] for row in rows] if all(one.is_yield for one in relations.values()) else rows


def _cells(relation: RelationSummary) -> list[str]:
    counts = relation.counts
    other = counts.inapplicable - counts.unstable
    numbers = (counts.cases, counts.held, counts.violated, counts.unstable, other, counts.failed)
    rate = "a yield" if relation.is_yield else percent(counts.rate)
    return [*(f"{n:,}" for n in numbers), rate, interval_words(relation.interval)]
