"""Interpreters by one or a few backward passes: `raw(classifier, inputs, labels, seeds)` gives maps.

Inputs are `float32 (n, 3, H, W)`, maps `float32 (n, h, w)` of any scale; `normalised` brings them to [0, 1].
Many pictures share one backward pass: a picture's score depends on no other picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.errors import BadInput
from instar.tasks.interpretation.answers import HeatMap
from instar.tasks.interpretation.interpreters.layers import tap_layer
from instar.tasks.interpretation.interpreters.rectifiers import RectifierMode, require_followable


def gradient(classifier: Classifier, inputs: Any, labels: Sequence[int]) -> tuple[Any, Any]:
    """Logits and the gradient of each score by its own input."""
    with eval_mode(classifier.module), torch.enable_grad():
        x = inputs.detach().requires_grad_()
        # A copy, because a network that works in place may not begin with what gradients are asked of.
        logits = classifier.module(x.clone())
        (found,) = torch.autograd.grad(classifier.score(logits, labels).sum(), x)
    return logits.detach(), found


def rectified_gradient(
    classifier: Classifier, inputs: Any, labels: Sequence[int], rule: Literal["deconvnet", "guided-backprop"]
) -> tuple[Any, Any]:
    """Deconvolution and guided backpropagation: logits and the largest channel of the changed gradient."""
    require_followable(classifier.module, needed_for=rule)
    with RectifierMode(guided=rule == "guided-backprop") as mode:
        logits, found = gradient(classifier, inputs, labels)
    if not mode.seen:
        raise BadInput(
            f"{rule}: {classifier.name} has no rectifier (ReLU), so that it would be the plain gradient; "
            "choose another interpreter"
        )
    return logits, found.abs().amax(1)


def layer_attribution(
    classifier: Classifier,
    inputs: Any,
    labels: Sequence[int],
    layer: str,
    rule: Literal["grad-cam", "linear-approximation"],
) -> tuple[Any, Any]:
    """Gradient times activation of a layer, over its channels: place by place (linear approximation), or with
    the gradient averaged over places (Grad-CAM).
    """
    module = classifier.module
    with eval_mode(module), tap_layer(module.get_submodule(layer)) as tap, torch.no_grad():
        logits = module(inputs)
        tap.require_map(classifier, layer)
        (found,) = torch.autograd.grad(classifier.score(logits, labels).sum(), tap.map)
    if rule == "linear-approximation":
        return logits.detach(), (found * tap.map.detach()).sum(1)
    weight = found.mean((2, 3), keepdim=True)
    return logits.detach(), (weight * tap.map.detach()).sum(1).clamp(min=0)


def integrated_gradients(
    classifier: Classifier, inputs: Any, labels: Sequence[int], *, steps: int, rows: int
) -> tuple[Any, Any]:
    """Input times the gradient averaged on the way from a picture of the mean colour, by the midpoint rule.

    Completeness: before it is scaled, a map adds up to what the score gains on the way.
    """
    logits = _forward(classifier, inputs)
    total = torch.zeros_like(inputs)
    shares = [(step + 0.5) / steps for step in range(steps)]
    for at, own in _chunks([(i, share) for i in range(len(inputs)) for share in shares], rows):
        scale = torch.tensor([share for _, share in own], device=inputs.device).view(-1, 1, 1, 1)
        _, found = gradient(classifier, inputs[at] * scale, [labels[i] for i in at])
        total.index_add_(0, torch.tensor(at, device=inputs.device), found)
    return logits, (inputs * total / steps).sum(1)


def smooth_grad(
    classifier: Classifier,
    inputs: Any,
    labels: Sequence[int],
    seeds: Sequence[int],
    *,
    samples: int,
    spread: float,
    rows: int,
) -> tuple[Any, Any]:
    """The gradient averaged over noisy copies; `spread` is the noise as a share of the input's range."""
    logits = _forward(classifier, inputs)
    total = torch.zeros_like(inputs)
    # Noise is drawn on the CPU, so that a GPU sees the same.
    generators = [torch.Generator().manual_seed(seed) for seed in seeds]
    noise = [torch.randn((samples, *inputs.shape[1:]), generator=one) for one in generators]
    ranges = (inputs.amax((1, 2, 3)) - inputs.amin((1, 2, 3))) * spread
    for at, own in _chunks([(i, n) for i in range(len(inputs)) for n in range(samples)], rows):
        drawn = torch.stack([noise[i][n] for i, n in own]).to(inputs.device)
        _, found = gradient(
            classifier, inputs[at] + drawn * ranges[at].view(-1, 1, 1, 1), [labels[i] for i in at]
        )
        total.index_add_(0, torch.tensor(at, device=inputs.device), found)
    return logits, (total / samples).abs().amax(1)


def normalise_heat(raw: Any) -> HeatMap:
    """`float32 (h, w)`: what speaks for the label, and below zero against it, as a share of the most."""
    heat = np.asarray(raw.cpu() if hasattr(raw, "cpu") else raw, np.float32)
    most = float(np.abs(heat).max(initial=0.0))
    return np.ascontiguousarray(np.clip(heat / most, -1, 1) if most > 0 else heat, np.float32)


def _forward(classifier: Classifier, inputs: Any) -> Any:
    with eval_mode(classifier.module), torch.no_grad():
        return classifier.module(inputs)


def _chunks(pairs: Sequence[tuple[int, Any]], rows: int) -> Any:
    for start in range(0, len(pairs), rows):
        own = pairs[start : start + rows]
        yield [i for i, _ in own], own
