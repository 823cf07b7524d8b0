"""What the maps of a translator do to a made picture."""

import numpy as np
import pytest

from instar.imaging.street_classes import STREET
from instar.imaging.street_light import apply_light, light_maps, light_up

SKY, HOUSE, ROAD = (STREET.index(name) for name in ("sky", "building", "road"))


class Saying:
    """A network that says the same everywhere: of each of the eleven maps."""

    def __init__(self, **values):
        at = {"above": slice(0, 3), "below": slice(3, 6), "warm": 6, "white": 7, "panes": 8, "red": 10}
        self.values = np.zeros(11, np.float32)
        for name, value in values.items():
            self.values[at[name]] = value

    def run(self, _, shown):
        rows, columns = shown["shown"].shape[2:]
        return [np.tile(self.values[None, :, None, None], (1, 1, rows // 2, columns // 2))]


@pytest.fixture
def night():
    """A made night, the street by day, the share of sky, and what is where."""
    rng = np.random.default_rng(0)
    ids = np.full((120, 160), SKY, np.uint8)
    ids[30:60], ids[60:] = HOUSE, ROAD
    even = rng.integers(80, 160, (120, 160, 3)).astype(np.uint8)
    made = rng.integers(5, 40, (120, 160, 3)).astype(np.uint8)
    return made, even, (ids == SKY).astype(np.float32), ids


def said(night, **values):
    made, even, sky, ids = night
    maps = light_maps(made, even, sky, ids, is_night=True, network=Saying(**values))
    return apply_light(maps, made, even, sky, ids).astype(int) - made


def test_a_network_that_says_nothing_changes_nothing(night):
    assert np.abs(said(night)).max() <= 1


def test_light_falls_on_the_street_in_its_own_texture_and_not_on_the_sky(night):
    _, even, _, ids = night
    lit = said(night, warm=0.3)
    assert np.abs(lit[ids == SKY]).max() <= 1
    road = np.nonzero(ids == ROAD)
    assert lit[road].mean(axis=0).tolist() == sorted(lit[road].mean(axis=0), reverse=True)  # it is warm
    assert np.corrcoef(lit[road][:, 0], even[road][:, 0])[0, 1] > 0.9


def test_the_sky_and_the_rest_are_made_brighter_apart(night):
    ids = night[3]
    darker = said(night, above=-1.0)
    assert (darker[ids == SKY] < 0).all()
    assert np.abs(darker[ids == ROAD]).max() <= 1


def test_houses_may_shine_and_roads_may_not(night):
    ids = night[3]
    shining = said(night, panes=0.5)
    assert (shining[ids == HOUSE].mean(axis=1) > 40).all()
    assert shining[110:].max() < 10  # but for the halo of the houses


def test_numpy_makes_the_picture_that_training_saw(night):
    torch = pytest.importorskip("torch")
    from instar.training.engines import translator

    made, even, sky, ids = night
    rng = np.random.default_rng(1)
    maps = rng.uniform(0, 0.5, (60, 80, 11)).astype(np.float32)

    def shaped(values):
        return torch.from_numpy(np.atleast_3d(values).astype(np.float32)).permute(2, 0, 1)[None]

    light = [one.astype(np.float32) / 255 for one in (even, made)]
    trained = translator.exposed(
        shaped(maps), shaped(light[0]), shaped(light[1]), shaped(sky), torch.from_numpy(ids)[None].long()
    )
    np.testing.assert_allclose(
        light_up(maps, light[0], light[1], sky, ids), trained[0].permute(1, 2, 0).numpy(), atol=2e-3
    )
