"""Tesseract, the classic reader of pages, asked for words anywhere in a picture."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.errors import MissingExtra
from instar.core.options import require_fraction, require_picture
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.text.answers import Quads
from instar.zoo import fetch

__all__ = ["Tesseract", "tesseract"]

RESOLUTION = 70
"""Dots per inch that a picture is taken to have: what Tesseract takes when it is told none."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same words."""


@recorded
def tesseract(*, least_score: float = 0.5) -> Tesseract:
    """Tesseract's words in sparse text (page segmentation mode 11), English; model fetched if need be.

    Words that it is less sure of than `least_score` are not reported: on photographs it sees many.
    """
    (model,) = fetch("tesseract-eng")
    return Tesseract(model, least_score=least_score)


class Tesseract:
    """Tesseract with one language model, on one thread. Boxes are upright, one for each word."""

    name = "tesseract"
    batch = 1
    concurrent = True

    def __init__(self, model: Path, *, least_score: float) -> None:
        require_fraction(self.name, "least_score", least_score)
        self._library = _tesserocr()
        self._folder, self._language = str(model.parent), model.stem
        self._least_score = float(least_score)
        self._idle: deque[Any] = deque()
        self._recipe = partial(Tesseract, model, least_score=least_score)
        weights = hashlib.sha256(model.read_bytes()).hexdigest()[:16]
        version = self._library.tesseract_version().split()[1]
        self.fingerprint = (
            f"{self.name} {version} psm=11 weights={weights} least_score={least_score:g} "
            f"dpi={RESOLUTION} decoder={DECODER}"
        )

    def __reduce__(self) -> tuple[Callable[[], Tesseract], tuple[()]]:
        # Readers cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Quads]:
        """The words of each picture `uint8 (H, W, 3)` RGB, as Tesseract reads them."""
        return [self._read(image) for image in images]

    def _read(self, image: Image) -> Quads:
        require_picture(image)
        words = [word for word in self._words(image) if word[1].strip() and word[2] >= self._least_score]
        boxes = np.array([box for box, _, _ in words], np.float32).reshape(-1, 4)
        return Quads(
            boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2),
            tuple(text for _, text, _ in words),
            np.array([score for _, _, score in words], np.float32),
        )

    def _words(self, image: Image) -> Iterator[tuple[tuple[int, int, int, int], str, float]]:
        """Upright box, text and certainty of every word."""
        height, width = image.shape[:2]
        word = self._library.RIL.WORD
        with self._a_reader() as reader:
            reader.SetImageBytes(image.tobytes(), width, height, 3, 3 * width)
            reader.SetSourceResolution(RESOLUTION)
            reader.Recognize()
            found = reader.GetIterator()
            if found is None:
                return
            for one in self._library.iterate_level(found, word):
                if not one.Empty(word):
                    certainty = min(max(one.Confidence(word) / 100, 0.0), 1.0)
                    yield one.BoundingBox(word), one.GetUTF8Text(word), certainty

    @contextmanager
    def _a_reader(self) -> Iterator[Any]:
        """A reader that nobody else uses and that remembers no picture; opening one takes a while."""
        try:
            reader = self._idle.pop()
        except IndexError:
            mode = self._library.PSM.SPARSE_TEXT
            reader = self._library.PyTessBaseAPI(path=self._folder, lang=self._language, psm=mode)
            reader.SetVariable("debug_file", os.devnull)
        yield reader
        # Not reached after an error: a reader in an unknown state is dropped.
        reader.Clear()
        reader.ClearAdaptiveClassifier()
        self._idle.append(reader)


def _tesserocr() -> Any:
    try:
        import tesserocr
    except ImportError:
        raise MissingExtra("tesserocr", extra="text", needed_for="tesseract") from None
    return tesserocr
