"""The interpreters by name, for those who only list them: what is behind the names needs torch."""

from __future__ import annotations

__all__ = ["INTERPRETERS"]

INTERPRETERS = (
    "deconvnet",
    "guided-backprop",
    "linear-approximation",
    "excitation-backprop",
    "grad-cam",
    "rise",
    "lime",
    "integrated-gradients",
    "smoothgrad",
)
