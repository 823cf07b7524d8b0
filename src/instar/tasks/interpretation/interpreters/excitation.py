"""Excitation backpropagation (Zhang et al. 2016): a probability handed down from winner to winner.

The score of a label is a mass of one. Every linear operation hands the mass of a unit to its inputs in
proportion to what each adds to it: positive inputs through positive weights and, where a network has negative
activations, negative ones through negative weights. A unit that no input excites, but a bias or a
normalisation alone, hands its mass to all of its inputs evenly. So nothing is lost on the way, and the mass
of every layer adds up to one.

The mass flows as the gradient of autograd, under rules of our own for the operations that a network does.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.errors import BadInput
from instar.tasks.interpretation.interpreters.layers import tap_layer
from instar.tasks.interpretation.interpreters.rectifiers import (
    IN_PLACE,
    RECTIFIERS,
    get_argument,
    is_rectifier,
    require_followable,
)

LEAST_EXCITATION = 1e-12  # a sum of less than this is nothing

LINEAR = {"conv1d", "conv2d", "conv3d", "linear"}
AVERAGES = {"avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
            "adaptive_avg_pool3d", "mean"}  # fmt: skip
SUMS = {"add", "add_", "__add__", "__iadd__", "__radd__"}
SCALINGS = {"mul", "mul_", "__mul__", "__imul__", "__rmul__", "div", "div_", "__truediv__", "__itruediv__",
            "true_divide"}  # fmt: skip
MOVES = {
    # These only choose or move values, so that the ordinary gradient is the mass.
    "max_pool1d", "max_pool2d", "max_pool3d", "_max_pool1d", "_max_pool2d", "_max_pool3d", "amax",
    "max_pool1d_with_indices", "max_pool2d_with_indices", "max_pool3d_with_indices",
    "adaptive_max_pool1d", "adaptive_max_pool2d", "_adaptive_max_pool1d", "_adaptive_max_pool2d",
    "adaptive_max_pool1d_with_indices", "adaptive_max_pool2d_with_indices", "max",
    "flatten", "view", "reshape", "permute", "transpose", "contiguous", "squeeze", "unsqueeze", "narrow",
    "cat", "concat", "concatenate", "stack", "split", "chunk", "__getitem__", "select", "movedim", "moveaxis",
    "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_dropout", "alpha_dropout", "pad", "_pad",
    "clone", "to", "type", "float", "view_as", "reshape_as", "channel_shuffle", "unflatten", "swapaxes",
}  # fmt: skip


class SignedWeights:
    """The positive and the negative part of weights, made once for as long as these do not change."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, int, bool], tuple[Any, int, Any]] = {}

    def part(self, weight: Any, scale: Any, *, positive: bool) -> Any:
        """One part of a weight whose outputs are multiplied by `scale`, where that is not None."""
        key = (id(weight), 0 if scale is None else id(scale), positive)
        known = self._kept.get(key)
        if known is not None and known[0]() is weight and known[1] == weight._version and scale is None:
            return known[2]
        with torch.no_grad():
            whole = weight if scale is None else weight * scale.view(-1, *[1] * (weight.ndim - 1))
            made = whole.clamp(min=0) if positive else whole.clamp(max=0)
        if scale is None:
            self._kept[key] = (weakref.ref(weight), weight._version, made)
        return made


def excitation(
    classifier: Classifier, inputs: Any, labels: Sequence[int], layer: str, weights: SignedWeights
) -> tuple[Any, Any]:
    """Logits, and the mass that arrives at each place of a layer, over its channels."""
    require_followable(classifier.module, needed_for="excitation-backprop")
    module = classifier.module
    with eval_mode(module), tap_layer(module.get_submodule(layer)) as tap, torch.no_grad():
        with _Excitation(weights, classifier.name) as mode:
            logits = module(inputs)
        mode.forget()
        tap.require_map(classifier, layer)
        # A label of several outputs begins with the share that each has in its confidence.
        (mass,) = torch.autograd.grad(classifier.score(logits, labels).sum(), tap.map)
    return logits.detach(), mass.sum(1)


class _Excitation(TorchFunctionMode):
    """Within, the backward pass hands masses down; an operation without a rule is refused by its name."""

    def __init__(self, weights: SignedWeights, owner: str) -> None:
        super().__init__()
        self._weights, self._owner = weights, owner
        self._convolved: dict[int, tuple[Any, Any, Any, Any]] = {}

    def forget(self) -> None:
        self._convolved.clear()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if not _carries(args) and not _carries(tuple(kwargs.values())):
            return func(*args, **kwargs)

        def again(x: Any) -> Any:
            return func(x, *args[1:], **kwargs)

        if (name in IN_PLACE or name in RECTIFIERS) and is_rectifier(name, args, kwargs):
            in_place = name in IN_PLACE or bool(kwargs.pop("inplace", False))
            return _Pass.apply(args[0], again, in_place)
        if name in LINEAR:
            return self._linear(func, args, kwargs)
        if name == "batch_norm":
            return self._batch_norm(func, args, kwargs)
        if name in AVERAGES:
            return _Share.apply(args[0], lambda: again(args[0].detach()), again, None, again)
        if name in SUMS:
            return self._sum(func, name, args, kwargs)
        if name in SCALINGS and _is_positive_number(args, kwargs):
            return _Pass.apply(args[0], again, name.endswith("_"))
        result = func(*args, **kwargs)
        if name not in MOVES and _carries(result if isinstance(result, tuple) else (result,)):
            raise BadInput(
                f"excitation-backprop has no rule for {name!r}, which {self._owner} does; "
                "name a later layer with --set system.layer=..., or choose another interpreter"
            )
        return result

    def _linear(self, func: Any, args: Any, kwargs: Any) -> Any:
        x, weight = args[0], get_argument(args, kwargs, 1, "weight", None)
        rest = args[3:]
        options = {key: value for key, value in kwargs.items() if key not in ("weight", "bias", "input")}

        def apply(value: Any, own: Any) -> Any:
            return func(value, own, None, *rest, **options)

        made = self._shared(x, lambda: func(*args, **kwargs), weight, None, apply)
        # A batch normalisation may follow, which belongs into the weights.
        self._convolved[id(made)] = (made, x, weight, apply)
        return made

    def _shared(
        self, x: Any, value: Callable[[], Any], weight: Any, scale: Any, apply: Callable[..., Any]
    ) -> Any:
        def part(positive: bool) -> Callable[[Any], Any]:
            return lambda own: apply(own, self._weights.part(weight, scale, positive=positive))

        def even(own: Any) -> Any:
            return apply(own, torch.ones_like(weight))

        return _Share.apply(x, value, part(True), part(False), even)

    def _batch_norm(self, func: Any, args: Any, kwargs: Any) -> Any:
        x = args[0]
        if get_argument(args, kwargs, 5, "training", False):
            raise BadInput(
                f"excitation-backprop: {self._owner} normalises by the batch, so that pictures mix"
            )
        known = self._convolved.get(id(x))
        if known is None:  # one number times each channel: nothing to be divided among
            return _Pass.apply(x, lambda own: func(own, *args[1:], **kwargs), False)
        _, before, weight, apply = known
        variance = get_argument(args, kwargs, 2, "running_var", None)
        gamma = get_argument(args, kwargs, 3, "weight", None)
        scale = torch.rsqrt(variance + get_argument(args, kwargs, 7, "eps", 1e-5))
        scale = (scale if gamma is None else gamma * scale).detach()
        return self._shared(before, lambda: func(*args, **kwargs), weight, scale, apply)

    def _sum(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        a, b = args[0], get_argument(args, kwargs, 1, "other", 0)
        in_place = name in ("add_", "__iadd__")
        if not _carries((b,)):
            return _Pass.apply(a, lambda x: func(x, *args[1:], **kwargs), in_place)
        if not _carries((a,)):
            return _Pass.apply(b, lambda x: func(a, x), False)
        if a.shape != b.shape or kwargs.get("alpha", 1) != 1:
            raise BadInput(f"excitation-backprop has no rule for {name!r} of unequal parts in {self._owner}")
        return _Sum.apply(a, b, in_place)


class _Share(torch.autograd.Function):
    """A linear operation: the mass of an output goes to its inputs in proportion to what each adds to it."""

    @staticmethod
    def forward(ctx: Any, x: Any, value: Any, positive: Any, negative: Any, even: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.positive, ctx.negative, ctx.even = positive, negative, even
        return value()  # autograd records nothing in here

    @staticmethod
    def backward(ctx: Any, mass: Any) -> Any:
        (x,) = ctx.saved_tensors
        x = x.detach()
        with torch.enable_grad():
            plus = x.clamp(min=0).requires_grad_()
            total, parts = ctx.positive(plus), [plus]
            if ctx.negative is not None and bool(x.amin() < 0):
                minus = x.clamp(max=0).requires_grad_()
                total, parts = total + ctx.negative(minus), [plus, minus]
        with torch.no_grad():
            shares = mass / (total.detach() + LEAST_EXCITATION)
            stuck = torch.where(total.detach() <= LEAST_EXCITATION, mass, 0.0)
        slopes = torch.autograd.grad(total, parts, shares)
        with torch.no_grad():
            handed = sum((part.detach() * slope for part, slope in zip(parts, slopes)), torch.zeros(()))
        if bool(stuck.any()):
            with torch.enable_grad():
                ones = torch.ones_like(x).requires_grad_()
                count = ctx.even(ones)
            (slope,) = torch.autograd.grad(count, ones, stuck / count.detach())
            handed = handed + slope
        return handed, None, None, None, None


class _Sum(torch.autograd.Function):
    """Two branches meet: each gets a share by what it adds to the sum, with the sign of the sum."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, in_place: bool) -> Any:
        total = a + b
        first, second = (torch.where(total < 0, -own, own).clamp(min=0) for own in (a, b))
        both = first + second
        ctx.save_for_backward(torch.where(both > 0, first / (both + LEAST_EXCITATION), 0.5), both > 0)
        if in_place:
            ctx.mark_dirty(a)
            return a.copy_(total)
        return total

    @staticmethod
    def backward(ctx: Any, mass: Any) -> Any:
        (share, _) = ctx.saved_tensors
        return mass * share, mass * (1 - share), None


class _Pass(torch.autograd.Function):
    """One value becomes another in its place: the mass stays with it."""

    @staticmethod
    def forward(ctx: Any, x: Any, change: Any, in_place: bool) -> Any:
        made = change(x.detach())
        if in_place:
            ctx.mark_dirty(x)
            return x.copy_(made)
        # A function may give back its very input where there was nothing to change.
        return made.clone() if made.data_ptr() == x.data_ptr() else made

    @staticmethod
    def backward(ctx: Any, mass: Any) -> Any:
        return mass, None, None


def _carries(values: Any) -> bool:
    """Whether mass comes with any of the values: what gradients flow through and is no weight."""
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.requires_grad and not isinstance(value, torch.nn.Parameter):
                return True
        elif isinstance(value, (list, tuple)) and _carries(value):
            return True
    return False


def _is_positive_number(args: Any, kwargs: Any) -> bool:
    other = get_argument(args, kwargs, 1, "other", None)
    return isinstance(args[0], torch.Tensor) and isinstance(other, (int, float)) and other > 0
