"""Scenes whose words are known: ICDAR and Total-Text, with a file beside each picture, and COCO-Text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Image, Scene, SceneObject
from instar.imaging.words import Word
from instar.scenes.annotation_file import complain_at, read_lines
from instar.scenes.coco import entry_box, listed_scenes
from instar.scenes.folder import check_limit, folder
from instar.user_file import read_json

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_UPRIGHT = re.compile(
    rf'{_NUMBER}(?:,\s*|\s+){_NUMBER}(?:,\s*|\s+){_NUMBER}(?:,\s*|\s+){_NUMBER},?\s*"(.*)"\s*'
)
_QUAD = re.compile(r",\s*".join([_NUMBER] * 8) + r"(?:,(.*))?")
_ENTRY = re.compile(
    r"x:\s*\[\[([\d\s]+)\]\],\s*y:\s*\[\[([\d\s]+)\]\],\s*ornt:\s*\[.*?\],"
    r"\s*transcriptions:\s*\[\s*(?:u?(['\"])(.*)\3)?\s*\]\s*",
    re.DOTALL,
)


def icdar(path: str | Path, *, truth: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of an ICDAR 2013 or 2015 folder, with their words in `knowledge["words"]`.

    2015 (incidental scene text) has `x1,y1,x2,y2,x3,y3,x4,y4,text`, clockwise from the top left; a word
    nobody can read is "###", and a text may have commas of its own. 2013 (focused scene text) has upright
    boxes, `x1, y1, x2, y2, "text"`, in its training part with spaces instead of commas.

    Pictures may lie anywhere below the folder, and so may the files `gt_NAME.txt`, unless `truth` is
    their folder. Of a picture without such a file nothing is known.
    """
    return _annotated_scenes(path, truth, limit, prefix="gt_", begins="", word=_icdar_word)


def looks_like_icdar(path: Path) -> bool:
    """Whether a folder has such files."""
    return _has_annotations(path, "gt_", levels=1)


def _icdar_word(line: str) -> Word:
    if upright := _UPRIGHT.fullmatch(line):
        x1, y1, x2, y2 = map(float, upright.groups()[:4])
        xs, ys, text = [x1, x2, x2, x1], [y1, y1, y2, y2], upright[5]
    elif quad := _QUAD.fullmatch(line):
        numbers = [float(one) for one in quad.groups()[:8]]
        xs, ys, text = numbers[0::2], numbers[1::2], quad[9] or ""
    else:
        expected = 'x1,y1,...,x4,y4,text or x1, y1, x2, y2, "text"'
        raise ValueError(f"{line.strip()[:60]!r} is no word; expected {expected}")
    ignored = text == "###"
    return Word(_outline(xs, ys), "" if ignored else text, ignored)


def total_text(path: str | Path, *, truth: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a Total-Text folder, with their words in `knowledge["words"]`.

    An entry reads `x: [[1 2 3 4]], y: [[5 6 7 8]], ornt: [u'm'], transcriptions: [u'TEXT']`; long rows of
    numbers go on in the next line. A word that nobody can read is "#".

    Pictures may lie anywhere below the folder, and so may the files `poly_gt_NAME.txt`, unless `truth`
    is their folder.
    """
    return _annotated_scenes(path, truth, limit, prefix="poly_gt_", begins="x:", word=_total_text_word)


def looks_like_total_text(path: Path) -> bool:
    """Whether a folder has such files; the data set keeps them three levels down."""
    return _has_annotations(path, "poly_gt_", levels=3)


def _total_text_word(text: str) -> Word:
    entry = _ENTRY.fullmatch(text)
    if entry is None:
        raise ValueError(f"{text.strip()[:60]!r} is no entry of Total-Text")
    corners = _outline([float(x) for x in entry[1].split()], [float(y) for y in entry[2].split()])
    ignored = entry[4] in (None, "#")
    return Word(corners, "" if ignored else entry[4], ignored)


def coco_text(path: str | Path, *, images: str | Path | None = None, limit: int | None = None) -> list[Scene]:
    """The scenes of a COCO-Text file, with their words in `knowledge["words"]`.

    Pictures are looked for in the folder `images`, or else beside the file and where COCO keeps them. A
    word is its mask where that has four corners or more, else its box; one that is illegible or was not
    read is to be ignored.
    """
    path = Path(path)
    document = read_json(path)
    tables = [document.get(part) for part in ("imgs", "anns")] if isinstance(document, dict) else [None]
    if not all(isinstance(table, dict) for table in tables):
        raise BadInput(f"{path} is not COCO-Text: it has no tables imgs and anns")
    words: dict[str, list[Word]] = {key: [] for key in document["imgs"]}
    for key, entry in document["anns"].items():
        with complain_at(f"{path}: annotation {key}"):
            # Keys are strings in JSON, while the annotations refer to them as numbers.
            if (image := str(entry["image_id"])) in words:
                words[image] += _coco_text_word(entry)
    bare = listed_scenes(path, document["imgs"], images=images, limit=limit)
    return [_with_words(scene.id, scene.read, words[key]) for key, scene in bare.items()]


def _coco_text_word(entry: Mapping[str, Any]) -> list[Word]:
    mask = entry.get("mask") or entry.get("polygon") or ()
    if len(mask) >= 8:
        corners = _outline(mask[0::2], mask[1::2])
    else:
        box = entry_box(entry)
        if box is None:
            return []
        x1, y1, x2, y2 = box
        corners = _outline([x1, x2, x2, x1], [y1, y1, y2, y2])
    text = str(entry.get("utf8_string") or "")
    ignored = not text or entry.get("legibility") == "illegible"
    return [Word(corners, "" if ignored else text, ignored)]


def _annotated_scenes(
    path: str | Path,
    truth: str | Path | None,
    limit: int | None,
    *,
    prefix: str,
    begins: str,
    word: Callable[[str], Word],
) -> list[Scene]:
    """A scene for every picture below a folder, with the words of its annotation file if there is one.

    Annotation files lie in `truth`, or anywhere below the folder: that of NAME.jpg is PREFIX + NAME.txt.
    """
    check_limit(limit)
    root = Path(path)
    where = root if truth is None else Path(truth)
    if not where.is_dir():
        raise BadInput(f"the folder of annotations {where} does not exist")
    files = {file.stem.removeprefix(prefix): file for file in sorted(where.rglob(f"{prefix}*.txt"))}
    scenes: list[Scene] = folder(root, limit=limit)
    for i, scene in enumerate(scenes):
        if file := files.get(Path(scene.id).stem):
            scenes[i] = _with_words(scene.id, scene.read, _words(file, begins, word))
    if not any(scene.knowledge for scene in scenes):
        raise BadInput(f"{where} has no annotations of the pictures in {root}; give --truth DIR, or another")
    return scenes


def _words(file: Path, begins: str, word: Callable[[str], Word]) -> tuple[Word, ...]:
    """The words of a file, each entry read by `word`; lines that do not begin as entries do continue one."""
    lines, words = read_lines(file), []
    starts = [i for i, (_, line) in enumerate(lines) if i == 0 or line.startswith(begins)]
    for start, end in zip(starts, [*starts[1:], len(lines)]):
        with complain_at(f"{file} line {lines[start][0]}"):
            words.append(word("\n".join(line for _, line in lines[start:end])))
    return tuple(words)


def _has_annotations(path: Path, prefix: str, *, levels: int) -> bool:
    """Whether there are such files in the folder or in one up to so many levels below it."""
    return any(next(path.glob("*/" * level + f"{prefix}*.txt"), None) for level in range(levels + 1))


def _with_words(id: str, read: Callable[[], Image], words: Sequence[Word]) -> Scene:
    """The words as knowledge, and their boxes as objects; those to be ignored count as crowds."""
    objects = tuple(SceneObject("text", word.box, crowd=word.ignored) for word in words)
    return Scene(id, read, objects, {"words": tuple(words)})


def _outline(xs: Sequence[float], ys: Sequence[float]) -> npt.NDArray[np.float32]:
    """`float32 (k, 2)` of as many corners; ValueError where there are too few or one is no place."""
    if len(xs) != len(ys) or len(xs) < 3:
        raise ValueError(f"{len(xs)} x and {len(ys)} y make no outline")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite and is refused as that
        corners = np.stack([np.asarray(xs, np.float32), np.asarray(ys, np.float32)], axis=1)
    if not np.isfinite(corners).all():
        raise ValueError("a corner that is not finite")
    return corners
