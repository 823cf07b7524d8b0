"""A torch network in a file, asked in the way that ONNX Runtime is: arrays by name in, arrays out."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy.typing as npt

from instar.adapters.devices import require_device
from instar.core.errors import BadInput
from instar.core.system import describe_error
from instar.installation import import_extra

MOST_OUTPUTS = 32
WITHIN = ("state_dict", "model_state_dict", "model")
"""Under which checkpoints have the state of the network, beside that of the training."""


@dataclass(frozen=True)
class Port:
    """An input or output, as ONNX Runtime describes them."""

    name: str
    shape: Sequence[Any] = (1, 3, "height", "width")
    type: str = "tensor(float)"


@dataclass(frozen=True, eq=False)
class TorchSession:
    """A module that takes one batch of pictures; its outputs are numbered in the order that they come in."""

    module: Any
    version: str
    _inputs: Sequence[Port] = field(default=(Port("images"),))
    device: str = "cpu"

    def get_inputs(self) -> Sequence[Port]:
        return self._inputs

    def get_outputs(self) -> Sequence[Port]:
        return [Port(f"output{n}") for n in range(MOST_OUTPUTS)]

    def run(self, names: None, feed: Mapping[str, npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        import torch

        (values,) = feed.values()
        shown = torch.from_numpy(values)
        if self.device != "cpu":
            shown = shown.pin_memory().to(self.device, non_blocking=True)
        with torch.no_grad():
            answer = self.module(shown)
            return [one.detach().cpu().numpy() for one in _tensors(answer)]


def open_torch(model: Path, network: str | None, threads: int) -> TorchSession:
    """TorchScript, or a state that is loaded into its `network` (`module:attr`)."""
    torch = import_extra("torch", "torch", extra="torch", needed_for=str(model))
    torch.set_num_threads(threads)
    try:
        if network is None:
            if not is_torch_script(model):
                raise BadInput(f"{model} {_instead_of_script(model)}")
            module = torch.jit.load(str(model), map_location="cpu")
        else:
            module = _make(network)
            state = torch.load(model, map_location="cpu", weights_only=True)
            module.load_state_dict(_bare(next((state[key] for key in WITHIN if key in state), state)))
    except (RuntimeError, OSError, AttributeError, EOFError, ValueError) as error:
        raise BadInput(f"{model} cannot be loaded: {describe_error(error)[:300]}") from error
    except Exception as error:  # the unpickler's own, of a file with more than tensors in it
        if type(error).__module__.startswith(("pickle", "_pickle", "torch")):
            raise BadInput(f"{model} has more in it than a state: {describe_error(error)[:200]}") from error
        raise
    return TorchSession(module.eval(), torch.__version__)


def open_onnx_in_torch(model: Path, threads: int, device: str) -> TorchSession:
    """A network of ONNX, run by torch."""
    torch = import_extra("torch", "torch", extra="torch", needed_for="a network that can be trained")
    import_extra("onnx", "onnx", extra="torch", needed_for="a network that can be trained")
    from instar.adapters.onnx_module import OnnxModule

    torch.set_num_threads(threads)
    where = require_device(device, "a network that can be trained")
    module = OnnxModule(model).to(where).eval()
    return TorchSession(module, torch.__version__, [Port("images", module.input_shape)], where)


def is_torch_script(model: Path) -> bool:
    """Whether a file has a network and not only its state, without loading anything."""
    return any("/code/" in name for name in _members(model))


def _instead_of_script(model: Path) -> str:
    """What is in a file that is no TorchScript, and what to do."""
    with model.open("rb") as file:
        start = file.read(2)
    if start not in (b"PK", b"\x80\x02"):
        return "is no file that torch wrote"
    return (
        "has a state and no network; say which: --set system.network=module:Class (a module that was pickled "
        "whole is not read: save its state, or torch.jit.script of it)"
    )


def is_ultralytics(model: Path) -> bool:
    """Whether a file was pickled by ultralytics, without unpickling it."""
    data = [name for name in _members(model) if name.endswith("/data.pkl")]
    if not data or is_torch_script(model):
        return False
    with zipfile.ZipFile(model) as archive:
        return b"ultralytics" in archive.read(data[0])


def _members(model: Path) -> list[str]:
    try:
        with zipfile.ZipFile(model) as archive:
            return archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return []


def _make(network: str) -> Any:
    module, _, attribute = network.partition(":")
    try:
        made = getattr(import_module(module), attribute)
        return made if hasattr(made, "state_dict") and not isinstance(made, type) else made()
    except Exception as error:
        raise BadInput(f"network {network!r} cannot be made: {describe_error(error)}") from error


def _bare(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state without the `module.` that training on several devices puts before every name."""
    if all(name.startswith("module.") for name in state):
        return {name.removeprefix("module."): value for name, value in state.items()}
    return state


def _tensors(answer: Any) -> Iterator[Any]:
    """All tensors of an answer, however they are wrapped."""
    if isinstance(answer, Mapping):
        answer = list(answer.values())
    if isinstance(answer, (list, tuple)):
        for one in answer:
            yield from _tensors(one)
    elif hasattr(answer, "detach"):
        yield answer
