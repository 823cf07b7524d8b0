"""What detection does to a picture: paste an object, or something that must not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from instar.cutouts import CutOuts
from instar.detection.answers import Detections
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.geometry import shifted
from instar.imaging.paste import BLENDS, Blend, pasted, resized, toned
from instar.imaging.photometric import brightened, moved
from instar.relation import Change
from instar.scene import Image

__all__ = [
    "Brighten",
    "Conditioned",
    "Insertion",
    "Reencode",
    "Shift",
    "carried_back",
    "fixed_nulls",
    "fresh_null",
    "made",
]

CONDITIONS = ("jpeg", "shift")  # under each of them a finding must recur
JPEG_QUALITY = 95
STEP = (1, 0)  # right and down, of the condition "shift"


@dataclass(frozen=True)
class Conditioned(Change):
    """A change that can be repeated under a condition that must not matter."""

    condition: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Insertion(Conditioned):
    """A cut-out pasted at (x, y). With `flat` only its silhouette is, in its mean colour: the placebo."""

    cutout: str
    label: str
    x: int
    y: int
    width: int
    height: int
    blend: Blend
    gain: float
    offset: float
    saturation: float = 1.0
    anchor: int | None = None
    flat: bool = False

    def __post_init__(self) -> None:
        if self.blend not in BLENDS:
            raise ValueError(f"blend is {self.blend!r}; it is one of {', '.join(BLENDS)}")

    @property
    def box(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.x + self.width, self.y + self.height)

    def __str__(self) -> str:
        what = f"{'a flat blob like a' if self.flat else 'a'} {self.label}"
        return f"{what} of {self.width} x {self.height} px at ({self.x}, {self.y})"


@dataclass(frozen=True)
class Reencode(Conditioned):
    """Through JPEG and back."""

    quality: int


@dataclass(frozen=True)
class Brighten(Conditioned):
    """So many grey levels up or down."""

    levels: int


@dataclass(frozen=True)
class Shift(Conditioned):
    """So many pixels right and down."""

    dx: int
    dy: int


def made(image: Image, change: Conditioned, cutouts: CutOuts) -> Image:
    """The picture after the change, and under its condition."""
    match change:
        case Insertion():
            result = _with_object(image, change, cutouts)
        case Reencode():
            result = jpeg_round_trip(image, change.quality)
        case Brighten():
            result = brightened(image, change.levels)
        case Shift():
            result = moved(image, change.dx, change.dy)
        case _:
            raise TypeError(f"{type(change).__name__} is no change of object detection")
    if change.condition == "jpeg":
        return jpeg_round_trip(result, JPEG_QUALITY)
    return moved(result, *STEP) if change.condition == "shift" else result


def carried_back(answer: Detections, change: Conditioned) -> Detections:
    """The answer in the coordinates of the unchanged picture."""
    dx, dy = _displacement(change)
    if dx == dy == 0:
        return answer
    return Detections(shifted(answer.boxes, -dx, -dy), answer.labels, answer.scores, answer.confidence)


def _displacement(change: Conditioned) -> tuple[int, int]:
    """How far the change moves everything: right and down, in pixels."""
    dx, dy = (change.dx, change.dy) if isinstance(change, Shift) else (0, 0)
    return (dx + STEP[0], dy + STEP[1]) if change.condition == "shift" else (dx, dy)


def fixed_nulls() -> Iterator[Conditioned]:
    """The seven changes that strike findings out."""
    yield Reencode(95)
    yield from (Brighten(1), Brighten(-1))
    yield from (Shift(1, 0), Shift(-1, 0), Shift(0, 1), Shift(0, -1))


def fresh_null(rng: np.random.Generator) -> Conditioned:
    """A change that must do nothing and is none of the seven, to measure false alarms with."""
    kind = rng.integers(3)
    if kind == 0:
        return Reencode(int(rng.choice([90, 91, 92, 93, 94, 96, 97, 98])))
    if kind == 1:
        return Brighten(int(rng.choice([-2, 2])))
    return Shift(int(rng.choice([-1, 1])), int(rng.choice([-1, 1])))


def _with_object(image: Image, change: Insertion, cutouts: CutOuts) -> Image:
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    cutout = toned(cutout, change.gain, change.offset, change.saturation)
    if change.flat:
        opaque = cutout[cutout[..., 3] > 127]
        cutout = cutout.copy()
        cutout[..., :3] = np.rint(opaque[:, :3].mean(axis=0)) if len(opaque) else 127
    return pasted(image, cutout, change.x, change.y, change.blend)
