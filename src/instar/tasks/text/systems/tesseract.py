"""Tesseract, the classic reader of pages, asked for words anywhere in a picture."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.installation import import_extra
from instar.tasks.text.answers import Quads
from instar.zoo import fetch

RESOLUTION = 70
"""Dots per inch that a picture is taken to have: what Tesseract takes when it is told none."""
DECODER = 1
"""Counts up whenever the code below gives other answers for the same words."""


@recorded
def tesseract(*, least_score: float = 0.5) -> PictureSystem[Quads]:
    """Tesseract's words in sparse text (page segmentation mode 11), English; model fetched if need be.

    Words that it is less sure of than `least_score` are not reported: on photographs it sees many. It uses
    one thread. Boxes are upright, one for each word.
    """
    (model,) = fetch("tesseract-eng")
    require_fraction("tesseract", "least_score", least_score)
    library = import_extra("tesserocr", "tesserocr", extra="text", needed_for="tesseract")
    library.set_leptonica_log_level(library.LeptLogLevel.NONE)  # it complains of boxes that it cuts off
    idle: deque[Any] = deque()

    @contextmanager
    def a_reader() -> Iterator[Any]:
        """A reader that nobody else uses and that remembers no picture; opening one takes a while."""
        try:
            reader = idle.pop()
        except IndexError:
            mode = library.PSM.SPARSE_TEXT
            reader = library.PyTessBaseAPI(path=str(model.parent), lang=model.stem, psm=mode)
            reader.SetVariable("debug_file", os.devnull)
        yield reader
        # Not reached after an error: a reader in an unknown state is dropped.
        reader.Clear()
        reader.ClearAdaptiveClassifier()
        idle.append(reader)

    def words_of(image: Image) -> Iterator[tuple[tuple[int, int, int, int], str, float]]:
        """Upright box, text and certainty of every word."""
        height, width = image.shape[:2]
        word = library.RIL.WORD
        with a_reader() as reader:
            reader.SetImageBytes(image.tobytes(), width, height, 3, 3 * width)
            reader.SetSourceResolution(RESOLUTION)
            reader.Recognize()
            found = reader.GetIterator()
            for one in library.iterate_level(found, word) if found is not None else ():
                if not one.Empty(word):
                    certainty = min(max(one.Confidence(word) / 100, 0.0), 1.0)
                    yield one.BoundingBox(word), one.GetUTF8Text(word), certainty

    def read(image: Image) -> Quads:
        words = [word for word in words_of(image) if word[1].strip() and word[2] >= least_score]
        boxes = np.array([box for box, _, _ in words], np.float32).reshape(-1, 4)
        return Quads(
            boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2),
            tuple(text for _, text, _ in words),
            np.array([score for _, _, score in words], np.float32),
        )

    version = library.tesseract_version().split()[1]
    return PictureSystem(
        "tesseract",
        one_by_one(read),
        fingerprint=f"tesseract {version} psm=11 weights={hash_files(model)} least_score={least_score:g} "
        f"dpi={RESOLUTION} decoder={DECODER}",
        recipe=partial(tesseract, least_score=least_score),
        batch=1,
    )
