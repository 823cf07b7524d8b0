"""Label maps for rules: made by a segmentation system, and lines found where maps have none."""

from pathlib import Path

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.imaging.labels import LabelMap
from instar.imaging.mask_text import mask_from_text
from instar.scenes import load_scenes
from instar.tasks.driving import Control, rule
from instar.tasks.driving.maps import read_label_map, with_lines
from instar.worlds.drive import scenes

LINES = "If: lane lines are removed from the road, Then: the steering angle should keep the same."
CAMVID = Path(__file__).parents[4] / "shared" / "data" / "driving_seg"


class Segmenter:
    """Knows the maps of some drives by heart, in the names of another data set."""

    name = "segmenter"

    def __init__(self, known):
        self.known = {scene.image.tobytes(): scene.knowledge["labels"]() for scene in known}
        self.asked = 0

    def predict(self, images):
        self.asked += len(images)
        found = [self.known[np.asarray(image).tobytes()] for image in images]
        return [
            {"labels": one.ids, "names": [n.replace("person", "Pedestrian") for n in one.names]}
            for one in found
        ]


def test_a_segmentation_system_makes_the_maps_of_plain_pictures(tmp_path):
    known = scenes(3, seed=4, size=(240, 480))
    plain = [Scene.of(scene.id, np.asarray(scene.image)) for scene in known]
    system = Segmenter(known)
    relation = rule(LINES, maps=system).prepare(plain, Folder(tmp_path))
    source = Observation.of(plain[0].image, Control(40.0, 0.0), plain[0])
    change = relation.draw(source, np.random.default_rng(0))
    ((edit,),) = change.edits
    truth = known[0].knowledge["labels"]()
    np.testing.assert_array_equal(mask_from_text(edit["mask"]), truth.mask(["line"]))
    assert system.asked == 3


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ("road", "mapping with labels and names"),
        ({"ids": [[0]]}, "keys labels and names"),
        ({"labels": [[0.5]], "names": ["road"]}, "whole numbers"),
        ({"labels": [[300]], "names": ["road"]}, "whole numbers"),
        ({"labels": [0, 1], "names": ["road"]}, "whole numbers"),
    ],
)
def test_nonsense_of_a_segmentation_system_is_named(answer, complaint):
    with pytest.raises((TypeError, ValueError), match=complaint):
        read_label_map(answer)


def test_a_segmentation_system_that_fails_is_named(tmp_path):
    class Broken:
        name = "broken"

        def predict(self, images):
            raise RuntimeError("no weights")

    plain = [Scene.of("a", np.zeros((40, 40, 3), np.uint8))]
    with pytest.raises(BadInput, match=r"broken makes no label map of a: .*no weights"):
        rule(LINES, maps=Broken()).prepare(plain, Folder(tmp_path))


def test_lines_are_found_inside_the_road_where_the_map_has_none():
    for scene in scenes(12, seed=8, size=(240, 480)):
        drive, labels = scene.knowledge["drive"], scene.knowledge["labels"]()
        if drive.time != "day" or drive.weather not in ("clear", "cloud"):
            continue
        names = tuple("road" if name == "line" else name for name in labels.names)
        found = with_lines(LabelMap(labels.ids, names), scene.image).mask(["line"])
        truth = labels.mask(["line"])
        near = truth & (np.arange(240) > 140)[:, None]
        if near.sum() > 200:
            assert found[near].mean() > 0.6
        assert not found[~labels.mask(["road", "line", "crosswalk", "stop line"])].any()


def test_a_map_that_has_lines_is_left_as_it_is():
    labels = scenes(1)[0].knowledge["labels"]()
    assert with_lines(labels, scenes(1)[0].image) is labels


@pytest.mark.skipif(not CAMVID.is_dir(), reason="CamVid is not here")
def test_rules_make_pictures_of_camvid(tmp_path):
    pictures = load_scenes(str(CAMVID))[::10]
    people = "If: a pedestrian appears on the roadside, Then: slow down."
    for text in (LINES, people):
        relation = rule(text).prepare(pictures, Folder(tmp_path))
        made = 0
        for scene in pictures:
            source = Observation.of(scene.image, Control(40.0, 0.0), scene)
            change = relation.draw(source, np.random.default_rng(0))
            if not isinstance(change, Inapplicable):
                (picture,) = relation.apply(source.input, change)
                made += bool((picture != source.input).any())
        assert made >= 4
