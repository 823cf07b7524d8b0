"""A driving network in an ONNX file, run by onnxruntime."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.core.errors import BadInput
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.tasks.driving.answers import Control
from instar.tasks.driving.systems.network_io import NetworkInput, NetworkOutput, require_answer

DECODER = 2
"""Counts up whenever the code below gives other answers for the same network output."""


@recorded
def onnx_driver(
    *,
    path: str,
    outputs: str | None = None,
    height: int | None = None,
    width: int | None = None,
    scale: float = 1.0,
    offset: float = 0.0,
    bgr: bool = False,
    speed_unit: float = 1.0,
    steering_unit: float = 1.0,
    threads: int = 1,
) -> OnnxDriver:
    """A driver in an ONNX file of your own (path): picture in, speed and steering out.

    `height` and `width` are wanted where the file leaves them open. Pixels become `pixel * scale + offset`.
    `outputs` names the network's numbers in their order ("speed,steering" or one of them); a file that instar
    wrote says so itself. `speed_unit` is what one unit of its speed is in km/h, `steering_unit` what one of
    its steering is in degrees to the left (-57.3 for radians to the right).
    """
    pixels = Pixels(height, width, scale, offset, bgr)
    return OnnxDriver(Path(str(path)), outputs, pixels, speed_unit, steering_unit, threads=threads)


@dataclass(frozen=True, slots=True)
class Pixels:
    """What a file may leave open about its input: see `onnx_driver`."""

    height: int | None = None
    width: int | None = None
    scale: float = 1.0
    offset: float = 0.0
    bgr: bool = False


class OnnxDriver:
    """A network in a file. Every picture is asked on its own, so its neighbours do not matter.

    `again` makes it once more where a worker process cannot open the same path.
    """

    batch = 8
    concurrent = True

    def __init__(
        self,
        path: Path,
        outputs: str | None = None,
        pixels: Pixels | None = None,
        speed_unit: float = 1.0,
        steering_unit: float = 1.0,
        *,
        name: str | None = None,
        threads: int = 1,
        again: Callable[[], OnnxDriver] | None = None,
    ) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadInput(f"cannot read the network {path}: {error.strerror or error}") from None
        for beside in _files_beside(content):
            if not (path.parent / beside).is_file():
                raise BadInput(f"{path} keeps weights in {beside}, which is not beside it")
        self.name = name or path.stem
        self._session = _session(path, threads)
        if self._session.get_modelmeta().producer_name == "instar":
            self._session = _session(path, threads, unpack=True)
        written = self._session.get_modelmeta().custom_metadata_map
        said = outputs or written.get("outputs")
        if not said:
            raise BadInput(f"{path} does not say what it answers; give outputs, such as speed,steering")
        self._output = NetworkOutput.of(said, speed_unit=speed_unit, steering_unit=steering_unit)
        self.card: str = written.get("card", "{}")
        self._name_of_input, self._input = _input(path, self._session, pixels or Pixels())
        require_answer(str(path), self.predict, self._input.size)
        self.fingerprint = (
            f"{self.name} weights={_digest(path, content)} {self._output} {self._input} "
            f"threads={threads} decoder={DECODER} onnxruntime={onnxruntime.__version__}"
        )
        self._again = again or partial(
            OnnxDriver, path, outputs, pixels, speed_unit, steering_unit, name=name, threads=threads
        )

    def __reduce__(self) -> tuple[Callable[[], OnnxDriver], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._again, ()

    def predict(self, images: Sequence[Image]) -> list[Control]:
        return [self._drive(image) for image in images]

    def _drive(self, image: Image) -> Control:
        given = self._session.run(None, {self._name_of_input: self._input.prepare(image)})
        return self._output.read(np.concatenate([np.ravel(part) for part in given]).tolist())


def _digest(path: Path, content: bytes) -> str:
    """Of all weights, also of those in files beside."""
    state = hashlib.sha256(content)
    for name in _files_beside(content):
        state.update((path.parent / name).read_bytes())
    return state.hexdigest()[:16]


def _files_beside(content: bytes) -> list[str]:
    """The files that a network keeps weights in: its entries `location`, each with the length of a name."""
    found = re.finditer(rb"\x0a\x08location\x12(.)", content, re.DOTALL)
    return sorted({content[at.end() : at.end() + at[1][0]].decode(errors="replace") for at in found})


def _session(path: Path, threads: int, *, unpack: bool = False) -> Any:
    """The network, ready to run. `unpack` makes floats of weights in few bits once, not for every picture.

    Somebody else's may be meant to be computed in few bits, so theirs are left as they are.
    """
    if not (isinstance(threads, int) and threads >= 1):
        raise BadInput(f"threads is {threads!r}; it must be a whole number of at least 1")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what is wrong comes as an exception
    if unpack:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a family of its own for files that it cannot use
        raise BadInput(f"{path} is no network that onnxruntime can run: {describe_error(error)}") from None


def _input(path: Path, session: Any, pixels: Pixels) -> tuple[str, NetworkInput]:
    """The name of the input, and what it wants, from its type and shape."""
    inputs = session.get_inputs()
    shape = inputs[0].shape if len(inputs) == 1 else []
    kinds = {"tensor(uint8)": True, "tensor(float)": False}
    first = len(shape) == 4 and shape[3] != 3
    if len(shape) != 4 or inputs[0].type not in kinds or shape[1 if first else 3] != 3:
        raise BadInput(
            f"{path} takes {[(i.type, i.shape) for i in inputs]}; one input is wanted, uint8 or float, "
            "of N x 3 x height x width or N x height x width x 3"
        )
    if isinstance(shape[0], int) and shape[0] != 1:
        raise BadInput(f"{path} takes {shape[0]} pictures at a time; export it for 1, or for any number")
    sides: list[int] = []
    wanted = (("height", pixels.height), ("width", pixels.width))
    for (name, given), said in zip(wanted, shape[2:] if first else shape[1:3]):
        if given is not None and isinstance(said, int) and given != said:
            raise BadInput(f"{name} is {given!r}, but {path} takes {said}")
        side = said if isinstance(said, int) else given
        if side is None:
            raise BadInput(f"{path} leaves its {name} open; give {name}")
        sides.append(side)
    return inputs[0].name, NetworkInput(
        size=(sides[0], sides[1]),
        channels_first=first,
        as_bytes=kinds[inputs[0].type],
        scale=pixels.scale,
        offset=pixels.offset,
        bgr=pixels.bgr,
    )
