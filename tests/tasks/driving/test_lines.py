"""Where lines are removed, none is left: by the truth of drawn drives, and by an eye of the tests' own.

The eye knows nothing of how the product finds lines: it takes second derivatives for ridges of light, and
counts the straight segments among them.
"""

import dataclasses
from pathlib import Path
from tempfile import mkdtemp

import cv2
import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.imaging.labels import LabelMap
from instar.scenes import load_scenes
from instar.tasks.driving import Control, rule
from instar.tasks.driving.engines import removal
from instar.tasks.driving.maps import labels_of
from instar.worlds.drive import sample_drive
from instar.worlds.drive.scenes import scene_of

TEXT = "If: lane lines are removed from the road, Then: the steering angle should keep the same."
CAMVID = Path(__file__).parents[4] / "shared" / "data" / "driving_seg"
SIZE = (240, 480)


def segments(image, road):
    """How many pixels of straight ridges of light the road shows."""
    grey = cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2GRAY).astype(np.float32)
    usual = float(np.median(grey[road]))
    grey = np.where(road, grey, usual).astype(np.float32)
    ridge = np.zeros(road.shape, np.float32)
    for sigma in (1.5, 2.5, 4.0):
        blurred = cv2.GaussianBlur(grey, (0, 0), sigma)
        xx, yy, xy = (
            cv2.Sobel(blurred, cv2.CV_32F, *order) / 4 * sigma**2 for order in ((2, 0), (0, 2), (1, 1))
        )
        middle, root = (xx + yy) / 2, np.sqrt(((xx - yy) / 2) ** 2 + xy**2)
        low, high = middle - root, middle + root
        ridge = np.maximum(ridge, np.where(np.abs(high) < np.abs(low) / 2, -low, 0))
    inner = cv2.erode(road.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    seen = ((ridge > 10 * max(0.3, usual / 80)) & inner).astype(np.uint8)
    drawn = np.zeros(road.shape, np.uint8)
    found = cv2.HoughLinesP(seen, 1, np.pi / 180, 18, minLineLength=18, maxLineGap=2)
    for x1, y1, x2, y2 in np.reshape([] if found is None else found, (-1, 4)).tolist():
        cv2.line(drawn, (x1, y1), (x2, y2), 1)
    return int(drawn.sum())


def drawn_streets(*, as_drives):
    """Drawn streets by day; as photographs, they have a label map that knows no lines."""
    drives = [sample_drive(seed) for seed in range(400, 440)]
    drives = [d for d in drives if d.time == "day" and d.weather in ("clear", "cloud") and d.road.centre][:8]
    for drive in drives:
        scene = scene_of(drive, f"drive-{drive.seed}", size=SIZE)
        truth = labels_of(scene)
        if not as_drives:
            blind = LabelMap(truth.ids, tuple("road" if name == "line" else name for name in truth.names))
            image = scene.image
            scene = Scene(scene.id, lambda image=image: image, None, {"labels": lambda blind=blind: blind})
        yield scene, truth


def without_lines(scenes, engines):
    """(scene, picture without lines) wherever it can be made."""
    relation = rule(TEXT, engines=engines, least_lines=0.001)
    relation = relation.prepare(scenes, Folder(Path(mkdtemp()))) if relation.prepare else relation
    for number, scene in enumerate(scenes):
        source = Observation.of(scene.image, Control(40.0, 0.0), scene)
        change = relation.draw(source, np.random.default_rng(number))
        if not isinstance(change, Inapplicable):
            yield scene, relation.apply(source.input, change)[-1]


def contrast(image, truth):
    """How much lighter the true lines are than the road beside them."""
    grey = cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2GRAY).astype(float)
    line = truth.mask(["line"])
    beside = cv2.dilate(line.astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    return grey[line].mean() - grey[beside & truth.mask(["road"])].mean()


@pytest.mark.parametrize(("engines", "as_drives"), [("rendered", True), ("pasted", True), ("pasted", False)])
def test_the_true_lines_are_gone(engines, as_drives):
    streets = {scene.id: (scene, truth) for scene, truth in drawn_streets(as_drives=as_drives)}
    made = list(without_lines([scene for scene, _ in streets.values()], engines))
    assert len(made) >= 5
    for scene, picture in made:
        truth = streets[scene.id][1]
        assert contrast(scene.image, truth) > 20
        assert contrast(picture, truth) < 0.15 * contrast(scene.image, truth), scene.id
        road = truth.mask(["road", "line", "crosswalk", "stop line"])
        assert segments(picture, road) <= 0.35 * segments(scene.image, road), scene.id


def test_a_picture_in_which_lines_would_be_left_is_not_made(monkeypatch):
    idle = dataclasses.replace(removal.fill, inpaint=lambda: lambda image, hole: image)
    monkeypatch.setattr(removal, "fill", idle)
    assert not list(without_lines([scene for scene, _ in drawn_streets(as_drives=False)], "pasted"))


@pytest.mark.skipif(not CAMVID.is_dir(), reason="CamVid is not here")
@pytest.mark.parametrize("engines", ["pasted", pytest.param("migan", marks=pytest.mark.real)])
def test_no_line_is_left_on_photographs(engines):
    pictures = load_scenes(str(CAMVID))[::10]
    before, after = [], []
    for scene, picture in without_lines(pictures, engines):
        road = labels_of(scene).mask(["road"])
        before.append(segments(scene.image, road))
        after.append(segments(picture, road))
    assert len(before) >= 8
    assert sum(after) <= 0.12 * sum(before)
    assert all(left <= 0.4 * was for was, left in zip(before, after) if was > 300)
