"""Fine-tuning of a locator whose network gives the probability of text at every pixel: seeded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from instar.adapters.onnx_module import OnnxModule
from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.training.descent import Descent, require_tuning
from instar.training.text.targets import TextExample, cut_square

HARD = 3  # times as many pixels without text as with text are learned from: those that look most like text
OVERLAP = 1.0  # what the overlap of the whole map weighs beside its pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatorTuning:
    """How to train: `batch` crops of `side` pixels in each step, and as many epochs over the examples.

    `rate` is the highest learning rate, as a share of how large the weights of a layer are.
    """

    epochs: int = 30
    batch: int = 8
    rate: float = 3e-4
    side: int = 640
    seed: int = 0

    def __post_init__(self) -> None:
        require_tuning(self.rate, epochs=self.epochs, batch=self.batch)
        if self.side < 32 or self.side % 32:
            raise BadInput(f"side is {self.side}; it must be a multiple of 32")


def network_input(image: Image) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """`float32 (3, H, W)` in BGR from -1 to 1, as PP-OCR's locators take it."""
    return np.ascontiguousarray(image[..., ::-1].transpose(2, 0, 1), np.float32) / 127.5 - 1


def text_loss(probabilities: Tensor, text: Tensor, counts: Tensor) -> Tensor:
    """Of maps `(n, H, W)`: cross entropy of text and the hardest of the rest, and how little they agree."""
    each = F.binary_cross_entropy(probabilities.clamp(1e-6, 1 - 1e-6), text, reduction="none")
    of_text, of_rest = text * counts, (1 - text) * counts
    wanted = int(min(float(of_rest.sum()), max(HARD * float(of_text.sum()), text.shape[-1])))
    hardest = (each * of_rest).flatten().topk(wanted).values.sum()
    pixels = ((each * of_text).sum() + hardest) / (of_text.sum() + wanted + 1e-6)
    common = (probabilities * of_text).sum()
    apart = 1 - 2 * common / ((probabilities * counts).sum() + of_text.sum() + 1e-6)
    return pixels + OVERLAP * apart


def fine_tune_locator(
    network: OnnxModule,
    examples: Sequence[TextExample],
    settings: LocatorTuning,
    *,
    device: str = "cpu",
    told: Callable[[int], object] = lambda epoch: None,
) -> OnnxModule:
    """The network after its epochs, in place; `told` hears of the end of each, and may look at the network.

    Every step draws its random numbers from (seed, step) alone.
    """
    if not examples:
        raise BadInput("there is no picture to train on")
    network.to(device).train()
    descent = Descent(network, settings.rate)
    each = -(-len(examples) // settings.batch)
    for step in range(settings.epochs * each):
        epoch, place = divmod(step, each)
        order = np.random.default_rng((settings.seed, 1, epoch)).permutation(len(examples))
        rng = np.random.default_rng((settings.seed, 2, step))
        chosen = order[place * settings.batch : (place + 1) * settings.batch]
        batch = [cut_square(examples[number], settings.side, rng) for number in chosen]
        maps = [np.stack([getattr(target, name) for _, target in batch]) for name in ("text", "counts")]
        text, counts = (torch.from_numpy(one).to(device) for one in maps)
        pictures = torch.from_numpy(np.stack([network_input(image) for image, _ in batch])).to(device)
        loss = text_loss(network(pictures)[:, 0], text, counts)
        descent.step(loss, step / (settings.epochs * each))
        if place == each - 1:
            network.eval()
            told(epoch + 1)
            network.train()
    return network.eval()
