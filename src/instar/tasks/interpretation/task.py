"""Interpretation as a task: why does a picture show a class? The answer is a heat map, compared by boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.frame import Frame, Matrix
from instar.core.marks import Mark, Panel
from instar.core.scene import Image, Observation, Scene
from instar.core.task import Null, Nulls, Questions, Task
from instar.core.verdict import Verdict
from instar.imaging.nulls import Brighten, Reencode, Shift, draw_null, usual_strikers
from instar.tasks.interpretation.answers import Asked, Classes, Explanation, HeatMap, read, read_classes
from instar.tasks.interpretation.boxes import KEPT_SHARE, locate_heat
from instar.tasks.interpretation.compare import Settings, same_explanation
from instar.tasks.interpretation.known_objects import KnownObjects
from instar.tasks.interpretation.measures import hot_grid
from instar.tasks.interpretation.trigger import Trigger


@dataclass(frozen=True)
class Reseed(Null):
    """The same picture, with other lots drawn by an interpreter that draws some."""

    seed: int

    def apply(self, picture: Image) -> Image:
        return picture

    def ask(self, question: Asked) -> Asked:
        return replace(question, seed=self.seed)

    def __str__(self) -> str:
        return f"lots drawn anew ({self.seed})"


@cache  # relations with the same settings share one task, so that its questions are asked once
def interpretation(
    settings: Settings = Settings(),  # noqa: B008  # frozen
    known: KnownObjects = KnownObjects(),  # noqa: B008  # frozen
) -> Task:
    """The task with other settings than the usual ones; `known` tells the objects of scenes."""

    def compare(before: Observation, after: Observation) -> Verdict:
        asked: Asked = before.input
        objects = known.boxes_of(before.scene, asked)
        return same_explanation(
            before.answer, after.answer, size_of(asked.image), objects=objects, settings=settings
        )

    return Task(
        "interpretation",
        read,
        compare,
        partial(marks, kept=settings.kept),
        carry=carry,
        questions=_questions_about(settings.beta),
        nulls=NULLS,
        picture=lambda asked: asked.image,
        with_picture=lambda asked, picture: replace(asked, image=picture),
    )


@cache
def _questions_about(beta: float) -> Callable[[Scene], Questions]:
    def questions(scene: Scene) -> Questions:
        """One question for every class that the classifier is sure of, the surest other class beside it.

        Of a twin with a backdoor the stamped picture is asked about, and the class that the trigger stands
        for.
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
        ranked = sorted(seen.confidences, key=lambda label: -seen.confidences[label])
        others = {label: next((one for one in ranked if one != label), "") for label in sure}
        return [(label, partial(Asked, label=label, other=others[label])) for label in sure]

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
    here, shown = _warp(after.heat, frame.matrix, frame.size, frame.source_size)
    there = _resize(before.heat, frame.source_size)
    return replace(before, heat=there * shown), replace(after, heat=here * shown)


def _warp(
    heat: HeatMap, matrix: Matrix, size: tuple[int, int], target: tuple[int, int]
) -> tuple[HeatMap, HeatMap]:
    """A map over a picture of `size` (height, width), on one of `target` size whose points `matrix` sends
    into the picture; and 1 where they are in it, 0 where they are not.
    """
    centres = _TO_CENTRES @ matrix @ np.linalg.inv(_TO_CENTRES)  # OpenCV counts from centres of pixels
    warp: Any = cv2.warpPerspective
    if (centres[2] == (0, 0, 1)).all():
        warp, centres = cv2.warpAffine, centres[:2]  # the same in less than half of the time
    back, edges, whole = cv2.WARP_INVERSE_MAP, cv2.BORDER_REPLICATE, np.ones(size, np.float32)
    here = warp(_resize(heat, size), centres, target[::-1], flags=cv2.INTER_LINEAR | back, borderMode=edges)
    shown = warp(whole, centres, target[::-1], flags=cv2.INTER_NEAREST | back)
    return np.asarray(here, np.float32), np.asarray(shown, np.float32)


_TO_CENTRES = np.array([[1, 0, -0.5], [0, 1, -0.5], [0, 0, 1]])


def _resize(heat: HeatMap, size: tuple[int, int]) -> HeatMap:
    return np.asarray(cv2.resize(heat, size[::-1], interpolation=cv2.INTER_LINEAR), np.float32)


def marks(seen: Observation, *, kept: float = KEPT_SHARE) -> Panel:
    """The picture under its heat map, and the box that this points at."""
    asked: Asked = seen.input
    found: Explanation = seen.answer
    size, heat = size_of(asked.image), found.heat
    if seen.frame is not None:  # the answer is in the source's frame, the picture is the follow-up's
        heat, _ = _warp(heat, seen.frame.back, seen.frame.source_size, size)
        size = seen.frame.source_size
    where = locate_heat(found.heat, size, kept=kept).whole
    boxes = () if where is None else (Mark.box(where, label="explanation", subject="explanation"),)
    return Panel(f"{asked.label} {found.confidence:.2f}", asked.image, boxes, heat=hot_grid(heat))


def size_of(image: Image) -> tuple[int, int]:
    """(height, width)"""
    return image.shape[0], image.shape[1]


TASK = interpretation()
