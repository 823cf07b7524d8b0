"""A drawn street whose truth is known: what stands where is decided first, then drawn.

This one is for detectors. The street that a driver sees, with bends, weather and what a careful driver would
do, is `instar.worlds.drive`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from instar.core.errors import BadInput
from instar.core.scene import Image, Mask, Scene, SceneObject
from instar.imaging.labels import LabelMap
from instar.worlds.backdrop import BACKDROP_CLASSES, TO_KERB, WALL, draw_backdrop, label_backdrop
from instar.worlds.kept_pictures import keep_pictures
from instar.worlds.perspective import StreetCamera
from instar.worlds.sprites import draw_sprite

_MARGIN = 14
"""Pixels between any two objects, so that none hides another and none touches."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a class stands in the street, in metres.

    `lanes` are stretches across the street (left to right of the middle) where it may stand. `raised` is how
    high its lower edge hangs, on a pole that belongs to the street. `smallest` is the least height in
    pixels: farther objects are drawn no smaller, as they could not be recognised.
    """

    height: float
    aspect: float
    lanes: tuple[tuple[float, float], ...]
    smallest: int
    frequency: float = 1.0
    raised: float = 0.0


_PAVEMENTS = ((-WALL + 1.6, -TO_KERB - 0.8), (TO_KERB + 0.8, WALL - 1.6))
_KERBS = ((-TO_KERB - 0.6, -TO_KERB - 0.5), (TO_KERB + 0.5, TO_KERB + 0.6))
_LANES = ((-2.3, -1.7), (1.7, 2.3))

_KINDS: Mapping[str, _Kind] = {
    "person": _Kind(1.8, 0.42, (*_PAVEMENTS, *_PAVEMENTS, (-3.0, 3.0)), 58, 3.0),
    "car": _Kind(1.55, 1.2, _LANES, 34, 3.0),
    "bus": _Kind(3.1, 0.82, _LANES[:1], 60, 0.8),
    "truck": _Kind(3.2, 0.8, _LANES[1:], 60, 0.8),
    "bicycle": _Kind(1.15, 1.55, (*_PAVEMENTS, (-3.2, -2.8), (2.8, 3.2)), 36, 1.5),
    "dog": _Kind(0.95, 1.35, (*_PAVEMENTS, *_PAVEMENTS, (-2.5, 2.5)), 34, 1.5),
    "traffic light": _Kind(1.5, 0.46, _KERBS, 58, 1.0, raised=2.6),
    "stop sign": _Kind(1.0, 1.0, _KERBS, 34, 1.0, raised=2.2),
}


_CLASS_OF = {label: label for label in _KINDS} | {"dog": "animal", "stop sign": "traffic sign"}
"""What each object is called in the label map."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """An object in its place, in whole pixels, right and bottom exclusive.

    `foot` is the row where it, or its pole, meets the ground.
    """

    label: str
    left: int
    top: int
    right: int
    bottom: int
    foot: int
    mirrored: bool
    glow: float

    @property
    def size(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left

    def clear_of(self, other: _Standing) -> bool:
        """Whether there is a margin between the two, poles included."""
        return (
            self.left - other.right >= _MARGIN
            or other.left - self.right >= _MARGIN
            or self.top - other.foot >= _MARGIN
            or other.top - self.foot >= _MARGIN
        )


def scenes(n: int, *, seed: int = 0, size: tuple[int, int] = (480, 640)) -> list[Scene]:
    """`n` street scenes of `size` (height, width), each the same for the same seed and index.

    Nothing is drawn before it is looked at. The objects' boxes are exact; their masks are drawn on demand,
    and so is the `LabelMap` that `knowledge["labels"]()` gives.

    >>> [scene.id for scene in scenes(2)]
    ['street-0000', 'street-0001']
    """
    if n < 1:
        raise BadInput(f"street: {n} scenes; ask for at least 1")
    if size[0] < 200 or size[1] < 200:
        raise BadInput(f"street: size is {size[0]}x{size[1]}; each side must be at least 200 pixels")
    reader = keep_pictures(functools.partial(_draw, seed=seed, size=size), size)
    found = []
    for i in range(n):
        objects = tuple(_known(thing, size) for thing in _layout(i, seed=seed, size=size))
        labels = functools.partial(_labels, i, seed, size)
        found.append(Scene(f"street-{i:04}", reader(i), objects, {"labels": labels}))
    return found


def _known(thing: _Standing, size: tuple[int, int]) -> SceneObject:
    box = (float(thing.left), float(thing.top), float(thing.right), float(thing.bottom))
    return SceneObject(thing.label, box, mask=functools.partial(_mask, thing, size))


def _mask(thing: _Standing, size: tuple[int, int]) -> Mask:
    mask = np.zeros(size, np.bool_)
    sprite = draw_sprite(thing.label, thing.size, mirrored=thing.mirrored, glow=thing.glow)
    mask[thing.top : thing.bottom, thing.left : thing.right] = sprite.mask
    return mask


def _labels(index: int, seed: int, size: tuple[int, int]) -> LabelMap:
    """What every pixel shows: the street, and before it poles and objects, the nearest last."""
    names = (*BACKDROP_CLASSES, "pole", *_CLASS_OF.values())
    ids = label_backdrop(size, _camera(index, seed, size), np.random.default_rng([seed, index, 2]))
    standing = _layout(index, seed=seed, size=size)
    for thing in standing:
        if thing.foot > thing.bottom:
            left, right = _pole(thing)
            ids[thing.bottom - 4 : thing.foot + 1, left : right + 1] = names.index("pole")
    for thing in standing:
        ids[_mask(thing, size)] = names.index(_CLASS_OF[thing.label])
    return LabelMap(ids, names)


def _camera(index: int, seed: int, size: tuple[int, int]) -> StreetCamera:
    return StreetCamera.over(size, sway=float(np.random.default_rng([seed, index, 0]).uniform(-0.07, 0.07)))


def _layout(index: int, *, seed: int, size: tuple[int, int]) -> list[_Standing]:
    """Who stands where, nearest first. Places are tried until enough are found or enough were tried."""
    rng = np.random.default_rng([seed, index, 1])
    camera = _camera(index, seed, size)
    odds = np.array([kind.frequency for kind in _KINDS.values()])
    wanted = int(rng.integers(5, 10))
    standing: list[_Standing] = []
    for label in rng.choice(list(_KINDS), 12 * wanted, p=odds / odds.sum()):
        if len(standing) == wanted:
            break
        one = _stand(str(label), camera, size, rng)
        if one is not None and all(one.clear_of(other) for other in standing):
            standing.append(one)
    return sorted(standing, key=lambda thing: -thing.foot)


def _stand(
    label: str, camera: StreetCamera, size: tuple[int, int], rng: np.random.Generator
) -> _Standing | None:
    """One object somewhere on the ground; None where it would not be wholly in the picture."""
    kind = _KINDS[label]
    rows = rng.uniform(camera.horizon + 0.13 * size[0], size[0] - 6)
    depth = camera.depth(float(rows))
    first, last = kind.lanes[int(rng.integers(len(kind.lanes)))]
    middle, foot = camera.project(float(rng.uniform(first, last)), 0.0, depth)
    scale = max(camera.scale(depth), kind.smallest / kind.height)
    height = round(kind.height * scale)
    width = round(height * kind.aspect)
    left, bottom = round(float(middle) - width / 2), round(float(foot) - kind.raised * scale)
    top, right = bottom - height, left + width
    mirrored, glow = bool(rng.random() < 0.5), float(rng.uniform(0.93, 1.02))
    if left < 3 or top < 3 or right > size[1] - 3 or foot > size[0] - 3:
        return None
    return _Standing(label, left, top, right, bottom, round(float(foot)), mirrored, glow)


def _draw(index: int, *, seed: int, size: tuple[int, int]) -> Image:
    picture = draw_backdrop(size, _camera(index, seed, size), np.random.default_rng([seed, index, 2]))
    standing = _layout(index, seed=seed, size=size)
    for thing in standing:
        _ground(picture, thing)
    for thing in standing:
        sprite = draw_sprite(thing.label, thing.size, mirrored=thing.mirrored, glow=thing.glow)
        place = picture[thing.top : thing.bottom, thing.left : thing.right]
        share = cv2.merge([sprite.coverage] * 3)
        over = cv2.multiply(sprite.pixels, share, scale=1 / 255)
        place[:] = cv2.add(over, cv2.multiply(place, 255 - share, scale=1 / 255))
    return picture


def _ground(picture: Image, thing: _Standing) -> None:
    """What ties an object to the ground: the pole it hangs on, and its shadow."""
    middle, width = (thing.left + thing.right) // 2, thing.right - thing.left
    shadow = max(6, round(0.16 * width)) if thing.foot > thing.bottom else width
    reach, depth = round(0.56 * shadow), max(3, round(0.1 * shadow))
    top, bottom = max(0, thing.foot - depth - 1), thing.foot + depth + 1
    around = picture[top:bottom, max(0, middle - reach - 1) : middle + reach + 1]
    shade = np.full(around.shape[:2], 255, np.uint8)
    centre = (min(middle, reach + 1), thing.foot - 1 - top)
    cv2.ellipse(shade, centre, (reach, depth), 0, 0, 360, 172, cv2.FILLED, cv2.LINE_AA)
    around[:] = cv2.multiply(around, cv2.merge([shade] * 3), scale=1 / 255)
    if thing.foot > thing.bottom:
        (left, right), upper = _pole(thing), thing.bottom - 4
        cv2.rectangle(picture, (left, upper), (right, thing.foot), (84, 86, 92), cv2.FILLED)
        cv2.line(picture, (left + 1, upper), (left + 1, thing.foot), (128, 130, 136))


def _pole(thing: _Standing) -> tuple[int, int]:
    """The first and the last column of the pole that a raised object hangs on."""
    middle, half = (thing.left + thing.right) // 2, max(2, (thing.right - thing.left) // 14)
    return middle - half, middle + half
