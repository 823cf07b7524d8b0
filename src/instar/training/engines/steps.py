"""What every training of an engine does: its settings, its steps while there is time, and its checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from instar.core.errors import BadInput
from instar.training.engines import checkpoint

SMOOTH = 0.999  # the weights that are kept are an average over so many steps
GENTLE = 100  # steps in which the rate rises


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """How to train; `steps` in all, and no longer than `seconds` in this piece.

    `start` is an exported network to go on from. Of a segmenter, `weather` is the share of crops that show
    the pictures in weather; of a painter, `whole` is the share of steps in which it paints whole pictures.
    """

    width: int
    steps: int
    batch: int
    side: int = 256
    rate: float = 2e-4
    seed: int = 0
    seconds: float = float("inf")
    device: str = "cpu"
    weather: float = 0.0
    start: Path | None = None
    whole: float = 0.0

    def __post_init__(self) -> None:
        if self.side % 16 or self.side < 32:
            raise BadInput(f"crops of {self.side} pixels; they must be a multiple of 16, at least 32")
        for name in ("width", "steps", "batch"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; it must be at least 1")


Told = Callable[[str], object]


def fast(device: str) -> AbstractContextManager[Any]:
    return torch.autocast("cuda", torch.bfloat16) if device.startswith("cuda") else nullcontext()


def descend(optimiser: torch.optim.Optimizer, loss: Any) -> None:
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()


@torch.no_grad()
def follow(average: nn.Module, model: nn.Module, step: int) -> None:
    share = 1 - min(SMOOTH, step / (step + 50))
    torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), share)
    for own, late in zip(average.buffers(), model.buffers()):
        own.copy_(late)


def steps_of(done: int, settings: EngineSettings, optimisers: Any, rates: Any) -> Iterator[int]:
    """Numbers of steps, while there is time; in the second half the rate goes down to nothing.

    Each piece begins gently, for its optimisers know nothing of the network yet.
    """
    start = time.monotonic()
    for step in range(done + 1, settings.steps + 1):
        left = 1 - (step - 1) / settings.steps
        for optimiser, rate in zip(optimisers, rates):
            for group in optimiser.param_groups:
                group["lr"] = rate * min(1.0, 2 * left + 0.01, (step - done) / GENTLE)
        yield step
        if time.monotonic() - start > settings.seconds:
            return


def resume_from(folder: Path, settings: EngineSettings, resume: bool, **modules: nn.Module) -> int:
    """How many steps are done. The optimisers' memory of late gradients is not kept: it is soon regained."""
    if not checkpoint.saved(folder):
        return 0
    if not resume:
        raise BadInput(f"{folder} has a training in it; go on with --resume, or choose another --out")
    state = checkpoint.load(folder)
    if state["settings"]["width"] != settings.width:
        raise BadInput(f"{folder} has a network of width {state['settings']['width']}, not {settings.width}")
    for name, module in modules.items():
        module.load_state_dict(state[name])
    return int(state["done"])


def save_training(folder: Path, settings: EngineSettings, done: int, modules: dict[str, nn.Module]) -> None:
    state = {name: module.state_dict() for name, module in modules.items()}
    told = {key: value for key, value in asdict(settings).items() if key not in ("device", "start")}
    checkpoint.save(folder, {"done": done, "settings": told, **state})
