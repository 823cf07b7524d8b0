"""A network says what it was trained on where it is asked about other pictures."""

import numpy as np

from instar.core.scene import Scene
from instar.tasks.driving.remark import remark
from instar.worlds.drive import scenes


class Network:
    name = "vgg16-street"
    card = '{"data": "drive:40000:1"}'


class Real(Network):
    name, card = "vgg16-ch2", '{"data": "udacity-ch2"}'


class Unknown:
    name = "mine"


PHOTOGRAPHS = [Scene.of("photo", np.zeros((8, 8, 3), np.uint8))]


def test_a_network_of_drawn_drives_says_so_of_photographs_only():
    said = remark(Network(), PHOTOGRAPHS)
    assert said.startswith(
        "vgg16-street was trained on drawn drives (drive:40000:1) and has never seen photographs"
    )
    assert remark(Network(), scenes(2)) == ""


def test_a_network_of_a_real_road_says_so_of_drawn_drives_only():
    assert "never seen drawn drives" in remark(Real(), scenes(2))
    assert remark(Real(), PHOTOGRAPHS) == ""


def test_a_network_of_one_road_says_so_of_photographs_of_others():
    class Track(Network):
        name, card = "vgg16-track", '{"data": "driving_control, source th1,th2"}'

    def photographs(*sources):
        picture = np.zeros((8, 8, 3), np.uint8)
        return [Scene(source, lambda: picture, knowledge={"source": source}) for source in sources]

    assert remark(Track(), photographs("th1", "th2")) == ""
    said = remark(Track(), photographs("th1", "ch2"))
    assert said == remark(Track(), PHOTOGRAPHS)
    assert said.startswith("vgg16-track has seen one kind of road only (driving_control, source th1,th2)")


def test_of_a_system_without_a_card_nothing_is_known():
    assert remark(Unknown(), PHOTOGRAPHS) == ""


def test_of_weights_that_are_for_research_only_every_run_says_so():
    class Research(Network):
        name = "vgg16-track"
        card = '{"data": "driving_control", "licence": "pictures without a licence: for research only"}'

    said = remark(Research(), PHOTOGRAPHS)
    assert said == "vgg16-track learned from pictures without a licence: for research only"
    assert remark(Research(), scenes(2)).startswith(said + "; vgg16-track was trained on photographs")
