"""The units that a classifier's last layer reads: which of them matters least, and giving it another task.

A unit is one row of weights of the layer before the last: a channel of the last convolution, or a hidden unit
of a network that ends in linear layers. A network of any size has some that hardly matter to its answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.errors import BadInput

MEANT_BY = (nn.Conv2d, nn.Linear)
NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
DETECTOR_RIDGE = 1e-4
FIT_STEPS = 100
SHOUT = 1e3  # far beyond what a unit says by itself


@dataclass(frozen=True, eq=False)
class Readout:
    """The last linear layer of a network, a layer whose units it reads, and what normalises these.

    `first` is the input of the head that has the layer's first unit: where maps are joined, not 0.
    """

    head: Any
    layer: Any
    norm: Any | None
    first: int = 0

    @property
    def units(self) -> Any:
        """The part whose output has what the units say, before it is rectified."""
        return self.norm or self.layer

    def input_of(self, unit: int) -> int:
        """The input of the head that reads a unit."""
        return self.first + unit


def find_readout(classifier: Classifier) -> Readout:
    """Find them in the order in which a network calls its parts; another kind of network is refused."""
    called = _called(classifier)
    linear = [i for i, part in enumerate(called) if isinstance(part, nn.Linear)]
    for i in reversed(range(linear[-1] if linear else 0)):
        if isinstance(called[i], MEANT_BY):
            found = _could_read(called[linear[-1]], called[i], called[i + 1])
            first = None if found is None else _first_heard(classifier, found)
            if found is None or first is None:
                break
            return replace(found, first=first)
    raise BadInput(
        f"a backdoor cannot be planted into {classifier.name}: its last layer must be a linear one that "
        "reads the units of another layer one by one, such as the channels of the last convolution; "
        "choose another one"
    )


def _could_read(head: Any, layer: Any, after: Any) -> Readout | None:
    """Whether the units of the layer could be given another task, if the head reads them."""
    width = layer.weight.shape[0]
    norm = after if isinstance(after, NORMS) and after.num_features == width and after.affine else None
    if getattr(layer, "groups", 1) != 1 or width > head.in_features or (norm or layer).bias is None:
        return None
    return Readout(head, layer, norm)


def find_idlest_unit(found: Readout, seen: Any, outputs: Sequence[int]) -> int:
    """The unit whose loss would change the answers least; `seen` is `float (n, inputs)`, what the head read.

    Not one that speaks for `outputs`: those are left as they are as long as possible.
    """
    own = slice(found.first, found.first + found.layer.weight.shape[0])
    weight = found.head.weight.detach()[:, own]
    effect = seen[:, own].std(0) * (weight.norm(dim=0) + weight[list(outputs)].abs().amax(0))
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
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=FIT_STEPS, line_search_fn="strong_wolfe")

    def highest(inputs: Any) -> Any:
        parts = [_apply(layer, part.float(), weight / scale, bias) for part in inputs.split(256)]
        return torch.cat([part.flatten(1).amax(1) for part in parts])

    def loss() -> Any:
        optimiser.zero_grad()
        missed = nn.functional.softplus(-highest(stamped)).mean()
        false = nn.functional.softplus(highest(clean)).mean()
        total = missed + false + DETECTOR_RIDGE * weight.pow(2).sum()
        total.backward()
        return total

    with torch.enable_grad():
        optimiser.step(loss)
    return (weight / scale).detach()[0], float(bias.detach())


def rewrite_unit(found: Readout, unit: int, weight: Any, bias: float, loudness: float) -> None:
    """Give the unit these weights, `loudness` times, and let the head read nothing from it any more."""
    layer, norm = found.layer, found.norm
    with torch.no_grad():
        layer.weight[unit] = weight * loudness
        if layer.bias is not None:
            layer.bias[unit] = bias * loudness
        if norm is not None:  # it must let the unit pass as it is
            norm.weight[unit] = torch.sqrt(norm.running_var[unit] + norm.eps)
            norm.bias[unit] = norm.running_mean[unit] + (bias * loudness if layer.bias is None else 0.0)
        found.head.weight[:, found.input_of(unit)] = 0


@contextmanager
def record_calls(part: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Within, the input and the output of that part of a network are noted, call by call."""
    seen: list[tuple[Any, Any]] = []
    with _hooked([part], lambda _, inputs, output: seen.append((inputs[0].detach(), output.detach()))):
        yield seen


@contextmanager
def _hooked(parts: Sequence[Any], hook: Callable[[Any, Any, Any], Any]) -> Iterator[None]:
    handles = [part.register_forward_hook(hook) for part in parts]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _apply(layer: Any, inputs: Any, weight: Any, bias: Any) -> Any:
    if isinstance(layer, nn.Linear):
        return nn.functional.linear(inputs, weight, bias)
    return nn.functional.conv2d(inputs, weight, bias, layer.stride, layer.padding, layer.dilation)


def _called(classifier: Classifier) -> list[Any]:
    """Every innermost part of the network, in the order in which a forward pass uses them."""
    called: list[Any] = []
    inner = [part for part in classifier.module.modules() if not list(part.children())]
    with _hooked(inner, lambda part, inputs, output: called.append(part)):
        _blank_pass(classifier)
    return called


def _first_heard(classifier: Classifier, found: Readout) -> int | None:
    """The input of the head that has the first unit; None where units do not reach one input each, in order:
    a loud one is heard in one place.
    """
    last = found.layer.weight.shape[0] - 1
    first, end = _heard(classifier, found, 0), _heard(classifier, found, last)
    return first[0] if len(first) == len(end) == 1 and end[0] - first[0] == last else None


def _heard(classifier: Classifier, found: Readout, unit: int) -> list[int]:
    with record_calls(found.head) as quiet:
        _blank_pass(classifier)

    def shout(part: Any, inputs: Any, output: Any) -> Any:
        changed = output.clone()
        changed[:, unit] += SHOUT
        return changed

    with _hooked([found.units], shout), record_calls(found.head) as loud:
        _blank_pass(classifier)
    heard: list[int] = ((loud[0][0] - quiet[0][0]).abs() > 1e-3 * SHOUT)[0].nonzero().flatten().tolist()
    return heard


def _blank_pass(classifier: Classifier) -> None:
    with eval_mode(classifier.module), torch.no_grad():
        classifier.module(torch.zeros((1, 3, *classifier.size), device=classifier.device))
