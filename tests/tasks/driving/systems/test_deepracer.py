"""DeepRacer's policy: read out of its graph without TensorFlow, and fetched without running a build."""

from __future__ import annotations

import json

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.tasks.driving.systems.deepracer import CONVOLUTIONS, ROOT, DeepRacer, constants


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def piece(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def const(name, array):
    shape = b"".join(piece(2, varint(1 << 3) + varint(side)) for side in array.shape)
    tensor = varint(1 << 3) + b"\x01" + piece(2, shape) + piece(4, array.astype("<f4").tobytes())
    value = piece(5, piece(1, b"value") + piece(2, piece(8, tensor)))
    return piece(1, piece(1, name.encode()) + piece(2, b"Const") + value)


def a_graph():
    """A policy that looks at nothing but how bright the picture is: its second action is for bright ones."""
    eye = ROOT + "FRONT_FACING_CAMERA/"
    sides = {"Conv2d_0": (8, 1, 32), "Conv2d_2": (4, 32, 64), "Conv2d_4": (3, 64, 64)}
    graph = piece(1, piece(1, b"input") + piece(2, b"Placeholder"))
    for name, _ in CONVOLUTIONS:
        side, before, after = sides[name]
        graph += const(
            f"{eye}{name}/kernel", np.full((side, side, before, after), 1 / (side * side * before))
        )
        graph += const(f"{eye}{name}/bias", np.zeros(after))
    dense = ROOT + "middleware_fc_embedder/Dense_0/"
    graph += const(dense + "kernel", np.full((11264, 2), 1 / 11264)) + const(dense + "bias", np.zeros(2))
    head = ROOT + "ppo_head_0/policy_fc/"
    graph += const(head + "kernel", np.array([[-5.0, 5.0], [-5.0, 5.0]]))
    return graph + const(head + "bias", np.array([5.0, -5.0]))


@pytest.fixture
def driver(tmp_path):
    (tmp_path / "policy.pb").write_bytes(a_graph())
    actions = [{"steering_angle": -30, "speed": 1.0}, {"steering_angle": 10, "speed": 2.0}]
    (tmp_path / "metadata.json").write_text(json.dumps({"action_space": actions}))
    return DeepRacer(tmp_path / "policy.pb", tmp_path / "metadata.json")


def test_the_answer_is_the_mean_of_the_actions_under_their_probabilities(driver):
    dark, bright = np.zeros((240, 320, 3), np.uint8), np.full((240, 320, 3), 255, np.uint8)
    grey = np.full((240, 320, 3), 127.5, np.uint8)
    slow, fast, between = driver.predict([dark, bright, grey])
    assert slow.speed == pytest.approx(3.6, abs=0.01)
    assert slow.steering == pytest.approx(-30, abs=0.1)
    assert fast.speed == pytest.approx(7.2, abs=0.01)
    assert fast.steering == pytest.approx(10, abs=0.1)
    # 127 of 255 is 0.498, so the two actions' scores are 0.0196 and -0.0196.
    assert between.speed == pytest.approx(3.6 * (1 + 1 / (1 + np.exp(0.0392))), abs=0.001)


def test_another_graph_is_refused(tmp_path):
    (tmp_path / "metadata.json").write_text('{"action_space": []}')
    (tmp_path / "other.pb").write_bytes(piece(1, piece(1, b"x") + piece(2, b"Placeholder")))
    with pytest.raises(BadInput, match="is not the DeepRacer policy"):
        DeepRacer(tmp_path / "other.pb", tmp_path / "metadata.json")
    with pytest.raises(BadInput, match="no frozen TensorFlow graph"):
        constants(b"this is text, not a graph")


@pytest.mark.real
def test_the_real_policy_drives_its_own_pictures():
    from instar.tasks.driving.systems.deepracer import deepracer

    driver = deepracer()
    assert driver.actions.shape == (12, 2)
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 255, (240, 320, 3)).astype(np.uint8)
    likely = driver.probabilities(picture)
    assert likely.sum() == pytest.approx(1, abs=1e-5)
    (control,) = driver.predict([picture])
    assert 3.6 <= control.speed <= 7.2
    assert -30 <= control.steering <= 30
