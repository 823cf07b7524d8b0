"""A network in OpenVINO's own format, asked as ONNX Runtime is: arrays by name in, arrays out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from instar.adapters.torch_session import Port
from instar.core.errors import BadInput
from instar.core.system import describe_error
from instar.installation import import_extra

TYPES = {"f32": "tensor(float)", "f16": "tensor(float16)", "u8": "tensor(uint8)"}


@dataclass(frozen=True, eq=False)
class OpenVinoSession:
    compiled: Any
    version: str

    def get_inputs(self) -> Sequence[Port]:
        return [_port(port, n) for n, port in enumerate(self.compiled.inputs)]

    def get_outputs(self) -> Sequence[Port]:
        return [_port(port, n) for n, port in enumerate(self.compiled.outputs)]

    def run(self, names: None, feed: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        # A request of its own for each call: threads that share one read each other's answers.
        found = self.compiled.create_infer_request().infer(list(feed.values()))
        return [found[port].copy() for port in self.compiled.outputs]


def open_openvino(model: Path, threads: int) -> OpenVinoSession:
    """An `.xml` with its `.bin` beside it, on the CPU, as exact as its weights."""
    openvino = import_extra("openvino", "openvino", extra="openvino", needed_for=str(model))
    settings = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    try:
        return OpenVinoSession(
            openvino.Core().compile_model(str(model), "CPU", settings), openvino.__version__.partition("-")[0]
        )
    except RuntimeError as error:
        raise BadInput(f"{model} cannot be loaded by OpenVINO: {describe_error(error)[:300]}") from error


def _port(port: Any, number: int) -> Port:
    sides = [side.get_length() if side.is_static else "any" for side in port.get_partial_shape()]
    kind = port.get_element_type().get_type_name()
    name = port.get_any_name() if port.get_names() else f"port{number}"
    return Port(name, sides, TYPES.get(kind, f"tensor({kind})"))
