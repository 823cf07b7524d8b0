"""A driving network of one's own, as a torch module."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from instar.adapters.devices import require_torch
from instar.core.errors import BadInput
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.tasks.driving.answers import Control
from instar.tasks.driving.systems.network_io import SIZE, NetworkInput, NetworkOutput, require_answer


@recorded
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
    require_torch("torch-driver")
    import torch

    module = _found(network)
    if not isinstance(module, torch.nn.Module) and callable(module):
        try:
            module = module()
        except Exception as error:
            raise BadInput(f"network {network!r} cannot be made: {describe_error(error)}") from error
    if not isinstance(module, torch.nn.Module):
        raise BadInput(
            f"network {network!r} is of type {type(module).__name__}; it must be a torch.nn.Module"
        )
    kept = "as it is"
    if weights is not None:
        kept = _load(module, Path(str(weights)), torch)
    network_input = NetworkInput(
        size=(height, width), channels_first=True, scale=scale, offset=offset, bgr=bgr
    )
    network_output = NetworkOutput.of(outputs, speed_unit=speed_unit, steering_unit=steering_unit)
    driver = TorchDriver(network, module, network_input, network_output, kept)
    require_answer(f"network {network!r}", driver.predict, (height, width))
    return driver


class TorchDriver:
    """A torch module, asked picture by picture without gradients."""

    batch = 8

    def __init__(
        self, name: str, network: Any, input: NetworkInput, output: NetworkOutput, weights: str
    ) -> None:
        self.name = name
        self.fingerprint = f"{name} weights={weights} {input} {output}"
        self._network, self._input, self._output = network.eval(), input, output

    def predict(self, images: Sequence[Image]) -> list[Control]:
        import torch

        controls = []
        with torch.inference_mode():
            for image in images:
                given = self._network(torch.from_numpy(self._input.prepare(image)))
                parts = given if isinstance(given, (list, tuple)) else [given]
                if not all(isinstance(part, torch.Tensor) for part in parts):
                    raise TypeError(f"the network gave a {type(given).__name__}; it must give tensors")
                numbers = [n for part in parts for n in part.float().reshape(-1).tolist()]
                controls.append(self._output.read(numbers))
        return controls


def _found(path: str) -> Any:
    name, colon, attribute = path.partition(":")
    if not colon:
        raise BadInput(f"network {path!r}: give module:attr")
    if "" not in sys.path and "." not in sys.path:
        sys.path.insert(0, "")  # a console script looks only into its own folder
    try:
        return getattr(import_module(name), attribute)
    except Exception as error:  # whatever the module does when it is imported
        raise BadInput(f"network {path!r} cannot be imported: {describe_error(error)}") from error


def _load(module: Any, path: Path, torch: Any) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(f"cannot read the weights {path}: {error.strerror or error}") from None
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # torch says at length how to load what may run code
        raise BadInput(f"{path} is no state_dict; save one by torch.save(net.state_dict(), FILE)") from None
    try:
        module.load_state_dict(state)
    except Exception as error:
        raise BadInput(f"{path} has no weights for this network: {describe_error(error)}") from None
    return hashlib.sha256(content).hexdigest()[:16]
