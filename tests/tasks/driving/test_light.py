"""Weather and time of day told from light, depth and label map."""

from types import SimpleNamespace

import numpy as np
import pytest

from instar.core.change import Inapplicable
from instar.cutouts.pool import CutOut
from instar.imaging.mask_text import ids_to_text
from instar.imaging.street_classes import STREET
from instar.tasks.driving.changes import apply_edits
from instar.tasks.driving.engines import atmosphere
from instar.tasks.driving.engines.appearance import well_lit
from instar.tasks.driving.engines.surroundings import surroundings_of

SKY, HOUSE, POLE, ROAD, PERSON = (
    STREET.index(name) for name in ("sky", "building", "pole", "road", "person")
)


def street():
    """A light road with a dark shadow across it, houses, sky, a lamp post and a person."""
    ids = np.full((120, 160), SKY, np.uint8)
    ids[30:60], ids[60:] = HOUSE, ROAD
    ids[10:75, 130:133] = POLE
    ids[60:100, 40:48] = PERSON
    colours = np.full((13, 3), 120, np.uint8)
    colours[SKY], colours[HOUSE], colours[ROAD], colours[PERSON] = (210, 225, 240), 140, 130, (60, 40, 90)
    image = colours[ids]
    image[80:90, 60:120] = 50  # the shadow
    rng = np.random.default_rng(0)
    return np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8), ids


def changed(kind, strength=0.7):
    image, ids = street()
    edit = {"kind": kind, "seed": 1, "strength": strength, "horizon": 50.0, "vanishing": 80.0}
    return image, ids, atmosphere.make(image, {**edit, "classes": ids_to_text(ids)}, None)


def contrast(picture):
    """How much lighter the road is than the shadow on it."""
    return float(picture[95:110, 60:120].mean() / max(1.0, picture[82:88, 70:110].mean()))


@pytest.mark.parametrize("kind", ["night", "dusk", "rain", "snow", "fog", "cloud"])
def test_every_kind_changes_the_picture_and_takes_its_sun_shadow_away(kind):
    image, _, picture = changed(kind)
    assert np.abs(picture.astype(float) - image).mean() > 6
    assert contrast(picture) < 0.75 * contrast(image)


def test_the_night_is_dark_but_the_lamp_shines():
    image, ids, picture = changed("night")
    assert picture[ids == SKY].mean() < 0.2 * image[ids == SKY].mean()
    assert picture[8:16, 126:138].max() > 150


def test_fog_hides_the_far_and_leaves_the_near():
    image, ids, picture = changed("fog")
    moved = np.abs(picture.astype(float) - image).mean(axis=2)
    assert moved[62:66, 5:35].mean() > 3 * moved[112:118, 5:35].mean()
    person = picture[ids == PERSON].mean(axis=1)
    assert person.std() < 12  # a person is as far away as its feet, from head to foot


def test_a_wet_road_is_darker_near_us_and_mirrors_what_stands_on_it():
    image, ids, picture = changed("rain")
    road = (ids == ROAD) & (np.arange(120)[:, None] > 100)
    assert picture[road].mean() < 0.75 * image[road].mean()


def test_depth_goes_by_the_ground_and_sky_is_farthest():
    image, ids = street()
    depth = surroundings_of(image.astype(np.float32) / 255, ids, 50.0, 80.0).depth[..., 0]
    assert depth[5, 5] == depth.max()
    assert depth[118, 80] < depth[80, 5] < depth[62, 5]
    assert np.ptp(depth[ids == PERSON]) < 0.01


def test_silhouettes_are_left_out_unless_there_is_nothing_else():
    shown = {name: np.full((8, 4, 4), 255, np.uint8) for name in ("black", "red")}
    shown["black"][..., :3], shown["red"][..., :3] = 12, (200, 60, 60)

    class Pool:
        def pixels(self, name):
            return shown[name]

    black, red = (CutOut(name, "person", "a", 4, 8, 32, 0) for name in ("black", "red"))
    assert well_lit([black, red], Pool(), 110.0) == [red]
    assert well_lit([black], Pool(), 110.0) == [black]


@pytest.mark.parametrize("lighter", [0, 5])
def test_an_engine_of_weather_that_does_next_to_nothing_makes_no_case(lighter):
    image, _ = street()
    idle = SimpleNamespace(make=lambda picture, edit, cutouts: np.minimum(picture, 250) + np.uint8(lighter))
    engines = SimpleNamespace(named=lambda name: idle)
    made = apply_edits(image, [[{"engine": "idle", "of": "weather"}]], engines, None)
    assert made == Inapplicable("it already is in that state")


def test_a_street_in_the_shade_is_as_visible_in_rain_as_one_in_the_sun():
    image, ids = street()
    road = (ids == ROAD) & (np.arange(120)[:, None] > 95)
    edit = {"kind": "rain", "seed": 1, "strength": 0.7, "horizon": 50.0, "vanishing": 80.0}
    light = [
        atmosphere.make(one, {**edit, "classes": ids_to_text(ids)}, None)[road].mean() / one[road].mean()
        for one in (image, (image * 0.4).astype(np.uint8))
    ]
    assert light[1] > 1.4 * light[0]
