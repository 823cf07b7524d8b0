"""COCO instances and panoptic files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput, UnreadablePicture
from instar.imaging.codecs import encode_png
from instar.scenes import coco, panoptic

PICTURE = np.full((6, 8, 3), 90, np.uint8)
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def document(**changes):
    return {
        "images": [
            {"id": 7, "file_name": "b.png", "height": 6, "width": 8},
            {"id": 3, "file_name": "a.png", "height": 6, "width": 8},
        ],
        "categories": [{"id": 1, "name": "cat"}, {"id": 90, "name": "toothbrush"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 90, "bbox": [1, 2, 3, 4], "iscrowd": 0,
             "segmentation": [[1, 2, 4, 2, 4, 6, 1, 6]]},
            {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 1], "iscrowd": 1,
             "segmentation": {"size": [6, 8], "counts": [0, 1, 5, 1, 41]}},
            {"id": 3, "image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 1],
             "segmentation": {"size": [6, 8], "counts": "0150T1"}},
            {"id": 4, "image_id": 7, "category_id": 1, "bbox": [0.5, 0.25, 2, 1]},
        ],
    } | changes  # fmt: skip


def written(folder: Path, content, name="instances.json"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(content))
    return folder / name


def pictures(folder: Path, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(encode_png(PICTURE))


def test_objects_have_labels_boxes_masks_and_crowds(tmp_path):
    pictures(tmp_path, "a.png", "b.png")
    empty, full = coco(written(tmp_path, document()))
    assert (empty.id, empty.objects) == ("a.png", ())
    assert full.id == "b.png"
    np.testing.assert_array_equal(full.image, PICTURE)
    assert [(o.label, o.box, o.crowd) for o in full.objects] == [
        ("toothbrush", (1, 2, 4, 6), False),
        ("cat", (0, 0, 2, 1), True),
        ("cat", (0, 0, 2, 1), False),
        ("cat", (0.5, 0.25, 2.5, 1.25), False),
    ]
    polygon, runs, packed, box_only = full.objects
    expected = np.zeros((6, 8), bool)
    expected[2:6, 1:4] = True
    np.testing.assert_array_equal(polygon.mask(), expected)
    two = np.zeros((6, 8), bool)
    two[0, :2] = True
    np.testing.assert_array_equal(runs.mask(), two)
    np.testing.assert_array_equal(packed.mask(), two)
    assert box_only.mask is None


@pytest.mark.parametrize("place", ["set", "set/images", "set/instances", "images", "instances"])
def test_pictures_are_found_beside_the_file_and_where_coco_keeps_them(tmp_path, place):
    pictures(tmp_path / place, "a.png", "b.png")
    for scene in coco(written(tmp_path / "set", document())):
        assert scene.image.shape == (6, 8, 3)


def test_pictures_are_found_by_split_by_folder_and_by_stem(tmp_path):
    pictures(tmp_path / "val2017", "a.png", "b.png")
    file = written(tmp_path / "annotations", document(), "instances_val2017.json")
    assert [scene.image.shape for scene in coco(file)] == [(6, 8, 3)] * 2
    pictures(tmp_path / "far", "a.PNG", "b.bmp")
    assert [scene.image.shape for scene in coco(file, images=tmp_path / "far")] == [(6, 8, 3)] * 2
    with pytest.raises(BadInput, match=r"folder of images .*away does not exist"):
        coco(file, images=tmp_path / "away")


def test_names_may_begin_at_the_folder_above_that_of_the_file(tmp_path):
    listed = [{"id": "x", "file_name": "images/deep/a.png", "height": 6, "width": 8}]
    pictures(tmp_path / "images/deep", "a.png")
    (scene,) = coco(written(tmp_path / "annotations", document(images=listed)))
    np.testing.assert_array_equal(scene.image, PICTURE)


def test_an_outline_without_area_is_no_mask(tmp_path):
    shapes = [[], [[]], [[1, 2, 4, 2]]]
    entries = [
        {"id": n, "image_id": 7, "category_id": 1, "bbox": [0, 0, 2, 1], "segmentation": shape}
        for n, shape in enumerate(shapes)
    ]
    _, full = coco(written(tmp_path, document(annotations=entries)))
    assert [thing.mask for thing in full.objects] == [None, None, None]


def test_a_listed_picture_that_is_missing_is_a_scene_that_cannot_be_read(tmp_path):
    pictures(tmp_path, "b.png")
    missing, there = coco(written(tmp_path, document()))
    assert there.image.shape == (6, 8, 3)
    with pytest.raises(UnreadablePicture, match=r"^missing$"):
        missing.read()


def test_a_picture_of_another_size_than_annotated_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(encode_png(np.zeros((8, 6, 3), np.uint8)))
    with pytest.raises(UnreadablePicture, match=r"^6 x 8 pixels, but annotated as 8 x 6$"):
        coco(written(tmp_path, document()))[0].read()


def test_without_annotations_nothing_is_known(tmp_path):
    content = document()
    del content["annotations"]
    assert [scene.objects for scene in coco(written(tmp_path, content))] == [None, None]


def test_boxes_without_area_and_annotations_of_unlisted_pictures_are_left_out(tmp_path):
    flat = {"image_id": 3, "category_id": 1, "bbox": [1, 1, 0, 4]}
    stray = {"image_id": 99, "category_id": 1, "bbox": [1, 1, 2, 4]}
    assert [s.objects for s in coco(written(tmp_path, document(annotations=[flat, stray])))] == [(), ()]


def test_the_limit_takes_the_first_by_name(tmp_path):
    file = written(tmp_path, document())
    assert [scene.id for scene in coco(file, limit=1)] == ["a.png"]
    with pytest.raises(BadInput, match="limit 0"):
        coco(file, limit=0)


@pytest.mark.parametrize(
    ("annotation", "complaint"),
    [
        ({"image_id": 3, "bbox": [0, 0, 1, 1]}, "annotation 0 has no 'category_id'"),
        ({"image_id": 3, "category_id": 1}, "annotation 0 has no 'bbox'"),
        ({"image_id": 3, "category_id": 5, "bbox": [0, 0, 1, 1]}, "there is no category 5"),
        ({"image_id": 3, "category_id": 1, "bbox": [0, 0, "wide", 1]}, "could not convert string to float"),
        ({"image_id": 3, "category_id": 1, "bbox": [0, 0, 1]}, "not enough values"),
        ({"image_id": 3, "category_id": 1, "bbox": [0, 0, float("nan"), 1]}, "box"),
        ({"image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1], "segmentation": [[1, 2, 3]]}, "reshape"),
        (
            {"image_id": 3, "category_id": 1, "bbox": [0, 0, 1, 1],
             "segmentation": {"size": [9, 9], "counts": [81]}},
            "its mask is 9 x 9, its picture 8 x 6",
        ),
        (17, "annotation 0 cannot be understood"),
    ],
)  # fmt: skip
def test_a_wrong_annotation_is_named(tmp_path, annotation, complaint):
    with pytest.raises(BadInput, match=complaint) as caught:
        coco(written(tmp_path, document(annotations=[annotation])))
    assert "instances.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wrong_file_is_named_with_the_place(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text('{"images": [\n  {"id": 1,, }]}')
    with pytest.raises(BadInput, match=r"broken\.json is not JSON: .* line 2 column 12"):
        coco(broken)
    broken.write_bytes(b'{"images": "\xff"}')
    with pytest.raises(BadInput, match="byte 12 is not UTF-8"):
        coco(broken)
    broken.write_text("[1, 2]")
    with pytest.raises(BadInput, match="is not COCO: it has no list of images"):
        coco(broken)
    broken.write_text("[" * 100_000)
    with pytest.raises(BadInput, match="nested too deeply"):
        coco(broken)
    with pytest.raises(BadInput, match="No such file"):
        coco(tmp_path / "none.json")
    with pytest.raises(BadInput, match="lists no image"):
        coco(written(tmp_path, document(images=[], annotations=[])))
    twice = [*document()["images"], {"id": 8, "file_name": "b.png", "height": 6, "width": 8}]
    with pytest.raises(BadInput, match=r"'b\.png' is listed twice"):
        coco(written(tmp_path, document(images=twice)))
    same_id = [{"id": 7, "file_name": name, "height": 6, "width": 8} for name in "xy"]
    with pytest.raises(BadInput, match=r"'images': two entries have the same id"):
        coco(written(tmp_path, document(images=same_id)))
    with pytest.raises(BadInput, match="'annotations' is not a list"):
        coco(written(tmp_path, document(annotations=None)))
    bare = [{"id": 7, "file_name": "x"}]
    with pytest.raises(BadInput, match="image 7 has no 'height'"):
        coco(written(tmp_path, document(images=bare, annotations=[])))
    plain = {"image_id": 7, "category_id": 1, "bbox": [1, 1, 2, 2]}
    with pytest.raises(BadInput, match="image 7 has no 'height'"):
        coco(written(tmp_path, document(images=bare, annotations=[plain])))
    drawn = plain | {"segmentation": [[1, 1, 2, 1, 2, 2]]}
    with pytest.raises(BadInput, match=r"annotation 0: its picture 'x' has no 'height'"):
        coco(written(tmp_path, document(images=bare, annotations=[drawn])))


def panoptic_pack(folder: Path, **changes):
    """A cat (number 70000), a crowd of cats (5) and grass (300) in one picture; one without PNG."""
    numbers = np.zeros((6, 8), np.uint32)
    numbers[1:3, 2:5], numbers[4:, :], numbers[0, 0] = 70000, 300, 5
    colours = np.stack([numbers % 256, numbers // 256 % 256, numbers // 65536], -1).astype(np.uint8)
    pictures(folder / "images", "a.jpg", "b.jpg")
    pictures(folder / "panoptic")
    (folder / "panoptic" / "b.png").write_bytes(encode_png(colours))
    images = [{"id": i, "file_name": f"{n}.jpg", "height": 6, "width": 8} for i, n in ((3, "a"), (7, "b"))]
    segments = [
        {"id": 70000, "category_id": 1, "bbox": [2, 1, 3, 2], "iscrowd": 0},
        {"id": 300, "category_id": 2, "bbox": [0, 4, 8, 2], "iscrowd": 0},
        {"id": 5, "category_id": 1, "bbox": [0, 0, 1, 1], "iscrowd": 1},
    ]
    content = {
        "images": images,
        "categories": [{"id": 1, "name": "cat", "isthing": 1}, {"id": 2, "name": "grass", "isthing": 0}],
        "annotations": [{"image_id": 7, "file_name": "b.png", "segments_info": segments}],
    }
    return written(folder, content | changes, "panoptic.json")


def test_panoptic_things_become_objects_and_stuff_does_not(tmp_path):
    unknown, scene = panoptic(panoptic_pack(tmp_path))
    assert (unknown.id, unknown.objects) == ("a.jpg", None)
    assert [(o.label, o.box, o.crowd) for o in scene.objects] == [
        ("cat", (2, 1, 5, 3), False),
        ("cat", (0, 0, 1, 1), True),
    ]
    expected = np.zeros((6, 8), bool)
    expected[1:3, 2:5] = True
    np.testing.assert_array_equal(scene.objects[0].mask(), expected)
    assert scene.objects[1].mask().sum() == 1
    assert scene.image.shape == (6, 8, 3)


def test_all_masks_of_a_panoptic_picture_are_read_from_its_file_once(tmp_path, monkeypatch):
    from instar.imaging import codecs

    decoded = []

    def counting(data, decode=codecs.decode_png_exact):
        decoded.append(len(data))
        return decode(data)

    monkeypatch.setattr(codecs, "decode_png_exact", counting)
    scene = panoptic(panoptic_pack(tmp_path))[1]
    masks = [thing.mask() for thing in scene.objects for _ in range(2)]
    assert len(masks) >= 4
    assert len(decoded) == 1


def test_a_panoptic_mask_that_cannot_be_used_says_so_when_asked_for(tmp_path):
    scene = panoptic(panoptic_pack(tmp_path))[1]
    png = tmp_path / "panoptic" / "b.png"
    png.write_bytes(encode_png(np.zeros((3, 3, 3), np.uint8)))
    with pytest.raises(UnreadablePicture, match=r"mask b\.png does not fit its picture"):
        scene.objects[0].mask()
    png.write_bytes(png.read_bytes()[:30])
    with pytest.raises(UnreadablePicture, match=r"mask b\.png: truncated"):
        scene.objects[0].mask()
    png.unlink()
    with pytest.raises(UnreadablePicture, match=r"mask b\.png is missing"):
        scene.objects[0].mask()


def test_wrong_panoptic_files_are_named(tmp_path):
    with pytest.raises(BadInput, match="annotation 0 has no 'segments_info'"):
        panoptic(panoptic_pack(tmp_path, annotations=[{"image_id": 7, "file_name": "b.png"}]))
    with pytest.raises(BadInput, match="there is no category 1"):
        panoptic(panoptic_pack(tmp_path, categories=[]))
    with pytest.raises(BadInput, match=r"folder of panoptic masks .*elsewhere does not exist"):
        panoptic(panoptic_pack(tmp_path), masks=tmp_path / "elsewhere")


@pytest.mark.skipif(not (DATA / "detection").is_dir(), reason="shared/data/detection is not here")
def test_the_boxes_of_a_real_panoptic_pack_are_those_of_its_masks():
    scenes = panoptic(DATA / "detection" / "panoptic.json")
    assert len(scenes) == 64
    assert sum(len(scene.objects) for scene in scenes) == 550
    for scene in scenes[:5]:
        assert scene.image.ndim == 3
        for thing in scene.objects:
            y, x = np.nonzero(thing.mask())
            assert thing.box == (x.min(), y.min(), x.max() + 1, y.max() + 1)
