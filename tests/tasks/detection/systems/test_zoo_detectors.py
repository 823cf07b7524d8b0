"""The zoo's other detectors on real photographs, and what a campaign relies on."""

from __future__ import annotations

import pickle

import cv2
import numpy as np
import pytest

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_system
from instar.core.errors import BadInput
from instar.tasks.detection.answers import read
from instar.tasks.detection.systems.efficientdet import _anchors
from instar.zoo import fetch

# Seen on drawings. The mouse on the astronaut's sleeve and the sheep for a horse are the networks' mistakes.
FOUND = {
    "ssd-mobilenet-v2": {
        "person": [
            ("horse", 0.996, (397.8, 133.1, 602.0, 343.3)),
            ("person", 0.995, (186.1, 100.1, 271.2, 373.4)),
            ("dog", 0.602, (64.9, 264.4, 205.2, 354.4)),
        ],
        "bus": [
            ("person", 0.991, (52.4, 390.0, 227.4, 897.9)),
            ("bus", 0.941, (4.1, 216.8, 806.3, 754.8)),
            ("person", 0.837, (224.9, 406.0, 354.1, 864.4)),
            ("person", 0.565, (679.2, 363.7, 810.0, 875.4)),
        ],
        "astronaut": [
            ("person", 0.806, (10.7, 10.1, 369.9, 510.0)),
            ("mouse", 0.502, (290.0, 344.2, 499.9, 509.5)),
        ],
        "cat": [("cat", 0.910, (8.7, 0.4, 408.1, 296.7))],
    },
    "ssd-mobilenet-v3": {
        "person": [
            ("person", 0.802, (189.9, 100.0, 278.0, 378.4)),
            ("sheep", 0.768, (400.0, 136.3, 604.7, 341.8)),
            ("dog", 0.614, (65.6, 264.2, 202.2, 348.5)),
            ("horse", 0.584, (397.5, 135.9, 604.9, 340.1)),
            ("sheep", 0.534, (65.6, 264.2, 202.2, 348.5)),
        ],
        "coffee": [
            ("cup", 0.818, (170.4, 13.4, 413.4, 298.0)),
            ("dining table", 0.585, (3.8, 1.5, 595.9, 398.1)),
        ],
        "cat": [("cat", 0.719, (6.3, 0.9, 402.7, 298.6))],
    },
    "efficientdet-lite0": {
        "person": [
            ("horse", 0.879, (402.3, 140.7, 601.8, 344.0)),
            ("person", 0.816, (190.5, 101.5, 273.0, 388.7)),
            ("dog", 0.738, (60.5, 265.2, 196.3, 350.6)),
        ],
        "coffee": [
            ("cup", 0.789, (171.6, 15.3, 412.1, 307.0)),
            ("dining table", 0.680, (0.0, 0.0, 600.0, 400.0)),
            ("spoon", 0.344, (318.5, 131.9, 412.1, 334.3)),
        ],
        "motorcycle": [("motorcycle", 0.832, (103.3, 48.6, 685.8, 443.9))],
    },
    "efficientdet-lite1": {
        "person": [
            ("horse", 0.879, (400.4, 137.6, 605.6, 343.2)),
            ("person", 0.824, (189.0, 100.2, 274.1, 373.4)),
            ("dog", 0.754, (60.8, 263.5, 203.2, 350.8)),
        ],
        "coffee": [
            ("cup", 0.797, (170.9, 17.2, 422.0, 308.3)),
            ("dining table", 0.719, (0.0, 7.6, 600.0, 400.0)),
            ("spoon", 0.500, (320.4, 173.4, 407.7, 327.1)),
        ],
        "motorcycle": [("motorcycle", 0.848, (99.6, 19.1, 680.1, 453.4))],
    },
    "efficientdet-lite2": {
        "person": [
            ("horse", 0.859, (402.2, 136.2, 600.5, 341.9)),
            ("dog", 0.785, (65.5, 262.6, 203.1, 345.5)),
            ("person", 0.641, (188.1, 95.8, 269.1, 379.4)),
        ],
        "coffee": [
            ("cup", 0.859, (169.0, 19.7, 421.4, 323.6)),
            ("dining table", 0.621, (2.8, 5.8, 597.4, 398.8)),
            ("spoon", 0.582, (320.7, 161.3, 407.7, 325.6)),
        ],
        "motorcycle": [("motorcycle", 0.914, (112.3, 31.1, 682.0, 445.4))],
    },
    "yolov4-tiny": {
        "person": [
            ("person", 0.994, (190.9, 93.1, 273.6, 378.3)),
            ("dog", 0.985, (62.7, 260.8, 200.6, 350.1)),
            ("horse", 0.779, (400.7, 130.8, 604.3, 338.9)),
        ],
        "coffee": [("cup", 0.746, (168.7, 11.9, 409.6, 263.9))],
        "motorcycle": [("motorcycle", 0.938, (22.0, 30.6, 709.7, 472.2))],
    },
}
CONFIDENCE = {
    "ssd-mobilenet-v2": 0.4,
    "ssd-mobilenet-v3": 0.5,
    "efficientdet-lite0": 0.32,
    "efficientdet-lite1": 0.32,
    "efficientdet-lite2": 0.36,
    "yolov4-tiny": 0.3,
}

pytestmark = pytest.mark.real  # up to 75 MB are fetched for each


def photograph(name: str) -> np.ndarray:
    (path,) = fetch(name)
    return cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


@pytest.fixture(scope="module", params=FOUND)
def detector(request):
    return resolve_system(Use(request.param))


def test_it_finds_what_is_in_photographs(detector):
    for name, expected in FOUND[detector.name].items():
        image = photograph(name)
        (answer,) = detector.predict([image])
        found = answer.confident()
        assert found.labels == tuple(label for label, _, _ in expected), name
        np.testing.assert_allclose(found.scores, [score for _, score, _ in expected], atol=0.02)
        np.testing.assert_allclose(found.boxes, [box for _, _, box in expected], atol=3)
        assert answer.confidence == CONFIDENCE[detector.name]
        assert (np.diff(answer.scores) <= 0).all()
        assert answer.scores[-1] >= np.float32(0.05)
        assert read(image, answer) is answer


def same(one, other) -> bool:
    return one.labels == other.labels and np.array_equal(one.boxes, other.boxes)


def test_an_answer_depends_on_neither_neighbours_nor_time_nor_process(detector):
    images = [photograph(name) for name in ("cat", "bus", "person")]
    together = detector.predict(images)
    alone = [detector.predict([image])[0] for image in reversed(images)][::-1]
    assert all(map(same, together, alone))
    received = pickle.loads(pickle.dumps(detector))
    assert (received.name, received.fingerprint) == (detector.name, detector.fingerprint)
    assert same(received.predict([images[2]])[0], together[2])


def test_any_size_of_picture_gets_an_answer_and_what_is_no_picture_is_refused(detector):
    for shape in [(1, 1, 3), (1, 900, 3), (900, 1, 3), (416, 416, 3)]:
        image = np.full(shape, 128, np.uint8)
        assert read(image, detector.predict([image])[0]) is not None
    with pytest.raises(ValueError, match=r"it must be uint8 \(H, W, 3\)"):
        detector.predict([np.zeros((9, 9), np.uint8)])


def test_weak_boxes_are_answered_too(detector):
    (answer,) = detector.predict([photograph("street")])
    assert answer.scores.min() < answer.confidence - 0.1  # what the band around the confidence needs


def test_the_confidence_is_a_setting(detector):
    (answer,) = resolve_system(Use(detector.name, {"confidence": 0.7})).predict([photograph("person")])
    assert answer.confidence == 0.7
    with pytest.raises(BadInput, match="confidence is 7; it must be a number between 0 and 1"):
        resolve_system(Use(detector.name, {"confidence": 7}))


@pytest.mark.parametrize(("name", "side"), [("efficientdet-lite1", 384), ("efficientdet-lite2", 448)])
def test_anchors_are_those_that_the_file_itself_has(name, side):
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    (weights,) = fetch(name)
    network = litert.Interpreter(model_content=weights.read_bytes())
    network.allocate_tensors()
    (index,) = [tensor["index"] for tensor in network.get_tensor_details() if tensor["name"] == "stack"]
    np.testing.assert_allclose(_anchors(side) / side, network.get_tensor(index), atol=1e-6)
