"""Systems, relations and searches as a user would write them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import instar.core.search
from instar.core.change import Change
from instar.core.errors import Temporary
from instar.core.marks import Dial, Panel
from instar.core.relation import Relation
from instar.core.scene import Observation
from instar.core.task import Task
from instar.core.verdict import Verdict


class Detector:
    """A system as a class."""

    name = "detector"

    def __init__(self, *, confidence: float = 0.5) -> None:
        self.confidence = confidence

    def predict(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return [self.confidence for _ in inputs]


ready = Detector(confidence=0.9)


def make(*, confidence: float = 0.1) -> Detector:
    """A system by a factory."""
    return Detector(confidence=confidence)


def load(weights: str) -> Detector:
    """A factory that must be told something, or a predict function: options decide."""
    return Detector(confidence=len(weights))


class Grey:
    """The mean grey level, times a gain."""

    name = "grey"

    def __init__(self, *, gain: float = 1.0) -> None:
        self.gain = gain

    def predict(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return [self.gain * grey for grey in brightness(inputs)]


grey = Grey()


def brightness(images: Sequence[Any]) -> list[float]:
    """A system that is only a function: the mean grey level."""
    return [float(np.mean(image)) for image in images]


def broken(images: Sequence[Any]) -> list[float]:
    raise RuntimeError("no device")


def hanging(images: Sequence[Any]) -> list[float]:
    """Never answers while there is a file called hang."""
    while Path("hang").exists():
        time.sleep(0.1)
    return brightness(images)


def overloaded(images: Sequence[Any]) -> list[float]:
    """Asks for patience while there is a file called busy, in which it counts the questions."""
    if Path("busy").exists():
        with open("busy", "a") as calls:
            calls.write("x")
        raise Temporary("too many requests")
    return brightness(images)


def noisy(images: Sequence[Any]) -> list[float]:
    print("I print where only JSON should be")
    return brightness(images)


def not_a_system() -> int:
    return 3


number = 3


@dataclass(frozen=True)
class Gain(Change):
    gain: float


def _draw(source: Observation, rng: np.random.Generator) -> Gain:
    return Gain(float(rng.uniform(0.5, 0.9)))


def _apply(image: Any, change: Gain) -> Any:
    return np.clip(image * np.float32(change.gain), 0, 255).astype(np.uint8)


def _read(asked: Any, answer: Any) -> float:
    return float(answer)


def _compare(before: Observation, after: Observation) -> Verdict:
    return Verdict.at_most(abs(after.answer - before.answer), 30.0, "grey levels")


def _marks(seen: Observation) -> Panel:
    return Panel("", seen.input, dials=(Dial("grey", seen.answer, "", 0.0, 255.0),))


grey_level = Task("grey level", _read, _compare, _marks)
darker = Relation("darker", grey_level, _apply, draw=_draw)


def darkening(*, tolerance: float = 30.0) -> Relation:
    """A relation by a factory: a darker picture must not change the answer by more than the tolerance."""

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Gain) -> Verdict:
        return Verdict.at_most(abs(follow_ups[0].answer - source.answer), tolerance, "grey levels")

    return Relation("darkening", grey_level, _apply, draw=_draw, expect=expect)


def defective() -> Relation:
    """A relation with a defect of its own."""

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Gain) -> Verdict:
        raise ZeroDivisionError("in the relation")

    return Relation("defective", grey_level, _apply, draw=_draw, expect=expect)


def leaving() -> Relation:
    """A relation that ends the program as if all were well."""

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Gain) -> Verdict:
        sys.exit(0)

    return Relation("leaving", grey_level, _apply, draw=_draw, expect=expect)


def leaves() -> Detector:
    """A factory that ends the program as if all were well."""
    sys.exit(0)


def among(levels: list[float]) -> instar.core.search.Search:
    """A search that must be told something."""
    return instar.core.search.sweep(levels)


def three() -> instar.core.search.Search:
    """A search of one's own."""
    return instar.core.search.draws(3)


def of_one_by_name(image):
    return {"boxes": [[0, 0, 5, 5]], "labels": [1], "scores": [float(image.max()) / 255]}


def of_one_by_trying(thing):
    height, width = thing.shape[:2]  # a list has none
    return {"boxes": [[0, 0, width, height]], "labels": [0], "scores": [0.5]}


def of_many_by_trying(things):
    return [{"boxes": [[0, 0, 4, 4]], "labels": [0], "scores": [0.5]} for _ in things]


class Numbers:
    name = "numbers"

    def predict(self, images):
        return [np.array([[0, 0, 5, 5, 0.5, 1.0]]) for _ in images]


class Nameless:
    """A system without a name, which gets the one that it is called by."""

    def predict(self, images: Sequence[Any]) -> Sequence[Any]:
        return [[{"label": "dog", "score": 0.9, "box": [1, 1, 4, 4]}] for _ in images]


nameless = Nameless()


def make_function() -> Any:
    """A factory of a function."""

    def find(image: Any) -> Any:
        return Nameless().predict([image])[0]

    return find


class callable_one:
    """Objects that are functions of a picture."""

    def __call__(self, image: Any) -> Any:
        return Nameless().predict([image])[0]
