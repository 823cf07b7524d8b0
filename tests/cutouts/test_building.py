from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.core.errors import BadInput, RunError, UnreadablePicture
from instar.core.scene import Image, Mask, Scene, SceneObject
from instar.core.workspace import no_progress
from instar.cutouts import build_pool


def no_helper(image: Image) -> list[SceneObject]:
    raise AssertionError("the scenes know their objects")


def blob(side: int, x: int = 40, y: int = 40) -> tuple[tuple[float, ...], Callable[[], Mask]]:
    def mask() -> Mask:
        canvas = np.zeros((240, 320), np.uint8)
        middle = (x + side / 2, y + side / 2)
        return cv2.ellipse(canvas, (middle, (side - 2, side - 2), 0), 1, -1) > 0

    return (x, y, x + side, y + side), mask


def scene(name: str, *objects: SceneObject, seed: int = 0) -> Scene:
    image = np.random.default_rng(seed).integers(0, 256, (240, 320, 3), np.uint8)
    return Scene.of(name, image, objects)


def thing(side: int, label: str = "ball", **rest) -> SceneObject:
    box, mask = blob(side, **rest)
    return SceneObject(label, box, mask)


def test_the_largest_tenth_is_kept_but_never_fewer_than_five(tmp_path: Path) -> None:
    scenes = [scene(f"{side}.png", thing(side)) for side in range(40, 100)]
    pool = build_pool(scenes, tmp_path / "pool", find_objects=no_helper, progress=no_progress)
    assert sorted(c.scene for c in pool.cutouts) == [f"{side}.png" for side in range(94, 100)]
    few = build_pool(scenes[:20], tmp_path / "few", find_objects=no_helper, progress=no_progress)
    assert sorted(c.scene for c in few.cutouts) == [f"{side}.png" for side in range(55, 60)]


def test_what_is_largest_is_told_by_pixels_and_not_by_how_well_they_compress(tmp_path: Path) -> None:
    flat = Scene.of("flat", np.zeros((240, 320, 3), np.uint8), (thing(90),))
    scenes = [flat, scene("noise", thing(50))]
    pool = build_pool(scenes, tmp_path / "p", find_objects=no_helper, progress=no_progress, keep=0.1, least=1)
    assert [(c.scene, c.label) for c in pool.cutouts] == [("flat", "ball")]
    (kept,) = pool.cutouts
    assert kept.area == np.count_nonzero(pool.pixels(kept.digest)[..., 3])


def test_crowds_small_ones_and_hidden_ones_are_left_out(tmp_path: Path) -> None:
    box, mask = blob(60)
    scenes = [
        scene("crowd", SceneObject("ball", box, mask, crowd=True)),
        scene("small", thing(20)),
        scene("hidden", thing(60), thing(60, x=70)),
        scene("edge", thing(60, x=0)),
        scene("good", thing(60)),
    ]
    pool = build_pool(scenes, tmp_path / "pool", find_objects=no_helper, progress=no_progress)
    assert [c.scene for c in pool.cutouts] == ["good"]


def test_pictures_and_masks_that_cannot_be_decoded_are_passed_over(tmp_path: Path) -> None:
    def unreadable() -> Image:
        raise UnreadablePicture("truncated")

    def undecodable() -> Mask:
        raise BadInput("run lengths of 3 pixels for a mask of 320 x 240")

    box, _ = blob(60)
    scenes = [
        Scene("corrupt", unreadable, (thing(80),)),
        Scene("corrupt-and-unknown", unreadable),
        scene("bad-mask", SceneObject("ball", box, undecodable)),
        scene("wrong-size", SceneObject("ball", box, lambda: np.ones((3, 3), bool))),
        scene("good", thing(60)),
    ]
    pool = build_pool(scenes, tmp_path / "pool", find_objects=no_helper, progress=no_progress)
    assert [c.scene for c in pool.cutouts] == ["good"]


def test_a_helper_is_asked_only_where_nothing_is_known_and_grabcut_does_the_rest(tmp_path: Path) -> None:
    canvas = np.full((240, 320, 3), (40, 90, 60), np.uint8)
    canvas = cv2.circle(canvas, (100, 100), 40, (220, 30, 30), -1)
    asked = []

    def helper(image: Image) -> list[SceneObject]:
        asked.append(image.shape)
        return [SceneObject("ball", (58, 58, 142, 142))]

    scenes = [Scene.of("unknown", canvas), scene("known", thing(60)), scene("empty")]
    pool = build_pool(scenes, tmp_path / "pool", find_objects=helper, progress=no_progress)
    assert asked == [(240, 320, 3)]
    assert {c.scene: c.label for c in pool.cutouts} == {"unknown": "ball", "known": "ball"}
    (found,) = (c for c in pool.cutouts if c.scene == "unknown")
    assert (found.width, found.height) == pytest.approx((81, 81), abs=2)


def test_the_same_scenes_give_the_same_pool(tmp_path: Path) -> None:
    scenes = [scene(f"{i}", thing(60 + i), seed=i) for i in range(4)]
    one, two = (
        build_pool(scenes, tmp_path / name, find_objects=no_helper, progress=no_progress) for name in "ab"
    )
    assert one.cutouts == two.cutouts


def test_what_an_interrupted_build_left_is_no_pool_and_does_not_disturb(tmp_path: Path) -> None:
    left = tmp_path / "pool.building"
    left.mkdir()
    (left / "scrap.png").write_bytes(b"")
    build_pool([scene("a", thing(60))], tmp_path / "pool", find_objects=no_helper, progress=no_progress)
    assert not left.exists()
    assert sorted(p.suffix for p in (tmp_path / "pool").iterdir()) == [".json", ".png"]


def test_a_folder_that_cannot_be_written_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot write the pool .*file/pool") as refused:
        build_pool([], tmp_path / "file" / "pool", find_objects=no_helper, progress=no_progress)
    assert "\n" not in str(refused.value)
