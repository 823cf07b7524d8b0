"""A relation that asks the classifier itself: to cover what an explanation marks matters most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from instar.core.change import Change, Inapplicable
from instar.core.recipe import recorded
from instar.core.relation import Relation
from instar.core.scene import Image, Mask, Observation
from instar.core.task import Nulls
from instar.core.verdict import Finding, Verdict
from instar.imaging.mask_text import mask_from_text, mask_to_text
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.compare import BETA, SUBJECT
from instar.tasks.interpretation.measures import is_empty
from instar.tasks.interpretation.relations.settings import Kept, settings_of
from instar.tasks.interpretation.task import NULLS

__all__ = ["covered"]

SHARE = 0.12  # of the picture: the hottest part of the map
APART = 0.25  # of the two parts may be common
MORE = 0.2  # of confidence that covering the other part may cost more
BLUR, EDGE = 1 / 16, 1 / 100  # of the longer side


@dataclass(frozen=True)
class Cover(Change):
    """The hottest part of the map and its mirror image, each blurred in a picture of its own; as text."""

    hot: str
    other: str

    def __str__(self) -> str:
        return "what is marked blurred, and its mirror image instead"


@recorded
def covered(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """Blur what the explanation marks, or its mirror image: the latter must not matter much more."""
    asked = Kept("covered", settings_of("covered", beta=beta, kept=kept))

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Cover) -> Verdict:
        before, hot, other = (one.answer.confidence for one in (source, *follow_ups))
        sure = [round(one, 4) for one in (before, hot, other)]
        evidence = {"label": source.input.label, "confidence": sure}
        if before < beta:
            return Verdict.inapplicable("the classifier is not sure of the class", **evidence)
        slack = MORE - (hot - other)
        if slack >= 0:
            return Verdict.held(slack, **evidence)
        return Verdict.violated([Finding("beside the reason", SUBJECT, slack)], **evidence)

    # Confidences are compared, so that null changes cannot strike out anything.
    task = replace(asked.task, nulls=Nulls(None, None, NULLS.conditions))
    return Relation("covered", task, _cover, draw=_draw, expect=expect)


def _draw(source: Observation, rng: np.random.Generator) -> Cover | Inapplicable:
    heat, image = source.answer.heat, source.input.image
    if is_empty(heat):
        return Inapplicable("an explanation is empty")
    large = cv2.resize(heat, (image.shape[1], image.shape[0]), interpolation=cv2.INTER_LINEAR)
    hot: Mask = (large > 0) & (large >= np.quantile(large, 1 - SHARE))
    turned = (hot[:, ::-1], hot[::-1], hot[::-1, ::-1])
    apart = [one for one in turned if np.count_nonzero(one & hot) <= APART * np.count_nonzero(hot)]
    if not apart:
        return Inapplicable("the explanation is in the middle")
    other = apart[int(rng.integers(len(apart)))]
    return Cover(mask_to_text(hot), mask_to_text(np.ascontiguousarray(other)))


def _cover(picture: Image, change: Cover) -> tuple[Image, Image]:
    return _blur(picture, mask_from_text(change.hot)), _blur(picture, mask_from_text(change.other))


def _blur(picture: Image, mask: Mask) -> Image:
    side = max(mask.shape)
    faint = cv2.GaussianBlur(picture, (0, 0), BLUR * side).astype(np.float32)
    how_much = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), EDGE * side)[..., None]
    return np.asarray(np.rint(picture * (1 - how_much) + faint * how_much), np.uint8)
