from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.core.errors import BadInput
from instar.core.scene import Image, Scene
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.street import street_blobs, street_detector, street_exact
from instar.worlds.sprites import OUTLINE, draw_sprite
from instar.worlds.street import scenes

SMALL = (240, 320)
STREET = scenes(20, seed=14, size=SMALL)


Objects = list[tuple[str, tuple[float, ...]]]


def truth(scene: Scene) -> Objects:
    return sorted((thing.label, thing.box) for thing in scene.objects or ())


def found(answer: Detections) -> Objects:
    return sorted((label, tuple(box)) for label, box in zip(answer.labels, answer.boxes.tolist()))


def farthest(first: Objects, second: Objects) -> float:
    """The largest difference of any edge between two lists of the same objects."""
    assert [label for label, _ in first] == [label for label, _ in second]
    return float(np.abs(np.subtract([box for _, box in first], [box for _, box in second])).max())


def jpeg(image: Image, quality: int) -> Image:
    _, content = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.ascontiguousarray(cv2.imdecode(content, cv2.IMREAD_COLOR)[..., ::-1])


def beside(image: Image, label: str, box: tuple[int, int, int, int], *, feathered: bool = False) -> Image:
    """The picture with a sprite pasted into `box`."""
    left, top, right, bottom = box
    sprite = draw_sprite(label, (bottom - top, right - left))
    cover = sprite.coverage if feathered else np.where(sprite.mask, 255, 0)
    share = cover[..., None] / 255
    out = image.copy()
    place = out[top:bottom, left:right]
    place[:] = np.round(place * (1 - share) + sprite.pixels * share)
    return out


def two_cars(gap: int) -> Image:
    """Two cars side by side on grey, `gap` pixels between their boxes."""
    road = np.full((120, 200, 3), 150, np.uint8)
    return beside(beside(road, "car", (20, 40, 68, 80)), "car", (68 + gap, 40, 116 + gap, 80))


@pytest.mark.parametrize("size", [(480, 640), SMALL])
@pytest.mark.parametrize("detector", [street_exact(), street_blobs()], ids=lambda d: d.name)
def test_every_object_of_a_scene_is_found_to_the_pixel(detector, size) -> None:
    for scene in scenes(25, seed=11, size=size):
        (answer,) = detector.predict([scene.image])
        assert found(answer) == truth(scene)
        assert set(answer.scores.tolist()) == {np.float32(0.9)}


@pytest.mark.parametrize("quality", [90, 95, 98])
def test_compression_moves_no_edge_by_more_than_a_pixel(quality: int) -> None:
    for scene in scenes(15, seed=12, size=SMALL):
        (answer,) = street_exact().predict([jpeg(scene.image, quality)])
        assert farthest(found(answer), truth(scene)) <= 1


@pytest.mark.parametrize("levels", [-2, 2])
def test_two_grey_levels_change_nothing(levels: int) -> None:
    for scene in scenes(15, seed=13, size=SMALL):
        lit = np.clip(scene.image.astype(int) + levels, 0, 255).astype(np.uint8)
        assert found(street_exact().predict([lit])[0]) == truth(scene)


@given(
    index=st.integers(0, 19),
    which=st.integers(0, 19),
    side=st.sampled_from([(1, 0), (-1, 0), (0, 1), (0, -1)]),
    scale=st.floats(0.45, 1.5),
    feathered=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_an_object_that_touches_another_changes_no_box(index, which, side, scale, feathered) -> None:
    scene = STREET[index]
    assert scene.objects is not None
    neighbour = scene.objects[which % len(scene.objects)]
    x1, y1, x2, y2 = (int(v) for v in neighbour.box)
    width, height = round((x2 - x1) * scale), round((y2 - y1) * scale)
    left = x2 if side[0] > 0 else x1 - width if side[0] < 0 else x1
    top = y2 if side[1] > 0 else y1 - height if side[1] < 0 else y1
    box = (left, top, left + width, top + height)
    inside = left >= 0 and top >= 0 and box[2] <= SMALL[1] and box[3] <= SMALL[0]
    free = all(
        box[0] >= o.box[2] or box[2] <= o.box[0] or box[1] >= o.box[3] or box[3] <= o.box[1]
        for o in scene.objects
    )
    if not (inside and free):
        return
    crowded = beside(scene.image, neighbour.label, box, feathered=feathered)
    expected = sorted([*truth(scene), (neighbour.label, tuple(float(v) for v in box))])
    assert farthest(found(street_exact().predict([crowded])[0]), expected) <= 2


def test_blobs_fuses_cars_that_stand_within_eight_pixels_and_no_others() -> None:
    counts = [len(street_blobs().predict([two_cars(gap)])[0]) for gap in range(14)]
    assert counts == [1] * 9 + [2] * 5
    assert [len(street_exact().predict([two_cars(gap)])[0]) for gap in range(14)] == [2] * 14


def test_blobs_never_fuses_objects_of_different_classes() -> None:
    road = beside(np.full((120, 200, 3), 150, np.uint8), "car", (20, 40, 68, 80))
    (answer,) = street_blobs().predict([beside(road, "dog", (68, 46, 114, 80))])
    assert found(answer) == [("car", (20.0, 40.0, 68.0, 80.0)), ("dog", (68.0, 46.0, 114.0, 80.0))]


def test_an_empty_picture_gives_boxes_of_shape_zero_by_four() -> None:
    (answer,) = street_exact().predict([np.full((50, 60, 3), 128, np.uint8)])
    assert (answer.boxes.shape, answer.labels, answer.scores.shape) == ((0, 4), (), (0,))


def test_the_fingerprint_tells_the_settings_apart_and_the_name_does_not() -> None:
    assert street_exact().fingerprint == street_detector(name="other").fingerprint
    assert street_exact().fingerprint != street_blobs().fingerprint
    assert street_blobs().fingerprint == f"street-detector 1, merge {2 * OUTLINE + 8}"


def test_a_negative_merge_is_refused() -> None:
    with pytest.raises(BadInput, match="merge is -1; it must be at least 0"):
        street_detector(merge=-1)
