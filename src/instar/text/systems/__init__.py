"""Text locators that are ready to be tested."""

from __future__ import annotations

from instar.text.systems.ppocr import PPOCR, ppocr_v4, ppocr_v6

__all__ = ["PPOCR", "ppocr_v4", "ppocr_v6"]
