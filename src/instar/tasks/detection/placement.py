"""Where an object can be pasted, and how it gets the light, sharpness and grain of its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Image, Observation
from instar.cutouts import Pool
from instar.imaging.by_identity import by_identity
from instar.imaging.geometry import Box
from instar.imaging.harmony import cast_of, edges_and_grain
from instar.imaging.paste import RGBA, resized
from instar.imaging.photometric import LightAverages, light_of
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.ground_places import standing_placements
from instar.tasks.detection.paper_places import paper_places
from instar.tasks.detection.places import (
    METHODS,
    Placement,
    Placements,
    Scale,
    Way,
    crop_box,
)

NO_PLACE = "no free place"
COLOURFUL = 14.0  # grey levels between the channels: a picture with less on average has little colour
AROUND = 0.4  # of the sides of a place: its surroundings
MOST_SIDE = 200  # pixels of what is measured: more cost time and tell nothing
CRISP = 0.6  # sigma in pixels of an edge after shrinking
SOFTEST, GRAINIEST = 2.5, 12.0  # pixels, grey levels: no cut-out is changed by more


@dataclass(frozen=True, slots=True)
class LookMatch:
    """What is done to a cut-out so that it looks at home; see `Insertion`."""

    gain: float
    offset: float
    saturation: float
    cast: tuple[float, float, float]
    blur: float
    grain: float


def find_placements(
    source: Observation, pool: Pool, *, hysteresis: float, scale: Scale, way: Way, beside_halves: bool = False
) -> Placements | Inapplicable:
    """Every way to paste something into a picture without covering what was found.

    - guided: each cut-out on the ring around each found object;
    - random: each cut-out anywhere;
    - close: several cut-outs of each class, in several sizes, right beside each found object.

    All are listed before one is drawn. A crowded picture has few, and only a list tells that it has none.
    With the scale of the paper, and anywhere, only classes that were found are pasted; else see `standing`.
    """
    answer: Detections = source.answer
    found = np.flatnonzero(answer.scores >= answer.confidence)
    if not len(found):
        return Inapplicable("nothing found in the source")
    taken = answer.boxes[answer.scores >= answer.confidence - hysteresis]
    options: tuple[Placement, ...]
    if scale == "paper" or way == "random":
        options = tuple(paper_places(source, found, taken, pool, METHODS[way]))
    else:
        method = METHODS[way]
        options = standing_placements(source, found, taken, pool, method, beside_halves=beside_halves)
    if options:
        return Placements(options, taken)
    known = any(canonical_class(answer.labels[i]) in pool for i in found)
    return Inapplicable(NO_PLACE if known else "no cut-out of its class")


def match_look(cutout: RGBA, image: Image, place: Placement, x: int, y: int) -> LookMatch:
    """The changes that bring a cut-out halfway into the light of its place, and as soft and grainy as it."""
    height, width = place.size
    dx, dy = round(AROUND * width) + 8, round(AROUND * height) + 8
    around = image[max(0, y - dy) : y + height + dy, max(0, x - dx) : x + width + dx]
    small = resized(cutout, width, height)
    nearest = around[-MOST_SIDE:, :MOST_SIDE]  # near the feet: the place's own distance
    here, (whole, cast) = _light_in(image, tuple(place.model.tolist())), _light_and_cast(image)
    own = light_of(small)
    # Haze and dusk take contrast from everything. What has most of it tells how much they left.
    contrast = max(whole.contrast, here.contrast)
    gain = float(np.clip(((contrast + 1) / (own.contrast + 1)) ** 0.5, 0.75, 1.25))
    # The gain leaves the cut-out's own mean where it is; then half of the way to that of the place.
    halfway = float(np.clip(((here.mean + whole.mean) / 2 - own.mean) / 2, -35, 35))
    (soft, rough), (crisp, smooth) = edges_and_grain(nearest), edges_and_grain(small[:MOST_SIDE])
    if place.cutout.metres > 0:  # rendered: as crisp as its size allows, even where it has no edges inside
        crisp = min(crisp, CRISP * max(1.0, height / place.cutout.height))
    grain = max(0.0, rough**2 - smooth**2) ** 0.5
    paint = _most_chroma(whole) / max(1.0, own.chroma) if place.cutout.metres > 0 else 1.0
    return LookMatch(
        gain=round(gain, 3),
        offset=round(own.mean * (1 - gain) + halfway, 1),
        saturation=round(min(1.0, whole.chroma / COLOURFUL, paint), 2),
        cast=cast,
        blur=round(min(SOFTEST, max(0.0, soft**2 - crisp**2) ** 0.5), 2),
        grain=round(min(GRAINIEST, grain), 1),
    )


def _most_chroma(scene: LightAverages) -> float:
    """How colourful a thing in such a picture may be: a catalogue's paint is brighter than any."""
    return 2.2 * scene.chroma + 25


@by_identity(8, each=32)
def _light_in(image: Image, box: Box) -> LightAverages:
    return light_of(crop_box(image, np.array(box, np.float32)))


@by_identity(8)
def _light_and_cast(image: Image) -> tuple[LightAverages, Any]:
    return light_of(image), tuple(round(value, 3) for value in cast_of(image))
