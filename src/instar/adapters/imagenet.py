"""The thousand classes of ImageNet, and which of them are what COCO calls by one name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

IMAGENET_MEAN = (123.675, 116.28, 103.53)
IMAGENET_DEVIATION = (58.395, 57.12, 57.375)
"""Of the red, green and blue of its pictures, in grey levels."""


@cache
def imagenet_names() -> tuple[str, ...]:
    """The classes in the order of a network's outputs; a second one of a name has a 2 behind it."""
    return _lines("imagenet_names.txt")


def coco_outputs() -> dict[str, tuple[int, ...]]:
    """The outputs of an ImageNet network that stand for each name of COCO.

    ImageNet has no person, and nothing for some other names of COCO.

    >>> coco_outputs()["elephant"]
    (101, 385, 386)
    """
    found = {}
    for line in _lines("imagenet_coco.txt"):
        name, _, outputs = line.partition(": ")
        ends = [[int(end) for end in one.split("-")] for one in outputs.split()]  # "385-386" or "101"
        found[name] = tuple(i for own in ends for i in range(own[0], own[-1] + 1))
    return found


def outputs_of(classes: str) -> dict[str, tuple[int, ...]]:
    """The outputs that stand for each class of "imagenet" or "coco"."""
    return coco_outputs() if classes == "coco" else {one: (i,) for i, one in enumerate(imagenet_names())}


def _lines(name: str) -> tuple[str, ...]:
    return tuple(Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines())
