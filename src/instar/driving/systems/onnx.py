"""A driving network in an ONNX file, run by onnxruntime."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.driving.answers import Control
from instar.driving.systems.eye import Eye, Meaning
from instar.errors import BadInput
from instar.scene import Image

__all__ = ["OnnxDriver", "onnx_driver"]

DECODER = 2
"""Counts up whenever the code below gives other answers for the same network output."""


def onnx_driver(
    *,
    path: str,
    outputs: str | None = None,
    scale: float = 1.0,
    offset: float = 0.0,
    bgr: bool = False,
    speed_unit: float = 1.0,
    steering_unit: float = 1.0,
    threads: int = 1,
) -> OnnxDriver:
    """A driver in an ONNX file of your own (path): picture in, speed and steering out.

    Pixels become `pixel * scale + offset`. `outputs` names the network's numbers in their order
    ("speed,steering" or one of them); a file that instar wrote says so itself. `speed_unit` is what one
    unit of its speed is in km/h, `steering_unit` what one of its steering is in degrees to the left (-57.3
    for radians to the right).
    """
    return OnnxDriver(
        Path(path),
        outputs=outputs,
        scale=scale,
        offset=offset,
        bgr=bgr,
        speed_unit=speed_unit,
        steering_unit=steering_unit,
        threads=threads,
    )


class OnnxDriver:
    """A network in a file. Every picture is asked on its own, so its neighbours do not matter.

    `again` makes it once more where a worker process cannot open the same path.
    """

    batch = 8
    concurrent = True

    def __init__(
        self,
        path: Path,
        *,
        name: str | None = None,
        outputs: str | None = None,
        scale: float = 1.0,
        offset: float = 0.0,
        bgr: bool = False,
        speed_unit: float = 1.0,
        steering_unit: float = 1.0,
        threads: int = 1,
        again: Callable[[], OnnxDriver] | None = None,
    ) -> None:
        try:
            content = path.read_bytes()
        except OSError as error:
            raise BadInput(f"cannot read the network {path}: {error.strerror or error}") from None
        self.name = name or path.stem
        self._session = _session(path, content, threads)
        if self._session.get_modelmeta().producer_name == "instar":
            self._session = _session(path, content, threads, unpack=True)
        written = self._session.get_modelmeta().custom_metadata_map
        said = outputs or written.get("outputs")
        if not said:
            raise BadInput(f"{path} does not say what it answers; give outputs, such as speed,steering")
        self.meaning = Meaning.of(said, speed_unit=speed_unit, steering_unit=steering_unit)
        self.card: str = written.get("card", "{}")
        self._input, self.eye = _eye(path, self._session, scale, offset, bgr)
        self.fingerprint = (
            f"{self.name} weights={hashlib.sha256(content).hexdigest()[:16]} {self.meaning} {self.eye} "
            f"threads={threads} decoder={DECODER} onnxruntime={onnxruntime.__version__}"
        )
        self._recipe = again or partial(
            OnnxDriver,
            path,
            name=name,
            outputs=outputs,
            scale=scale,
            offset=offset,
            bgr=bgr,
            speed_unit=speed_unit,
            steering_unit=steering_unit,
            threads=threads,
        )

    def __reduce__(self) -> tuple[Callable[[], OnnxDriver], tuple[()]]:
        # A session cannot be pickled; a worker process opens its own.
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Control]:
        return [self._drive(image) for image in images]

    def _drive(self, image: Image) -> Control:
        given = self._session.run(None, {self._input: self.eye.look(image)})
        return self.meaning.control(np.concatenate([np.ravel(part) for part in given]).tolist())


def _session(path: Path, content: bytes, threads: int, *, unpack: bool = False) -> Any:
    """The network, ready to run. `unpack` makes floats of weights in few bits once, not for every picture.

    Somebody else's may be meant to be computed in few bits, so theirs are left as they are.
    """
    if not (isinstance(threads, int) and threads >= 1):
        raise BadInput(f"threads is {threads!r}; it must be a whole number of at least 1")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    if unpack:
        options.add_session_config_entry("session.disable_quant_qdq", "1")
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has a family of its own for files that it cannot use
        raise BadInput(f"{path} is no network that onnxruntime can run: {error}") from None


def _eye(path: Path, session: Any, scale: float, offset: float, bgr: bool) -> tuple[str, Eye]:
    """The name of the input, and what it wants, from its type and shape."""
    inputs = session.get_inputs()
    shape = inputs[0].shape if len(inputs) == 1 else []
    kinds = {"tensor(uint8)": True, "tensor(float)": False}
    if len(shape) == 4 and inputs[0].type in kinds:
        for first, (rows, columns, colours) in ((False, (1, 2, 3)), (True, (2, 3, 1))):
            if shape[colours] == 3 and all(isinstance(shape[i], int) for i in (rows, columns)):
                eye = Eye(
                    size=(shape[rows], shape[columns]),
                    channels_first=first,
                    as_bytes=kinds[inputs[0].type],
                    scale=float(scale),
                    offset=float(offset),
                    bgr=bool(bgr),
                )
                return inputs[0].name, eye
    raise BadInput(
        f"{path} takes {[(i.type, i.shape) for i in inputs]}; one input is wanted, uint8 or float, "
        "of N x 3 x height x width or N x height x width x 3"
    )
