"""Where the cells of a layer's map are in the input: the centres of their receptive fields.

A padded convolution with a stride looks half a cell up and left of where its map lies when that is simply
enlarged. So the network runs once under a torch function mode, which follows each operation that shrinks,
shifts or enlarges maps, however it is spelled, and the map is drawn where its cells look.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.overrides import TorchFunctionMode

from instar.adapters.classifier import Classifier, eval_mode
from instar.tasks.interpretation.interpreters.rectifiers import get_argument

FINENESS = 4  # pixels of the input for one of a map that is drawn in its place


@dataclass(frozen=True, slots=True)
class Axis:
    """The cells along one side of a map: the middle of the first, in pixels from the edge, and the step."""

    first: float
    step: float

    def through(self, *, kernel: int, stride: float, padding: float, dilation: int = 1) -> Axis:
        """After an operation that looks through a window."""
        return Axis(self.first + self.step * (dilation * (kernel - 1) / 2 - padding), self.step * stride)

    def at(self, count: int) -> npt.NDArray[np.float64]:
        return np.asarray(self.first + self.step * np.arange(count))


Cells = tuple[Axis, Axis]
"""Rows and columns."""


def cells_of(classifier: Classifier, layer: str) -> Cells | None:
    """Where the cells of a layer are; None where the network does something that cannot be followed."""
    module = classifier.module
    found: list[Any] = []
    mode = _Follow()
    handle = module.get_submodule(layer).register_forward_hook(lambda _, inputs, output: found.append(output))
    try:
        with eval_mode(module), torch.no_grad(), mode:
            blank = torch.zeros((1, 3, *classifier.size), device=classifier.device)
            mode.note(blank, (Axis(0.5, 1.0), Axis(0.5, 1.0)))
            module(blank)
    finally:
        handle.remove()
    return mode.where(found[-1]) if found else None


def place_cells(
    heat: npt.NDArray[np.float32], cells: Cells | None, size: tuple[int, int]
) -> npt.NDArray[np.float32]:
    """`float32 (h, w)` over the whole input of `size` (height, width), each cell where it looks.

    Between the middles of cells it is linear, beyond the outermost it stays as it is. Without `cells` they
    are taken to fill the input evenly.
    """
    if cells is None:
        cells = (Axis(size[0] / heat.shape[0] / 2, size[0] / heat.shape[0]),
                 Axis(size[1] / heat.shape[1] / 2, size[1] / heat.shape[1]))  # fmt: skip
    rows, columns = (_weights(axis, count, side) for axis, count, side in zip(cells, heat.shape, size))
    return np.asarray(rows @ heat @ columns.T, np.float32)


@lru_cache(maxsize=64)  # the same for every map of a layer
def _weights(axis: Axis, cells: int, side: int) -> npt.NDArray[np.float64]:
    """`float (places, cells)`: how much of each cell is at each place of a finer map."""
    count, middles = max(cells, side // FINENESS), axis.at(cells)
    places = (np.arange(count) + 0.5) * side / count
    return np.stack([np.interp(places, middles, one) for one in np.eye(len(middles))], axis=1)


class _Follow(TorchFunctionMode):
    """Within, it is known of each map where its cells are."""

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[int, tuple[Any, Cells]] = {}  # with the tensor, so that no other gets its id

    def note(self, tensor: Any, cells: Cells | None) -> None:
        if cells is not None:
            self._known[id(tensor)] = (tensor, cells)
        else:
            self._known.pop(id(tensor), None)

    def where(self, tensor: Any) -> Cells | None:
        known = self._known.get(id(tensor))
        return None if known is None else known[1]

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        maps = [value for value in _tensors((*args, *kwargs.values())) if self.where(value) is not None]
        made = result[0] if isinstance(result, tuple) and result else result
        if maps and isinstance(made, torch.Tensor) and made.ndim == 4:
            self.note(made, self._after(getattr(func, "__name__", ""), maps, made, args, kwargs))
        return result

    def _after(self, name: str, maps: list[Any], made: Any, args: Any, kwargs: Any) -> Cells | None:
        rule = RULES.get(name.strip("_").removesuffix("_with_indices"))
        before = self.where(maps[0])
        assert before is not None
        if rule is not None:
            return rule(before, maps[0].shape[2:], made.shape[2:], args, kwargs)
        alike = [self.where(one) for one in maps if one.ndim == 4 and one.shape[2:] == made.shape[2:]]
        known = [one for one in alike if one is not None]
        if not known:  # something was reshaped: its cells are nobody knows where
            return None
        # Branches that meet need not look at quite the same place: their cells are in the middle.
        rows, columns = (
            Axis(
                float(np.mean([cells[i].first for cells in known])),
                float(np.mean([cells[i].step for cells in known])),
            )
            for i in (0, 1)
        )
        return rows, columns


Rule = Callable[[Cells, Any, Any, Any, Any], Cells | None]


def _convolution(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    kernel = get_argument(args, kwargs, 1, "weight", None).shape[2:]
    stride = _pair(get_argument(args, kwargs, 3, "stride", 1))
    padding = get_argument(args, kwargs, 4, "padding", 0)
    dilation = _pair(get_argument(args, kwargs, 5, "dilation", 1))
    if padding == "same":  # the larger half, if any, is added below and right
        padding = [d * (k - 1) // 2 for d, k in zip(dilation, kernel)]
    padding = (0, 0) if padding == "valid" else _pair(padding)
    return _windows(before, kernel, stride, padding, dilation)


def _transposed(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    kernel = get_argument(args, kwargs, 1, "weight", None).shape[2:]
    stride = _pair(get_argument(args, kwargs, 3, "stride", 1))
    padding = _pair(get_argument(args, kwargs, 4, "padding", 0))
    dilation = _pair(get_argument(args, kwargs, 7, "dilation", 1))
    rows, columns = (
        Axis(axis.first + axis.step * (p - d * (k - 1) / 2) / s, axis.step / s)
        for axis, k, s, p, d in zip(before, kernel, stride, padding, dilation)
    )
    return rows, columns


def _pool(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    kernel = _pair(get_argument(args, kwargs, 1, "kernel_size", 1))
    stride = get_argument(args, kwargs, 2, "stride", None)
    stride = kernel if stride is None or stride == [] else _pair(stride)
    return _windows(before, kernel, stride, _pair(get_argument(args, kwargs, 3, "padding", 0)), (1, 1))


def _max_pool(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    dilation = _pair(get_argument(args, kwargs, 4, "dilation", 1))
    kernel = _pair(get_argument(args, kwargs, 1, "kernel_size", 1))
    pooled = _pool(before, size, made, args, kwargs)
    rows, columns = (
        Axis(one.first + axis.step * (d - 1) * (k - 1) / 2, one.step)
        for one, axis, d, k in zip(pooled, before, dilation, kernel)
    )
    return rows, columns


def _pad(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    pad = [*get_argument(args, kwargs, 1, "pad", (0, 0)), 0, 0, 0, 0]
    rows, columns = before
    return Axis(rows.first - rows.step * pad[2], rows.step), Axis(
        columns.first - columns.step * pad[0], columns.step
    )


def _evenly(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells:
    """Enlarged or pooled to a given size: the new cells share the old ones evenly."""
    if kwargs.get("align_corners"):
        rates = [(old - 1) / (new - 1) if new > 1 else 1.0 for old, new in zip(size, made)]
        rows, columns = (Axis(axis.first, axis.step * rate) for axis, rate in zip(before, rates))
        return rows, columns
    rates = [old / new for old, new in zip(size, made)]
    rows, columns = (
        Axis(axis.first + axis.step * (rate - 1) / 2, axis.step * rate) for axis, rate in zip(before, rates)
    )
    return rows, columns


def _sliced(before: Cells, size: Any, made: Any, args: Any, kwargs: Any) -> Cells | None:
    """Every second cell, say, or a border cut off; only slices of rows and columns are followed."""
    index = args[1] if isinstance(args[1], tuple) else (args[1],)
    for at, one in enumerate(index):
        if one is Ellipsis:
            index = (*index[:at], *[slice(None)] * (5 - len(index)), *index[at + 1 :])
            break
    chosen = (*index, *[slice(None)] * (4 - len(index)))[2:]
    if len(chosen) != 2 or not all(isinstance(one, slice) for one in chosen):
        return None
    (top, _, down), (left, _, right) = (one.indices(count) for one, count in zip(chosen, size))
    rows, columns = before
    return Axis(rows.first + rows.step * top, rows.step * down), Axis(
        columns.first + columns.step * left, columns.step * right
    )


RULES: dict[str, Rule] = {
    "getitem": _sliced,
    "conv2d": _convolution,
    "conv_transpose2d": _transposed,
    "max_pool2d": _max_pool,
    "avg_pool2d": _pool,
    "adaptive_avg_pool2d": _evenly,
    "adaptive_max_pool2d": _evenly,
    "interpolate": _evenly,
    "pad": _pad,
}


def _windows(before: Cells, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Cells:
    rows, columns = (
        axis.through(kernel=k, stride=s, padding=p, dilation=d)
        for axis, k, s, p, d in zip(before, kernel, stride, padding, dilation)
    )
    return rows, columns


def _pair(value: Any) -> tuple[int, int]:
    several = list(value) if isinstance(value, (tuple, list)) else [value]
    return (several[0], several[-1])


def _tensors(values: Any) -> list[Any]:
    found = []
    for value in values:
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _tensors(value)
    return found
