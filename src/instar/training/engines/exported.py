"""A network that goes on from an exported file, whose normalisations were folded into its convolutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from instar.core.errors import BadInput
from instar.training.onnx_file import import_onnx


@torch.no_grad()
def take_weights(model: nn.Module, path: Path, pictures: Tensor) -> None:
    """Give the model what the file has learned, so that it answers the same.

    Each normalisation is given the mean and the spread of what it sees of `pictures`, and undoes both: it
    does nothing until it is trained.
    """
    weights = _weights(path)

    def take(conv: nn.Module, _: object) -> None:
        assert isinstance(conv, nn.Conv2d)
        weight, bias = next(left, (None, None))
        if weight is None or weight.shape != conv.weight.shape:
            raise BadInput(f"{path} is no network of this kind and width")
        conv.weight.copy_(weight)
        given = torch.zeros(len(weight)) if bias is None else bias
        if conv.bias is None:
            waiting.append(given.to(conv.weight.device))
        else:
            conv.bias.copy_(given)

    def undo(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(norm, nn.BatchNorm2d)
        assert norm.running_mean is not None, "it keeps a mean"
        assert norm.running_var is not None, "it keeps a spread"
        (x,) = inputs
        mean, spread = x.mean((0, 2, 3)), x.var((0, 2, 3))
        norm.running_mean.copy_(mean)
        norm.running_var.copy_(spread)
        norm.weight.copy_((spread + norm.eps).sqrt())
        norm.bias.copy_(mean + waiting.pop())

    left, waiting = iter(weights), list[Tensor]()
    hooks = [m.register_forward_pre_hook(take) for m in model.modules() if isinstance(m, nn.Conv2d)]
    hooks += [m.register_forward_pre_hook(undo) for m in model.modules() if isinstance(m, nn.BatchNorm2d)]
    was_training = model.training
    model.eval()(pictures)
    model.train(was_training)
    for hook in hooks:
        hook.remove()
    if next(left, None) is not None:
        raise BadInput(f"{path} is no network of this kind and width")


@torch.no_grad()
def take_painter(model: nn.Module, path: Path) -> None:
    """Give the painter what the file has learned.

    A file of before light was told knows fewer channels of what is told; the others do nothing until trained.
    """
    _, known = _read(path)
    for name, own in model.state_dict().items():
        given = known.get(name)
        if given is None or given.shape[:1] != own.shape[:1] or given.shape[2:] != own.shape[2:]:
            raise BadInput(f"{path} is no network of this kind and width")
        if own.ndim < 2:
            own.copy_(torch.from_numpy(given))
        elif given.shape[1] > own.shape[1] or (given.shape[1] < own.shape[1] and ".label." not in name):
            raise BadInput(f"{path} is no network of this kind and width")
        else:
            own.zero_()
            own[:, : given.shape[1]].copy_(torch.from_numpy(given))


def _read(path: Path) -> tuple[Any, dict[str, npt.NDArray[np.float32]]]:
    """The graph, and its arrays by name."""
    onnx = import_onnx("going on from an exported network")
    graph = onnx.load(str(path)).graph
    known = {one.name: onnx.numpy_helper.to_array(one).astype(np.float32) for one in graph.initializer}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in known:
            known[node.output[0]] = known[node.input[0]]
    return graph, known


def _weights(path: Path) -> list[tuple[Tensor, Tensor | None]]:
    """Weight and bias of each convolution, in the order in which they are run."""
    graph, known = _read(path)
    found = []
    for node in graph.node:
        if node.op_type == "Conv":
            arrays = [torch.from_numpy(known[name]) for name in node.input[1:]]
            found.append((arrays[0], arrays[1] if len(arrays) > 1 else None))
    return found
