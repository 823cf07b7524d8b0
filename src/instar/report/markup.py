"""Text as HTML: whatever it is, it is shown as text and runs nothing."""

from __future__ import annotations

import html
import unicodedata

__all__ = ["escape", "name", "readable"]

LONGEST = 160
"""Characters of a name that a page shows; of a longer one both ends, which tell names apart."""


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
