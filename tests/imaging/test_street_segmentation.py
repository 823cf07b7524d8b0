"""What street photographs show, told by the network that comes along."""

from pathlib import Path

import numpy as np
import pytest

from instar.imaging.street_classes import STREET, street_ids
from instar.imaging.street_segmentation import segment
from instar.tasks.driving.maps import labels_of
from instar.tasks.driving.systems.street_maps import street_maps

SHARED = Path(__file__).parents[3] / "shared" / "data" / "driving_seg"


def test_a_map_has_the_size_of_its_picture_and_known_classes():
    picture = np.zeros((90, 130, 3), np.uint8)
    picture[:40] = 230
    (labels,) = street_maps().predict([picture])
    assert labels.ids.shape == (90, 130)
    assert labels.names == STREET


@pytest.mark.real
@pytest.mark.skipif(not SHARED.is_dir(), reason="the street photographs are not here")
def test_the_ground_and_the_sky_of_photographs_that_were_held_out_are_found():
    from instar.scenes import load_scenes
    from instar.training.engines.streets import split_videos

    scenes = load_scenes(str(SHARED))
    _, held = split_videos(
        [Path(scene.id).stem for scene in scenes], 0.05
    )  # of each video the last: held out in all
    for name, least in (("road", 0.85), ("sky", 0.75)):
        number, found = STREET.index(name), []
        for row in held:
            true = street_ids(labels_of(scenes[row])) == number
            seen = np.isin(
                segment(scenes[row].image).ids, [number, STREET.index("line")] if name == "road" else [number]
            )
            found.append((true & seen).sum() / (true | seen).sum())
        assert np.median(found) > least
