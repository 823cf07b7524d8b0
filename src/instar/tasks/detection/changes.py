"""What detection does to a picture: paste an object, or something that must not matter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.imaging.geometry import shifted
from instar.imaging.nulls import Conditioned, displacement, null_made, under
from instar.imaging.paste import BLENDS, Blend, pasted, resized, toned
from instar.tasks.detection.answers import Detections

__all__ = ["Insertion", "carried_back", "made"]


@dataclass(frozen=True)
class Insertion(Conditioned):
    """A cut-out pasted at (x, y). With `flat` only its silhouette is, in its mean colour: the placebo.

    What was relocated has `start`, the corner where it was violated first, and `travelled`, the share of its
    way to the goal.
    """

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
    start: tuple[int, int] | None = None
    travelled: float = 0.0

    def __post_init__(self) -> None:
        if self.blend not in BLENDS:
            raise ValueError(f"blend is {self.blend!r}; it is one of {', '.join(BLENDS)}")

    @property
    def box(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.x + self.width, self.y + self.height)

    def __str__(self) -> str:
        what = f"{'a flat blob like a' if self.flat else 'a'} {self.label}"
        return f"{what} of {self.width} x {self.height} px at ({self.x}, {self.y})"


def made(image: Image, change: Conditioned, cutouts: CutOuts) -> Image:
    """The picture after the change, and under its condition."""
    if isinstance(change, Insertion):
        result = _with_object(image, change, cutouts)
    else:
        result = null_made(image, change)
    return under(result, change.condition)


def carried_back(answer: Detections, change: Conditioned) -> Detections:
    """The answer in the coordinates of the unchanged picture."""
    dx, dy = displacement(change)
    if dx == dy == 0:
        return answer
    return Detections(shifted(answer.boxes, -dx, -dy), answer.labels, answer.scores, answer.confidence)


def _with_object(image: Image, change: Insertion, cutouts: CutOuts) -> Image:
    cutout = resized(cutouts.pixels(change.cutout), change.width, change.height)
    cutout = toned(cutout, change.gain, change.offset, change.saturation)
    if change.flat:
        opaque = cutout[cutout[..., 3] > 127]
        cutout = cutout.copy()
        cutout[..., :3] = np.rint(opaque[:, :3].mean(axis=0)) if len(opaque) else 127
    return pasted(image, cutout, change.x, change.y, change.blend)
