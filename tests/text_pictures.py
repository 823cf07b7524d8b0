"""Pictures with text whose place is known, and photographs of some, for the tests of text locators."""

from __future__ import annotations

import cv2
import numpy as np

from instar.zoo import fetch

WORDS = [
    ("HARBOUR", (60, 80), 0),
    ("station", (330, 90), 0),
    ("Exit 42", (90, 230), 12),
    ("market", (360, 260), -25),
]
"""What stands on the drawn page: a word, where its left end of the base line is, how it is turned."""


def drawn_page() -> np.ndarray:
    """A white page `uint8 (320, 560, 3)` with four words, two of them turned."""
    page = np.full((320, 560, 3), 255, np.uint8)
    for word, (x, y), degrees in WORDS:
        ink = np.zeros(page.shape[:2], np.uint8)
        cv2.putText(ink, word, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 1.2, 255, 3, cv2.LINE_AA)
        turn = cv2.getRotationMatrix2D((x, y), -degrees, 1.0)
        ink = cv2.warpAffine(ink, turn, (ink.shape[1], ink.shape[0]))
        page = np.minimum(page, 255 - ink[..., None])
    return page


def photograph(name: str) -> np.ndarray:
    """A photograph of the zoo, RGB."""
    (path,) = fetch(name)
    return cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
