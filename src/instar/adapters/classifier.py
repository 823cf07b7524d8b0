"""A torch classifier with what must be known of it: its classes, its input, how its outputs are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch

from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN
from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Image


@dataclass(frozen=True, eq=False, kw_only=True)
class Classifier:
    """`module` maps `float32 (n, 3, height, width)` to logits `(n, outputs)`.

    A label is one output or several: the confidence of "dog" is the sum over breeds. With `independent`
    outputs (sigmoid) several labels of a picture can be sure at once; otherwise they share one softmax.
    `mean` and `deviation` are of the red, green and blue of its input, `bgr` says that it wants them the
    other way round.
    """

    name: str
    module: Any
    labels: tuple[str, ...]
    outputs: tuple[tuple[int, ...], ...]
    size: tuple[int, int]
    fingerprint: str
    mean: tuple[float, float, float] = IMAGENET_MEAN
    deviation: tuple[float, float, float] = IMAGENET_DEVIATION
    bgr: bool = False
    independent: bool = False
    device: str = "cpu"
    _index: dict[str, int] = field(init=False, repr=False)
    _scale: tuple[Any, Any] = field(init=False, repr=False)
    _single: tuple[Any, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(set(self.labels)) != len(self.labels) or len(self.labels) != len(self.outputs):
            raise BadInput(f"{self.name}: its {len(self.labels)} labels are not one for each of its outputs")
        object.__setattr__(self, "_index", {label: i for i, label in enumerate(self.labels)})
        # Copied to a GPU once: each copy would wait for what it is doing.
        scale = (torch.tensor(one, device=self.device) for one in (self.mean, self.deviation))
        object.__setattr__(self, "_scale", tuple(scale))
        single = [(i, own[0]) for i, own in enumerate(self.outputs) if len(own) == 1]
        places = torch.tensor(single, dtype=torch.long, device=self.device).reshape(-1, 2)
        object.__setattr__(self, "_single", tuple(places.T.contiguous()))

    def index(self, label: str) -> int:
        """The place of a label; a class that the model does not have is an error."""
        if label not in self._index:
            raise UnknownName(f"class of {self.name}", label, self.labels)
        return self._index[label]

    def preprocess(self, images: Sequence[Image]) -> Any:
        """`float32 (n, 3, height, width)`: the whole pictures, resized and normalised, never cropped.

        Never cropped, so that a heat map covers the picture and a trigger in its corner is seen.
        """
        height, width = self.size
        batch = np.empty((len(images), height, width, 3), np.uint8)
        for image in images:
            if 2 * image.shape[0] < height or 2 * image.shape[1] < width:
                raise BadInput(
                    f"a picture of {image.shape[1]}x{image.shape[0]} is smaller than half the input of "
                    f"{self.name}, {width}x{height}; give larger ones"
                )

        def resize(image: Image, place: Image) -> None:
            smaller = image.shape[0] < height or image.shape[1] < width
            how = cv2.INTER_LINEAR if smaller else cv2.INTER_AREA
            cv2.resize(image, (width, height), dst=place, interpolation=how)

        if len(images) == 1:
            resize(images[0], batch[0])
        else:  # for a GPU, which explains many in the time that one thread makes them small
            list(_resizers().map(resize, images, batch))
        # As bytes they are a quarter of the way to a GPU, and it has the numbers sooner than a processor.
        mean, deviation = self._scale
        values = (self._there(torch.from_numpy(batch)) - mean) / deviation
        return (values.flip(3) if self.bgr else values).permute(0, 3, 1, 2).contiguous()

    def confidences(self, logits: Any) -> Any:
        """`float (n, labels)`, from 0 to 1."""
        each = torch.sigmoid(logits) if self.independent else torch.softmax(logits, 1)
        found = each.new_empty((len(each), len(self.outputs)))
        labels, outputs = (one.to(each.device) for one in self._single)
        found[:, labels] = each[:, outputs]
        for i, own in enumerate(self.outputs):
            if len(own) > 1:
                found[:, i] = each[:, list(own)].amax(1) if self.independent else each[:, list(own)].sum(1)
        return found if self.independent else found.clamp(0, 1)  # a sum of many can be a hair above 1

    def confidence(self, logits: Any, label: int) -> Any:
        """`float (n,)`: of one label alone."""
        own = list(self.outputs[label])
        if self.independent:
            return torch.sigmoid(logits[:, own]).amax(1)
        return torch.softmax(logits, 1)[:, own].sum(1).clamp(0, 1)

    def score(self, logits: Any, labels: Sequence[int]) -> Any:
        """`float (n,)`: what gradients are taken of: the logit, or the log-sum-exp of a label's several
        outputs, which is the logarithm of their common confidence up to a term that all labels share.
        """
        own = [self.outputs[label] for label in labels]
        most = max(map(len, own))
        # Rows of equal length for one look-up: a repeated output is left out of its sum.
        chosen = torch.tensor([(*outputs, *outputs[:1] * (most - len(outputs))) for outputs in own])
        left_out = torch.arange(most) >= torch.tensor([[len(outputs)] for outputs in own])
        found = logits.gather(1, self._there(chosen))
        return torch.logsumexp(found.masked_fill(self._there(left_out), -torch.inf), 1)

    def _there(self, tensor: Any) -> Any:
        """The tensor on the device, copied without waiting for the GPU."""
        pinned = tensor.pin_memory() if self.device.startswith("cuda") else tensor
        return pinned.to(self.device, non_blocking=True)

    def classify(self, images: Sequence[Image]) -> npt.NDArray[np.float32]:
        """`float32 (n, labels)`: the confidence of every label, by one bare forward pass."""
        with eval_mode(self.module), torch.no_grad():
            found = self.confidences(self.module(self.preprocess(images)))
        return np.asarray(found.cpu().numpy(), np.float32)


@cache
def _resizers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_name_prefix="instar-resize")


@contextmanager
def eval_mode(module: Any) -> Iterator[None]:
    """The module in evaluation mode, and each part of it in its own mode again afterwards."""
    training = [part for part in module.modules() if part.training]
    if training:  # else there is nothing to do, which is usual
        module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextmanager
def limit_threads(number: int) -> Iterator[None]:
    """Let torch use so many threads for what the calling thread computes; other threads are not affected."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
