"""A driving network of one's own, as a torch module."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from instar.driving.answers import Control
from instar.driving.looking import SIZE
from instar.driving.systems.eye import Eye, Meaning
from instar.errors import BadInput, MissingExtra
from instar.scene import Image

__all__ = ["TorchDriver", "torch_driver"]


def torch_driver(
    *,
    network: str,
    weights: str | None = None,
    outputs: str = "steering",
    height: int = SIZE[0],
    width: int = SIZE[1],
    scale: float = 1 / 255,
    offset: float = 0.0,
    bgr: bool = False,
    speed_unit: float = 1.0,
    steering_unit: float = 1.0,
) -> TorchDriver:
    """A driver as a torch network of your own (module:attr): `float (N, 3, height, width)` in, numbers out.

    `attr` is a torch.nn.Module or a function that makes one; `weights` is a file with its state_dict. The
    other options are those of onnx-driver.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtra("torch", extra="torch", needed_for="torch-driver") from None
    module = _found(network)
    if not isinstance(module, torch.nn.Module) and callable(module):
        module = module()
    if not isinstance(module, torch.nn.Module):
        raise BadInput(f"network {network!r} is a {type(module).__name__}; it must be a torch.nn.Module")
    kept = "as it is"
    if weights is not None:
        kept = _load(module, Path(weights), torch)
    eye = Eye(size=(height, width), channels_first=True, scale=scale, offset=offset, bgr=bgr)
    meaning = Meaning.of(outputs, speed_unit=speed_unit, steering_unit=steering_unit)
    return TorchDriver(network, module, eye, meaning, kept)


class TorchDriver:
    """A torch module, asked picture by picture without gradients."""

    batch = 8

    def __init__(self, name: str, network: Any, eye: Eye, meaning: Meaning, weights: str) -> None:
        self.name = name
        self.fingerprint = f"{name} weights={weights} {eye} {meaning}"
        self._network, self._eye, self._meaning = network.eval(), eye, meaning

    def predict(self, images: Sequence[Image]) -> list[Control]:
        import torch

        controls = []
        with torch.inference_mode():
            for image in images:
                given = self._network(torch.from_numpy(self._eye.look(image)))
                controls.append(self._meaning.control(given.float().reshape(-1).tolist()))
        return controls


def _found(path: str) -> Any:
    name, colon, attribute = path.partition(":")
    if not colon:
        raise BadInput(f"network {path!r}: give module:attr")
    if "" not in sys.path and "." not in sys.path:
        sys.path.insert(0, "")  # a console script looks only into its own folder
    try:
        return getattr(import_module(name), attribute)
    except (ImportError, AttributeError) as error:
        raise BadInput(f"network {path!r} cannot be imported: {error}") from None


def _load(module: Any, path: Path, torch: Any) -> str:
    try:
        content = path.read_bytes()
        module.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    except OSError as error:
        raise BadInput(f"cannot read the weights {path}: {error.strerror or error}") from None
    except Exception as error:
        raise BadInput(f"{path} has no weights for this network: {str(error).splitlines()[0]}") from None
    return hashlib.sha256(content).hexdigest()[:16]
