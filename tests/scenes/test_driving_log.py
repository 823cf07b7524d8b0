"""Driving logs: every source in the same units and with the same sign."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.scenes import load_scenes

HEADER = "file,source,segment,t_s,steering,speed,throttle,brake\n"


def log(folder, *rows):
    (folder / "images").mkdir()
    for row in rows:
        cv2.imwrite(str(folder / "images" / row.split(",")[0]), np.full((160, 320, 3), 90, np.uint8))
    (folder / "labels.csv").write_text(HEADER + "".join(row + "\n" for row in rows))
    return load_scenes(str(folder))


def test_a_log_is_recognised_and_every_source_becomes_degrees_to_the_left_and_km_h(tmp_path):
    scenes = log(
        tmp_path,
        "a.jpg,ch2,ch2_001,0,0.1,,,",
        "b.jpg,th552019,th_001,0,0.1,10,,",
        "c.jpg,sim,sim_001,0,0.5,20,,",
    )
    ch2, thunderhill, simulator = (scene.knowledge for scene in scenes)
    assert ch2["steering"] == pytest.approx(5.7296, abs=1e-4)
    assert ch2["speed"] is None
    assert thunderhill["steering"] == pytest.approx(-5.7296, abs=1e-4)
    assert thunderhill["speed"] == pytest.approx(36.0)
    assert simulator["steering"] == pytest.approx(
        -180.0
    )  # half of 25 degrees at the road wheels, to the right
    assert simulator["speed"] == pytest.approx(32.187, abs=1e-3)
    assert [scene.knowledge["segment"] for scene in scenes] == ["ch2_001", "th_001", "sim_001"]
    assert scenes[0].image.shape == (160, 320, 3)


def test_what_published_networks_steered_comes_along(tmp_path):
    (tmp_path / "ch2_model_predictions.csv").write_text("file,truth,komanda\na.jpg,0.1,0.2\n")
    (scene,) = log(tmp_path, "a.jpg,ch2,ch2_001,0,0.1,,,")
    assert scene.knowledge["published"] == {"komanda": pytest.approx(11.459, abs=1e-3)}


def test_a_source_of_unknown_units_is_refused_with_its_line(tmp_path):
    with pytest.raises(BadInput, match=r"line 2: units of source 'mine' are unknown; known: ch2"):
        log(tmp_path, "a.jpg,mine,1,0,0.1,,,")


def test_what_is_no_number_is_refused_with_its_line(tmp_path):
    with pytest.raises(BadInput, match="line 2: 'left' is no number"):
        log(tmp_path, "a.jpg,ch2,1,0,left,,,")
