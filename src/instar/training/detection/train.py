"""Fine-tuning of a detector: seeded, and resumable to the same end.

Every step draws its random numbers from (seed, step) alone: a training that was killed goes on as if it had
not been.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from instar.adapters.onnx_module import OnnxModule
from instar.core.errors import BadInput
from instar.training.descent import Descent, require_tuning
from instar.training.detection.examples import Example, augment
from instar.training.detection.loss import CellGrid, KnownBoxes, detection_loss
from instar.user_file import whole_file

EVERY = 20  # steps from one checkpoint to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningSettings:
    """How to train; all of it is kept with the weights. `steps` in all, `batch` pictures in each.

    `rate` is the highest learning rate, as a share of how large the weights of a layer are (see `Descent`).
    """

    steps: int = 300
    batch: int = 8
    rate: float = 1e-4
    augment: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        require_tuning(self.rate, steps=self.steps, batch=self.batch)


def fine_tune(
    network: OnnxModule,
    examples: Sequence[Example],
    known: Sequence[int],
    settings: TuningSettings,
    *,
    checkpoint: Path,
    device: str = "cpu",
    told: Callable[[int, float], object] = lambda step, loss: None,
) -> OnnxModule:
    """The network after its steps, in place; `known` are the classes that the examples tell of.

    `told` is called after every step. An existing `checkpoint` is resumed.
    """
    if not examples:
        raise BadInput("there is no picture to train on")
    network.to(device).train()
    grid = CellGrid.of(examples[0].image.shape[:2], device)
    speaks = torch.zeros(network.output_shape[-1] - 5, dtype=torch.bool, device=device)
    speaks[list(known)] = True
    descent = Descent(network, settings.rate)
    for step in range(_resume(checkpoint, settings, network, descent.optimiser, device), settings.steps):
        batch = _draw(examples, settings, step)
        pictures = np.stack([one.image[..., ::-1].transpose(2, 0, 1) for one in batch]).astype(np.float32)
        rows = network(torch.from_numpy(pictures).to(device))
        loss = detection_loss(rows, grid, [_truth(one, device) for one in batch], speaks)
        descent.step(loss, step / settings.steps)
        told(step + 1, float(loss.detach()))
        if (step + 1) % EVERY == 0 or step + 1 == settings.steps:
            _save(checkpoint, settings, step + 1, network, descent.optimiser)
    return network.eval()


def _draw(examples: Sequence[Example], settings: TuningSettings, step: int) -> list[Example]:
    """The pictures of a step: all of them once, in another order, before any comes again."""
    first = step * settings.batch
    chosen = []
    for n in range(first, first + settings.batch):
        lap, place = divmod(n, len(examples))
        order = np.random.default_rng((settings.seed, 1, lap)).permutation(len(examples))
        chosen.append(examples[order[place]])
    if not settings.augment:
        return chosen
    rng = np.random.default_rng((settings.seed, 2, step))
    return [augment(one, rng) for one in chosen]


def _truth(example: Example, device: str) -> KnownBoxes:
    parts = (example.boxes, example.classes, example.crowds)
    return KnownBoxes(*(torch.from_numpy(np.ascontiguousarray(one)).to(device) for one in parts))


def _resume(path: Path, settings: TuningSettings, network: Any, optimiser: Any, device: str) -> int:
    """How many steps are done already."""
    if not path.exists():
        return 0
    try:
        state = torch.load(path, map_location=device, weights_only=True)
        told = state["settings"]
    except (OSError, RuntimeError, KeyError, EOFError) as error:
        raise BadInput(f"{path} is no checkpoint of a detector ({error}); remove it to begin anew") from error
    if told != asdict(settings):
        changed = [name for name, value in asdict(settings).items() if told.get(name) != value]
        raise BadInput(f"{path} was trained with other {', '.join(changed)}; choose another folder")
    network.load_state_dict(state["network"])
    optimiser.load_state_dict(state["optimiser"])
    return int(state["step"])


def _save(path: Path, settings: TuningSettings, step: int, network: Any, optimiser: Any) -> None:
    state = {"step": step, "settings": asdict(settings), "network": network.state_dict()}
    with whole_file(path) as unfinished:
        torch.save({**state, "optimiser": optimiser.state_dict()}, unfinished)
