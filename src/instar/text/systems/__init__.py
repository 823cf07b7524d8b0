"""Text locators that are ready to be tested."""

from __future__ import annotations

from instar.text.systems.craft import Craft, craft
from instar.text.systems.east import East, east
from instar.text.systems.ppocr import PPOCR, ppocr_v4, ppocr_v6
from instar.text.systems.tesseract import Tesseract, tesseract

__all__ = [
    "PPOCR",
    "Craft",
    "East",
    "Tesseract",
    "craft",
    "east",
    "ppocr_v4",
    "ppocr_v6",
    "tesseract",
]
