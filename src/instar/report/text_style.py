"""How text looks where it is read: as wide as the terminal is, and in colours where these can be seen."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
NARROW = 90  # characters: a terminal with fewer is told only what happened
NARROWEST = 12  # characters that a column is left
GAP = 2  # blanks between columns


@dataclass(frozen=True, slots=True)
class TextStyle:
    """A width in characters, None for as long as lines are, and whether there are colours."""

    width: int | None = None
    colour: bool = False

    @property
    def is_narrow(self) -> bool:
        return self.width is not None and self.width < NARROW

    def paint(self, text: str, *styles: str) -> str:
        """The text in a style: bold, dim, or a colour.

        >>> TextStyle(colour=True).paint("lost", "bold", "red")
        '\\x1b[1;31mlost\\x1b[0m'
        """
        if not (self.colour and text and styles):
            return text
        return f"\x1b[{';'.join(CODES[style] for style in styles)}m{text}\x1b[0m"

    def fit(self, rows: Sequence[Sequence[str]], fixed: Sequence[int] = ()) -> list[list[str]]:
        """The cells so short that the rows fit; the widest column gives first, `fixed` ones never.

        >>> TextStyle(width=26).fit([["case", "scene"], ["12", "a/very/long/name/of/a/file.jpg"]])[1]
        ['12', 'a/very/lon…/file.jpg']
        """
        widths = [max(map(len, column)) for column in zip(*rows)]
        free = [i for i in range(len(widths)) if i not in fixed]
        while self.width and free and sum(widths) + GAP * (len(widths) - 1) > self.width:
            widest = max(free, key=lambda i: widths[i])
            if widths[widest] <= NARROWEST:
                break
            widths[widest] -= 1
        return [[_shortened(cell, width) for cell, width in zip(row, widths)] for row in rows]

    def wrap(self, text: str, indent: int) -> str:
        """Text behind a label that takes `indent` characters, its further lines below its first."""
        if self.width is None or len(text) + indent <= self.width:
            return text
        width = max(NARROWEST, self.width - indent)
        return ("\n" + " " * indent).join(textwrap.wrap(text, width, break_on_hyphens=False))


PLAIN = TextStyle()


def terminal_style() -> TextStyle:
    """That of standard output: plain unless it is a terminal. `NO_COLOR` and `FORCE_COLOR` are minded."""
    is_terminal = sys.stdout.isatty()
    colour = is_terminal and os.environ.get("TERM") != "dumb"
    if os.environ.get("FORCE_COLOR"):
        colour = True
    if os.environ.get("NO_COLOR"):
        colour = False
    return TextStyle(shutil.get_terminal_size().columns if is_terminal else None, colour)


def _shortened(cell: str, width: int) -> str:
    """Both ends of a cell that is too long, which tell names apart."""
    if len(cell) <= width:
        return cell
    half = (width - 1) // 2
    return f"{cell[: width - 1 - half]}…{cell[-half:]}"
