"""Decoding of the zoo's detectors, on outputs written by hand."""

from __future__ import annotations

import numpy as np

from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES
from instar.tasks.detection.systems import efficientdet, opencv


def test_cocos_own_numbers_have_gaps():
    assert len(COCO_IDS) == len(COCO_NAMES) == 80
    by_number = dict(zip(COCO_IDS, COCO_NAMES))
    assert [by_number[n] for n in (1, 13, 27, 31, 44, 67, 90)] == [
        *("person", "stop sign", "backpack", "handbag", "bottle", "dining table", "toothbrush")
    ]


def test_an_ssd_answers_with_numbers_of_classes_and_shares_of_the_picture():
    rows = np.float32(
        [
            [0, 18, 0.5, 0.1, 0.2, 0.5, 0.6],
            [0, 1, 0.9, -0.1, 0.0, 0.5, 1.1],
            [0, 12, 0.8, 0.1, 0.1, 0.5, 0.5],  # a number that COCO never used
            [0, 1, 0.04, 0.1, 0.1, 0.5, 0.5],
        ]
    )
    found = opencv._decode_ssd([rows.reshape(1, 1, -1, 7)], (100, 200), 0.4)
    assert found.labels == ("person", "dog")
    np.testing.assert_allclose(found.boxes, [[0, 0, 100, 100], [20, 20, 100, 60]], atol=1e-4)
    np.testing.assert_allclose(found.scores, [0.9, 0.5])
    assert found.confidence == 0.4


def test_a_yolo_answers_with_centres_and_sides_and_duplicates_are_dropped():
    rows = np.zeros((3, 85), np.float32)
    rows[:, :5] = [[0.5, 0.5, 0.2, 0.4, 0.9], [0.5, 0.5, 0.21, 0.4, 0.8], [0.1, 0.1, 0.2, 0.2, 0.5]]
    rows[0, 5 + 16], rows[1, 5 + 16], rows[2, 5 + 15] = 0.8, 0.7, 0.4
    found = opencv._decode_yolo([rows[:2], rows[2:]], (100, 200), 0.3)
    assert found.labels == ("dog", "cat")
    np.testing.assert_allclose(found.boxes, [[80, 30, 120, 70], [0, 0, 40, 20]], atol=1e-4)


def test_anchors_are_three_octaves_of_three_shapes_in_every_cell():
    anchors = efficientdet._anchors(320)
    assert anchors.shape == (19206, 4)
    np.testing.assert_allclose(anchors[0], [4, 4, 24, 24])
    np.testing.assert_allclose(anchors[1], [4, 4, 24 / 2**0.5, 24 * 2**0.5], rtol=1e-6)
    np.testing.assert_allclose(anchors[3], [4, 4, 24 * 2 ** (1 / 3), 24 * 2 ** (1 / 3)], rtol=1e-6)
    np.testing.assert_allclose(anchors[9], [4, 12, 24, 24])


def test_offsets_are_in_sides_of_the_anchor():
    anchors = efficientdet._anchors(320)
    deltas, scores = np.zeros((19206, 4), np.float32), np.zeros((19206, 90), np.float32)
    deltas[9] = 0.5, 1.0, np.log(2), 0.0  # half of 24 down, 24 to the right, twice as high
    scores[9, COCO_IDS[15] - 1] = 0.75
    scores[9, 11] = 0.9  # a number that COCO never used
    found = efficientdet._decode(deltas, scores, anchors, np.float32([2, 2, 2, 2]), (640, 640), 0.32)
    assert found.labels == ("cat",)
    np.testing.assert_allclose(found.boxes, [[48, 0, 96, 80]], atol=1e-4)
