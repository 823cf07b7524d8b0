"""A user's ONNX detector by declaration.

The network is real: yolox-nano, with nodes added behind it that give its answer in the style of other heads.
So each declaration has to find what the zoo's own adapter finds.
"""

from __future__ import annotations

import pickle
from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from instar.campaigns.plan import make_plan
from instar.campaigns.resolve import resolve_system
from instar.core.errors import BadInput
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.grids import grid_cells
from instar.tasks.detection.systems.head_declaration import make_head
from instar.tasks.detection.systems.onnx import onnx_detector, yolox
from instar.tasks.detection.systems.onnx_input import to_input
from instar.zoo import fetch, photographs

AS_TRAINED = {"colour": "bgr", "divide": 1.0, "fit": "corner"}


def photograph(name: str = "person") -> np.ndarray:
    (path,) = fetch(name)
    return cv2.cvtColor(cv2.imread(str(path), cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


class Behind:
    """Nodes added behind the yolox-nano graph."""

    def __init__(self) -> None:
        (path,) = fetch("yolox-nano")
        self.model = onnx.load(str(path))
        self.graph = self.model.graph
        self.last = self.graph.output[0].name
        cells = grid_cells((416, 416))
        self.constant("grid", cells.at[None])
        self.constant("stride", cells.stride[None])
        at = self.cut(self.last, 0, 2)
        self.centres = self.node("Mul", [self.node("Add", [at, "grid"]), "stride"])
        self.sides = self.node("Mul", [self.node("Exp", [self.cut(self.last, 2, 4)]), "stride"])
        self.scores = self.node("Mul", [self.cut(self.last, 4, 5), self.cut(self.last, 5, 85)])

    def constant(self, name: str, value: np.ndarray) -> str:
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], **attributes) -> str:
        output = f"{kind}-{len(self.graph.node)}"
        self.graph.node.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def cut(self, of: str, start: int, end: int) -> str:
        n = len(self.graph.node)
        ends = [
            self.constant(f"{name}-{n}", np.array([v], np.int64)) for name, v in (("s", start), ("e", end))
        ]
        return self.node("Slice", [of, *ends, self.constant(f"a-{n}", np.array([2], np.int64))])

    def join(self, *parts: str) -> str:
        return self.node("Concat", list(parts), axis=2)

    def saved(self, folder: Path, *outputs: str) -> str:
        del self.graph.output[:]
        for name in outputs:
            self.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
        path = folder / "mine.onnx"
        onnx.save(self.model, str(path))
        return str(path)


def as_yolov5(folder: Path) -> str:
    net = Behind()
    return net.saved(folder, net.join(net.centres, net.sides, net.cut(net.last, 4, 85)))


def as_yolov8(folder: Path) -> str:
    net = Behind()
    return net.saved(
        folder, net.node("Transpose", [net.join(net.centres, net.sides, net.scores)], perm=[0, 2, 1])
    )


def as_ssd(folder: Path) -> str:
    net = Behind()
    half = net.node("Mul", [net.sides, net.constant("half", np.float32([0.5]))])
    corners = net.join(net.node("Sub", [net.centres, half]), net.node("Add", [net.centres, half]))
    shares = net.node("Div", [corners, net.constant("side", np.float32([416]))])
    background = net.node("Sub", [net.constant("one", np.float32([1])), net.cut(net.last, 4, 5)])
    return net.saved(folder, net.join(background, net.scores), shares)


def as_yolox(folder: Path) -> str:
    (path,) = fetch("yolox-nano")
    return str(path)


STYLES = {"yolox": as_yolox, "yolov5": as_yolov5, "yolov8": as_yolov8, "ssd": as_ssd}


@pytest.mark.parametrize("head", STYLES)
def test_every_head_finds_what_the_zoos_own_adapter_finds(head: str, tmp_path: Path) -> None:
    detector = onnx_detector(model=STYLES[head](tmp_path), head=head, confidence=0.3, **AS_TRAINED)
    image = photograph()
    (mine,), (theirs,) = detector.predict([image]), yolox().predict([image])
    assert mine.confident().labels == ("person", "horse", "dog")
    assert mine.labels == theirs.labels
    np.testing.assert_allclose(mine.scores, theirs.scores, atol=1e-4)
    np.testing.assert_allclose(mine.boxes, theirs.boxes, atol=0.05)


def test_yolox_nano_declared_by_grids_gives_the_very_boxes_of_the_built_in_system():
    (model,) = fetch("yolox-nano")
    fields = ["box", "objectness", "classes"]
    head = {"kind": "grid", "boxes": "offsets", "strides": [8, 16, 32], "fields": fields}
    declared = onnx_detector(model=str(model), head=head, confidence=0.3, **AS_TRAINED)
    for name in ["person", *[entry.name for entry in photographs()[:3]]]:
        (mine,), (theirs,) = declared.predict([photograph(name)]), yolox().predict([photograph(name)])
        assert len(mine) > 0
        assert mine.labels == theirs.labels
        assert np.array_equal(mine.boxes, theirs.boxes)
        assert np.array_equal(mine.scores, theirs.scores)


def test_a_plan_declares_it(tmp_path: Path) -> None:
    model = as_yolov8(tmp_path)
    names = tmp_path / "names.txt"
    names.write_text("\n".join(name.upper() for name in COCO_NAMES))
    plan = make_plan(
        {
            "scenes": "street:1",
            "relation": [{"use": "insertion"}],
            "system": [
                {"use": "onnx", "model": model, "head": "yolov8", "labels": str(names), "size": 416,
                 "colour": "bgr", "divide": 1.0, "fit": "letterbox", "confidence": 0.4}
            ],
        }
    )  # fmt: skip
    system = resolve_system(plan.systems[0])
    (found,) = system.predict([photograph()])
    assert set(found.confident().labels) == {"PERSON", "HORSE", "DOG"}
    assert found.confidence == 0.4
    assert system.name == "mine"
    again = pickle.loads(pickle.dumps(system))
    assert again.fingerprint == system.fingerprint
    assert again.predict([photograph()])[0].labels == found.labels


def test_fits_differ_but_find_the_same_objects(tmp_path: Path) -> None:
    model, image = as_yolov5(tmp_path), photograph()
    for fit in ("letterbox", "corner", "stretch"):
        detector = onnx_detector(model=model, head="yolov5", confidence=0.3, **AS_TRAINED | {"fit": fit})
        found = detector.predict([image])[0].confident()
        person = found.boxes[found.labels.index("person")]
        np.testing.assert_allclose(person, (188.7, 97.3, 276.9, 373.0), atol=20)


def test_tensorflows_four_outputs_are_read() -> None:
    boxes = np.float32([[[0.1, 0.2, 0.5, 0.6], [0, 0, 1, 1]]])
    lists = {"classes": np.float32([[18, 1]]), "scores": np.float32([[0.9, 0.2]]), "n": np.float32([2])}
    corners, classes, scores = make_head("tensorflow", 90).decode({"boxes": boxes, **lists}, (100, 200))
    np.testing.assert_allclose(corners, [[40, 10, 120, 50], [0, 0, 200, 100]], rtol=1e-6)
    assert classes.tolist() == [17, 0]
    np.testing.assert_allclose(scores, [0.9, 0.2])


def test_normalisation_is_what_was_declared() -> None:
    image = np.full((2, 2, 3), (255, 0, 51), np.uint8)
    seen = to_input(
        image, colour="bgr", divide=255.0, mean=[0.2, 0.0, 0.5], std=[0.5, 1, 0.25], layout="nchw"
    )
    assert seen.shape == (1, 3, 2, 2)
    np.testing.assert_allclose(seen[0, :, 0, 0], [0.0, 0.0, 2.0], atol=1e-6)
    assert to_input(image, colour="rgb", divide=1, mean=0, std=1, layout="nhwc").shape == (1, 2, 2, 3)


def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    (model,) = fetch("yolox-nano")
    with pytest.raises(BadInput, match="onnx: unknown head 'yolov9'; did you mean 'yolov"):
        onnx_detector(model=str(model), head="yolov9")
    with pytest.raises(BadInput, match=r"cannot read nowhere\.onnx: No such file"):
        onnx_detector(model="nowhere.onnx", head="yolov5")
    (tmp_path / "text.onnx").write_text("no network")
    with pytest.raises(BadInput, match="is no network that onnxruntime can run"):
        onnx_detector(model=str(tmp_path / "text.onnx"), head="yolov5")
    with pytest.raises(BadInput, match="cannot read the labels cocoo: No such file"):
        onnx_detector(model=str(model), head="yolox", labels="cocoo")
    with pytest.raises(BadInput, match="onnx: size is 'big'"):
        onnx_detector(model=str(model), head="yolox", size="big")
    with pytest.raises(
        BadInput, match=r"6 numbers \(box 4, objectness 1, classes 1\).*output \(1, 3549, 85\)"
    ):
        onnx_detector(model=str(model), head="yolox", labels=["person"], **AS_TRAINED)
