"""COCO-Text: words by their masks or boxes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.scenes import coco_text, load_scenes

IMAGE = {"id": 7, "file_name": "a.png", "width": 12, "height": 9, "set": "train"}
LEGIBLE = {
    "image_id": 7,
    "bbox": [1, 2, 4, 3],
    "mask": [1, 2, 5, 2, 5, 5, 1, 5],
    "utf8_string": "EXIT",
    "legibility": "legible",
}


def pack(root, *annotations, images=None):
    (root / "a.png").write_bytes(encode_png(np.zeros((9, 12, 3), np.uint8)))
    document = {
        "cats": {},
        "anns": {str(i): one for i, one in enumerate(annotations)},
        "imgs": {"7": IMAGE} if images is None else images,
        "imgToAnns": {},
    }
    (root / "cocotext.v2.json").write_text(json.dumps(document))
    return root / "cocotext.v2.json"


def test_words_have_the_outline_of_their_mask_or_box(tmp_path):
    boxed = {**LEGIBLE, "mask": [1, 2], "utf8_string": "BOX"}
    first_version = {**LEGIBLE, "polygon": [1, 2, 5, 3, 5, 6, 1, 5], "mask": None}
    flat = {**LEGIBLE, "mask": [], "bbox": [1, 1, 0, 5]}
    (scene,) = coco_text(pack(tmp_path, LEGIBLE, boxed, first_version, flat))
    outlines = [word.outline.tolist() for word in scene.knowledge["words"]]
    assert outlines == [
        [[1, 2], [5, 2], [5, 5], [1, 5]],
        [[1, 2], [5, 2], [5, 5], [1, 5]],
        [[1, 2], [5, 3], [5, 6], [1, 5]],
    ]
    assert scene.image.shape == (9, 12, 3)


def test_what_nobody_can_read_is_to_be_ignored(tmp_path):
    unread = {key: value for key, value in LEGIBLE.items() if key != "utf8_string"}
    (scene,) = coco_text(pack(tmp_path, LEGIBLE, {**LEGIBLE, "legibility": "illegible"}, unread))
    assert [(word.text, word.ignored) for word in scene.knowledge["words"]] == [
        ("EXIT", False),
        ("", True),
        ("", True),
    ]


def test_annotations_of_other_pictures_are_left_out(tmp_path):
    (scene,) = coco_text(pack(tmp_path, {**LEGIBLE, "image_id": 8}))
    assert scene.knowledge["words"] == ()


def test_the_file_and_its_folder_are_recognised(tmp_path):
    file = pack(tmp_path, LEGIBLE)
    assert load_scenes(str(file))[0].knowledge["words"][0].text == "EXIT"
    assert load_scenes(str(tmp_path), format="coco-text")[0].id == "a.png"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{}", "is not COCO-Text: it has no tables imgs and anns"),
        ("{", "is not JSON"),
        ("[]", "is not COCO-Text"),
    ],
)
def test_another_file_is_refused(tmp_path, content, reason):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(BadInput, match=reason):
        coco_text(tmp_path / "x.json")


def test_a_broken_annotation_is_named(tmp_path):
    with pytest.raises(BadInput, match="annotation 1 has no 'bbox'"):
        coco_text(pack(tmp_path, LEGIBLE, {"image_id": 7}))
