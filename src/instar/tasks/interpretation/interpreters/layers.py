"""Finding a layer of a network, and starting gradients there, without leaving anything behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.errors import BadInput, UnknownName

CONVOLUTION_TYPES = (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d, torch.nn.ConvTranspose2d)


def find_layer(classifier: Classifier, given: Any) -> str:
    """The name of a layer that was asked for, perhaps by a number: the layers of a sequence have those.

    On a command line 0.10 is the same number as 0.1, so that one which could be several layers is refused.
    """
    names = [name for name, _ in classifier.module.named_modules() if name]
    fit = [name for name in names if _fraction(name) == given] if isinstance(given, float) else [str(given)]
    if len(fit) > 1:
        raise BadInput(
            f"layer {given} of {classifier.name} could be {' or '.join(fit)}; give it in double quotes"
        )
    if not fit or fit[0] not in names:
        raise UnknownName(f"layer of {classifier.name}", str(given), names)
    return fit[0]


def _fraction(name: str) -> float | None:
    try:
        return float(name) if "." in name else None
    except ValueError:
        return None


def find_last_layer(classifier: Classifier, *, needed_for: str) -> str:
    """The last map of the network: its last convolution, with what normalises and rectifies it."""
    return _deepest(classifier, lambda height, width: height * width > 1, needed_for)


def find_layer_of_side(classifier: Classifier, share: float, *, needed_for: str) -> str:
    """The deepest map whose sides are at least that share of the input's."""
    rows, columns = (share * side for side in classifier.size)
    try:
        return _deepest(classifier, lambda height, width: height >= rows and width >= columns, needed_for)
    except BadInput:  # a network that halves its input at once and often
        return find_last_layer(classifier, needed_for=needed_for)


def _deepest(classifier: Classifier, wanted: Callable[[int, int], bool], needed_for: str) -> str:
    """The last convolution with a map as wanted, and beyond it whatever keeps its shape without pooling."""
    seen = _maps(classifier)
    places = [
        i
        for i, (_, part, shape) in enumerate(seen)
        if isinstance(part, CONVOLUTION_TYPES) and wanted(*shape[2:])
    ]
    if not places:
        raise BadInput(
            f"{needed_for}: {classifier.name} has no convolution whose map could be shown; choose another "
            "interpreter, or name a layer with --set system.layer=..."
        )
    at = places[-1]
    _refuse_transformers(classifier, seen[at], needed_for)
    while at + 1 < len(seen) and seen[at + 1][2] == seen[at][2]:
        if "Pool" in type(seen[at + 1][1]).__name__ or isinstance(seen[at + 1][1], CONVOLUTION_TYPES):
            break
        at += 1
    return seen[at][0]


def _refuse_transformers(classifier: Classifier, found: tuple[str, Any, Any], needed_for: str) -> None:
    """Where tokens are mixed after the last convolution, its map is not what classes are read from.

    One attention alone may pool the map; those of a transformer come one after another.
    """
    name, part, _ = found
    cuts = tuple(part.kernel_size) == tuple(part.stride) and part.stride[0] > 1
    mixing = _find_mixing(classifier, part)
    if len(mixing.attentions) > 1 or (cuts and (mixing.attentions or mixing.tokens)):
        what = mixing.attentions[0] if mixing.attentions else "linear layers over patches"
        role = "only cuts the picture into patches" if cuts else "comes before all of them"
        raise BadInput(
            f"{needed_for}: {classifier.name} is a transformer ({what}): its convolution {name!r} {role}, "
            "and nothing after it is a map; choose rise, lime, integrated-gradients or smoothgrad"
        )


PRODUCTS = {"matmul", "bmm", "baddbmm", "einsum", "__matmul__", "__rmatmul__"}


class _Mixing(TorchFunctionMode):
    """Within, attention over the values that carry a gradient is noted, whoever wrote it and however."""

    def __init__(self) -> None:
        super().__init__()
        self._named: list[str] = []
        self._products: list[str] = []
        self.tokens = False

    @property
    def attentions(self) -> list[str]:
        """By name, or two products of activations: how alike they are, and what that weighs."""
        return self._named + [f"attention by {name}" for name in self._products[1::2]]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "")
        given = [one for one in _tensors((*args, *(kwargs or {}).values())) if one.requires_grad]
        if given and "attention" in name:
            self._named.append(name)
        elif name in PRODUCTS and len(given) > 1:
            self._products.append(name)
        elif given and name in (*PRODUCTS, "linear") and given[0].ndim == 3:
            self.tokens = True
        return func(*args, **(kwargs or {}))


def _tensors(values: Any) -> list[Any]:
    if isinstance(values, torch.Tensor):
        return [values]
    return [one for value in values for one in _tensors(value)] if isinstance(values, (tuple, list)) else []


def _find_mixing(classifier: Classifier, layer: Any) -> _Mixing:
    """What the network does with the map of a layer."""
    blank = torch.zeros((1, 3, *classifier.size), device=classifier.device)
    learned = [one for one in classifier.module.parameters() if one.requires_grad]
    mixing = _Mixing()
    try:
        for one in learned:  # so that only activations carry a gradient
            one.requires_grad_(False)
        with eval_mode(classifier.module), tap_layer(layer), torch.no_grad(), mixing:
            classifier.module(blank)
    finally:
        for one in learned:
            one.requires_grad_(True)
    return mixing


def _maps(classifier: Classifier) -> list[tuple[str, Any, tuple[int, ...]]]:
    """Every part that gives a map, in the order in which they finish: name, part, shape of the map."""
    seen: list[tuple[str, Any, tuple[int, ...]]] = []

    def note(name: str, part: Any, inputs: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor) and output.ndim == 4:
            seen.append((name, part, tuple(output.shape)))

    parts = [(name, part) for name, part in classifier.module.named_modules() if name]
    handles = [part.register_forward_hook(partial(note, name)) for name, part in parts]
    try:
        with eval_mode(classifier.module), torch.no_grad():
            blank = torch.zeros((1, 3, *classifier.size), device=classifier.device)
            classifier.module(blank)
    finally:
        for handle in handles:
            handle.remove()
    return seen


class TappedLayer:
    """The map of a layer, from which gradients start."""

    map: Any = None

    def require_map(self, classifier: Classifier, layer: str) -> None:
        """Raise BadInput where the layer did not give one."""
        if self.map is None or self.map.ndim != 4:
            shape = None if self.map is None else tuple(self.map.shape)
            raise BadInput(f"layer {layer!r} of {classifier.name} gives no map but {shape}; name another one")
        if self.map.shape[2] * self.map.shape[3] == 1:
            raise BadInput(
                f"layer {layer!r} of {classifier.name} has one cell for all of the picture; name an earlier"
                " one"
            )


@contextmanager
def tap_layer(module: Any) -> Iterator[TappedLayer]:
    """Within, the graph of a forward pass begins at the output of that layer.

    What comes before it costs no memory and no backward pass. Run the network inside of `torch.no_grad()`.
    """
    found = TappedLayer()

    def hook(part: Any, inputs: Any, output: Any) -> Any:
        torch.set_grad_enabled(True)
        found.map = output.detach().requires_grad_()
        return found.map.clone()  # a copy, because what follows may work in place

    handle = module.register_forward_hook(hook)
    try:
        yield found
    finally:
        handle.remove()
