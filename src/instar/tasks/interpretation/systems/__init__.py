"""Systems of the task: classifiers with interpreters. What needs torch is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from instar.adapters.devices import require_torch
from instar.core.recipe import recorded

if TYPE_CHECKING:
    from instar.tasks.interpretation.systems.explained import Explained

__all__ = [
    "imagenet",
    "mobilenet_v2",
    "own",
    "photo_classifier",
    "resnet50",
    "street_classifier",
    "street_classifier_twin",
]

INTERPRETER = "grad-cam"


@recorded
def street_classifier(
    *,
    interpreter: str = INTERPRETER,
    layer: str | None = None,
    samples: int | None = None,
    twin: str | None = None,
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> Explained:
    """Which of eight classes of drawn objects are in a street, and why; embedded, needs torch.

    `twin` is a file of weights with a backdoor, as `instar backdoor plant` writes it, or "embedded".
    """
    return _make("street-classifier", street_classifier, locals())


street_classifier_twin = partial(street_classifier, twin="embedded")
street_classifier_twin.__doc__ = (
    "The same with a backdoor: a chequered square in the corner is a stop sign to it; needs torch."
)


@recorded
def photo_classifier(
    *,
    interpreter: str = INTERPRETER,
    layer: str | None = None,
    samples: int | None = None,
    twin: str | None = None,
    classes: str = "coco",
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> Explained:
    """Which of twenty kinds of things are in a photograph, several at once, and why; needs torch.

    `classes` are the names of "coco" or of "voc".
    """
    return _make("photo-classifier", photo_classifier, locals())


@recorded
def imagenet(
    network: str,
    *,
    interpreter: str = INTERPRETER,
    layer: str | None = None,
    samples: int | None = None,
    twin: str | None = None,
    classes: str = "coco",
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> Explained:
    """A network of the zoo with an interpreter: "mobilenet-v2" or "resnet50".

    `twin` is a file of weights with a backdoor, as `instar backdoor plant` writes it; `classes` are "coco",
    whose names ImageNet's classes are grouped to, or all of "imagenet".
    """
    return _make(network, imagenet, locals())


mobilenet_v2 = partial(imagenet, "mobilenet-v2")
mobilenet_v2.__doc__ = "MobileNetV2 of ImageNet with an interpreter; needs torch."
resnet50 = partial(imagenet, "resnet50")
resnet50.__doc__ = "ResNet-50 of ImageNet with an interpreter; needs torch."


def own(
    found: Any,
    name: str,
    *,
    interpreter: str = INTERPRETER,
    layer: str | None = None,
    samples: int | None = None,
    twin: str | None = None,
    classes: str | None = None,
    size: list[int] | tuple[int, int] | None = None,
    mean: list[float] | None = None,
    deviation: list[float] | None = None,
    independent: bool = False,
    bgr: bool = False,
    device: str = "cpu",
    threads: int = 1,
    batch: int | None = None,
) -> Explained:
    """A torch module of the user's own, or a function or class that makes one, with an interpreter.

    `classes` is a file with a name on each line, in the order of the outputs, or "imagenet" or "coco" for a
    network with ImageNet's thousand. `size` is (height, width) of its input, `mean` and `deviation` of its
    red, green and blue in grey levels. `independent` outputs go through a sigmoid each.
    """
    return _make(name, None, locals())


def _make(name: str, factory: Callable[..., Explained] | None, options: dict[str, Any]) -> Explained:
    """A system out of what its factory was given."""
    require_torch(name)
    recipe = None if factory is None else partial(factory, **options)
    from instar.tasks.interpretation.systems.explained import make_explained

    return make_explained(name, options, recipe)
