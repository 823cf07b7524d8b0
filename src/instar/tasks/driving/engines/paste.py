"""Adding by pasting a cut-out where it can stand, as large as it is there."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from instar.core.change import Inapplicable
from instar.core.scene import Image
from instar.cutouts import CutOuts
from instar.cutouts.pool import CutOut
from instar.imaging.harmony import shaded, shaded_below
from instar.imaging.paste import pasted, resized, toned
from instar.imaging.photometric import light_of
from instar.tasks.driving.colours import colour_of, lamp_of, repaint
from instar.tasks.driving.engines import Edit, SceneView
from instar.tasks.driving.engines.appearance import at_home, weathered, well_lit
from instar.tasks.driving.engines.placement import (
    Placed,
    place_at,
    place_by,
    place_each,
    places,
)
from instar.tasks.driving.engines.placement import alter as alter
from instar.tasks.driving.engines.placement import less as less
from instar.tasks.driving.engines.placement import move as move
from instar.tasks.driving.engines.words import SIZE_FACTORS, unshown
from instar.tasks.driving.facing import faces
from instar.tasks.driving.gallery import FULL, TREE
from instar.tasks.driving.rules.model import Condition, Entity

SOFT = 90  # pixels high
LEAST_HEIGHT = 0.06  # of the picture; smaller ones could not be seen
GAINS = (0.6, 1.2)  # how far a cut-out's light is matched to the picture's
DAY, DRAWN_GAINS = 115.0, (0.3, 1.1)  # how light drawn days are, and how far models are matched to others
SHADOW, FLAT = 0.5, 0.22  # how dark the shadow at its feet is, and how high, of its width
UNDER = 1.6  # times as dark: the ground between wheels
FADING = 0.7  # how much of the light is taken that a darker scene lacks
ALIKE = 1.7  # times as light: cut-outs of such scenes look at home
ALONG = 1.5  # times as wide as high: a vehicle that is wider stands across the road
CHILD = 0.68  # of a grown-up's height
SHOWN = ("type", "color", "size", "age", "state", "heading")


def plan(condition: Condition, view: SceneView, rng: np.random.Generator) -> tuple[Edit, ...] | Inapplicable:
    """One paste for each thing that is added; two where the sentence leaves the number open."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    where, heights = places(condition), view.gallery.heights
    unsaid = unshown(condition, own=SHOWN, reference=("type", "position"), distance=where != "by")
    if unsaid is not None or isinstance(where, Inapplicable):
        return unsaid or where  # type: ignore[return-value]  # one of the two is why not

    ours = f"lane {view.gallery.keeps}"
    facing = {"path": "away", "lane own": "away", ours: "away", "lane opposite": "here"}.get(str(where), "")

    def place(view: SceneView) -> Placed:
        cutout = cutout_of(condition.thing, view, rng, facing=facing)
        if isinstance(cutout, Inapplicable):
            return cutout
        drawn, size = (
            paste_of(cutout, view, condition.thing),
            heights[cutout.label] * times_usual(condition.thing),
        )
        if where == "by":
            return place_by(drawn, condition, size, view, rng)
        return place_at(drawn, where, size, view, rng, condition.distance)

    return place_each(condition, view, place)


def cutout_of(
    thing: Entity, view: SceneView, rng: np.random.Generator, *, facing: str = ""
) -> CutOut | Inapplicable:
    """Any cut-out of what is wanted, from another scene, of the colour that is said or painted in it.

    Of vehicles that drive away from here, those that show their rear, and of those that come the others.
    """
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    kind, colour = thing.properties.get("type"), thing.properties.get("color")
    classes = [name for name in view.ontology.elements[thing.element].classes if kind is None or name == kind]
    cutouts = view.gallery.of(classes, not_from=view.scene)
    if not cutouts:
        return Inapplicable(f"no cut-out of a {kind or thing.element}")
    if thing.element == "vehicle" and facing:
        cutouts = [c for c in cutouts if faces(view.gallery.pool.pixels(c.digest), facing)] or cutouts
        cutouts = [c for c in cutouts if c.width <= ALONG * c.height] or cutouts
    if colour is not None:
        pool, is_light = view.gallery.pool, thing.element == "traffic light"
        every = cutouts
        cutouts = [c for c in every if _colour(pool.pixels(c.digest), is_light=is_light) == colour]
        if not cutouts and not is_light:
            cutouts = [c for c in every if repaint(pool.pixels(c.digest), colour) is not None]
        if not cutouts:
            return Inapplicable(f"no cut-out is {colour!r}")
    cutouts = _in_such_light(cutouts, view)
    return cutouts[int(rng.integers(len(cutouts)))]


def _colour(pixels: npt.NDArray[np.uint8], *, is_light: bool) -> str:
    picture, mask = np.asarray(pixels[..., :3], np.uint8), np.asarray(pixels[..., 3] >= 128)
    return lamp_of(picture[mask]) if is_light else colour_of(picture, mask)


def times_usual(thing: Entity) -> float:
    """How many times the usual size of its class the thing is."""
    child = CHILD if thing.properties.get("age") == "child" else 1.0
    return child * SIZE_FACTORS.get(thing.properties.get("size", ""), 1.0)


def _in_such_light(cutouts: list[CutOut], view: SceneView) -> list[CutOut]:
    """Those from scenes about as light as this one; all where there are none."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    lights, own = view.gallery.lights, light_of(view.image).mean
    alike = [c for c in cutouts if own / ALIKE <= lights.get(c.scene, own) <= own * ALIKE]
    return well_lit(alike or cutouts, view.gallery.pool, own)


def make(image: Image, edit: Edit, cutouts: CutOuts) -> Image:
    """The picture with the cut-out in it."""
    pixels = cutouts.pixels(edit["cutout"])
    if "paint" in edit:
        painted = repaint(pixels, edit["paint"])
        assert painted is not None, "it could be painted when the picture was planned"
        pixels = painted
    pixels = resized(pixels, edit["width"], edit["height"])
    # A soft edge is some pixels wide: of a small thing it would leave a ghost, and of branches nothing.
    is_soft = edit["height"] >= SOFT and edit["label"] != TREE
    blend: Literal["feather", "hard"] = "feather" if is_soft else "hard"
    x, y = edit["x"], edit["y"]
    if edit["label"] in FULL:
        image = shaded_below(image, pixels, x, y, UNDER * float(edit.get("shadow", 0)))
    else:
        box = (x, y, x + edit["width"], y + edit["height"])
        image = shaded(image, box, float(edit.get("shadow", 0)), FLAT)
    lit = toned(pixels, edit["gain"], edit["offset"])
    if edit.get("shadow"):  # a photograph
        lit = at_home(weathered(lit, seed=x) if edit.get("model") else lit, image, x, y)
    return pasted(image, lit, x, y, blend)


def paste_of(cutout: CutOut, view: SceneView, thing: Entity) -> Edit:
    """A paste that is not placed yet, in the light of the picture and the colour that is said."""
    assert view.gallery is not None, "a gallery is made before pictures are pasted"
    light, pool = light_of(view.image).mean, view.gallery.pool
    own = view.gallery.lights.get(cutout.scene) or light_of(pool.pixels(cutout.digest)).mean
    gain = float(np.clip(light / max(own, 1.0), *GAINS)) ** 0.5
    if view.drive is None and ALIKE * light < own:  # what was seen by day stands in the dusk now
        gain = (ALIKE * light / own) ** FADING * gain
    colour = thing.properties.get("color")
    is_painted = colour is not None and thing.element == "vehicle"
    is_painted = is_painted and _colour(pool.pixels(cutout.digest), is_light=False) != colour
    if view.drive is None and (is_painted or not cutout.scene):  # new paint and drawn models know only day
        gain = float(np.clip(light / DAY, *DRAWN_GAINS))
    return {
        **({"model": True} if view.drive is None and not cutout.scene else {}),
        **({"paint": colour} if is_painted else {}),
        "engine": "paste",
        "cutout": cutout.digest,
        "label": cutout.label,
        "aspect": cutout.width / cutout.height,
        "least": LEAST_HEIGHT,
        "gain": round(gain, 3),
        "offset": 0.0,
        "shadow": SHADOW if view.drive is None else 0.0,  # drawn drives have a light of their own
    }
