"""Pieces of text as the usual libraries write them, told apart by what they are made of.

By the time they are read they are plain values: RapidOCR's output is a mapping of its attributes, PaddleOCR's
has names of its own, EasyOCR gives (quad, text, score) and PaddleOCR before 3 [quad, (text, score)] for each
piece, pytesseract a mapping of columns; services and files have a mapping for each piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import numbers

Parts = Mapping[str, Any]
"""Quads, and where they are given texts and scores."""

SPELLINGS = {
    "quads": ("quads", "rec_polys", "dt_polys", "polygons", "boxes"),
    "texts": ("texts", "rec_texts", "txts"),
    "scores": ("scores", "rec_scores", "dt_scores"),
}
QUAD_KEYS = ("quad", "polygon", "points", "box", "boxes", "bounding_box")
TEXT_KEYS = ("text", "txt", "transcription")
SCORE_KEYS = ("score", "confidence", "confident", "conf")
COLUMNS = ("left", "top", "width", "height", "text", "conf")
PERCENT = 100.0  # how pytesseract writes that it is sure


def find_parts(answer: Any) -> Parts:
    """What an answer in any usual form has; ValueError or TypeError says what is wrong with it."""
    if isinstance(answer, Mapping):
        return _of_columns(answer) if set(COLUMNS) <= set(answer) else _of_mapping(answer)
    if isinstance(answer, (list, tuple)) and answer and all(isinstance(one, Mapping) for one in answer):
        return _of_pieces(
            [(_quad_of(one), _first(one, TEXT_KEYS), _first(one, SCORE_KEYS)) for one in answer]
        )
    if isinstance(answer, (list, tuple)) and answer and all(map(_has_text, answer)):
        return _of_pieces([(quad, *_flat(rest)) for quad, *rest in answer])
    return {"quads": _as_quads(answer)}


def _of_mapping(answer: Parts) -> Parts:
    found = {part: _first(answer, keys) for part, keys in SPELLINGS.items()}
    if found["quads"] is None:
        raise ValueError(f"the answer has no 'quads'; it has {sorted(map(str, answer))}")
    return {**found, "quads": _as_quads(found["quads"], rectangles="quads" not in answer)}


def _of_columns(table: Parts) -> Parts:
    """A row for each word; pages, blocks and lines are rows without a text."""
    rows = [row for row in zip(*(table[name] for name in COLUMNS)) if str(row[4]).strip()]
    boxes = [(float(x), float(y), float(x) + float(w), float(y) + float(h)) for x, y, w, h, *_ in rows]
    scores = [max(0.0, float(sure)) / PERCENT for *_, sure in rows]
    return {"quads": _as_quads(boxes, rectangles=True), "texts": [row[4] for row in rows], "scores": scores}


def _of_pieces(pieces: Sequence[tuple[Any, ...]]) -> Parts:
    """A quad for each piece, with a text and a score where all of them have one."""
    quads, texts, scores = ([piece[k] for piece in pieces] for k in range(3))
    return {
        "quads": _as_quads(quads, rectangles=True),
        "texts": texts if all(isinstance(text, str) for text in texts) else None,
        "scores": None if any(score is None for score in scores) else scores,
    }


def _quad_of(piece: Parts) -> Any:
    """Its corners; `bbox` is COCO's, a corner and sides, where it has four numbers."""
    found = _first(piece, QUAD_KEYS)
    if found is None and piece.get("bbox") is None:
        raise ValueError(f"a piece of text has no {QUAD_KEYS[0]!r}; it has {sorted(map(str, piece))}")
    if found is None:
        found = numbers("bbox", piece["bbox"])
        if found.shape == (4,):
            x, y, width, height = found
            found = [x, y, x + width, y + height]
    return found


def _has_text(piece: Any) -> bool:
    """Whether it is a quad with its text, and perhaps a score, beside it."""
    if not isinstance(piece, (list, tuple)) or not 2 <= len(piece) <= 3:
        return False
    flat = _flat(piece[1:])
    return isinstance(flat[0], str)


def _flat(rest: Sequence[Any]) -> tuple[Any, Any]:
    """Text and score of what stands behind a quad."""
    inner = rest[0] if len(rest) == 1 and isinstance(rest[0], (list, tuple)) else rest
    return inner[0] if inner else None, inner[1] if len(inner) > 1 else None


def _first(one: Parts, keys: Sequence[str]) -> Any:
    return next((one[key] for key in keys if one.get(key) is not None), None)


def _as_quads(values: Any, *, rectangles: bool = False) -> npt.NDArray[np.float32]:
    """Corners as they are, or eight numbers for each; as `rectangles` also x1, y1, x2, y2."""
    array = numbers("quads", values)
    if array.size == 0:
        return array.reshape(0, 4, 2)  # a plain [] has lost its other dimensions
    if array.ndim == 2 and array.shape[1] == 8:
        return array.reshape(-1, 4, 2)
    if rectangles and array.ndim == 2 and array.shape[1] == 4:
        return array[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
    return array
