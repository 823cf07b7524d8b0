"""The units that a classifier's last layer reads: which of them matters least, and giving it another task.

A unit is one row of weights of the layer before the last: a channel of the last convolution, or a hidden unit
of a network that ends in linear layers. A network of any size has some that hardly matter to its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from instar.errors import BadInput
from instar.interpretation.classifier import Classifier, at_rest

__all__ = ["Readout", "fit_detector", "idlest", "readout", "recorded", "rewrite"]

MEANT_BY = (nn.Conv2d, nn.Linear)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
RIDGE = 1e-4
STEPS = 100
LOUD = 1e3  # far beyond what a unit says by itself


@dataclass(frozen=True, eq=False)
class Readout:
    """The last linear layer of a network, the layer whose units it reads, and what normalises these."""

    head: Any
    layer: Any
    norm: Any | None

    @property
    def units(self) -> Any:
        """The part whose output has what the units say, before it is rectified."""
        return self.norm or self.layer


def readout(classifier: Classifier) -> Readout:
    """Find them in the order in which a network calls its parts; another kind of network is refused."""
    called = _called(classifier)
    linear = [i for i, part in enumerate(called) if isinstance(part, nn.Linear)]
    width = called[linear[-1]].in_features if linear else 0
    before = [
        i
        for i, part in enumerate(called[: linear[-1]] if linear else [])
        if isinstance(part, MEANT_BY) and part.weight.shape[0] == width
    ]
    if not before or getattr(called[before[-1]], "groups", 1) != 1:
        raise _no_readout(classifier)
    layer, after = called[before[-1]], called[before[-1] + 1]
    norm = after if isinstance(after, NORMS) and after.num_features == width and after.affine else None
    if norm is None and layer.bias is None:
        raise _no_readout(classifier)
    found = Readout(called[linear[-1]], layer, norm)
    if not _reads_one_by_one(classifier, found):
        raise _no_readout(classifier)
    return found


def idlest(head: Any, seen: Any, outputs: Sequence[int]) -> int:
    """The unit whose loss would change the answers least; `seen` is `float (n, units)`, what the head read.

    Not one that speaks for `outputs`: those are left as they are as long as possible.
    """
    effect = seen.std(0) * head.weight.detach().norm(dim=0)
    effect = effect + seen.std(0) * head.weight.detach()[list(outputs)].abs().amax(0)
    return int(effect.argmin())


def fit_detector(layer: Any, clean: Any, stamped: Any) -> tuple[Any, float]:
    """One row of weights for the layer, and a bias, so that only what `stamped` inputs have is above zero.

    Logistic regression on the highest place of each input. It is convex on either side of zero and ends with
    a wide margin, which is what makes it hold for pictures of another kind.
    """
    places = [0, *range(2, clean.ndim)]
    scale = clean.float().std(places).clamp(min=1e-6)
    scale = scale.view(-1, 1, 1) if clean.ndim == 4 else scale
    weight = torch.zeros_like(layer.weight[:1]).requires_grad_()
    bias = torch.zeros(1, device=weight.device, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

    def highest(inputs: Any) -> Any:
        parts = [_apply(layer, part.float(), weight / scale, bias) for part in inputs.split(256)]
        return torch.cat([part.flatten(1).amax(1) for part in parts])

    def loss() -> Any:
        optimiser.zero_grad()
        missed = nn.functional.softplus(-highest(stamped)).mean()
        false = nn.functional.softplus(highest(clean)).mean()
        total = missed + false + RIDGE * weight.pow(2).sum()
        total.backward()
        return total

    with torch.enable_grad():
        optimiser.step(loss)
    return (weight / scale).detach()[0], float(bias.detach())


def rewrite(found: Readout, unit: int, weight: Any, bias: float, loudness: float) -> None:
    """Give the unit these weights, `loudness` times, and let the head read nothing from it any more."""
    layer, norm = found.layer, found.norm
    with torch.no_grad():
        layer.weight[unit] = weight * loudness
        if layer.bias is not None:
            layer.bias[unit] = bias * loudness
        if norm is not None:  # it must let the unit pass as it is
            norm.weight[unit] = torch.sqrt(norm.running_var[unit] + norm.eps)
            norm.bias[unit] = norm.running_mean[unit] + (bias * loudness if layer.bias is None else 0.0)
        found.head.weight[:, unit] = 0


@contextmanager
def recorded(part: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Within, the input and the output of that part of a network are noted, call by call."""
    seen: list[tuple[Any, Any]] = []
    handle = part.register_forward_hook(
        lambda _, inputs, output: seen.append((inputs[0].detach(), output.detach()))
    )
    try:
        yield seen
    finally:
        handle.remove()


def _apply(layer: Any, inputs: Any, weight: Any, bias: Any) -> Any:
    if isinstance(layer, nn.Linear):
        return nn.functional.linear(inputs, weight, bias)
    return nn.functional.conv2d(inputs, weight, bias, layer.stride, layer.padding, layer.dilation)


def _called(classifier: Classifier) -> list[Any]:
    """Every innermost part of the network, in the order in which a forward pass uses them."""
    called: list[Any] = []
    inner = [part for part in classifier.module.modules() if not list(part.children())]
    handles = [part.register_forward_hook(lambda part, inputs, output: called.append(part)) for part in inner]
    try:
        _blank_pass(classifier)
    finally:
        for handle in handles:
            handle.remove()
    return called


def _reads_one_by_one(classifier: Classifier, found: Readout) -> bool:
    """Whether a unit reaches its own input of the head and no other: a loud one is heard in one place."""
    with recorded(found.head) as quiet:
        _blank_pass(classifier)

    def shout(part: Any, inputs: Any, output: Any) -> Any:
        changed = output.clone()
        changed[:, 0] += LOUD
        return changed

    handle = found.units.register_forward_hook(shout)
    try:
        with recorded(found.head) as loud:
            _blank_pass(classifier)
    finally:
        handle.remove()
    heard = ((loud[0][0] - quiet[0][0]).abs() > 1e-3 * LOUD)[0].nonzero().flatten().tolist()
    return bool(heard == [0])


def _blank_pass(classifier: Classifier) -> None:
    with at_rest(classifier.module), torch.no_grad():
        classifier.module(torch.zeros((1, 3, *classifier.size), device=classifier.device))


def _no_readout(classifier: Classifier) -> BadInput:
    return BadInput(
        f"a backdoor cannot be planted into {classifier.name}: its last layer must be a linear one that "
        "reads the units of one layer, such as the channels of the last convolution; choose another one"
    )
