"""yolox-nano on real photographs, its decoding, and what a campaign relies on."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from instar.core.errors import BadInput, UnknownName
from instar.core.system import System
from instar.tasks.detection.answers import read
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.decode import to_detections
from instar.tasks.detection.systems.head_declaration import make_head
from instar.tasks.detection.systems.onnx import yolox
from instar.zoo import fetch


@pytest.fixture(scope="module")
def detector():
    return yolox("nano")


def photograph(name: str) -> np.ndarray:
    (path,) = fetch(name)
    return cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


# Seen on drawings and found right; the person in `motorcycle` (a shelf) is a real mistake of the network.
FOUND = {
    "person": [
        ("person", 0.881, (188.7, 97.3, 276.9, 373.0)),
        ("horse", 0.880, (403.0, 137.7, 602.6, 344.1)),
        ("dog", 0.875, (60.6, 263.6, 201.0, 349.8)),
    ],
    "bus": [
        ("bus", 0.903, (13.7, 231.1, 801.2, 732.6)),
        ("person", 0.858, (50.3, 394.9, 215.6, 897.8)),
        ("person", 0.808, (219.9, 402.3, 347.3, 854.7)),
        ("person", 0.696, (685.0, 454.1, 810.0, 874.5)),
    ],
    "cat": [("cat", 0.632, (0.0, 0.0, 450.5, 300.0))],
    "coffee": [
        ("cup", 0.898, (162.1, 16.4, 420.9, 294.9)),
        ("dining table", 0.738, (0.2, 0.4, 598.2, 398.5)),
    ],
    "astronaut": [("person", 0.926, (11.5, 20.3, 368.9, 507.2))],
    "motorcycle": [
        ("motorcycle", 0.896, (110.2, 67.2, 709.3, 445.8)),
        ("person", 0.391, (348.2, 8.4, 405.4, 87.0)),
    ],
}


@pytest.mark.parametrize("name", FOUND)
def test_it_finds_what_is_in_a_photograph(detector, name):
    (answer,) = detector.predict([photograph(name)])
    found = answer.confident()
    assert found.labels == tuple(label for label, _, _ in FOUND[name])
    np.testing.assert_allclose(found.scores, [score for _, score, _ in FOUND[name]], atol=0.02)
    np.testing.assert_allclose(found.boxes, [box for _, _, box in FOUND[name]], atol=2)


def test_it_finds_the_cars_and_people_of_a_crowded_street(detector):
    (answer,) = detector.predict([photograph("street")])
    strong = answer.select(answer.scores >= 0.5)
    assert strong.labels == ("car", "person", "person", "person", "person", "person", "car")
    np.testing.assert_allclose(strong.boxes[0], (110.6, 468.0, 442.3, 620.7), atol=2)
    assert answer.confidence == 0.3


def test_answers_come_strongest_first_down_to_the_least_score_and_within_the_picture(detector):
    image = photograph("street")
    (answer,) = detector.predict([image])
    assert (np.diff(answer.scores) <= 0).all()
    assert answer.scores[-1] >= np.float32(0.05)
    assert (answer.scores < 0.3).any()
    assert read(image, answer) is answer


def same(one, other) -> bool:
    return (
        one.labels == other.labels
        and np.array_equal(one.boxes, other.boxes)
        and np.array_equal(one.scores, other.scores)
        and one.confidence == other.confidence
    )


def test_an_answer_depends_on_neither_neighbours_nor_time_nor_thread(detector):
    images = [photograph(name) for name in ("cat", "bus", "person")]
    before = [image.copy() for image in images]
    together = detector.predict(images)
    alone = [detector.predict([image])[0] for image in reversed(images)][::-1]
    with ThreadPoolExecutor(3) as pool:
        threads = [answer[0] for answer in pool.map(detector.predict, [[image] for image in images])]
    assert all(map(same, together, alone))
    assert all(map(same, together, threads))
    assert all(np.array_equal(image, copy) for image, copy in zip(images, before))


def test_it_can_be_sent_to_another_process():
    sent = yolox("nano", confidence=0.4, threads=2)
    received = pickle.loads(pickle.dumps(sent))
    assert (received.name, received.fingerprint) == (sent.name, sent.fingerprint)
    image = photograph("person")
    assert same(received.predict([image])[0], sent.predict([image])[0])
    assert received.predict([image])[0].confidence == 0.4


def test_it_is_a_system_whose_fingerprint_tells_settings_apart(detector):
    assert isinstance(detector, System)
    assert detector.name == "yolox-nano"
    assert detector.concurrent
    assert detector.fingerprint.startswith("yolox-nano weights=695e750a5d5754bb confidence=0.3 threads=1 ")
    assert yolox("nano").fingerprint == detector.fingerprint
    assert yolox("nano", confidence=0.31).fingerprint != detector.fingerprint


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 900, 3), (900, 1, 3), (416, 416, 3)])
def test_any_size_of_picture_gets_an_answer(detector, shape):
    image = np.full(shape, 128, np.uint8)
    (answer,) = detector.predict([image])
    assert read(image, answer) is answer


def test_a_view_that_is_not_contiguous_gets_the_same_answer(detector):
    image = photograph("person")
    mirrored = image[:, ::-1]
    assert same(detector.predict([mirrored])[0], detector.predict([mirrored.copy()])[0])


@pytest.mark.parametrize(
    "image", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 4), np.uint8), np.zeros((9, 9, 3), np.float32)]
)
def test_what_is_no_picture_is_refused(detector, image):
    with pytest.raises(ValueError, match=r"it must be uint8 \(H, W, 3\)"):
        detector.predict([image])


def test_bad_settings_are_named():
    with pytest.raises(UnknownName, match="unknown YOLOX size 'nanno'; did you mean 'nano'"):
        yolox("nanno")
    with pytest.raises(BadInput, match="yolox-nano: confidence is 30; it must be a number between 0 and 1"):
        yolox(confidence=30)
    with pytest.raises(BadInput, match="yolox-nano: threads is 0; it must be a whole number of at least 1"):
        yolox(threads=0)


# Decoding, on outputs written by hand. Row 0 is the cell (0, 0) of stride 8; row 52 * 52 + 27 the cell
# (1, 1) of stride 16; the last row the cell (12, 12) of stride 32.


def decoded(rows, *, scale=(1, 1, 1, 1), size=(416, 416)):
    output = np.zeros((3549, 85), np.float32)
    for index, (x, y, width, height), objectness, label, probability in rows:
        output[index, :5] = x, y, np.log(width), np.log(height), objectness
        output[index, 5 + COCO_NAMES.index(label)] = probability
    boxes, classes, scores = make_head("yolox", 80).decode({"output": output[None]}, (416, 416))
    boxes *= np.asarray(scale, np.float32)
    return to_detections(boxes, classes, scores, names=COCO_NAMES, size=size, confidence=0.3)


def test_each_stride_has_its_own_grid():
    found = decoded(
        [
            (0, (2, 3, 2, 4), 0.9, "dog", 1.0),
            (52 * 52 + 27, (0.5, 1, 2, 1), 0.8, "cat", 0.5),
            (3548, (0, -2, 1, 1), 0.5, "tie", 0.5),
        ]
    )
    assert found.labels == ("dog", "cat", "tie")
    np.testing.assert_allclose(found.scores, [0.9, 0.4, 0.25], rtol=1e-6)
    expected = [[8, 8, 24, 40], [8, 24, 40, 40], [368, 304, 400, 336]]
    np.testing.assert_allclose(found.boxes, expected, rtol=1e-6)


def test_boxes_are_carried_back_clipped_and_dropped_when_only_in_the_border():
    found = decoded(
        [(0, (2, 3, 8, 4), 0.9, "dog", 1.0), (3548, (0, 0, 1, 1), 0.9, "cat", 1.0)],
        scale=(2, 3, 2, 3),
        size=(100, 832),
    )
    assert found.labels == ("dog",)
    np.testing.assert_allclose(found.boxes, [[0, 24, 96, 100]], rtol=1e-6)


def test_of_two_overlapping_boxes_of_one_class_the_stronger_stays():
    overlapping = [
        (0, (10, 10, 8, 8), 0.6, "dog", 1.0),
        (1, (10, 10, 8, 8), 0.9, "dog", 1.0),
        (2, (8, 10, 8, 8), 0.8, "cat", 1.0),
        (3, (20, 10, 8, 8), 0.7, "dog", 1.0),
    ]
    found = decoded(overlapping)
    assert found.labels == ("dog", "cat", "dog")
    np.testing.assert_allclose(found.scores, [0.9, 0.8, 0.7], rtol=1e-6)


def test_a_box_that_was_dropped_drops_no_other():
    # Each overlaps the next by 0.6, the first and the last only by 0.33.
    chain = [
        (0, (10, 10, 8, 8), 0.9, "dog", 1.0),
        (1, (11, 10, 8, 8), 0.8, "dog", 1.0),
        (2, (12, 10, 8, 8), 0.7, "dog", 1.0),
    ]
    np.testing.assert_allclose(decoded(chain).scores, [0.9, 0.7], rtol=1e-6)


def test_weak_boxes_are_left_out():
    rows = [
        (0, (5, 5, 2, 2), 0.9, "dog", 0.051),
        (9, (5, 5, 2, 2), 0.9, "dog", 0.06),
        (60, (9, 9, 2, 2), 0.04, "cat", 1.0),
    ]
    np.testing.assert_allclose(decoded(rows).scores, [0.054], rtol=1e-6)


def test_nothing_found_keeps_the_shapes():
    nothing = decoded([])
    assert nothing.boxes.shape == (0, 4)
    assert nothing.scores.shape == (0,)


def test_the_coco_names_are_eighty_different_ones():
    assert len(set(COCO_NAMES)) == len(COCO_NAMES) == 80
    assert [COCO_NAMES[i] for i in (0, 2, 16, 41, 60, 79)] == [
        "person",
        "car",
        "dog",
        "cup",
        "dining table",
        "toothbrush",
    ]
