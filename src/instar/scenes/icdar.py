"""Scenes from ICDAR's robust reading data: one `gt_NAME.txt` for each picture, one word a line.

2015 (incidental scene text) has `x1,y1,x2,y2,x3,y3,x4,y4,text`, clockwise from the top left; a word nobody
can read is "###", and a text may have commas of its own. 2013 (focused scene text) has upright boxes,
`x1, y1, x2, y2, "text"`, in its training part with spaces instead of commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from instar.core.scene import Scene
from instar.imaging.words import Word
from instar.scenes.annotation_file import locate, read_lines
from instar.scenes.outlines import annotated_scenes, has_annotations, outline

__all__ = ["icdar", "looks_like_icdar"]

_PREFIX = "gt_"
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_UPRIGHT = re.compile(
    rf'{_NUMBER}(?:,\s*|\s+){_NUMBER}(?:,\s*|\s+){_NUMBER}(?:,\s*|\s+){_NUMBER},?\s*"(.*)"\s*'
)
_QUAD = re.compile(r",\s*".join([_NUMBER] * 8) + r"(?:,(.*))?")
_UNREADABLE = "###"


def icdar(path: str | Path, *, truth: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of an ICDAR 2013 or 2015 folder, with their words in `knowledge["words"]`.

    Pictures may lie anywhere below the folder, and so may the files `gt_NAME.txt`, unless `truth` is
    their folder. Of a picture without such a file nothing is known.
    """
    return annotated_scenes(path, truth, prefix=_PREFIX, read_words=_words, limit=limit)


def looks_like_icdar(path: Path) -> bool:
    """Whether a folder has such files."""
    return has_annotations(path, _PREFIX, levels=1)


def _words(file: Path) -> Iterator[Word]:
    for number, line in read_lines(file):
        with locate(f"{file} line {number}"):
            yield _word(line)


def _word(line: str) -> Word:
    if upright := _UPRIGHT.fullmatch(line):
        x1, y1, x2, y2 = map(float, upright.groups()[:4])
        xs, ys, text = [x1, x2, x2, x1], [y1, y1, y2, y2], upright[5]
    elif quad := _QUAD.fullmatch(line):
        numbers = [float(one) for one in quad.groups()[:8]]
        xs, ys, text = numbers[0::2], numbers[1::2], quad[9] or ""
    else:
        expected = 'x1,y1,...,x4,y4,text or x1, y1, x2, y2, "text"'
        raise ValueError(f"{line.strip()[:60]!r} is no word; expected {expected}")
    ignored = text == _UNREADABLE
    return Word(outline(xs, ys), "" if ignored else text, ignored)
