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
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.compare import BETA, SUBJECT
from instar.tasks.interpretation.measures import hot_grid, is_empty
from instar.tasks.interpretation.relations.settings import Kept, settings_of
from instar.tasks.interpretation.task import NULLS

TILES = 3  # along each side
APART = 0.25  # of what is hot may lie in a part that is compared with it
COLD = 0.5  # of the heat of what is hot: a part with less matters less, says the map
MORE = 0.25  # of confidence that covering such a part may cost more
BLUR, EDGE = 1 / 16, 1 / 100  # of the longer side


@dataclass(frozen=True)
class Cover(Change):
    """The hottest ninth of the picture, as text, and the parts that the map leaves cold, by their numbers
    among the ninths of the picture and the mirror images of the hot part: each blurred in its own picture.
    """

    label: str
    hot: str
    cold: tuple[int, ...]

    def __str__(self) -> str:
        return "what is marked blurred, and what is left cold instead"


@recorded
def covered(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """Blur what the explanation marks, or what it leaves cold: the latter must not matter much more."""
    asked = Kept("covered", settings_of("covered", beta=beta, kept=kept))

    def expect(source: Observation, follow_ups: Sequence[Observation], change: Cover) -> Verdict:
        before, hot, *cold = (one.answer.confidence for one in (source, *follow_ups))
        sure = [round(one, 4) for one in (before, hot, min(cold))]
        evidence = {"label": source.input.label, "confidence": sure}
        if before < beta:
            return Verdict.inapplicable("the classifier is not sure of the class", **evidence)
        slack = MORE - (hot - min(cold))
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
    rows, columns = image.shape[:2]
    large = cv2.resize(hot_grid(heat), (columns, rows), interpolation=cv2.INTER_LINEAR)
    hot: Mask = (large > 0) & (large >= np.quantile(large, 1 - 1 / TILES**2))
    limit, overlap = COLD * float(large[hot].mean()), APART * np.count_nonzero(hot)
    cold = [
        i
        for i, part in enumerate(_parts(hot))
        if large[part].mean() <= limit and np.count_nonzero(hot & part) <= overlap
    ]
    if not cold:
        return Inapplicable("the explanation leaves nothing cold")
    return Cover(source.input.label, mask_to_text(hot), tuple(cold))


def _cover(picture: Image, change: Cover) -> tuple[Asked, ...]:
    hot = mask_from_text(change.hot)
    parts = _parts(hot)
    masks = [hot, *(parts[i] for i in change.cold)]
    return tuple(Asked(_blur(picture, mask), change.label, explain=False) for mask in masks)


def _parts(hot: Mask) -> list[Mask]:
    """The ninths of the picture, counted like words on a page, and three mirror images of what is hot."""
    row, column = (np.arange(side) * TILES // side for side in hot.shape)
    number = TILES * row[:, None] + column
    return [*(number == i for i in range(TILES**2)), hot[:, ::-1], hot[::-1], hot[::-1, ::-1]]


def _blur(picture: Image, mask: Mask) -> Image:
    side = max(mask.shape)
    faint = cv2.GaussianBlur(picture, (0, 0), BLUR * side).astype(np.float32)
    how_much = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), EDGE * side)[..., None]
    return np.asarray(np.rint(picture * (1 - how_much) + faint * how_much), np.uint8)
