"""How the network of an ONNX file is fine-tuned, whatever it finds.

Normalisation is part of the weights in such a file, so layers differ in size by orders of magnitude: the rate
is a share of how large the weights of a layer are.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from instar.adapters.onnx_module import OnnxModule
from instar.core.errors import BadInput

WARM_UP = 0.05  # of the steps, in which the rate rises
LOWEST = 0.05  # of the rate, at the end
STEEPEST = 10.0  # a gradient longer than that is shortened


class Descent:
    """Steps of Adam: the rate rises in the beginning, and falls along half a wave."""

    def __init__(self, network: OnnxModule, rate: float) -> None:
        sizes = [(weight, float(weight.detach().square().mean().sqrt())) for weight in network.parameters()]
        groups = [{"params": [weight], "size": size} for weight, size in sizes]
        self.network, self.rate = network, rate
        self.optimiser = torch.optim.Adam(groups, rate)

    def step(self, loss: Tensor, done: float) -> None:
        """Go down; `done` is the share of the steps that lies behind."""
        falling = LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * done)) / 2
        share = min(1.0, (done + 1e-3) / WARM_UP) * falling
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * share * group["size"]
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), STEEPEST)
        self.optimiser.step()


def require_tuning(rate: float, **counts: int) -> None:
    """Refuse settings that make no sense."""
    for name, count in counts.items():
        if count < 1:
            raise BadInput(f"{name} is {count}; it must be at least 1")
    if not 0 < rate < 1:
        raise BadInput(f"rate is {rate}; it must lie between 0 and 1")
