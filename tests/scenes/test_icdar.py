"""ICDAR 2013 and 2015: words with their outlines, texts and what is to be ignored."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.scenes import icdar, load_scenes

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "text"


def pack(root: Path, content: str | bytes, *, truth: str = "gt") -> Path:
    for folder in ("images", truth):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name in ("img_1.png", "img_2.png"):
        (root / "images" / name).write_bytes(encode_png(np.zeros((9, 12, 3), np.uint8)))
    data = content.encode("utf-8-sig") if isinstance(content, str) else content
    (root / truth / "gt_img_1.txt").write_bytes(data)
    return root


def words(root: Path):
    known, unknown = icdar(root)
    assert (known.id, unknown.id) == ("images/img_1.png", "images/img_2.png")
    assert (unknown.objects, dict(unknown.knowledge)) == (None, {})
    return known.knowledge["words"]


def test_words_of_2015_have_four_corners(tmp_path):
    (word,) = words(pack(tmp_path, "1,2,9,3,9,6,1,5,EXIT\r\n"))
    assert word.outline.tolist() == [[1, 2], [9, 3], [9, 6], [1, 5]]
    assert word.outline.dtype == np.float32
    assert (word.text, word.ignored, word.box) == ("EXIT", False, (1, 2, 9, 6))


@pytest.mark.parametrize(
    ("written", "text", "ignored"),
    [
        ("###", "", True),
        ("a,b", "a,b", False),
        ("1,000", "1,000", False),
        (",", ",", False),
        ("", "", False),
        ("Café №5", "Café №5", False),
        ('"quoted"', '"quoted"', False),
        (" spaced ", " spaced ", False),
    ],
)
def test_texts_are_taken_as_they_stand(tmp_path, written, text, ignored):
    (word,) = words(pack(tmp_path, f"1,2,9,2,9,6,1,6,{written}\n"))
    assert (word.text, word.ignored) == (text, ignored)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ('1, 2, 9, 6, "EXIT"', "EXIT"),
        ('1 2 9 6 "EXIT"', "EXIT"),
        ('1, 2, 9, 6, "5, 6, 7, 8"', "5, 6, 7, 8"),
        ('1, 2, 9, 6, "say "hi""', 'say "hi"'),
    ],
)
def test_words_of_2013_are_upright_boxes(tmp_path, line, text):
    (word,) = words(pack(tmp_path, line + "\n"))
    assert word.outline.tolist() == [[1, 2], [9, 2], [9, 6], [1, 6]]
    assert word.text == text


def test_a_byte_order_mark_and_empty_lines_are_passed_over(tmp_path):
    content = b"\xef\xbb\xbf1,2,9,2,9,6,1,6,A\n\n1,2,9,2,9,6,1,6,B"
    assert [word.text for word in words(pack(tmp_path, content))] == ["A", "B"]
    assert [word.text for word in words(pack(tmp_path, content[3:]))] == ["A", "B"]


def test_a_picture_known_to_have_no_words_is_not_unknown(tmp_path):
    known, _ = icdar(pack(tmp_path, ""))
    assert (known.objects, known.knowledge["words"]) == ((), ())


def test_words_to_be_ignored_are_crowds(tmp_path):
    known, _ = icdar(pack(tmp_path, "1,2,9,2,9,6,1,6,A\n1,2,9,2,9,6,1,6,###\n"))
    assert [(o.label, o.crowd) for o in known.objects] == [("text", False), ("text", True)]


@pytest.mark.parametrize(
    "line", ["1,2,3", "1,2,9,2,9,6,1,x,EXIT", "EXIT", '1,2,9,"EXIT"', "1,2,9,2,9,6,1,nan,A"]
)
def test_a_broken_line_is_named_with_its_number(tmp_path, line):
    pack(tmp_path, f"1,2,9,2,9,6,1,6,A\n\n{line}\n")
    with pytest.raises(BadInput, match=r"gt_img_1\.txt line 3: .* is no word; expected x1,y1"):
        icdar(tmp_path)


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path):
    pack(tmp_path, b"1,2,9,2,9,6,1,6,A\n1,2,9,2,9,6,1,6,\xff\n")
    with pytest.raises(BadInput, match=r"gt_img_1\.txt line 2: byte 34 is not UTF-8"):
        icdar(tmp_path)


def test_annotations_may_lie_elsewhere(tmp_path):
    pack(tmp_path, "1,2,9,2,9,6,1,6,A\n", truth="words")
    known, _ = icdar(tmp_path / "images", truth=tmp_path / "words")
    assert (known.id, known.knowledge["words"][0].text) == ("img_1.png", "A")
    with pytest.raises(BadInput, match="has no annotations of the pictures"):
        icdar(tmp_path / "images")
    with pytest.raises(BadInput, match="nowhere does not exist"):
        icdar(tmp_path / "images", truth=tmp_path / "nowhere")


def test_truth_that_lies_apart_is_recognised(tmp_path):
    pack(tmp_path, "1,2,9,2,9,6,1,6,A\n", truth="words")
    known, _ = load_scenes(str(tmp_path / "images"), truth=str(tmp_path / "words"))
    assert known.knowledge["words"][0].text == "A"
    with pytest.raises(BadInput, match=r"is no folder of gt_NAME\.txt"):
        load_scenes(str(tmp_path / "images"), truth=str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match="page:1 is drawn and known already"):
        load_scenes("page:1", truth=str(tmp_path / "words"))


def test_the_layout_is_recognised(tmp_path):
    pack(tmp_path, "1,2,9,2,9,6,1,6,A\n")
    assert load_scenes(str(tmp_path))[0].knowledge["words"][0].text == "A"
    assert load_scenes(str(tmp_path), format="icdar", limit=1)[0].id == "images/img_1.png"
    assert load_scenes(str(tmp_path / "images"))[0].objects is None


@pytest.mark.skipif(not DATA.is_dir(), reason="shared/data/text is not here")
def test_the_pack_of_2015_is_read_as_it_was_parsed_before():
    parsed = {
        f"images/{one['file']}": one["words"] for one in json.loads((DATA / "annotations.json").read_text())
    }
    scenes = icdar(DATA)
    assert [scene.id for scene in scenes] == sorted(parsed)
    for scene in scenes:
        read = scene.knowledge["words"]
        assert [word.outline.tolist() for word in read] == [word["quad"] for word in parsed[scene.id]]
        assert [word.ignored for word in read] == [word["ignore"] for word in parsed[scene.id]]
