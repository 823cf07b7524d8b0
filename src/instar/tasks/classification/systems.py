"""Classifiers as systems: a picture in, the best labels with their scores out. All need torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from instar.adapters.devices import require_torch
from instar.core.options import require_fraction, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image

if TYPE_CHECKING:
    from instar.adapters.classifier import Classifier

__all__ = ["ClassifierSystem", "imagenet_classifier", "mobilenet_v2", "own", "resnet50", "street_classifier"]

BEST = 20
"""So many labels are told: of ImageNet's thousand the others have next to nothing."""


class ClassifierSystem:
    """Answers with the best labels of a picture; from `confidence` on it counts as sure.

    On the CPU every picture is looked at by itself, so that an answer does not depend on its neighbours.
    """

    def __init__(
        self,
        classifier: Classifier,
        *,
        confidence: float = 0.5,
        threads: int = 1,
        batch: int | None = None,
        recipe: Callable[[], ClassifierSystem] | None = None,
    ) -> None:
        require_fraction(classifier.name, "confidence", confidence)
        require_whole_number(classifier.name, "threads", threads, least=1)
        if batch is not None:
            require_whole_number(classifier.name, "batch", batch, least=1)
        self.classifier, self.name = classifier, classifier.name
        self.batch = batch or (1 if classifier.device == "cpu" else 64)
        self._confidence, self._threads, self._recipe = confidence, threads, recipe
        self.fingerprint = (
            f"{classifier.name} {classifier.fingerprint} confidence={confidence} device={classifier.device} "
            f"batch={self.batch} threads={threads}"
        )

    def __reduce__(self) -> tuple[Callable[[], ClassifierSystem], tuple[()]]:
        # A worker process makes its own rather than have a network sent through a pipe.
        if self._recipe is None:
            raise TypeError(f"{self.name} was made in this process and cannot go to another one")
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[dict[str, Any]]:
        from instar.adapters.classifier import limit_threads

        with limit_threads(self._threads):
            return [
                self._answer(scores)
                for start in range(0, len(images), self.batch)
                for scores in self.classifier.classify(images[start : start + self.batch])
            ]

    def _answer(self, scores: Any) -> dict[str, Any]:
        best = np.argsort(-scores, kind="stable")[:BEST]
        labels = [self.classifier.labels[i] for i in best.tolist()]
        return {"labels": labels, "scores": scores[best], "confidence": self._confidence}


@recorded
def imagenet_classifier(
    network: str,
    *,
    classes: str = "imagenet",
    confidence: float = 0.5,
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> ClassifierSystem:
    """A network of the zoo, "mobilenet-v2" or "resnet50"; `classes` are ImageNet's, or "coco" for groups."""
    return _make(network, imagenet_classifier, locals())


@recorded
def street_classifier(
    *, confidence: float = 0.5, device: str = "cpu", threads: int = 1, batch: int | None = None
) -> ClassifierSystem:
    """Which of eight classes of drawn objects are in a street; embedded, needs torch."""
    return _make("street-classifier", street_classifier, locals())


def own(
    found: Any,
    name: str,
    *,
    classes: str | None = None,
    size: list[int] | tuple[int, int] | None = None,
    mean: list[float] | None = None,
    deviation: list[float] | None = None,
    independent: bool = False,
    bgr: bool = False,
    confidence: float = 0.5,
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> ClassifierSystem:
    """A torch module of the user's own, or a function or class that makes one (see `own_classifier`)."""
    return _make(name, None, locals())


def _make(
    name: str, factory: Callable[..., ClassifierSystem] | None, options: dict[str, Any]
) -> ClassifierSystem:
    """A system out of what its factory was given."""
    require_torch(name)
    from instar.adapters.own_classifier import load_classifier

    recipe = None if factory is None else partial(factory, **options)
    asked = {key: options.pop(key) for key in ("confidence", "threads", "batch")}
    return ClassifierSystem(load_classifier(name, options), recipe=recipe, **asked)


mobilenet_v2 = partial(imagenet_classifier, "mobilenet-v2")
mobilenet_v2.__doc__ = "MobileNetV2 of ImageNet; needs torch."
resnet50 = partial(imagenet_classifier, "resnet50")
resnet50.__doc__ = "ResNet-50 of ImageNet; needs torch."
