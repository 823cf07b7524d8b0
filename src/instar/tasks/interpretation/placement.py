"""Choosing a change: what to paste where, which object to remove, and what of the background to squeeze."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Mask, Observation, SceneObject
from instar.cutouts import CutOut, Pool, anywhere, free_places, one_of
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Boxes, mask_bounds
from instar.imaging.inpaint import Filling
from instar.imaging.mask_text import mask_to_text
from instar.imaging.naturalness import hog_intersection
from instar.imaging.paste import RGBA
from instar.imaging.photometric import light_of
from instar.tasks.interpretation.answers import Asked, HeatMap
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.changes import Delete, Insert, Squeeze, Squeezing, paste_object
from instar.tasks.interpretation.known_objects import KnownObjects, box_mask, mask_of

PLACEMENT_TRIES = 8
CUTOUT_SCALES = (1.0, 0.75, 0.5)  # of a cut-out, from the largest down until one has a place
LARGEST = 0.4  # of the picture's sides that a pasted object has at most
LEAST_PASTED_SIDE = 12
NATURAL = 0.8  # HOG intersection with the picture as it was: unrelated pictures have a third
DELETED = (0.004, 0.3)  # of the picture: less is a speck, and more leaves nothing to fill from
LEAST_HOLE = 0.7  # of the object's own mask; with less of it gone its rest would still be seen
HOLE_MARGIN, KEPT_MARGIN = 4, 2  # pixels around a mask that still show the object's edge
LEAST_BACKGROUND = 0.05  # of the picture
MARKED = 0.05  # of what an explanation marks may be changed


def choose_insertion(
    source: Observation, known: KnownObjects, pool: Pool, rng: np.random.Generator
) -> Insert | Inapplicable:
    """A cut-out of another class, from another scene, clear of all that is known and natural by HOG.

    Of another class, because an explanation may well look at one more object of its own.
    """
    scene, asked = source.scene, source.input
    fit = [one for one in pool.cutouts if one.label != asked.label and one.scene != scene.id]
    if not fit:
        return Inapplicable("no cut-out of another class")
    taken = known.taken(source)
    feet = [thing.box[3] for thing in known.objects(scene)]
    placed = False
    for _ in range(PLACEMENT_TRIES):
        cutout = fit[int(rng.integers(len(fit)))]
        change = _place(cutout, asked, taken, feet, pool.pixels(cutout.digest), rng)
        if change is None or _is_marked(source, change.part):
            continue
        placed = True
        made = paste_object(asked.image, change, pool)
        if hog_intersection(asked.image, made, changed=change.box) >= NATURAL:
            return change
    return Inapplicable("no natural place" if placed else "no free place")


def _place(
    cutout: CutOut,
    asked: Asked,
    taken: Boxes,
    feet: list[float],
    pixels: RGBA,
    rng: np.random.Generator,
) -> Insert | None:
    rows, columns = asked.image.shape[:2]
    whole = min(1.0, LARGEST * rows / cutout.height, LARGEST * columns / cutout.width)
    for factor in CUTOUT_SCALES:
        height, width = round(cutout.height * whole * factor), round(cutout.width * whole * factor)
        if min(height, width) < LEAST_PASTED_SIDE:
            return None
        window = anywhere((rows, columns), (height, width))
        windows = [window]
        if feet:  # it should stand where other things stand
            windows.insert(0, window.rows(min(feet) - 1.1 * height, max(feet) - 0.9 * height))
        for one in windows:
            places = free_places(one, (height, width), taken)
            if places.any():
                x, y = one_of(places, one, rng)
                halfway = (_light(asked.image) - _light_of_cutout(pixels)) / 2
                offset = round(float(np.clip(halfway, -30, 30)), 1)
                return Insert(cutout.digest, cutout.label, x, y, width, height, offset)
    return None


def choose_deletion(
    source: Observation, rng: np.random.Generator, *, known: KnownObjects, filling: Filling, same: bool
) -> Delete | Inapplicable:
    """An object that can be removed whole: of another class, or with `same` one of several of the asked."""
    asked, things = source.input, known.objects(source.scene)
    if same and sum(thing.label == asked.label for thing in things) < 2:
        return Inapplicable("no second object of the class")
    fit = [i for i, thing in enumerate(things) if (thing.label == asked.label) == same and not thing.crowd]
    if not fit:
        return Inapplicable("no object of the class" if same else "no object of another class")
    for i in rng.permutation(fit).tolist():
        hole = _hole(source, i, known)
        if hole is not None and (same or not _is_marked(source, hole)):
            thing = things[i]
            x1, y1, x2, y2 = map(float, thing.box)
            return Delete(thing.label, (x1, y1, x2, y2), _as_text(hole), filling)
    return Inapplicable("no object that can be removed whole")


def choose_deletion_placebo(
    source: Observation, rng: np.random.Generator, *, known: KnownObjects, filling: Filling, same: bool
) -> Delete | Inapplicable:
    """A hole of the size and shape that a removed object leaves, at the place where nothing known is."""
    drawn = choose_deletion(source, rng, known=known, filling=filling, same=same)
    if isinstance(drawn, Inapplicable):
        return drawn
    hole = drawn.mask
    x1, y1, x2, y2 = mask_bounds(hole) or (0, 0, 1, 1)
    shape = (y2 - y1, x2 - x1)
    window = anywhere((hole.shape[0], hole.shape[1]), shape)
    places = free_places(window, shape, known.taken(source))
    if not places.any():
        return Inapplicable("no free place")
    x, y = one_of(places, window, rng)
    moved = np.zeros_like(hole)
    moved[y : y + shape[0], x : x + shape[1]] = hole[y1:y2, x1:x2]
    box = (float(x), float(y), float(x + shape[1]), float(y + shape[0]))
    return Delete(drawn.label, box, mask_to_text(moved), filling)


def _is_marked(source: Observation, where: Mask | tuple[slice, slice]) -> bool:
    """Whether the explanation marks what would be changed: then it may well be another one afterwards."""
    rows, columns = source.input.image.shape[:2]
    marked, count = _marked(source.answer.heat, (rows, columns))
    return bool(np.count_nonzero(marked[where]) > MARKED * count)


@by_identity(8)
def _marked(heat: HeatMap, shape: tuple[int, int]) -> tuple[Mask, int]:
    """Which pixels it marks, and how many these are."""
    large = cv2.resize(heat, shape[::-1], interpolation=cv2.INTER_LINEAR)
    marked = np.asarray(large > KEPT_SHARE * float(large.max()))
    return marked, int(np.count_nonzero(marked))


def _mean_light(image: npt.NDArray[np.uint8]) -> float:
    return light_of(image).mean


_light, _light_of_cutout = by_identity(8)(_mean_light), by_identity(64)(_mean_light)


_as_text = by_identity(16)(mask_to_text)


@by_identity(16)  # each of a few things is drawn several times
def _hole(source: Observation, i: int, known: KnownObjects) -> Mask | None:
    """The pixels to fill; None where the object is too small or large, or too much behind others."""
    things = known.objects(source.scene)
    size = (source.input.image.shape[0], source.input.image.shape[1])
    own = mask_of(things[i], size)
    share = np.count_nonzero(own) / own.size
    if not DELETED[0] <= share <= DELETED[1]:
        return None
    others = (*things[:i], *things[i + 1 :])
    hole = mask_of(things[i], size, margin=HOLE_MARGIN) & ~_covered(others, source, known)
    return hole if np.count_nonzero(hole & own) >= LEAST_HOLE * np.count_nonzero(own) else None


def _covered(
    things: Iterable[SceneObject], source: Observation, known: KnownObjects, *, margin: int = 0
) -> Mask:
    """Where any of the objects is, the trigger, or what the explanation marks where neither is known."""
    asked: Asked = source.input
    size = (asked.image.shape[0], asked.image.shape[1])
    covered = np.zeros(size, np.bool_)
    if asked.trigger is not None or not known.boxes_of(source.scene, asked):
        for box in known.reasons(source):
            covered |= box_mask(box, size)
    for thing in things:
        covered |= mask_of(thing, size, margin=margin)
    return covered


def choose_squeeze(
    source: Observation, known: KnownObjects, how: Squeezing, strength: int
) -> Squeeze | Inapplicable:
    """The background, all of it; every known object and the trigger stay as they are."""
    kept = _kept(source, known)
    return Inapplicable("no background") if kept is None else Squeeze(how, strength, kept)


@by_identity(8)
def _kept(source: Observation, known: KnownObjects) -> str | None:
    """All that is known, as text: every way to squeeze keeps it. None where hardly anything else is there."""
    kept = _covered(known.objects(source.scene), source, known, margin=KEPT_MARGIN)
    return None if np.count_nonzero(~kept) < LEAST_BACKGROUND * kept.size else mask_to_text(kept)
