"""Each data set is recognised by its layout, and its boxes are where they belong."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from data_sets import FILES, PART, SHADES, picture, put, write_cityscapes, write_cvat, write_labelme
from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.scenes import load_scenes

CAR = ("car", (15.0, 5.0, 30.0, 25.0))


def known(spec):
    """Of each scene, by its id: labels and boxes."""
    return {
        scene.id: None if scene.objects is None else [(thing.label, thing.box) for thing in scene.objects]
        for scene in load_scenes(spec)
    }


KNOWN = {
    "kitti": {"image_2/000007.png": [("Car", (10.0, 5.0, 30.5, 25.0))], "image_2/000008.png": None},
    "bdd100k": {"images/100k/val/a.png": [("car", (10.0, 5.0, 30.5, 25.0))], "images/100k/val/b.png": []},
    "cityscapes": {
        "leftImg8bit/val/town/town_000001_000019_leftImg8bit.png": [CAR, ("car", (40.0, 5.0, 51.0, 10.0))]
    },
    "open-images": {"images/a.png": [("Car", CAR[1])]},
    "labelme": {"a.png": [CAR]},
    "cvat": {"images/a.png": [CAR]},
    "fiftyone": {"a.png": [CAR]},
    "image-folder": {"train/a.png": [CAR]},
    "nuimages": {"samples/CAM_FRONT/a.png": [("vehicle.car", CAR[1])]},
    "nuscenes": {"samples/CAM_FRONT/a.png": [("vehicle.car", CAR[1])]},
    "hugging-face": {"train-00000-of-00001.parquet#000000": [CAR]},
    "web-dataset": {"shard-000000.tar/a.png": [CAR]},
}


@pytest.mark.parametrize("name", KNOWN)
def test_a_data_set_is_recognised_and_read(name, tmp_path):
    spec = FILES[name][0](tmp_path / "set")
    assert known(spec) == KNOWN[name]
    for scene in load_scenes(spec):
        assert np.array_equal(scene.image[..., 0], SHADES), "the picture itself is read"


@pytest.mark.parametrize("name", ["bdd100k", "open-images"])
def test_the_folder_around_a_file_will_do(name, tmp_path):
    FILES[name][0](tmp_path / "set")
    assert known(tmp_path / "set") == KNOWN[name]


def test_outlines_become_masks(tmp_path):
    for write in (write_labelme, write_cvat):
        (scene,) = load_scenes(write(tmp_path / write.__name__))
        (car,) = scene.objects
        if car.mask is not None:
            assert car.mask().sum() == 15 * 20
    (car,) = load_scenes(write_labelme(tmp_path / "again"))[0].objects
    assert car.mask is not None


@pytest.mark.parametrize(
    ("name", "box", "spoil", "said"),
    [
        ("labelme-masks", (1, 2, 9, 8), ("[14, 21]", "[13, 21]"), "does not fit its box: it is 5 x 2"),
        ("cvat-masks", (4, 0, 6, 10), ("4, 1", "4"), "does not fit its box: run lengths of 9 pixels"),
    ],
)
def test_masks_lie_in_their_boxes(name, box, spoil, said, tmp_path):
    write, file = FILES[name]
    car, bus = load_scenes(write(tmp_path / "set"))[0].objects
    assert (car.label, car.box) == ("car", (10.0, 20.0, 15.0, 22.0))
    assert np.array_equal(np.argwhere(car.mask()), np.argwhere(PART) + np.array([20, 10]))
    np.testing.assert_allclose(bus.box, box, atol=1e-5)
    put(tmp_path / "set" / file, (tmp_path / "set" / file).read_text().replace(*spoil))
    with pytest.raises(BadInput, match=said):
        load_scenes(tmp_path / "set")[0].objects[0].mask()


def test_a_mask_outside_of_its_picture_is_refused(tmp_path):
    write, file = FILES["cvat-masks"]
    write(tmp_path)
    put(tmp_path / file, (tmp_path / file).read_text().replace('left="10"', 'left="56"'))
    with pytest.raises(BadInput, match="image 0: the box of a mask"):
        load_scenes(tmp_path)


def test_labelme_is_recognised_in_the_folders_below(tmp_path):
    write_labelme(tmp_path / "monday")
    assert known(tmp_path) == {"monday/a.png": [CAR]}


def test_a_table_is_read_once_and_what_was_made_of_it_not_at_all(tmp_path):
    write, file = FILES["hugging-face"]
    write(tmp_path / "set")
    (tmp_path / "set/data").mkdir()
    table = (tmp_path / "set" / file).rename(tmp_path / "set/data" / file)
    table.with_name("cache-0123.parquet").write_bytes(table.read_bytes())
    assert known(tmp_path / "set") == {f"data/{file}#000000": [CAR]}


def test_what_stands_in_front_hides_what_cityscapes_outlines(tmp_path):
    (scene,) = load_scenes(write_cityscapes(tmp_path / "set"))
    car, group = scene.objects
    assert (car.crowd, group.crowd) == (False, True)
    assert car.mask().sum() == 15 * 20
    (file,) = (tmp_path / "set").rglob("*_polygons.json")
    file.write_text(file.read_text().replace("car", "ego vehicle", 1).replace("cargroup", "out of roi"))
    assert load_scenes(tmp_path / "set")[0].objects == ()
    file.write_text(file.read_text().replace("pole", "ego vehicle"))
    assert load_scenes(tmp_path / "set")[0].objects is None, "the pictures for the test are not annotated"


def test_a_picture_of_another_size_than_annotated_is_refused(tmp_path):
    root = write_labelme(tmp_path)
    (root / "a.png").write_bytes(encode_png(np.zeros((5, 5, 3), np.uint8)))
    (scene,) = load_scenes(root)
    with pytest.raises(Exception, match="5 x 5 pixels, but annotated as 60 x 40"):
        scene.read()


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("kitti", "30.50", "wide", "line 1: could not convert"),
        ("bdd100k", '"x2"', '"x3"', "frame 0 has no 'x2'"),
        ("cityscapes", "[15, 5]", "[15]", "_polygons.json"),
        ("cityscapes", "imgWidth", "width", "has no 'imgWidth'"),
        ("open-images", "0.25", "far", "line 2: could not convert"),
        ("labelme", "[15, 5]", "[15]", "a.json"),
        ("cvat", 'xtl="15"', 'xtl="nan"', "image 0: box"),
        ("fiftyone", '"label": 1', '"label": 7', "class 7, but there are 2 names"),
        ("image-folder", '["car"]', "[]", "line 1: 1 boxes and 0 labels"),
        ("nuimages", '"c"', '"d"', "o has no 'd'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(name, old, new, said, tmp_path):
    root, (write, file) = tmp_path / "set", FILES[name]
    spec = write(root)
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=said):
        load_scenes(spec)


def test_patterns_and_lists_name_pictures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("x/a.png", "x/deep/b.png", "y/c.png"):
        picture(tmp_path / name)
    assert list(known("x/**/*.png")) == ["x/a.png", "x/deep/b.png"]
    put(tmp_path / "some.txt", "# worst first\ny/c.png\n\nx/a.png\n")
    assert list(known("some.txt")) == ["x/a.png", "y/c.png"]
    with pytest.raises(BadInput, match="fits no picture"):
        load_scenes("x/*.jpg")
    put(tmp_path / "bad.txt", "notes.doc\n")
    with pytest.raises(BadInput, match="is no picture by its name"):
        load_scenes("bad.txt")


@pytest.fixture
def clip(tmp_path) -> Path:
    path = tmp_path / "drive.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for number in range(25):
        writer.write(np.full((48, 64, 3), 10 * number, np.uint8))
    writer.release()
    return path


def test_a_video_gives_about_one_frame_a_second(clip):
    scenes = load_scenes(clip)
    assert [scene.id for scene in scenes] == [f"drive.avi#{n:06d}" for n in (0, 10, 20)]
    assert [round(scene.image.mean() / 10) for scene in scenes] == [0, 10, 20]


def test_a_stride_is_written_behind_the_video(clip):
    scenes = load_scenes(f"{clip}@8")
    assert [round(scene.image.mean() / 10) for scene in scenes] == [0, 8, 16, 24]
    assert [scene.id for scene in load_scenes(f"{clip.parent}@20")] == [
        "drive.avi#000000",
        "drive.avi#000020",
    ]
    with pytest.raises(BadInput, match="stride 0 leaves no frame"):
        load_scenes(f"{clip}@0")
