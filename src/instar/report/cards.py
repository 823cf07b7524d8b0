"""A case as pages show it: its pictures with marks, the slider, and what is said beside them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass

from instar.core.marks import Dial, Fate, Mark, Panel
from instar.core.record import Record
from instar.core.verdict import Finding
from instar.imaging.preview import encode_preview, heat_overlay
from instar.report.case_picture import draw_thumbnail
from instar.report.causes import finding_words, worth_words
from instar.report.close_up import PicturePart, close_ups, cut_out, is_in_part
from instar.report.known import entries_of, words_about
from instar.report.words import FATES, escape, name, readable, replay_command

LOUD: frozenset[Fate] = frozenset({"lost", "new", "moved", "renamed", "change"})
"""Fates whose labels are written beside them; the others show theirs when pointed at."""
LEGEND: Sequence[tuple[Fate, str]] = (
    ("matched", "found in both"),
    ("lost", "lost"),
    ("new", FATES["new"]),
    ("moved", "moved"),
    ("renamed", FATES["renamed"]),
    ("change", "what was changed"),
    ("unsure", "comes and goes by itself"),
)
SIDE = 560  # pixels of a picture in the page, at most
SHARP = 1.5  # a picture that is so many times larger gets its part a second time, sharper
TOGGLE = '<label class="toggle"><input type="checkbox" data-show-whole> whole picture</label>'
MOST_FINDINGS = 6  # of one case that are told
SMALL_SIDE = 300  # pixels of the picture of a small card
LONGEST_ENTRIES = 4_000  # characters; a case with names beyond all measure is called none by the command line


@dataclass(frozen=True, slots=True, eq=False)
class CaseView:
    """One case, with its change in words. `panels` is empty where its pictures cannot be made: see `why`.

    Where it `is_untrusted`, code that the run names could make them. `smallest` says what was left of the
    change when it was shrunk, where that was asked for.
    """

    record: Record
    change: str = ""
    panels: Sequence[Panel] = ()
    why: str = ""
    smallest: str = ""
    is_untrusted: bool = False

    @property
    def how(self) -> str:
        """The relation and its change; a relation with one possible change says nothing else of it."""
        relation = self.record.relation
        return relation if self.change in ("", relation) else f"{relation}: {self.change}"


def case_card(shown: CaseView, run: str, system: str, *, trust: bool = False) -> str:
    """A case with its pictures, the change in words, the verdict's numbers, how to see it again, and a place
    to say that it is no failure.
    """
    record, smallest, numbers = shown.record, "", _numbers(shown.record)
    if shown.smallest:
        smallest = f'<p class="smallest">{name(shown.smallest, 240)}</p>'
    told = sorted(record.verdict.findings, key=lambda finding: finding.plainness)
    title = name(finding_words(told[0]) if told else "it held")
    worth = escape(worth_words(told[0])) + " · " if told else ""
    return (
        f'<article class="case" id="case-{escape(record.case)}" tabindex="-1"><header><h3>{title}</h3>'
        f'<p class="change">{worth}{name(shown.how, 350)} · {name(record.source)}'
        f"</p></header>{_pictures(shown)}"
        f'{_findings(told[1:])}{smallest}<details class="more"><summary>numbers, replay, not a failure'
        f'</summary><p class="numbers">{numbers}</p><p class="command">'
        f"<code>{name(replay_command(run, record.case, trust=trust), 400)}</code>"
        f'<button type="button" class="copy">copy</button></p>{_no_failure(record, system)}'
        "</details></article>"
    )


def small_card(shown: CaseView, run: str, *, trust: bool = False) -> str:
    """A case among many: what it is about before and after, in words, and how to see it again.

    Empty where it has no picture.
    """
    record, drawn = shown.record, draw_thumbnail(shown.record, shown.panels)
    worst = record.verdict.plainest
    if drawn is None:
        return ""
    address = _data(encode_preview(drawn, longest=SMALL_SIDE, quality=60))
    command = escape(replay_command(run, record.case, trust=trust))
    how = shown.how if shown.change[:1].isdigit() else shown.change  # a bare severity does not say of what
    return (
        f'<article class="case small" id="case-{escape(record.case)}" tabindex="-1">'
        f'<img src="{address}" alt="before and after" width="300" height="200" loading="lazy">'
        f"<h3>{name(finding_words(worst), 90)}</h3>"
        f'<p class="change">{escape(worth_words(worst))} · {name(how, 60)} · '
        f'{name(record.source, 60)}</p><button type="button" class="copy" data-copy="{command}" '
        f'title="copy the command that replays it">{escape(record.case)}</button></article>'
    )


def legend() -> str:
    """What the colours of the outlines mean."""
    entries = "".join(f'<li class="{fate}">{words}</li>' for fate, words in LEGEND)
    return f'<ul class="legend" aria-label="outlines">{entries}</ul>'


def panel_figure(panel: Panel, *, picture: str, heat: str = "", id: str = "", part: PicturePart | None = None,
                 closer: str = "") -> str:  # fmt: skip
    """One picture with its marks as SVG, so that outlines lie on it at any size.

    `picture` and `heat` are the addresses of the picture and of the heat map over it; `id` names the marked
    picture, to be shown elsewhere too. Of the picture that `part` is shown first, from the address `closer`
    if it is sharper there; the whole comes when it is asked for.
    """
    height, width = panel.picture.shape[:2]
    whole = (0, 0, width, height)
    images = _image(picture, whole) + (_image(closer, part) if closer and part else "")
    if panel.heat is not None:
        images += _image(heat, whole, "heat")
    outlines, named = "".join(map(_outline, panel.marks)), f' id="{escape(id)}"' if id else ""
    tags = _tags(panel, whole, "in-whole") + (_tags(panel, part, "in-part") if part else "")
    views = f' data-whole="{_box(whole)}" data-part="{_box(part)}"' if part else ""
    return (
        f'<figure><div class="frame"><svg class="panel" viewBox="{_box(part or whole)}"{views} role="img" '
        f'aria-label="{escape(readable(panel.title))}"><g{named}>{images}'
        f'<g class="outlines">{outlines}{tags}</g></g></svg></div>'
        f"<figcaption>{name(panel.title)}{''.join(map(_dial, panel.dials))}</figcaption></figure>"
    )


def _image(address: str, part: PicturePart, kind: str = "") -> str:
    x, y, width, height = part
    styled = f' class="{kind}"' * bool(kind)
    return (
        f'<image{styled} href="{escape(address)}" x="{x}" y="{y}" width="{width}" height="{height}" '
        'preserveAspectRatio="none"/>'
    )


def _box(part: PicturePart) -> str:
    return " ".join(map(str, part))


def _no_failure(record: Record, system: str) -> str:
    entries = json.dumps(entries_of(words_about(record, "", system)))
    if entries == "[]":
        return ""
    if len(entries) > LONGEST_ENTRIES:
        entries = "[]"  # the button says that the command line must do it
    return (
        f'<form class="word" data-entries="{escape(entries)}"><label>not a failure, since '
        '<input name="reason" required maxlength="400"></label><button class="copy">keep</button></form>'
    )


def _numbers(record: Record) -> str:
    parts = [f"<b>{record.verdict.status.value}</b> by {abs(record.verdict.margin):.3f}"]
    if record.naturalness is not None:
        parts.append(f"naturalness {record.naturalness:.2f}")
    return " · ".join([*parts, f"<code>{escape(record.case)}</code>"])


def _findings(told: Sequence[Finding]) -> str:
    """What else was found in the case."""
    lines = [
        f"<li>{name(finding_words(finding))} "
        f'<span class="quiet">{escape(worth_words(finding))} {finding.margin:+.3f}</span></li>'
        for finding in told[:MOST_FINDINGS]
    ]
    if len(told) > MOST_FINDINGS:
        lines.append(f'<li class="quiet">and {len(told) - MOST_FINDINGS:,} more</li>')
    return f'<ul class="findings" aria-label="also found">{"".join(lines)}</ul>' if lines else ""


def thumbnail(shown: CaseView) -> str:
    """The last picture of a case, small; it is the one that its card has."""
    if not shown.panels:
        return ""
    height, width = shown.panels[-1].picture.shape[:2]
    parts = close_ups(shown.record, shown.panels)
    place = f"panel-{escape(shown.record.case)}-{len(shown.panels) - 1}"
    return (
        f'<svg class="thumb" viewBox="{_box(parts[-1] if parts else (0, 0, width, height))}" '
        f'preserveAspectRatio="xMidYMid slice" aria-hidden="true"><use href="#{place}"/></svg>'
    )


def _pictures(shown: CaseView) -> str:
    if not shown.panels:
        return f'<p class="quiet">No picture: {name(shown.why or "it has none")}</p>'
    case, parts = shown.record.case, close_ups(shown.record, shown.panels)
    figures = "".join(
        _embedded(one, f"panel-{case}-{i}", parts[i] if parts else None) for i, one in enumerate(shown.panels)
    )
    return f'<div class="views">{_ways(case) if len(shown.panels) > 1 else ""}{TOGGLE if parts else ""}' + (
        f'<div class="pair">{figures}</div>'
        '<input class="slider" type="range" min="0" max="100" value="50" aria-label="before and after"></div>'
    )


def _ways(case: str) -> str:
    """One set of pictures compared in several ways: which one is a matter of style alone."""
    radios = "".join(
        f'<label><input type="radio" name="how-{escape(case)}" value="{way}"{checked}>{words}</label>'
        for way, words, checked in (
            ("beside", "side by side", " checked"),
            ("over", "slider", ""),
            ("flicker", "blink", ""),
        )
    )
    return f'<fieldset class="how"><legend class="hidden">how to compare</legend>{radios}</fieldset>'


def _outline(mark: Mark) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.outline)
    title = f"<title>{escape(readable(mark.label))}</title>" if mark.label else ""
    return f'<polygon class="{mark.fate}" points="{points}">{title}</polygon>'


def _tags(panel: Panel, part: PicturePart, kind: str) -> str:
    """What is written beside outlines where that part of the picture is shown."""
    marks = (mark for mark in panel.marks if mark.fate in LOUD and mark.label and is_in_part(mark, part))
    tags = "".join(_tag(mark, part) for mark in marks)
    return f'<g class="{kind}">{tags}</g>' if tags else ""


def _tag(mark: Mark, part: PicturePart) -> str:
    left, top, width, height = part
    xs, ys = [x - left for x, _ in mark.outline], [y - top for _, y in mark.outline]
    letters = max(width, height) / 32
    # Above its outline where there is room, and what was changed below, so that the two rarely meet.
    is_low = (mark.fate == "change" and max(ys) < 0.95 * height) or min(ys) < 1.6 * letters
    y = max(ys) + 1.1 * letters if is_low else min(ys) - 0.4 * letters
    at_right = min(xs) > 0.7 * width
    x = min(max(xs), width - 2) if at_right else max(min(xs), 2)
    return (
        f'<text class="said {mark.fate}" x="{left + x:.1f}" y="{top + min(y, height - 0.3 * letters):.1f}" '
        f'text-anchor="{"end" if at_right else "start"}" font-size="{letters:.1f}">'
        f"{escape(readable(mark.label, 40))}</text>"
    )


def _dial(dial: Dial) -> str:
    span = dial.high - dial.low or 1.0
    ends = (min(1.0, max(0.0, (at - dial.low) / span)) for at in (dial.value, 0.0))
    start, end = sorted(ends)
    return (
        f'<span class="dial"><span class="quiet">{name(dial.name)}</span> '
        f"<b>{dial.value:.1f} {name(dial.unit, 20)}</b>"
        '<svg class="gauge" viewBox="0 0 100 5" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="rail" width="100" height="5"/><rect class="value" x="{100 * start:.1f}" '
        f'width="{max(1.0, 100 * (end - start)):.1f}" height="5"/></svg></span>'
    )


def _embedded(panel: Panel, id: str, part: PicturePart | None) -> str:
    heat = "" if panel.heat is None else _data(heat_overlay(panel.heat))
    closer, longest = "", max(panel.picture.shape[:2])
    if part is not None and longest > SHARP * SIDE:
        closer = _data(encode_preview(cut_out(panel, part).picture, longest=SIDE))
    picture = _data(encode_preview(panel.picture, longest=SIDE))
    return panel_figure(panel, picture=picture, heat=heat, id=id, part=part, closer=closer)


def _data(picture: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(picture).decode()}"
