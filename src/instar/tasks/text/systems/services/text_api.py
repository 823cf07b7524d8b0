"""What text services have in common: pieces of text, each with four corners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from instar.adapters.service import Api
from instar.core.answer_values import numbers
from instar.tasks.text.answers import Quads
from instar.tasks.text.polygons import quad_areas

Piece = tuple[Sequence[tuple[float, float]], str, float | None]
"""Four corners (x, y) in pixels, the text, and how sure the service is, from 0 to 1."""


class TextApi(Api):
    """A service whose answer is pieces of text."""

    @abstractmethod
    def pieces(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Sequence[Piece]: ...

    def answer(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Quads:
        return _quads(self.pieces(answer, size))


def _quads(pieces: Sequence[Piece]) -> Quads:
    """Pieces with an area: services that give whole pixels now and then report a line without any."""
    for corners, text, _ in pieces:
        if len(corners) != 4:
            raise ValueError(f"the box of {text!r} has {len(corners)} corners, not four")
    quads = numbers("corners", [corners for corners, _, _ in pieces]).reshape(-1, 4, 2)
    if not np.isfinite(quads).all():
        raise ValueError("a corner that is not finite")
    solid = quad_areas(quads) > 0
    kept = [piece for piece, has_area in zip(pieces, solid) if has_area]
    sure = [score for _, _, score in kept if score is not None]
    scores = np.clip(numbers("scores", sure), 0, 1) if len(sure) == len(kept) else None
    return Quads(quads[solid], tuple(text for _, text, _ in kept), scores)
