"""Classifiers as systems: a picture in, the best labels with their scores out. Most need torch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from instar.adapters.devices import require_torch
from instar.adapters.picture_system import PictureSystem
from instar.core.options import require_fraction, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.classification.onnx import onnx_classifier
from instar.zoo import fetch

ClassifierSystem: TypeAlias = PictureSystem[dict[str, Any]]

BEST = 20
"""So many labels are told: of ImageNet's thousand the others have next to nothing."""


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
    """A system out of what its factory was given; from `confidence` on it counts as sure."""
    require_torch(name)
    from instar.adapters.classifier import limit_threads
    from instar.adapters.own_classifier import load_classifier

    recipe = None if factory is None else partial(factory, **options)
    confidence, threads, batch = (options.pop(key) for key in ("confidence", "threads", "batch"))
    classifier = load_classifier(name, options)
    require_fraction(classifier.name, "confidence", confidence)
    require_whole_number(classifier.name, "threads", threads, least=1)
    if batch is not None:
        require_whole_number(classifier.name, "batch", batch, least=1)
    # On the CPU every picture is looked at by itself, so that an answer does not depend on its neighbours.
    on_cpu = classifier.device == "cpu"
    at_once = batch or (1 if on_cpu else 64)

    def classify(images: Sequence[Image]) -> list[dict[str, Any]]:
        answers = []
        with limit_threads(threads) if on_cpu else contextlib.nullcontext():
            for start in range(0, len(images), at_once):
                for scores in classifier.classify(images[start : start + at_once]):
                    best = np.argsort(-scores, kind="stable")[:BEST]
                    labels = [classifier.labels[i] for i in best.tolist()]
                    answers.append({"labels": labels, "scores": scores[best], "confidence": confidence})
        return answers

    fingerprint = (
        f"{classifier.name} {classifier.fingerprint} confidence={confidence} device={classifier.device} "
        f"batch={at_once} threads={threads}"
    )
    # Two calls at once on a GPU: pictures are made small for one while it works on the other.
    concurrent = 0 if on_cpu else 2
    return PictureSystem(
        classifier.name,
        classify,
        fingerprint=fingerprint,
        recipe=recipe,
        batch=at_once,
        concurrent=concurrent,
    )


@recorded
def mobilenet_v2(
    *,
    classes: str = "imagenet",
    confidence: float = 0.5,
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> ClassifierSystem:
    """MobileNetV2 of ImageNet, by ONNX Runtime; groups of classes, a GPU and batches need torch."""
    if (classes, device, batch) != ("imagenet", "cpu", None):
        return imagenet_classifier(
            "mobilenet-v2",
            classes=classes,
            confidence=confidence,
            device=device,
            threads=threads,
            batch=batch,
        )
    (model,) = fetch("mobilenet-v2")
    return onnx_classifier(model=str(model), confidence=confidence, threads=threads, called="mobilenet-v2")


resnet50 = partial(imagenet_classifier, "resnet50")
resnet50.__doc__ = "ResNet-50 of ImageNet; needs torch."
