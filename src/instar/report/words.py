"""The words of every output: what became of things, and under which change.

Numbers and names as reports write them are here, too, in plain text and in HTML, where a name runs nothing.
"""

from __future__ import annotations

import html
import shlex
import unicodedata
from collections.abc import Mapping

FATES: Mapping[str, str] = {"lost": "lost", "new": "newly found", "renamed": "mixed up", "moved": "moved"}
FATE_SENTENCES: Mapping[str, str] = {
    "lost": "{was} is lost",
    "new": "{is} appears, where none was found before",
    "instead of": "{is} appears where {instead of} was found before",
    "renamed": "{was} is taken for {is}",
    "moved": "{was} has moved",
}
KINDS: Mapping[str, str] = {"invented": FATES["new"], "renamed": FATES["renamed"], "drifted": FATES["moved"]}
"""Kinds of findings whose name in records is not the word for people."""
WHEN: Mapping[str, str] = {
    "mirrored": "when mirrored",
    "shifted": "when the camera shifts",
    "cropped": "when cropped",
    "reduced": "at a lower resolution",
    "brightened": "in brighter light",
    "darkened": "in darker light",
    "warmed": "in warmer light",
    "cooled": "in colder light",
    "flattened": "at less contrast",
    "defocused": "out of focus",
    "shaken": "when the camera shakes",
    "noisy": "with noise",
    "compressed": "when compressed",
    "rotated": "when the camera turns a little",
    "hazy": "in haze",
    "rainy": "in rain",
    "insertion": "when {} is pasted in",
    "insert": "when {} is pasted in",
    "copy": "when {} is copied",
    "removal": "when {} is removed",
    "delete": "when {} is removed",
    "brightness-up": "when brighter",
    "brightness-down": "when darker",
    "channel-switch": "when colours are exchanged",
    "perspective": "when seen at an angle",
    "watermark": "when a watermark is added",
    "masking": "when covered",
}
"""The usual changes, behind what became of something; any other goes by its name."""
REASONS: Mapping[str, str] = {
    "unstable: null changes show it too": "unstable: a change that must do nothing shows it too",
    "unstable: it does not recur": "unstable: gone when asked again",
}

LONGEST = 160
"""Characters of a name that a page shows; of a longer one both ends, which tell names apart."""


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "scene"), counted(1200, "query", "queries")
    ('1 scene', '1,200 queries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def interval_words(ends: tuple[float, float] | None) -> str:
    return "-" if ends is None else f"{100 * ends[0]:.1f} to {100 * ends[1]:.1f} %"


def replay_command(run: str, case: str, *, trust: bool = False) -> str:
    """The command that shows a case again; `trust` where the run's plan names code of the user's own."""
    return f"instar replay {shlex.quote(run)} {case}" + " --trust" * trust


def when_words(relation: str, brought: str = "") -> str:
    """Under which change, behind what became of something; `brought` is what the change brings.

    >>> when_words("insertion", "dog"), when_words("shaken"), when_words("mine", "red")
    ('when a dog is pasted in', 'when the camera shakes', 'under mine of a red')
    """
    words, thing = WHEN.get(relation), with_article(brought) if brought else ""
    if words is None:
        return f"under {relation}" + f" of {thing}" * bool(thing)
    if "{" in words:
        return words.format(thing or "something")
    return words + f" ({brought})" * bool(brought)


def with_article(label: str) -> str:
    return f"{'an' if label[:1].lower() in 'aeiou' else 'a'} {label}"


def kind_words(kind: str) -> str:
    """A kind of finding, as people are told.

    >>> kind_words("invented"), kind_words("lost")
    ('newly found', 'lost')
    """
    return KINDS.get(kind, kind)


def reason_words(reason: str) -> str:
    """Why a case was not judged, as people are told."""
    return REASONS.get(reason, reason)


def readable(text: str, longest: int = LONGEST) -> str:
    r"""Text without control characters, and not too long.

    >>> readable("a\x00b\u202ec"), readable("x" * 500, 9)
    ('a\\x00b\\u202ec', 'xxxx…xxxx')
    """
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    if text.isprintable():  # as nearly all are; the rest takes time
        return text
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def escape(text: object) -> str:
    """Safe between tags and inside quoted attributes."""
    return html.escape(str(text), quote=True)


def name(text: str, longest: int = LONGEST) -> str:
    """A name that somebody else chose, kept from turning around what stands beside it."""
    return f"<bdi>{escape(readable(text, longest))}</bdi>"


def _is_harmless(character: str) -> bool:
    # Control, format (direction overrides, zero width), surrogates, private use: none of them can be seen.
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
