"""YOLO folders."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.scenes import panoptic, yolo
from instar.scenes.yolo import yolo_classes

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def picture(path: Path, height=10, width=20):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(np.zeros((height, width, 3), np.uint8)))


def text(path: Path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def test_boxes_are_shares_of_the_picture(tmp_path):
    picture(tmp_path / "images/train/a.png")
    picture(tmp_path / "images/b.png")
    picture(tmp_path / "previews/c.png")
    text(tmp_path / "labels/train/a.txt", "1 0.5 0.5 0.2 0.4\n\n0 0.95 0.1 0.2 0.2\n")
    text(tmp_path / "classes.txt", "cat\ndog\n")
    boxed, empty = sorted(yolo(tmp_path), key=lambda scene: -len(scene.objects))
    assert (boxed.id, empty.id, empty.objects) == ("images/train/a.png", "images/b.png", ())
    assert [(o.label, o.mask, o.crowd) for o in boxed.objects] == [("dog", None, False), ("cat", None, False)]
    np.testing.assert_allclose([o.box for o in boxed.objects], [(8, 3, 12, 7), (17, 0, 20, 2)], atol=1e-9)
    assert boxed.image.shape == (10, 20, 3)


@pytest.mark.parametrize(
    "layout", ["images/a.png labels/a.txt", "train/images/a.png train/labels/a.txt", "a.png a.txt"]
)
def test_every_usual_layout_is_understood(tmp_path, layout):
    where, label = layout.split()
    picture(tmp_path / where)
    text(tmp_path / label, "7 0.5 0.5 1 1")
    (scene,) = yolo(tmp_path)
    assert (scene.id, scene.objects[0].label, scene.objects[0].box) == (where, "7", (0, 0, 20, 10))


def test_a_yaml_file_may_name_its_splits_by_their_whole_paths(tmp_path):
    picture(tmp_path / "set/images/val/a.png")
    text(tmp_path / "set/labels/val/a.txt", "0 0.5 0.5 1 1")
    text(
        tmp_path / "mine/set.yaml",
        f"train: {tmp_path}/set/images/gone\nval: {tmp_path}/set/images/val\nnames: [cat]",
    )
    (scene,) = yolo(tmp_path / "mine/set.yaml")
    assert (scene.id, scene.objects[0].label) == ("images/val/a.png", "cat")


@pytest.mark.parametrize("points", ["0.1 0.2 0.4 0.2", "0.1 0.2 2 0.4 0.2 0"])
def test_key_points_are_no_outline(tmp_path, points):
    picture(tmp_path / "images/a.png")
    text(tmp_path / "labels/a.txt", f"0 0.5 0.5 0.2 0.4 {points}")
    text(
        tmp_path / "data.yaml", f"train: images\nkpt_shape: [2, {len(points.split()) // 2}]\nnames: [person]"
    )
    (thing,) = yolo(tmp_path)[0].objects
    np.testing.assert_allclose(thing.box, (8, 3, 12, 7))
    assert thing.mask is None


def test_a_polygon_gives_a_mask_and_the_box_around_it(tmp_path):
    picture(tmp_path / "images/a.png")
    text(tmp_path / "labels/a.txt", "0 0.1 0.2 0.4 0.2 0.4 0.7 0.1 0.7")
    (thing,) = yolo(tmp_path, names=["kite"])[0].objects
    np.testing.assert_allclose(thing.box, (2, 2, 8, 7))
    expected = np.zeros((10, 20), bool)
    expected[2:7, 2:8] = True
    np.testing.assert_array_equal(thing.mask(), expected)


def test_the_size_is_that_of_the_picture_the_right_way_up(tmp_path):
    exif = Image.Exif()
    exif[0x112] = 6
    file = io.BytesIO()
    Image.new("RGB", (20, 10)).save(file, "JPEG", exif=exif.tobytes())
    (tmp_path / "a.jpg").write_bytes(file.getvalue())
    text(tmp_path / "a.txt", "0 0.5 0.5 1 1")
    assert yolo(tmp_path)[0].objects[0].box == (0, 0, 10, 20)


def test_objects_without_area_are_left_out(tmp_path):
    picture(tmp_path / "images/a.png")
    text(tmp_path / "labels/a.txt", "0 0.5 0.5 0 1\n0 0.2 0.2 0.2 0.2 0.2 0.2\n")
    assert yolo(tmp_path)[0].objects == ()


def test_objects_of_an_unreadable_picture_are_unknown(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    text(tmp_path / "a.txt", "0 0.5 0.5 1 1")
    assert yolo(tmp_path)[0].objects is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("0 0.5 half 1 1", "'half' is not a number"),
        ("0 0.5 0.5 nan 1", "nan is not a share of the picture"),
        ("0 320 240 30 40", "320 is not a share of the picture, from 0 to 1"),
        ("0 0.5 0.5 1", "4 numbers; expected class x y width height"),
        ("0 0.5 0.5 1 1 0.9", "6 numbers; expected"),
        ("cat 0.5 0.5 1 1", "class 'cat' is not a whole number"),
        ("2 0.5 0.5 1 1", "class 2, but there are only 2 names"),
    ],
)
def test_a_wrong_line_is_named_with_its_place(tmp_path, line, complaint):
    picture(tmp_path / "images/a.png")
    text(tmp_path / "labels/a.txt", f"0 0.5 0.5 1 1\n{line}\n")
    with pytest.raises(BadInput, match=complaint) as caught:
        yolo(tmp_path, names=["a", "b"])
    assert "a.txt line 2: " in str(caught.value)


def test_a_folder_without_any_label_is_refused_rather_than_called_empty(tmp_path):
    picture(tmp_path / "images/a.png")
    with pytest.raises(
        BadInput, match=r"no label file below .* for any of 1 pictures; expected labels/\*\.txt"
    ):
        yolo(tmp_path)
    with pytest.raises(BadInput, match="limit 0"):
        yolo(tmp_path, limit=0)


def test_the_limit_spares_the_label_files_behind_it(tmp_path):
    for name in "abc":
        picture(tmp_path / f"images/{name}.png")
        text(tmp_path / f"labels/{name}.txt", "0 0.5 0.5 1 1" if name == "a" else "broken")
    assert [scene.id for scene in yolo(tmp_path, limit=1)] == ["images/a.png"]


@pytest.mark.parametrize(
    "yaml",
    [
        "path: ../x\nnames: [cat, 'traffic light', \"dog, small\"]\nnc: 3\n",
        "nc: 3\nnames:\n  - cat\n  - traffic light  # red\n  - 'dog, small'\n\ntrain: images\n",
        "names:\n- cat\n- traffic light\n- dog, small\n",
        "names:\n  # by number\n  2: dog, small\n  0: cat\n\n  1: 'traffic light'\nurl: http://x\n",
        "names: {0: cat, 1: traffic light, 2: 'dog, small'}",
        "names: ['cat',\n        'traffic light',\n        'dog, small',\n]\n",
    ],
)
def test_names_are_read_in_every_usual_spelling(tmp_path, yaml):
    text(tmp_path / "data.yaml", yaml)
    assert yolo_classes(tmp_path).names == ["cat", "traffic light", "dog, small"]


@pytest.mark.parametrize(
    ("yaml", "complaint"),
    [
        ("nc: 3", "has no 'names'"),
        ("names:\n", "has no 'names'"),
        ("names: 7", "not 0, 1, 2"),
        ("names: [a, [b]]", "each with a name"),
        ("names: [a", "is not YAML"),
        ("names:\n  1: cat\n  2: dog", "not 0, 1, 2"),
        ("names: ['', dog]", "each with a name"),
    ],
)
def test_names_that_cannot_be_right_are_refused(tmp_path, yaml, complaint):
    text(tmp_path / "data.yaml", yaml)
    with pytest.raises(BadInput, match=complaint):
        yolo_classes(tmp_path)


def test_quotes_mean_what_they_mean_in_yaml(tmp_path):
    text(tmp_path / "data.yaml", "names: ['it''s', \"caf\\u00e9\"]")
    assert yolo_classes(tmp_path).names == ["it's", "café"]


@pytest.mark.skipif(not (DATA / "detection").is_dir(), reason="shared/data/detection is not here")
def test_the_boxes_of_a_real_pack_are_the_panoptic_ones():
    scenes = {Path(scene.id).name: scene for scene in yolo(DATA / "detection", labels="yolo_boxes")}
    assert len(scenes) == 64
    truth = panoptic(DATA / "detection" / "panoptic.json")[0]
    (dog,) = scenes[truth.id].objects
    # The same dog, outlined by a polygon there and by pixels here.
    np.testing.assert_allclose(dog.box, truth.objects[0].box, atol=1.5)
