"""AWS DeepRacer's sample policy: a model car that keeps to a track, as one more driver.

Its graph holds a few nodes that only training needs and that OpenCV cannot read. The network itself is small,
three convolutions and two dense layers, so it is built here again around its weights.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.protobuf import read_fields
from instar.core.errors import BadInput
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.driving.answers import Control
from instar.zoo import fetch

Floats = npt.NDArray[np.float32]

SIZE = (120, 160)  # height and width of what it sees
ROOT = "main_level/agent/main/online/network_1/"
CONVOLUTIONS = (("Conv2d_0", 4), ("Conv2d_2", 2), ("Conv2d_4", 1))  # and their strides
METRES_PER_SECOND = 3.6
DECODER = 1
# Fields of a frozen TensorFlow graph:
NODE, NAME, OP, ATTRIBUTE = 1, 1, 2, 5  # of a graph; of a node
KEY, VALUE, TENSOR = 1, 2, 8  # of an attribute
SHAPE, CONTENT, DIMENSION, EXTENT = 2, 4, 2, 1  # of a tensor; of a shape; of a dimension


@recorded
def deepracer() -> DeepRacer:
    """AWS DeepRacer's sample policy, a model car on a track: the speed and steering it expects to choose."""
    weights, metadata = fetch("deepracer")
    return DeepRacer(weights, metadata)


class DeepRacer:
    """A policy over twelve pairs of steering and speed; the answer is their mean under its probabilities.

    Steering is in degrees, + to the left as in DeepRacer itself; speed is that of the model car, in km/h.
    """

    name = "deepracer"
    batch = 8
    concurrent = True

    def __init__(self, weights: Path, metadata: Path) -> None:
        content = weights.read_bytes()
        actions = json.loads(metadata.read_text(encoding="utf-8"))["action_space"]
        self.actions = np.array(
            [[METRES_PER_SECOND * a["speed"], a["steering_angle"]] for a in actions], np.float32
        )
        self.fingerprint = f"deepracer weights={hashlib.sha256(content).hexdigest()[:16]} decoder={DECODER}"
        self._files = (weights, metadata)
        found = constants(content)
        eye, dense = ROOT + "FRONT_FACING_CAMERA/", ROOT + "middleware_fc_embedder/Dense_0/"
        try:
            self._convolutions = [
                (_as_matrix(found[f"{eye}{name}/kernel"]), found[f"{eye}{name}/bias"], stride)
                for name, stride in CONVOLUTIONS
            ]
            self._sides = [found[f"{eye}{name}/kernel"].shape[0] for name, _ in CONVOLUTIONS]
            self._dense = (found[dense + "kernel"], found[dense + "bias"])
            head = ROOT + "ppo_head_0/policy_fc/"
            self._policy = (found[head + "kernel"], found[head + "bias"])
        except KeyError as error:
            raise BadInput(f"{weights} is not the DeepRacer policy: it has no {error}") from None

    def __reduce__(self) -> tuple[Callable[..., DeepRacer], tuple[Path, Path]]:
        return DeepRacer, self._files

    def predict(self, images: Sequence[Image]) -> list[Control]:
        expected = [self.probabilities(image) @ self.actions for image in images]
        return [Control(float(speed), float(steering), wheel="road") for speed, steering in expected]

    def probabilities(self, image: Image) -> Floats:
        """`float32 (12,)`: how likely it takes each action."""
        grey = cv2.cvtColor(cv2.resize(image, SIZE[::-1], interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2GRAY)
        light = (grey.astype(np.float32) / 255)[..., None]
        for (matrix, bias, stride), side in zip(self._convolutions, self._sides):
            windows = np.lib.stride_tricks.sliding_window_view(light, (side, side), axis=(0, 1))
            windows = windows[::stride, ::stride].transpose(0, 1, 3, 4, 2)
            light = np.maximum(windows.reshape(*windows.shape[:2], -1) @ matrix + bias, 0)
        hidden = np.maximum(light.reshape(-1) @ self._dense[0] + self._dense[1], 0)
        raw = hidden @ self._policy[0] + self._policy[1]
        likely = np.exp(raw - raw.max())
        return np.asarray(likely / likely.sum(), np.float32)


def _as_matrix(kernel: Floats) -> Floats:
    """`(rows * columns * before, after)` of TensorFlow's (rows, columns, before, after)."""
    return kernel.reshape(-1, kernel.shape[-1])


def constants(graph: bytes) -> dict[str, Floats]:
    """The constants of a graph by name, those that are arrays of 32-bit floats."""
    try:
        return {name: tensor for node in _parts(memoryview(graph), NODE) for name, tensor in _constant(node)}
    except (IndexError, ValueError) as error:
        raise BadInput(f"this is no frozen TensorFlow graph: {error}") from None


def _constant(node: memoryview) -> Iterator[tuple[str, Floats]]:
    if _parts(node, OP) != [b"Const"]:
        return
    for attribute in _parts(node, ATTRIBUTE):
        if _parts(attribute, KEY) == [b"value"]:
            (tensor,) = _parts(_parts(attribute, VALUE)[0], TENSOR)
            (shape,) = _parts(tensor, SHAPE) or [memoryview(b"")]
            sizes = [(_parts(dimension, EXTENT) or [0])[0] for dimension in _parts(shape, DIMENSION)]
            for content in _parts(tensor, CONTENT):
                if len(content) == 4 * int(np.prod(sizes, dtype=np.int64)):
                    name = bytes(_parts(node, NAME)[0]).decode()
                    yield name, np.frombuffer(content, "<f4").reshape(sizes)


def _parts(message: memoryview, wanted: int) -> list[Any]:
    return [value for number, value in read_fields(message) if number == wanted]
