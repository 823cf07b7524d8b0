"""Numbers and names as reports write them, in plain text and in HTML, where a name runs nothing."""

from __future__ import annotations

import html
import shlex
import unicodedata

__all__ = ["counted", "escape", "interval_words", "name", "percent", "readable", "replay_command"]

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


def replay_command(run: str, case: str) -> str:
    return f"instar replay {shlex.quote(run)} {case}"


def readable(text: str, longest: int = LONGEST) -> str:
    r"""Text without control characters, and not too long.

    >>> readable("a\x00b\u202ec"), readable("x" * 500, 9)
    ('a\\x00b\\u202ec', 'xxxx…xxxx')
    """
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
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
