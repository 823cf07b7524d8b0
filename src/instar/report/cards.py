"""The pieces a page shows a case with: pictures with marks, the slider, and what is said beside them."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from instar.core.marks import Dial, Fate, Mark, Panel
from instar.core.verdict import Status
from instar.imaging.preview import encode_preview, heat_overlay
from instar.report.case_view import CaseView
from instar.report.causes import finding_words
from instar.report.markup import escape, name, readable
from instar.report.words import replay_command

__all__ = ["case_card", "legend", "panel_figure"]

LOUD: frozenset[Fate] = frozenset({"lost", "new", "moved", "renamed", "change"})
"""Fates whose labels are written beside them; the others show theirs when pointed at."""
LEGEND: Sequence[tuple[Fate, str]] = (
    ("matched", "found in both"),
    ("lost", "lost"),
    ("new", "new"),
    ("moved", "moved"),
    ("renamed", "called otherwise"),
    ("change", "what was changed"),
    ("unsure", "comes and goes by itself"),
)
MOST_FINDINGS = 6  # of one case that are told


def case_card(shown: CaseView, run: str) -> str:
    """A case with its pictures, the change in words, the verdict's numbers, and how to see it again."""
    return (
        f'<article class="case" id="case-{escape(shown.case)}">'
        f'<header><h4>{name(shown.scene)}</h4><p class="numbers">{_numbers(shown)}</p></header>'
        f'<p class="change">{name(shown.change, 240)}</p>{_findings(shown)}'
        f"{_pictures(shown)}{_smallest(shown)}"
        f'<p class="command"><code>{name(replay_command(run, shown.case), 400)}</code>'
        '<button type="button" class="copy">copy</button></p></article>'
    )


def legend() -> str:
    """What the colours of the outlines mean."""
    entries = "".join(f'<li class="{fate}">{words}</li>' for fate, words in LEGEND)
    return f'<ul class="legend" aria-label="outlines">{entries}</ul>'


def panel_figure(panel: Panel, *, longest: int = 560) -> str:
    """One picture with its marks; they are drawn over it, so that they stay sharp at any size."""
    height, width = panel.picture.shape[:2]
    heat = (
        f'<img class="heat" alt="" src="{_data(heat_overlay(panel.heat))}">' if panel.heat is not None else ""
    )
    outlines = "".join(map(_outline, panel.marks))
    tags = "".join(_tag(mark, width, height) for mark in panel.marks if mark.fate in LOUD and mark.label)
    source = _data(encode_preview(panel.picture, longest=longest))
    return (
        f'<figure><div class="frame" style="aspect-ratio:{width}/{height}">'
        f'<img alt="{escape(readable(panel.title))}" src="{source}">{heat}'
        f'<svg viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">{outlines}</svg>'
        f"{tags}</div><figcaption>{name(panel.title)}{''.join(map(_dial, panel.dials))}</figcaption></figure>"
    )


def _numbers(shown: CaseView) -> str:
    parts = [f"<b>{shown.status.value}</b> by {abs(shown.margin):.3f}"]
    if shown.naturalness is not None:
        parts.append(f"naturalness {shown.naturalness:.2f}")
    return " · ".join([*parts, f"<code>{escape(shown.case)}</code>"])


def _findings(shown: CaseView) -> str:
    if shown.status is not Status.VIOLATED:
        return ""
    told = sorted(shown.findings, key=lambda finding: (finding.margin, finding.key))
    lines = [
        f'<li>{name(finding_words(finding))} <span class="quiet">{finding.margin:+.3f}</span></li>'.replace(
            "+-", "-"
        )
        for finding in told[:MOST_FINDINGS]
    ]
    if len(told) > MOST_FINDINGS:
        lines.append(f'<li class="quiet">and {len(told) - MOST_FINDINGS:,} more</li>')
    return f'<ul class="findings">{"".join(lines)}</ul>'


def _pictures(shown: CaseView) -> str:
    if not shown.panels:
        return f'<p class="quiet">No picture: {name(shown.why or "it has none")}</p>'
    figures = "".join(map(panel_figure, shown.panels))
    if len(shown.panels) < 2:
        return f'<div class="pair">{figures}</div>'
    # One set of pictures shown in two ways: which one is a matter of style alone.
    group = f"how-{escape(shown.case)}"
    return (
        f'<div class="views"><fieldset class="how"><legend class="hidden">how to compare</legend>'
        f'<label><input type="radio" name="{group}" value="beside" checked>side by side</label>'
        f'<label><input type="radio" name="{group}" value="over">slider</label></fieldset>'
        f'<div class="pair">{figures}</div>'
        '<input class="slider" type="range" min="0" max="100" value="50" aria-label="before and after"></div>'
    )


def _smallest(shown: CaseView) -> str:
    return f'<p class="smallest">{name(shown.smallest, 240)}</p>' if shown.smallest else ""


def _outline(mark: Mark) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.outline)
    title = f"<title>{escape(readable(mark.label))}</title>" if mark.label else ""
    return f'<polygon class="{mark.fate}" points="{points}">{title}</polygon>'


def _tag(mark: Mark, width: int, height: int) -> str:
    left = min(x for x, _ in mark.outline) / width
    above, below = (end(y for _, y in mark.outline) / height for end in (min, max))
    sideways = (
        f"right:{100 * (1 - max(x for x, _ in mark.outline) / width):.1f}%"
        if left > 0.7
        else f"left:{100 * left:.1f}%"
    )
    # Above its outline where there is room, and what was changed below, so that the two rarely meet.
    is_low = (mark.fate == "change" and below < 0.93) or above < 0.07
    upright = f"top:{100 * below:.1f}%" if is_low else f"bottom:{100 * (1 - above):.1f}%"
    return f'<span class="tag {mark.fate}" style="{sideways};{upright}">{name(mark.label, 40)}</span>'


def _dial(dial: Dial) -> str:
    span = dial.high - dial.low or 1.0
    share = min(1.0, max(0.0, (dial.value - dial.low) / span))
    rest = min(1.0, max(0.0, -dial.low / span))
    start, end = sorted([share, rest])
    return (
        f'<span class="dial"><span class="quiet">{name(dial.name)}</span> '
        f"<b>{dial.value:.1f} {name(dial.unit, 20)}</b>"
        f'<i><i style="left:{100 * start:.1f}%;width:{max(1.0, 100 * (end - start)):.1f}%"></i></i></span>'
    )


def _data(picture: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(picture).decode()}"
