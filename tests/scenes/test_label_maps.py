"""Folders of pictures with label maps: layouts, palettes, and what is wrong with them."""

import json

import cv2
import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.scenes import label_maps, load_scenes
from instar.scenes.palettes import BUILT_IN, palette_named

PICTURE = np.full((12, 16, 3), 90, np.uint8)


def write(path, pixels):
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), pixels[..., ::-1] if pixels.ndim == 3 else pixels)


def grey(value, other):
    values = np.full((12, 16), value, np.uint8)
    values[8:] = other
    return values


def coloured(colour, other):
    values = np.empty((12, 16, 3), np.uint8)
    values[:8], values[8:] = colour, other
    return values


def classes(scene):
    labels = scene.knowledge["labels"]()
    return labels.names[labels.ids[0, 0]], labels.names[labels.ids[-1, 0]]


def test_cityscapes_is_read_by_ids_before_colours(tmp_path):
    write(tmp_path / "leftImg8bit/val/ulm/ulm_000001_000019_leftImg8bit.png", PICTURE)
    base = tmp_path / "gtFine/val/ulm/ulm_000001_000019_gtFine"
    write(base.with_name(base.name + "_labelIds.png"), grey(23, 7))
    write(base.with_name(base.name + "_color.png"), coloured((70, 70, 70), (0, 0, 142)))
    write(base.with_name(base.name + "_instanceIds.png"), grey(1, 2))
    (scene,) = load_scenes(str(tmp_path))
    assert scene.id == "leftImg8bit/val/ulm/ulm_000001_000019_leftImg8bit.png"
    assert classes(scene) == ("sky", "road")
    np.testing.assert_array_equal(scene.image, PICTURE)


def test_cityscapes_is_read_by_colours_and_by_training_ids(tmp_path):
    write(tmp_path / "leftImg8bit/a_leftImg8bit.png", PICTURE)
    write(tmp_path / "gtFine/a_gtFine_color.png", coloured((70, 70, 70), (244, 35, 232)))
    assert classes(load_scenes(str(tmp_path))[0]) == ("building", "sidewalk")
    (tmp_path / "gtFine/a_gtFine_color.png").unlink()
    write(tmp_path / "gtFine/a_gtFine_labelTrainIds.png", grey(11, 0))
    assert classes(load_scenes(str(tmp_path))[0]) == ("person", "road")


def test_camvid_is_known_by_its_colours(tmp_path):
    write(tmp_path / "701_StillsRaw_full/0001TP_1.png", PICTURE)
    write(tmp_path / "LabeledApproved_full/0001TP_1_L.png", coloured((64, 64, 0), (128, 0, 192)))
    (scene,) = load_scenes(str(tmp_path))
    assert classes(scene) == ("person", "line")


def test_a2d2_is_known_by_its_colours_and_names(tmp_path):
    name = "20181107132300_{}_frontcenter_000000091.png"
    write(tmp_path / "20181107/camera/cam_front_center" / name.format("camera"), PICTURE)
    maps = coloured((0xCC, 0x99, 0xFF), (0x80, 0x00, 0xFF))
    write(tmp_path / "20181107/label/cam_front_center" / name.format("label"), maps)
    (scene,) = load_scenes(str(tmp_path))
    assert classes(scene) == ("person", "line")


def test_a_folder_may_bring_its_classes(tmp_path):
    write(tmp_path / "images/a.jpg", PICTURE)
    write(tmp_path / "labels/a.png", grey(1, 0))
    (tmp_path / "classes.json").write_text(json.dumps({"classes": ["Road", "Pedestrian"]}), encoding="utf-8")
    assert classes(load_scenes(str(tmp_path))[0]) == ("person", "road")


def test_a_palette_of_ones_own(tmp_path):
    write(tmp_path / "data/images/a.jpg", PICTURE)
    write(tmp_path / "data/labels/a.png", grey(200, 3))
    own = tmp_path / "mine.toml"
    own.write_text(
        'class = [{name = "Velo", is = "bicycle", id = 200}, {name = "Strasse", is = "road", id = 3}]',
        "utf-8",
    )
    (scene,) = load_scenes(str(tmp_path / "data"), palette=str(own))
    assert classes(scene) == ("bicycle", "road")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("klass = []", "did you mean 'class'"),
        ('class = [{name = "a", idd = 3}]', "did you mean 'id'"),
        ('class = [{name = "Strasse", is = "raod", id = 3}]', "unknown class .raod.; did you mean .road."),
        ('class = [{name = "a"}]', "needs a name and an id or a colour"),
        ('class = [{name = "a", id = 300}]', "from 0 to 255"),
        ('class = [{name = "a", colour = [1, 2]}]', "three numbers"),
        ("class = [", "is not TOML"),
    ],
)
def test_a_wrong_palette_is_refused_in_one_line(tmp_path, text, complaint):
    own = tmp_path / "mine.toml"
    own.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=complaint):
        palette_named(str(own))


def test_grey_maps_without_a_palette_are_refused(tmp_path):
    write(tmp_path / "images/a.png", PICTURE)
    write(tmp_path / "labels/a.png", grey(1, 2))
    with pytest.raises(BadInput, match="give --palette, one of a2d2"):
        load_scenes(str(tmp_path))
    with pytest.raises(BadInput, match="did you mean 'camvid'"):
        load_scenes(str(tmp_path), palette="camvit")


def test_a_map_of_another_size_or_palette_is_named(tmp_path):
    write(tmp_path / "images/a.png", PICTURE)
    write(tmp_path / "labels/a.png", grey(7, 7)[:5])
    (scene,) = label_maps(tmp_path, palette="cityscapes")
    with pytest.raises(BadInput, match=r"a\.png is 16 x 5 pixels, but its picture 16 x 12"):
        scene.knowledge["labels"]()
    write(tmp_path / "labels/b.png", grey(99, 98))
    write(tmp_path / "images/b.png", PICTURE)
    with pytest.raises(BadInput, match="100% of the map is of no class"):
        label_maps(tmp_path, palette="cityscapes")[1].knowledge["labels"]()


def test_pictures_without_maps_are_no_label_maps(tmp_path):
    write(tmp_path / "images/a.png", PICTURE)
    with pytest.raises(BadInput, match="has a label map"):
        label_maps(tmp_path)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_palette_knows_a_road_and_people(name):
    assert {"road", "person", "car", "building", "vegetation", "sidewalk"} <= set(palette_named(name).names)
