"""Total-Text: outlines of many corners."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.scenes import load_scenes, total_text

CURVED = (
    "x: [[1 4 8\n  8 4 1]], y: [[5 3 5\n  8 6 8]], ornt: [u'c'], transcriptions: [u'ROUND']\n"
    "x: [[0 5 5 0]], y: [[0 0 2 2]], ornt: [u'#'], transcriptions: [u'#']\n"
    "x: [[0 5 5 0]], y: [[0 0 2 2]], ornt: [u'h'], transcriptions: [u\"CAN'T\"]\n"
)


def pack(root: Path, content: str) -> Path:
    (root / "Images").mkdir(parents=True)
    (root / "Images" / "img11.png").write_bytes(encode_png(np.zeros((9, 12, 3), np.uint8)))
    (root / "Text").mkdir()
    (root / "Text" / "poly_gt_img11.txt").write_text(content)
    return root


def test_outlines_keep_all_their_corners(tmp_path):
    (scene,) = total_text(pack(tmp_path, CURVED))
    round_word, unread, cannot = scene.knowledge["words"]
    assert round_word.outline.tolist() == [[1, 5], [4, 3], [8, 5], [8, 8], [4, 6], [1, 8]]
    assert (round_word.text, unread.text, cannot.text) == ("ROUND", "", "CAN'T")
    assert (round_word.ignored, unread.ignored) == (False, True)


def test_the_layout_is_recognised(tmp_path):
    (scene,) = load_scenes(str(pack(tmp_path, CURVED)))
    assert (scene.id, len(scene.objects)) == ("Images/img11.png", 3)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("x: [[0 5 5 0]], y: [[0 0 2 2]]", "is no entry of Total-Text"),
        ("x: [[0 5 5]], y: [[0 0 2 2]], ornt: [u'h'], transcriptions: [u'A']", "3 x and 4 y make no outline"),
        ("x: [[0 5]], y: [[0 0]], ornt: [u'h'], transcriptions: [u'A']", "2 x and 2 y make no outline"),
    ],
)
def test_a_broken_entry_is_named_with_its_line(tmp_path, broken, reason):
    pack(tmp_path, CURVED + broken)
    with pytest.raises(BadInput, match=rf"poly_gt_img11\.txt line 6: .*{reason}"):
        total_text(tmp_path)


def test_a_file_of_something_else_is_refused(tmp_path):
    pack(tmp_path, "hello\n")
    with pytest.raises(BadInput, match=r"line 1: 'hello' is no entry"):
        total_text(tmp_path)
