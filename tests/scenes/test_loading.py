"""What the user names is recognised, or refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Scene
from instar.imaging.codecs import encode_png
from instar.scenes import folder, load_scenes, require_one_readable

DATA = Path(__file__).parents[2].parent / "shared" / "data"
COCO = {
    "images": [{"id": 1, "file_name": "a.png", "height": 4, "width": 5}],
    "categories": [{"id": 1, "name": "cat", "isthing": 1}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2]}],
}
SEGMENT = {"id": 1, "category_id": 1, "bbox": [0, 0, 3, 3]}
PANOPTIC = COCO | {"annotations": [{"image_id": 1, "file_name": "a.png", "segments_info": [SEGMENT]}]}
XML = (
    "<annotation><object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax>"
    "<ymax>4</ymax></bndbox></object></annotation>"
)


def put(path: Path, content) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(np.zeros((4, 5, 3), np.uint8)))
    return path


def loaded(spec, **options):
    """Ids, and the boxes known: enough to tell the formats apart."""
    scenes = load_scenes(str(spec), **options)
    return [(s.id, None if s.objects is None else [o.box for o in s.objects]) for s in scenes]


@pytest.fixture
def coco_pack(tmp_path):
    picture(tmp_path / "images/a.png")
    return put(tmp_path / "instances.json", COCO)


@pytest.fixture
def panoptic_pack(tmp_path):
    picture(tmp_path / "images/a.png")
    picture(tmp_path / "panoptic/a.png")
    return put(tmp_path / "panoptic.json", PANOPTIC)


def test_a_picture_and_a_folder_of_pictures_are_recognised(tmp_path):
    file = picture(tmp_path / "sub/a.png")
    assert loaded(file) == [("a.png", None)]
    assert loaded(tmp_path) == [("sub/a.png", None)]


def test_a_path_is_as_good_as_its_name(tmp_path):
    picture(tmp_path / "a.png")
    assert [scene.id for scene in load_scenes(tmp_path)] == [scene.id for scene in load_scenes(str(tmp_path))]


def test_coco_is_recognised_by_file_and_by_folder(coco_pack):
    for spec in (coco_pack, coco_pack.parent):
        assert loaded(spec) == [("a.png", [(0, 0, 2, 2)])]
        assert loaded(spec, format="coco") == [("a.png", [(0, 0, 2, 2)])]


def test_panoptic_is_recognised_by_file_and_by_folder(panoptic_pack):
    for spec in (panoptic_pack, panoptic_pack.parent):
        assert loaded(spec) == [("a.png", [(0, 0, 3, 3)])]
        assert loaded(spec, format="panoptic") == [("a.png", [(0, 0, 3, 3)])]


def test_yolo_is_recognised_by_its_folders_and_by_its_yaml(tmp_path):
    picture(tmp_path / "images/a.png")
    put(tmp_path / "labels/a.txt", "0 0.5 0.5 1 1")
    assert loaded(tmp_path) == [("images/a.png", [(0, 0, 5, 4)])]
    yaml = put(tmp_path / "data.yaml", "names: [cat]")
    assert loaded(yaml) == loaded(tmp_path) == loaded(tmp_path, format="yolo")
    assert load_scenes(str(yaml))[0].objects[0].label == "cat"


def test_yolo_is_recognised_when_each_split_has_folders_of_its_own(tmp_path):
    picture(tmp_path / "train/images/a.png")
    put(tmp_path / "train/labels/a.txt", "0 0.5 0.5 1 1")
    put(tmp_path / "data.yaml", "names: [cat]")
    assert loaded(tmp_path) == [("train/images/a.png", [(0, 0, 5, 4)])]


def test_voc_is_recognised_by_its_folders(tmp_path):
    picture(tmp_path / "JPEGImages/a.png")
    put(tmp_path / "Annotations/a.xml", XML)
    assert loaded(tmp_path) == [("JPEGImages/a.png", [(0, 0, 4, 4)])] == loaded(tmp_path, format="voc")


def test_loose_pictures_make_a_plain_folder_whatever_else_is_there(tmp_path):
    picture(tmp_path / "a.png")
    put(tmp_path / "instances.json", COCO)
    put(tmp_path / "broken.json", "{")
    put(tmp_path / "labels/readme.md", "not labels")
    put(tmp_path / "data.yaml", "somebody: else")
    picture(tmp_path / "images/b.png")
    assert loaded(tmp_path) == [("a.png", None), ("images/b.png", None)]


def test_json_that_is_not_coco_does_not_matter_to_a_folder(tmp_path):
    picture(tmp_path / "sub/a.png")
    put(tmp_path / "settings.json", {"images": 3})
    put(tmp_path / "broken.json", "{")
    assert loaded(tmp_path) == [("sub/a.png", None)]


def test_what_is_said_wins_over_what_is_seen(coco_pack):
    assert loaded(coco_pack.parent, format="folder") == [("images/a.png", None)]


def test_several_annotation_files_must_be_chosen_from(coco_pack):
    put(coco_pack.parent / "annotations" / "more.json", COCO)
    with pytest.raises(
        BadInput, match=r"several annotation files \(annotations/more\.json, instances\.json\)"
    ):
        load_scenes(str(coco_pack.parent))
    with pytest.raises(BadInput, match="has 2 coco files in it; name the file itself"):
        load_scenes(str(coco_pack.parent), format="coco")


def test_streets_are_drawn():
    assert [s.id for s in load_scenes("street:3")] == [s.id for s in load_scenes("street:3:0")]
    assert len(load_scenes("street:5:9", limit=2)) == 2
    first, other = load_scenes("street:1:1")[0], load_scenes("street:1:2")[0]
    assert not np.array_equal(first.image, other.image)


@pytest.mark.parametrize(
    "spec",
    [
        "street:",
        "street",
        "street:x",
        "street:0",
        "street:3:x",
        "street:3:-1",
        "street:1:2:3",
        "street:99999999999",
        "street:" + "9" * 5000,
    ],
)
def test_a_street_that_cannot_be_is_refused(spec):
    with pytest.raises(BadInput, match="expected street:N or street:N:SEED, such as street:20"):
        load_scenes(spec)


def test_what_cannot_be_loaded_is_named(tmp_path, coco_pack):
    with pytest.raises(BadInput, match=r"nowhere' do not exist; give a folder, a picture"):
        load_scenes(str(tmp_path / "nowhere"))
    with pytest.raises(UnknownName, match="unknown scene format 'cocoa'; did you mean 'coco'"):
        load_scenes(str(tmp_path), format="cocoa")
    with pytest.raises(BadInput, match="limit 0 leaves no scene"):
        load_scenes(str(tmp_path), limit=0)
    with pytest.raises(BadInput, match=r"notes\.doc is no file of scenes; expected one of \.json"):
        load_scenes(str(put(tmp_path / "notes.doc", "")))
    with pytest.raises(BadInput, match=r"broken\.json is not JSON: .* line 1 column 2"):
        load_scenes(str(put(tmp_path / "broken.json", "{")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"no picture below .*empty; expected"):
        load_scenes(str(tmp_path / "empty"))


def test_one_readable_picture_is_enough_and_the_rest_is_not_read(tmp_path):
    (tmp_path / "a.png").write_bytes(b"broken")
    picture(tmp_path / "b.png")

    def unexpected():
        raise AssertionError("read after a readable one")

    require_one_readable([*folder(tmp_path), Scene("c", unexpected)])


def test_without_one_readable_picture_the_first_reasons_are_given(tmp_path):
    for name in ("a.png", "b.png", "c.png", "d.png", "e.png"):
        (tmp_path / name).write_bytes(b"" if name == "b.png" else b"broken")
    with pytest.raises(BadInput) as caught:
        require_one_readable(folder(tmp_path))
    assert str(caught.value) == (
        "not one of 5 pictures can be read "
        "(a.png: not a picture; b.png: empty file; c.png: not a picture; and 2 more)"
    )
    with pytest.raises(BadInput, match=r"not one of 0 pictures can be read \(there is none\)"):
        require_one_readable([])


@pytest.mark.skipif(not DATA.is_dir(), reason="shared/data is not here")
def test_the_real_packs_are_recognised():
    detection = load_scenes(str(DATA / "detection"))
    assert len(detection) == 64
    assert all(scene.objects is not None for scene in detection)
    assert len(load_scenes(str(DATA / "day_night"))) == 60
    assert len(load_scenes(str(DATA / "text"))) == 52
    require_one_readable(detection)


def test_a_list_of_a_data_set_keeps_what_is_known_of_its_scenes(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.png").write_bytes(encode_png(np.zeros((9, 9, 3), np.uint8)))
        (folder / f"gt_{name}.txt").write_text(f"0,0,8,0,8,8,0,8,{name}\n")
    chosen = tmp_path.parent / f"{tmp_path.name}.txt"
    chosen.write_text(f"# scenes of {folder}\nc.png\n\na.png\n")
    found = load_scenes(str(chosen))
    assert [(scene.id, scene.knowledge["words"][0].text) for scene in found] == [
        ("a.png", "a"),
        ("c.png", "c"),
    ]
    assert [scene.id for scene in load_scenes(str(chosen), limit=1)] == ["a.png"]
    chosen.write_text(f"# scenes of {folder}\nd.png\n")
    with pytest.raises(BadInput, match=r"has no scene 'd\.png'; remove that line"):
        load_scenes(str(chosen))
    chosen.write_text(f"# scenes of {tmp_path}\na.png\n")
    with pytest.raises(BadInput, match=r"has no scene 'a\.png'; write 'images/a\.png'"):
        load_scenes(str(chosen))


YOLO = "0 0.4 0.5 0.8 1\n"


@pytest.mark.parametrize(
    ("files", "spec", "id"),
    [
        ({"train/a.xml": XML}, "", "train/a.png"),
        ({"a.xml": XML}, "", "a.png"),
        ({"train/a.txt": YOLO, "train/_darknet.labels": "cat"}, "", "train/a.png"),
        ({"a.txt": YOLO, "classes.txt": "cat"}, "", "a.png"),
        ({"obj_train_data/a.txt": YOLO, "obj.names": "cat"}, "", "obj_train_data/a.png"),
        ({"obj_train_data/a.txt": YOLO, "obj.names": "cat", "obj.data": ""}, "obj.data",
         "obj_train_data/a.png"),
        ({"labels/a.txt": YOLO, "images/a.png": None, "../data.yaml": "names: [cat]"}, "", "images/a.png"),
        ({"sets/images/a.png": None, "sets/labels/a.txt": YOLO, "my.yaml": "path: sets\nnames: [cat]"},
         "my.yaml", "images/a.png"),
        ({"train/_annotations.coco.json": COCO, "train/a.png": None}, "", "a.png"),
        ({"_annotations.coco.json": COCO, "a.png": None}, "", "a.png"),
        ({"data/a.png": None, "labels.json": COCO}, "", "a.png"),
    ],
)  # fmt: skip
def test_layouts_of_exports_are_recognised(tmp_path, files, spec, id):
    root = tmp_path / "set"
    picture(root / id) if None not in files.values() else None
    for name, content in files.items():
        picture(root / name) if content is None else put(root / name, content)
    (scene,) = load_scenes(root / spec)
    assert (scene.id, [thing.label for thing in scene.objects]) == (id, ["cat"])
    assert scene.objects[0].box == ((0, 0, 2, 2) if COCO in files.values() else (0, 0, 4, 4))


def test_other_files_beside_pictures_are_no_annotations(tmp_path):
    picture(tmp_path / "a.png")
    put(tmp_path / "a.xml", "<annotations><version>1.1</version></annotations>")
    put(tmp_path / "classes.txt", "cat")
    put(tmp_path / "notes.txt", "cat")
    assert loaded(tmp_path) == [("a.png", None)]
