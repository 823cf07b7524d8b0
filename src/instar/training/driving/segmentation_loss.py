"""The auxiliary segmentation loss: how well a network says what is shown where, learned beside driving.

`shown` is as in `Examples`: for each class and cell 255 times the square root of its share of the pixels.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor


def class_weights(shown: npt.NDArray[np.uint8]) -> Tensor:
    """The weight of each class. With these weights, always answering its mean share in a cell costs 1 in all.

    People are in few cells and lights in fewer; sky and road would drown them.
    """
    total, entropy = torch.zeros(shown.shape[1:]), torch.zeros(shown.shape[1:])
    for start in range(0, len(shown), 256):
        truth = torch.from_numpy(shown[start : start + 256]).float() / 255
        total, entropy = total + truth.sum(dim=0), entropy + _entropy(truth).sum(dim=0)
    n = max(1, len(shown))
    at_most = (_entropy(total / n) - entropy / n).mean(dim=(1, 2))
    met = at_most > 1e-6
    return torch.where(met, 1 / at_most.clamp(min=1e-6), 0) / met.sum().clamp(min=1)


def segmentation_loss(logits: Tensor, shown: Tensor, weights: Tensor) -> Tensor:
    """0 where the logits say all that is shown, 1 where they say only the mean share of each class."""
    truth = shown.float() / 255
    off = torch.nn.functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    return ((off - _entropy(truth)).mean(dim=(0, 2, 3)) * weights).sum()


def _entropy(share: Tensor) -> Tensor:
    entropy: Tensor = torch.special.entr(share) + torch.special.entr(1 - share)
    return entropy
