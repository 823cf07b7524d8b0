"""Text locators that are ready to be tested."""

from __future__ import annotations

from instar.tasks.text.systems.craft import Craft, craft
from instar.tasks.text.systems.east import East, east
from instar.tasks.text.systems.ppocr import PPOCR, ppocr_v4, ppocr_v6
from instar.tasks.text.systems.tesseract import Tesseract, tesseract

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
