"""Detectors that are ready to be tested."""

from __future__ import annotations

from instar.detection.systems.yolox import Yolox, yolox

__all__ = ["Yolox", "yolox"]
