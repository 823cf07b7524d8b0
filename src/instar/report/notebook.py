"""What notebooks show: `_repr_html_` of records, verdicts and comparisons. Runs are `instar.Run`.

The core makes records and verdicts and knows no HTML; what is shown of them is given to them here.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from instar.core.record import Record
from instar.core.scene import Image
from instar.core.verdict import Finding, Verdict
from instar.imaging.preview import encode_preview
from instar.report.causes import finding_words, worth_words
from instar.report.comparison import Comparison, render_compared
from instar.report.words import escape, name

MOST_FINDINGS = 12


def html_table(rows: Sequence[Sequence[object]], heading: Sequence[str] = ()) -> str:
    """Rows of texts as a table."""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    body = "".join(f"<tr>{''.join(f'<td>{name(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def html_picture(picture: Image) -> str:
    data = base64.b64encode(encode_preview(picture, longest=1100)).decode()
    return f'<img alt="before and after" style="max-width:100%" src="data:image/webp;base64,{data}">'


def verdict_html(verdict: Verdict) -> str:
    """The status, and a line for each finding, the plainest first."""
    told = f"<b>{verdict.status.value}</b> {name(verdict.reason or f'by {verdict.margin:+.3f}')}"
    found: list[Finding] = sorted(verdict.findings, key=lambda one: one.plainness)
    rows = [(finding_words(one), worth_words(one), f"{one.margin:+.3f}") for one in found[:MOST_FINDINGS]]
    return f"<div>{told}{html_table(rows, ('finding', 'known', 'margin')) if rows else ''}</div>"


def record_html(record: Record) -> str:
    """The case, its change and its verdict."""
    change = "" if record.change is None else f": {name(str(record.change), 240)}"
    where = f"{name(record.relation)} on {name(record.source)}{change}"
    return f"<div><code>{escape(record.case)}</code> {where}{verdict_html(record.verdict)}</div>"


def _comparison_html(comparison: Comparison) -> str:
    return f"<pre>{escape(render_compared(comparison))}</pre>"


def show_values() -> None:
    """Give values their `_repr_html_`."""
    shown: list[tuple[type, Callable[..., str]]] = [
        (Record, record_html), (Verdict, verdict_html), (Comparison, _comparison_html),
    ]  # fmt: skip
    for kind, show in shown:
        kind._repr_html_ = show  # type: ignore[attr-defined]  # the type that notebooks look for it at


show_values()
