"""A network in a file, whatever runs it: ONNX Runtime, torch or OpenVINO, asked in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from instar.adapters.openvino_session import open_openvino
from instar.adapters.torch_session import open_onnx_in_torch, open_torch
from instar.core.errors import BadInput, InstarError
from instar.core.system import describe_error
from instar.imaging.onnx_session import open_onnx

TORCH_FILES = (".pt", ".pth", ".torchscript")
TYPES: Mapping[str, type[np.generic]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(uint8)": np.uint8,
    "tensor(int32)": np.int32,
    "tensor(int64)": np.int64,
}
"""The types of inputs that are known."""


def open_network(
    model: Path, *, network: str | None = None, threads: int = 1, device: str | None = None
) -> tuple[Any, str]:
    """A session that runs the network in a file, and what runs it with its version.

    A file with only a torch state needs its `network`. With a `device`, an ONNX file is run by torch there.
    """
    try:
        with model.open("rb"):  # says what is wrong with the file itself
            pass
        if device is not None:
            graph = open_onnx_in_torch(model, threads, device)
            return graph, f"torch={graph.version} {device}"
        if model.suffix in TORCH_FILES:
            session: Any = open_torch(model, network, threads)
            return session, f"torch={session.version}"
        if model.suffix == ".xml":
            session = open_openvino(model, threads)
            return session, f"openvino={session.version}"
        import onnxruntime  # type: ignore[import-untyped]  # it ships no types

        return open_onnx(str(model), threads), f"onnxruntime={onnxruntime.__version__}"
    except OSError as error:
        raise BadInput(f"cannot read {model}: {error.strerror or error}") from None
    except InstarError:
        raise
    except Exception as error:  # whatever onnxruntime raises at what is no network
        raise BadInput(
            f"{model} is no network that onnxruntime can run: {describe_error(error)[:300]}"
        ) from None


def require_one_picture(model: Path, port: Any, layout: str) -> None:
    """BadInput where an input takes several pictures at a time, or other channels than three."""
    shape = list(port.shape)
    if len(shape) == 4 and isinstance(shape[0], int) and shape[0] > 1:
        raise BadInput(
            f"{model} takes {shape[0]} pictures at a time ({port.name} {shape}); export it for one, or for "
            "any number"
        )
    channels = shape[-1] if layout == "nhwc" else shape[-3]
    if isinstance(channels, int) and channels not in (-1, 3):
        raise BadInput(f"{model} takes pictures of {channels} channels ({port.name} {shape}); it must be 3")
