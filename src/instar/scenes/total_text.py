"""Scenes from Total-Text: `poly_gt_NAME.txt` for each picture, with outlines of many corners.

An entry reads `x: [[1 2 3 4]], y: [[5 6 7 8]], ornt: [u'm'], transcriptions: [u'TEXT']`; long rows of numbers
go on in the next line. A word that nobody can read is "#".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from instar.core.scene import Scene
from instar.imaging.words import Word
from instar.scenes.annotation_file import locate, read_lines
from instar.scenes.outlines import annotated_scenes, has_annotations, outline

__all__ = ["looks_like_total_text", "total_text"]

_PREFIX = "poly_gt_"
_ENTRY = re.compile(
    r"x:\s*\[\[([\d\s]+)\]\],\s*y:\s*\[\[([\d\s]+)\]\],\s*ornt:\s*\[.*?\],"
    r"\s*transcriptions:\s*\[\s*(?:u?(['\"])(.*)\3)?\s*\]\s*",
    re.DOTALL,
)
_UNREADABLE = "#"


def total_text(path: str | Path, *, truth: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a Total-Text folder, with their words in `knowledge["words"]`.

    Pictures may lie anywhere below the folder, and so may the files `poly_gt_NAME.txt`, unless `truth`
    is their folder.
    """
    return annotated_scenes(path, truth, prefix=_PREFIX, read_words=_words, limit=limit)


def looks_like_total_text(path: Path) -> bool:
    """Whether a folder has such files; the data set keeps them three levels down."""
    return has_annotations(path, _PREFIX, levels=3)


def _words(file: Path) -> Iterator[Word]:
    lines = read_lines(file)
    starts = [i for i, (_, line) in enumerate(lines) if i == 0 or line.startswith("x:")]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        with locate(f"{file} line {lines[start][0]}"):
            yield _word("\n".join(line for _, line in lines[start:end]))


def _word(text: str) -> Word:
    entry = _ENTRY.fullmatch(text)
    if entry is None:
        raise ValueError(f"{text.strip()[:60]!r} is no entry of Total-Text")
    corners = outline([float(x) for x in entry[1].split()], [float(y) for y in entry[2].split()])
    ignored = entry[4] in (None, _UNREADABLE)
    return Word(corners, "" if ignored else entry[4], ignored)
