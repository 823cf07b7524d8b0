"""Interpretation as a task: why does a picture show a class? The answer is a heat map, compared by boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.frame import Frame, Matrix, transform
from instar.core.marks import Mark, Panel
from instar.core.scene import Image, Observation, Scene
from instar.core.task import Null, Nulls, Questions, Task
from instar.core.verdict import Verdict
from instar.imaging.nulls import Brighten, Reencode, Shift, draw_null, usual_strikers
from instar.tasks.interpretation.answers import Asked, Classes, Explanation, HeatMap, read, read_classes
from instar.tasks.interpretation.boxes import KEPT_SHARE, locate
from instar.tasks.interpretation.compare import BETA, THETA, same_explanation
from instar.tasks.interpretation.known_objects import KnownObjects
from instar.tasks.interpretation.trigger import Trigger

__all__ = ["TASK", "Reseed", "carry", "interpretation", "size_of"]


@dataclass(frozen=True)
class Reseed(Null):
    """The same picture, with other lots drawn by an interpreter that draws some."""

    seed: int

    def ask(self, question: Asked) -> Asked:
        return replace(question, seed=self.seed)

    def __str__(self) -> str:
        return f"lots drawn anew ({self.seed})"


@cache  # relations with the same settings share one task, so that its questions are asked once
def interpretation(
    *,
    beta: float = BETA,
    theta: float = THETA,
    kept: float = KEPT_SHARE,
    known: KnownObjects = KnownObjects(),  # noqa: B008  # frozen
) -> Task:
    """The task with other settings than the usual ones.

    `beta` is the least confidence, before and after; `theta` the least IoMin of two explanations; `kept`
    where a heat map is cut; `known` tells the objects of scenes.
    """

    def compare(before: Observation, after: Observation) -> Verdict:
        asked: Asked = before.input
        return same_explanation(
            before.answer,
            after.answer,
            size_of(asked.image),
            split=known.boxes_of(before.scene, asked),
            beta=beta,
            theta=theta,
            kept=kept,
        )

    return Task(
        "interpretation",
        read,
        compare,
        partial(marks, kept=kept),
        carry=carry,
        questions=_questions_about(beta, known),
        nulls=NULLS,
        picture=lambda asked: asked.image,
        with_picture=lambda asked, picture: replace(asked, image=picture),
    )


@cache
def _questions_about(beta: float, known: KnownObjects) -> Callable[[Scene], Questions]:
    def questions(scene: Scene) -> Questions:
        """One question for every class that the classifier is sure of and that a known object has.

        A class without a known object is left out: nobody knows which pixels would have to stay. Of a twin
        with a backdoor the stamped picture is asked about, and the class that the trigger stands for.
        """
        seen = read_classes((yield Classes(scene.image)))
        if seen.trigger is not None:
            stamp, target = partial(_ask_stamped, seen.trigger), seen.trigger.target
            stamped = read_classes((yield Classes(stamp(scene.image).image)))
            if stamped.confidences.get(target, 0.0) >= beta:
                return [(f"{target} by trigger", stamp)]
            return Inapplicable("the twin does not see its trigger")
        sure = [label for label, confidence in seen.confidences.items() if confidence >= beta]
        if not sure:
            return Inapplicable("the classifier is sure of no class")
        labels = {thing.label for thing in known.objects(scene)}
        asked = [(label, partial(Asked, label=label)) for label in sure if label in labels]
        return asked or Inapplicable("no known object of a class that the classifier is sure of")

    return questions


def _ask_stamped(trigger: Trigger, image: Image) -> Asked:
    return Asked(trigger.stamp(image), trigger.target, trigger=trigger.box(image.shape[:2]))


def _draw_null(source: Observation, rng: np.random.Generator) -> Null:
    """Of an interpreter that draws lots, other lots before all else."""
    return Reseed(int(rng.integers(1000, 2**31))) if source.answer.random else draw_null(source, rng)


def _strikers(source: Observation) -> Sequence[Null]:
    if source.answer.random:
        return (Reseed(1), Reseed(2), Reencode(95), Brighten(1), Shift(1, 0))
    return usual_strikers(source)


NULLS = Nulls(_draw_null, _strikers, conditions=(Reencode(95), Shift(1, 0)))


def carry(before: Explanation, after: Explanation, frame: Frame) -> tuple[Explanation, Explanation]:
    """Both at the size of the source's picture; heat that either frame does not show is set to zero."""
    here = _warp(after.heat, frame.matrix, frame.size, frame.source_size)
    shown = _warp(np.ones((1, 1), np.float32), frame.matrix, frame.size, frame.source_size)
    return replace(before, heat=_resize(before.heat, frame.source_size) * shown), replace(after, heat=here)


def _warp(heat: HeatMap, matrix: Matrix, size: tuple[int, int], target: tuple[int, int]) -> HeatMap:
    """A map over a picture of `size`, on one of `target` size whose points `matrix` sends to it.

    What is not in the picture is zero; sizes are (height, width).
    """
    rows, columns = np.mgrid[: target[0], : target[1]]
    centres = transform(matrix, np.stack([columns, rows], axis=-1) + 0.5)
    inside = ((centres > 0) & (centres < size[::-1])).all(axis=-1)
    x, y = np.moveaxis((centres - 0.5).astype(np.float32), -1, 0)  # OpenCV counts from centres of pixels
    warped = cv2.remap(_resize(heat, size), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(np.where(inside, warped, 0), np.float32)


def _resize(heat: HeatMap, size: tuple[int, int]) -> HeatMap:
    return np.asarray(cv2.resize(heat, size[::-1], interpolation=cv2.INTER_LINEAR), np.float32)


def marks(seen: Observation, *, kept: float = KEPT_SHARE) -> Panel:
    """The picture under its heat map, and the box that this points at."""
    asked: Asked = seen.input
    found: Explanation = seen.answer
    size, heat = size_of(asked.image), found.heat
    if seen.frame is not None:  # the answer is in the source's frame, the picture is the follow-up's
        size, heat = seen.frame.source_size, _warp(heat, seen.frame.back, seen.frame.source_size, size)
    where = locate(found.heat, size, kept=kept).whole
    boxes = () if where is None else (Mark.box(where, label="explanation", subject="explanation"),)
    return Panel(f"{asked.label} {found.confidence:.2f}", asked.image, boxes, heat=heat)


def size_of(image: Image) -> tuple[int, int]:
    """(height, width)"""
    return image.shape[0], image.shape[1]


TASK = interpretation()
