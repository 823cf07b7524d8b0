"""Every finding of a run as data in the page, of which the page's script makes rows as they are looked at."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

from instar.report.groups import Group
from instar.report.summary import Violation
from instar.report.words import escape, readable

MOST_ROWS = 10_000
"""Findings that a page lists; a run may have hundreds of thousands."""
COLUMNS = (("what", "what happened"), ("relation", "change"), ("scene", "scene"), ("known", "known"),
           ("margin", "margin"), ("case", "case"))  # fmt: skip


def findings_section(findings: Sequence[Violation]) -> str:
    """An empty table, filled by the script; the toolbar above the groups filters it too."""
    heads = "".join(
        f'<th scope="col"><button type="button" data-sort="{key}">{words}</button></th>'
        for key, words in COLUMNS
    )
    more = (
        f"the plainest {MOST_ROWS:,} of {len(findings):,}"
        if len(findings) > MOST_ROWS
        else "the plainest first"
    )
    return (
        '<section id="all" hidden><div class="title"><h2>Every finding</h2>'
        f'<p class="quiet"><span id="rows-shown"></span>, {more}; failures and what only differs</p></div>'
        '<div class="wide" tabindex="0" role="region" aria-label="every finding">'
        f'<table class="findings-table"><thead><tr>{heads}</tr></thead><tbody></tbody></table></div>'
        '<p><button type="button" id="more-rows" class="copy">show more</button></p></section>'
    )


def findings_data(
    findings: Sequence[Violation], groups: Sequence[Group], pictured: Set[str], run: str
) -> str:
    """The rows as JSON in a script that does not run. Names that come again and again stand there once."""
    group_of = {case: number for number, group in enumerate(groups) for case in group.cases}
    words: dict[str, int] = {}

    def code(text: str) -> int:
        return words.setdefault(readable(text), len(words))

    rows = [
        [
            one.case,
            code(one.scene),
            code(one.relation),
            readable(one.words),
            code(known_word(one)),
            round(one.margin, 3) if math.isfinite(one.margin) else None,
            group_of.get(one.case, -1),
            int(one.headline),
            int(one.case in pictured),
        ]
        for one in findings[:MOST_ROWS]
    ]
    document: Mapping[str, Any] = {"run": readable(run, 300), "rows": rows, "words": list(words)}
    text = json.dumps(document, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="findings-data">{text}</script>'


def known_word(violation: Violation) -> str:
    if violation.known != "unknown":
        return violation.known
    return "not verified" if violation.headline else "disputed"


def toolbar(findings: Sequence[Violation]) -> str:
    """Search, filters and order, for groups and rows alike; shown by the script that they need."""
    relations = sorted({readable(one.relation) for one in findings})
    known = list(dict.fromkeys(map(known_word, findings)))
    return (
        '<form class="toolbar" role="search" hidden><label>Search <input type="search" id="search" '
        'placeholder="class, scene, change, case" autocomplete="off"></label>'
        "<details><summary>Filter and order</summary><div>"
        f"{_choice('Change', 'by-relation', relations)}{_choice('Known', 'by-known', known)}"
        '<label>Groups <select id="by-order"><option value="plain">plainest first</option>'
        '<option value="size">largest first</option><option value="title">by name</option></select>'
        "</label></div></details>"
        '<p id="found" class="quiet" role="status"></p></form>'
    )


def _choice(label: str, id: str, words: Sequence[str]) -> str:
    options = "".join(
        f'<option value="{escape(word)}">{escape(readable(word, 60))}</option>' for word in words
    )
    return f'<label>{label} <select id="{id}"><option value="">all</option>{options}</select></label>'
