"""Drivers of one's own in ONNX files: whatever can be run is, and whatever cannot is refused in one line."""

from __future__ import annotations

import json
import pickle

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from instar.cli import main
from instar.core.errors import BadInput
from instar.tasks.driving.systems.onnx import onnx_driver

RULE = "If: the driving time changes into night, Then: the steering angle should keep the same."
GREY = np.full((40, 80, 3), 51, np.uint8)


def network(
    path, shape=("n", 3, 20, 40), *, kind=TensorProto.FLOAT, gains=(1.0, 2.0), outputs=("y",), beside=False
):
    """The mean of all pixels, times a gain for each number that it gives."""
    first = helper.make_tensor_value_info("x", kind, shape)
    nodes = [
        helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["f"], ["m"], axes=[1, 2, 3]),
        helper.make_node("Flatten", ["m"], ["u"]),
    ]
    weights = []
    for number, name in enumerate(outputs):
        mine = gains if len(outputs) == 1 else gains[number : number + 1]
        weights.append(numpy_helper.from_array(np.array([mine], np.float32), f"gain{number}"))
        nodes.append(helper.make_node("Mul", ["u", f"gain{number}"], [name]))
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "mean", [first], results, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = {"save_as_external_data": True, "location": "mine.bin", "size_threshold": 0} if beside else {}
    onnx.save_model(model, str(path), **options)
    return str(path)


BYTES = TensorProto.UINT8


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        ({}, {"outputs": "speed,steering"}, (51, 102)),
        ({}, {"outputs": "steering,speed", "scale": 0.1, "offset": 1.0}, (12.2, 6.1)),
        ({"shape": ("n", 20, 40, 3)}, {"outputs": "speed,steering"}, (51, 102)),
        ({"shape": (1, 20, 40, 3), "kind": BYTES}, {"outputs": "speed,steering", "scale": 9.0}, (51, 102)),
        ({"shape": (1, 3, 20, 40), "kind": BYTES}, {"outputs": "speed,steering"}, (51, 102)),
        ({"gains": (0.01,)}, {"outputs": "steering", "steering_unit": -57.3}, (0, -29.223)),
        ({"gains": (1.0,)}, {"outputs": "speed", "speed_unit": 3.6}, (183.6, 0)),
        ({"outputs": ("speed", "angle")}, {"outputs": "speed,steering"}, (51, 102)),
        ({"shape": ("n", 3, "h", "w")}, {"outputs": "speed,steering", "height": 20, "width": 40}, (51, 102)),
        ({"beside": True}, {"outputs": "speed,steering"}, (51, 102)),
    ],
)
def test_every_layout_and_unit_is_understood(tmp_path, given, options, expected):
    driver = onnx_driver(path=network(tmp_path / "mine.onnx", **given), **options)
    (control,) = driver.predict([GREY])
    assert [control.speed or 0, control.steering or 0] == pytest.approx(expected, rel=1e-5)
    assert pickle.loads(pickle.dumps(driver)).predict([GREY]) == [control]


@pytest.mark.parametrize(
    ("given", "options", "complaint"),
    [
        ({}, {}, "does not say what it answers"),
        ({}, {"outputs": "speed"}, "cannot be asked: ValueError: the network gave 2 numbers for speed"),
        ({"gains": (1.0,)}, {"outputs": "speed,steering"}, "the network gave 1 numbers for speed, steering"),
        ({"shape": (4, 3, 20, 40)}, {"outputs": "speed,steering"}, "takes 4 pictures at a time"),
        ({"shape": ("n", 1, 20, 40)}, {"outputs": "speed,steering"}, "one input is wanted"),
        ({"shape": ("n", 3, "h", "w")}, {"outputs": "speed,steering"}, "leaves its height open; give height"),
        ({}, {"outputs": "speed,steering", "height": 30}, "height is 30, but .* takes 20"),
        ({"kind": TensorProto.DOUBLE}, {"outputs": "speed,steering"}, "uint8 or float"),
        ({}, {"outputs": "speed,steering", "scale": "abc"}, "scale is 'abc'; it must be a number"),
        ({}, {"outputs": "speed,steering", "bgr": "no"}, "bgr is 'no'; it must be true or false"),
        ({}, {"outputs": "speed,steering", "steering_unit": 0}, "steering_unit is 0"),
        ({}, {"outputs": "speed,steering", "speed_unit": float("nan")}, "speed_unit is nan"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_runs(tmp_path, given, options, complaint):
    path = network(tmp_path / "mine.onnx", **given)
    with pytest.raises(BadInput, match=complaint) as refused:
        onnx_driver(path=path, **options)
    assert "\n" not in str(refused.value)


def test_weights_beside_the_file_count_and_are_missed(tmp_path):
    path = network(tmp_path / "mine.onnx", beside=True)
    before = onnx_driver(path=path, outputs="speed,steering").fingerprint
    weights = tmp_path / "mine.bin"
    weights.write_bytes(weights.read_bytes()[:-4] + np.float32(5).tobytes())
    assert onnx_driver(path=path, outputs="speed,steering").fingerprint != before
    weights.unlink()
    with pytest.raises(BadInput, match=r"keeps weights in mine.bin, which is not beside it"):
        onnx_driver(path=path, outputs="speed,steering")


def test_one_line_and_nothing_else_is_said_of_a_bad_file(tmp_path, capfd):
    path = network(tmp_path / "mine.onnx", gains=(0.01, 0.01))
    words = ["run", "--system", "onnx-driver", "--set", f"system.path={path}", "--scenes", "drive:1:5"]
    words += ["--rule", RULE, "--set", "search.n=1", "--out", str(tmp_path / "run")]
    assert main([*words, "--set", "system.outputs=steering"]) == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"instar: {path} cannot be asked: ")
    assert told.err.count("\n") == 1
    assert not (tmp_path / "run").exists()
    assert main([*words, "--set", "system.outputs=speed,steering", "--json"]) in (0, 1)
    assert json.loads(capfd.readouterr().out)["failed"] == 0
