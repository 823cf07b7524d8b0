"""Changes after which a picture shows what it showed, each in the range where nobody would disagree."""

from __future__ import annotations

import cv2
import numpy as np

from instar.core.relation import Range, Relation
from instar.core.scene import Image
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.photometric import relit
from instar.tasks.classification.task import TASK

__all__ = ["blurred", "brightened", "contrast", "darkened", "jpeg", "mirrored", "noise", "rotated", "zoomed"]


def _blur(picture: Image, percent: float) -> Image:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), percent / 100 * min(picture.shape[:2])), np.uint8)


def _add_noise(picture: Image, levels: float) -> Image:
    grain = np.random.default_rng(0).normal(0, levels, picture.shape)  # the same grain at every strength
    return np.clip(np.rint(picture + grain), 0, 255).astype(np.uint8)


def _turn(picture: Image, degrees: float, scale: float = 1.0) -> Image:
    """About the centre; corners that come free mirror what is beside them."""
    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, scale)
    turned = cv2.warpAffine(picture, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(turned, np.uint8)


mirrored = Relation("mirrored", TASK, lambda p, _: p[:, ::-1])
brightened = Relation("brightened", TASK, lambda p, x: relit(p, 1, x), severity=Range(5, 50, "grey levels"))
darkened = Relation("darkened", TASK, lambda p, x: relit(p, 1, -x), severity=Range(5, 50, "grey levels"))
contrast = Relation(
    "contrast", TASK, lambda p, x: relit(p, 1 - x / 100, 1.275 * x), severity=Range(5, 40, "percent less")
)
blurred = Relation("blurred", TASK, _blur, severity=Range(0.2, 0.8, "percent of the shorter side"))
noise = Relation("noise", TASK, _add_noise, severity=Range(2, 15, "grey levels"))
jpeg = Relation(
    "jpeg", TASK, lambda p, x: jpeg_round_trip(p, round(100 - x)), severity=Range(10, 70, "below quality 100")
)
rotated = Relation("rotated", TASK, _turn, severity=Range(2, 10, "degrees"))
zoomed = Relation("zoomed", TASK, lambda p, x: _turn(p, 0, 1 + x / 100), severity=Range(3, 20, "percent"))
