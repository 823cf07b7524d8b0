"""DeepTest's changes of the whole picture: affine ones, contrast, brightness and blur.

None of them should matter to a driver as long as it is small: the answer must stay the same, also where the
view moves.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from instar.core.change import Change
from instar.core.errors import UnknownName
from instar.core.recipe import recorded
from instar.core.relation import Range, Relation
from instar.core.scene import Image, Observation
from instar.tasks.driving.task import driving

KINDS: Mapping[str, float] = {
    "translate": 0.06,  # of the width, to the side
    "scale": 0.12,  # larger
    "shear": 0.10,  # columns per row
    "rotate": 4.0,  # degrees
    "contrast": 0.6,  # of the distance to the mean, more
    "brightness": 50.0,  # grey levels
    "blur": 3.0,  # pixels of 320, standard deviation
}
"""What severity 1 of each is; DeepTest goes up to several times as far."""


@dataclass(frozen=True)
class Distortion(Change):
    """One of `KINDS`, and how much of it: 1 or -1 is the full severity."""

    kind: str
    amount: float

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:+.2f}"


@recorded
def deeptest(*, kind: str | None = None, speed: float = 10.0, steering: float | None = None) -> Relation:
    """The picture is moved, turned, sheared, enlarged, blurred or lit otherwise: the answer stays the same.

    `kind` is one of them; without it each case draws one. `speed` (percent) and `steering` (degrees; 20 at
    the steering wheel, 1.39 at the road wheels) are how far an answer may move. Severities from 0 to 1 can be
    swept where the kind is given.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)

    def draw(source: Observation, rng: np.random.Generator) -> Distortion:
        name = kind if kind is not None else str(rng.choice(list(KINDS)))
        sign = 1.0 if name == "blur" or rng.random() < 0.5 else -1.0
        return Distortion(name, round(sign * float(rng.uniform(0.2, 1.0)), 3))

    def apply(image: Image, change: Distortion) -> Image:
        return distort(image, change.kind, change.amount)

    def at(source: Observation, level: float) -> Distortion:
        assert kind is not None, "only one kind has a severity"
        return Distortion(kind, level)

    name = "deeptest" if kind is None else f"deeptest-{kind}"
    severity = None if kind is None else Range(0, 1, "of the full severity", at=at)
    task = driving(speed=speed, steering=steering)
    return Relation(name, task, apply, draw=draw, severity=severity, smaller=_weaker)


def _weaker(source: Observation, change: Distortion) -> Iterator[list[Distortion]]:
    sign = 1 if change.amount > 0 else -1
    hundredths = range(1, math.ceil(100 * abs(change.amount)))
    yield [dataclasses.replace(change, amount=sign * n / 100) for n in hundredths]


def distort(image: Image, kind: str, amount: float) -> Image:
    """The picture changed; what comes in from beyond its border repeats the border."""
    height, width = image.shape[:2]
    size = KINDS[kind] * amount
    if kind == "contrast":
        mean = float(image.mean())
        return _clip((image.astype(np.float32) - mean) * (1 + size) + mean)
    if kind == "brightness":
        return _clip(image.astype(np.float32) + size)
    if kind == "blur":
        sigma = abs(size) * width / 320
        return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.1 else image, np.uint8)
    middle = np.array([[1, 0, width / 2], [0, 1, height / 2], [0, 0, 1]])
    matrix = middle @ _linear(kind, size, width) @ np.linalg.inv(middle)
    warped = cv2.warpAffine(
        image, matrix[:2], (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(warped, np.uint8)


def _clip(values: np.ndarray[Any, Any]) -> Image:
    return np.asarray(np.clip(values, 0, 255), np.uint8)


def _linear(kind: str, size: float, width: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    cosine, sine = math.cos(math.radians(size)), math.sin(math.radians(size))
    rows = {
        "translate": [[1, 0, size * width], [0, 1, 0], [0, 0, 1]],
        "scale": [[1 + size, 0, 0], [0, 1 + size, 0], [0, 0, 1]],
        "shear": [[1, size, 0], [0, 1, 0], [0, 0, 1]],
        "rotate": [[cosine, sine, 0], [-sine, cosine, 0], [0, 0, 1]],
    }
    return np.array(rows[kind], np.float64)
