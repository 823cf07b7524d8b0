"""DeepTest's changes of the whole picture: affine ones, contrast, brightness and blur.

None of them should matter to a driver as long as it is small: the answer must stay the same.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.errors import UnknownName
from instar.core.relation import Relation
from instar.core.scene import Image, Observation
from instar.core.verdict import Finding, Verdict
from instar.imaging.nulls import Conditioned, again, null, null_made, under
from instar.tasks.driving.answers import accept
from instar.tasks.driving.judgement import judge_block
from instar.tasks.driving.rules.model import Expectation
from instar.worlds.drive.picture import drive_of, showing

__all__ = ["KINDS", "Distorted", "deeptest", "distorted"]

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
class Distorted(Conditioned):
    """One of `KINDS`, and how much of it: 1 or -1 is the full severity."""

    kind: str
    amount: float

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:+.2f}"


def distorted(image: Image, kind: str, amount: float) -> Image:
    """The picture changed; what comes in from beyond its border repeats the border."""
    height, width = image.shape[:2]
    size = KINDS[kind] * amount
    if kind == "contrast":
        mean = float(image.mean())
        return _cut((image.astype(np.float32) - mean) * (1 + size) + mean)
    if kind == "brightness":
        return _cut(image.astype(np.float32) + size)
    if kind == "blur":
        sigma = abs(size) * width / 320
        return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma) if sigma > 0.1 else image, np.uint8)
    middle = np.array([[1, 0, width / 2], [0, 1, height / 2], [0, 0, 1]])
    matrix = middle @ _linear(kind, size, width) @ np.linalg.inv(middle)
    warped = cv2.warpAffine(
        image, matrix[:2], (width, height), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(warped, np.uint8)


def _cut(values: np.ndarray[Any, Any]) -> Image:
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


def deeptest(*, kind: str | None = None, speed: float = 10.0, steering: float = 1.39) -> Relation:
    """The picture is moved, turned, sheared, enlarged, blurred or lit otherwise: the answer stays the same.

    `kind` is one of them; without it each case draws one. `speed` (percent) and `steering` (degrees) are how
    far an answer may move. Severities from 0 to 1 can be swept where the kind is given.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind", kind, KINDS)
    same = {
        "speed": Expectation("speed", "same", "at most", speed, "%"),
        "steering": Expectation("steering", "same", "at most", steering, "degrees"),
    }

    def draw(source: Observation, rng: np.random.Generator) -> Change:
        name = kind if kind is not None else str(rng.choice(list(KINDS)))
        sign = 1.0 if name == "blur" or rng.random() < 0.5 else -1.0
        return Distorted(name, round(sign * float(rng.uniform(0.2, 1.0)), 3))

    def at(source: Observation, level: float) -> Change | Inapplicable:
        return Distorted(kind, level) if kind is not None else Inapplicable("no kind was given")

    def apply(image: Any, change: Change) -> tuple[Any, ...]:
        if not isinstance(change, Distorted):
            return (showing(null_made(image, change), drive_of(image)),)
        made = distorted(under(image, change.condition), change.kind, change.amount)
        return (showing(made, drive_of(image)),)

    def check(source: Observation, follow_ups: Sequence[Observation], change: Change) -> Verdict:
        return _compared(source.answer, follow_ups[0].answer, same)

    def smaller(source: Observation, change: Change) -> Iterator[list[Change]]:
        if isinstance(change, Distorted):
            sign = 1 if change.amount > 0 else -1
            hundredths = range(1, math.ceil(100 * abs(change.amount)))
            yield [dataclasses.replace(change, amount=sign * n / 100) for n in hundredths]

    name = "deeptest" if kind is None else f"deeptest-{kind}"
    return Relation(
        name,
        draw,
        apply,
        check,
        null=null,
        again=again,
        at=None if kind is None else at,
        smaller=smaller,
        accept=accept,
    )


def _compared(before: Any, after: Any, same: Mapping[str, Expectation]) -> Verdict:
    findings, margins = [], []
    for quantity, expectation in same.items():
        values = [getattr(before, quantity), getattr(after, quantity)]
        if None in values:
            continue
        judged = judge_block(expectation, values, 1)
        if judged.held is None:
            continue
        if judged.held:
            margins.append(judged.margin)
        else:
            findings.append(Finding(f"{quantity} same", quantity, judged.margin))
    evidence: dict[str, Any] = {"answers": [dataclasses.asdict(before), dataclasses.asdict(after)]}
    if findings:
        return Verdict.violated(findings, **evidence)
    if not margins:
        return Verdict.inapplicable("the ego-vehicle already stands", **evidence)
    return Verdict.held(min(margins), **evidence)
