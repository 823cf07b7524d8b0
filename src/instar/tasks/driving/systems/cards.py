"""The cards of the networks that come with instar."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

__all__ = ["NAMES", "card"]

NAMES = (
    "epoch-street",
    "vgg16-street",
    "resnet101-street",
    "vgg16-blind",
    "epoch-ch2",
    "vgg16-ch2",
    "resnet101-ch2",
)


def card(name: str) -> dict[str, Any]:
    """What a network was trained on, how far it is off, and how to train it again."""
    text = (files("instar.tasks.driving") / "weights" / f"{name}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document
