"""Training of a driving network: seeded, stopping early, and resumable to the same end.

Every epoch draws its random numbers from (seed, epoch) alone: a training that was killed goes on as if it had
not been.

Where examples know what is shown where, a single layer over the network's features learns that too, by an
auxiliary segmentation loss, and is thrown away in the end. It takes the place of the labelled photographs
that such networks usually begin with: one number per picture teaches too slowly what a person looks like.

Batches are made by threads while the network learns from the ones before.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from instar.core.errors import BadInput
from instar.training.driving.examples import CELLS, Examples
from instar.training.driving.networks import Driver, build_network
from instar.training.driving.segmentation_loss import class_weights, segmentation_loss
from instar.training.driving.start import Start, begin_as, start_of_onnx
from instar.user_file import whole_file

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

AHEAD = 4
"""Threads that make batches; as many batches again wait to be learned from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverSettings:
    """How to train; all of it is kept with the weights. `patience` are epochs without a better validation."""

    architecture: str
    outputs: tuple[str, ...]
    width: float = 1.0
    grey: bool = False
    epochs: int = 40
    patience: int = 8
    batch: int = 32
    rate: float = 1e-3
    decay: float = 1e-4
    augment: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "patience", "batch"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} is {getattr(self, name)}; it must be at least 1")
        if not (0 < self.rate < 1 and 0 <= self.decay < 1):
            raise BadInput(f"rate {self.rate} and decay {self.decay} must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class EpochResult:
    """How far a training is: losses are mean absolute errors in spreads of the targets."""

    epoch: int
    epochs: int
    training: float
    validation: float
    best: float
    seconds: float

    def __str__(self) -> str:
        left = self.seconds * (self.epochs - self.epoch)
        errors = f"error {self.training:.3f}, held out {self.validation:.3f} (best {self.best:.3f})"
        return f"epoch {self.epoch} of {self.epochs}: {errors}, {self.seconds:.0f} s, {left:.0f} s left"


@dataclass(slots=True, eq=False)
class _State:
    """What a checkpoint holds."""

    model: dict[str, Tensor]
    optimiser: dict[str, Any]
    epoch: int
    best: float
    best_epoch: int
    best_model: dict[str, Tensor]
    settings: dict[str, Any]


def train(
    settings: DriverSettings,
    training: Examples,
    validation: Examples,
    *,
    checkpoint: Path,
    resume: bool = False,
    start: Path | None = None,
    told: Callable[[EpochResult], None] = lambda result: None,
    fast: bool = True,
    device: str = "cpu",
) -> Driver:
    """The network of the best validation, on the CPU wherever it was trained.

    It begins with what fits of the weights in `start`, the checkpoint of another training or a stored
    network. `fast` computes in bfloat16 where the device is quick at it.
    """
    torch.manual_seed(settings.seed)
    model = build_network(settings.architecture, settings.outputs, width=settings.width, grey=settings.grey)
    model.centre.copy_(torch.from_numpy(training.targets.mean(axis=0)))
    model.spread.copy_(torch.from_numpy(np.maximum(training.targets.std(axis=0), 1e-3)))
    if start is not None:
        begin_as(model, _read_start(start, model), training.pictures)
    classes = training.shown.shape[1]
    auxiliary = torch.nn.Conv2d(model.channels, classes, 1) if classes else torch.nn.Identity()
    learner = torch.nn.ModuleDict({"driver": model, "auxiliary": auxiliary}).to(device)
    weights = class_weights(training.shown).to(device)
    optimiser = torch.optim.AdamW(learner.parameters(), lr=settings.rate, weight_decay=settings.decay)
    state = _State({}, {}, 0, math.inf, 0, {}, _plain(settings))
    if resume and checkpoint.exists():
        state = _restored(checkpoint, settings)
        learner.load_state_dict(state.model)
        optimiser.load_state_dict(state.optimiser)
    while state.epoch < settings.epochs and state.epoch - state.best_epoch < settings.patience:
        began = time.perf_counter()
        loss = _one_epoch(model, auxiliary, weights, optimiser, training, settings, state.epoch, fast)
        given = answers(model, validation, batch=settings.batch, fast=fast)
        spread = model.spread.cpu().numpy()
        error = float((np.abs(given - validation.targets) / spread).mean())
        state.epoch += 1
        if error < state.best:
            state.best, state.best_epoch = error, state.epoch
            state.best_model = {name: value.clone() for name, value in model.state_dict().items()}
        state.model, state.optimiser = learner.state_dict(), optimiser.state_dict()
        _keep(checkpoint, state)
        seconds = time.perf_counter() - began
        told(EpochResult(state.epoch, settings.epochs, loss, error, state.best, seconds))
    model.load_state_dict(state.best_model)
    model.cpu().eval()
    return model


def answers(model: Driver, examples: Examples, *, batch: int = 32, fast: bool = False) -> Floats:
    """`float32 (n, outputs)`: what the network says to each picture."""
    model.eval()
    device = model.spread.device
    with torch.inference_mode(), _precision(device, fast):
        batches = torch.from_numpy(examples.pictures).split(batch)
        return torch.cat([model(pictures.to(device)) for pictures in batches]).float().cpu().numpy()


def _one_epoch(
    model: Driver,
    auxiliary: torch.nn.Module,
    weights: Tensor,
    optimiser: torch.optim.Optimizer,
    examples: Examples,
    settings: DriverSettings,
    epoch: int,
    fast: bool,
) -> float:
    rng = np.random.default_rng([settings.seed, epoch])
    torch.manual_seed(int(rng.integers(2**62)))
    model.train()
    device = model.spread.device
    total, steps = torch.zeros((), device=device), 0
    batches = math.ceil(len(examples) / settings.batch)
    for made in _batches(examples, settings, rng):
        pictures, targets, shown = (part.to(device, non_blocking=True) for part in made)
        _set_rate(optimiser, settings, epoch + steps / batches)
        with _precision(device, fast):
            features = model.encode(pictures)
            off = (model.decide(features) - targets) / model.spread
            loss: Any = torch.nn.functional.smooth_l1_loss(off.float(), torch.zeros_like(off).float())
            if len(shown):
                cells = torch.nn.functional.adaptive_avg_pool2d(features, CELLS)
                loss = loss + segmentation_loss(auxiliary(cells).float(), shown, weights)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        total += off.detach().float().abs().mean()  # read at the end: a GPU would have to be waited for
        steps += 1
    return float(total) / steps


_Batch = tuple[Tensor, Tensor, Tensor]


def _batches(examples: Examples, settings: DriverSettings, rng: np.random.Generator) -> Iterator[_Batch]:
    """Pictures, targets and what is shown; a batch's random numbers are its own, whatever thread makes it."""
    order = rng.permutation(len(examples))
    # A last one alone is left out: batch normalisation needs two.
    waiting = iter(range(0, max(1, len(order) - 1), settings.batch))
    with ThreadPoolExecutor(AHEAD) as threads:

        def begun(start: int) -> Future[_Batch]:
            chosen = np.sort(order[start : start + settings.batch])
            return threads.submit(_batch, examples, settings, chosen, int(rng.integers(2**62)))

        made = deque(begun(start) for start in itertools.islice(waiting, 2 * AHEAD))
        while made:
            yield made.popleft().result()
            made.extend(begun(start) for start in itertools.islice(waiting, 1))


def _batch(examples: Examples, settings: DriverSettings, chosen: npt.NDArray[np.int64], seed: int) -> _Batch:
    pictures, targets = examples.pictures[chosen], examples.targets[chosen]
    shown = examples.shown[chosen] if len(examples.shown) else examples.shown
    if settings.augment:
        rng = np.random.default_rng(seed)
        pictures, targets, shown = _varied(pictures, targets, shown, settings.outputs, rng)
    return torch.from_numpy(pictures), torch.from_numpy(targets), torch.from_numpy(shown)


def _varied(
    pictures: Bytes, targets: Floats, shown: Bytes, outputs: tuple[str, ...], rng: np.random.Generator
) -> tuple[Bytes, Floats, Bytes]:
    """Mirrored (and then steering the other way), moved by a few pixels, and in other light.

    By OpenCV on bytes: on floats it costs as much as a small network.
    """
    varied, targets, shown = np.empty_like(pictures), targets.copy(), shown.copy()
    for i, picture in enumerate(pictures):
        if rng.random() < 0.5:
            picture = cv2.flip(picture, 1)
            if len(shown):
                shown[i] = shown[i, :, :, ::-1]
            if "steering" in outputs:
                targets[i, outputs.index("steering")] *= -1
        picture = np.roll(picture, (rng.integers(-6, 7), rng.integers(-4, 5)), (0, 1))
        gain = rng.uniform(0.75, 1.25) * rng.uniform(0.8, 1.2, 3)
        levels = np.arange(256)[:, None] * gain + rng.uniform(-20, 20)
        varied[i] = cv2.LUT(picture, np.clip(levels, 0, 255).astype(np.uint8)[None])
    return varied, targets, shown


def _set_rate(optimiser: torch.optim.Optimizer, settings: DriverSettings, at: float) -> None:
    """Up within the first epoch, then down along a cosine to a hundredth."""
    falling = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * at / settings.epochs))
    for group in optimiser.param_groups:
        group["lr"] = settings.rate * min(1.0, 0.05 + at) * falling


def _precision(device: torch.device, fast: bool) -> torch.autocast:
    return torch.autocast(device.type, torch.bfloat16, enabled=fast)


def _plain(settings: DriverSettings) -> dict[str, Any]:
    return dataclasses.asdict(settings) | {"outputs": list(settings.outputs)}


def _keep(path: Path, state: _State) -> None:
    with whole_file(path) as unfinished:
        torch.save({f.name: getattr(state, f.name) for f in dataclasses.fields(state)}, unfinished)


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What a training keeps after every epoch, the fields of `_State`."""
    try:
        kept: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        return {field.name: kept[field.name] for field in dataclasses.fields(_State)}
    except Exception as error:
        raise BadInput(f"{path} is no checkpoint of a training: {error}") from error


def _read_start(path: Path, model: Driver) -> Start:
    if path.suffix == ".onnx":
        return start_of_onnx(path, model)
    return Start(load_checkpoint(path)["best_model"], str(path))


def _restored(path: Path, settings: DriverSettings) -> _State:
    state = _State(**load_checkpoint(path))
    for name, now in _plain(settings).items():
        if state.settings.get(name) != now:
            then = state.settings.get(name)
            raise BadInput(f"{path} was begun with {name} {then!r}, not {now!r}; give the same again")
    return state
