"""Classifiers by name, and a user's own torch module as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.adapters.devices import require_device
from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN, outputs_of
from instar.adapters.photo_classifier import load_photo_classifier
from instar.adapters.picture_system import hash_state
from instar.adapters.street_classifier import load_street_classifier
from instar.adapters.zoo_classifiers import zoo_classifier
from instar.core.errors import BadInput
from instar.core.system import describe_error
from instar.user_file import read_text


def load_classifier(name: str, options: dict[str, Any]) -> Classifier:
    """One that comes along, one of the zoo where a `network` is named, or a user's own."""
    if name == "street-classifier":
        return load_street_classifier(**options)
    if name == "photo-classifier":
        return load_photo_classifier(**options)
    return zoo_classifier(**options) if "network" in options else own_classifier(**options)


def own_classifier(
    found: Any,
    name: str,
    *,
    classes: str | None,
    size: Any,
    mean: Any,
    deviation: Any,
    independent: bool,
    bgr: bool,
    device: str,
) -> Classifier:
    """What `module:name` is: a `Classifier`, a module, or a function or class that makes either."""
    if not isinstance(found, (torch.nn.Module, Classifier)) and callable(found):
        try:
            found = found()
        except Exception as error:
            raise BadInput(f"classifier {name!r} cannot be made: {describe_error(error)}") from error
    if isinstance(found, Classifier):
        return found
    if not isinstance(found, torch.nn.Module):
        raise BadInput(f"classifier {name!r} is a {type(found).__name__}; it must be a torch module")
    device = require_device(device, name)
    sides = _three(name, "size", size if size is not None else (224, 224), count=2)
    module = found.to(device)
    outputs = _outputs(name, module, (int(sides[0]), int(sides[1])), device)
    labels = _labels(name, classes, outputs)
    return Classifier(
        name=name,
        module=module,
        labels=tuple(labels),
        outputs=tuple(labels.values()),
        size=(int(sides[0]), int(sides[1])),
        fingerprint=f"weights={hash_state(module)} size={sides} mean={mean} deviation={deviation} bgr={bgr}",
        mean=_three(name, "mean", mean or IMAGENET_MEAN),
        deviation=_three(name, "deviation", deviation or IMAGENET_DEVIATION),
        independent=independent,
        bgr=bgr,
        device=device,
    )


def _outputs(name: str, module: Any, size: tuple[int, int], device: str) -> int:
    """How many numbers it answers with."""
    try:
        with eval_mode(module), torch.no_grad():
            noise = torch.randn((2, 3, *size), generator=torch.Generator().manual_seed(0))
            found, loud = module(noise.to(device)), module(100 * noise.to(device))
    except Exception as error:
        raise BadInput(
            f"classifier {name!r} does not take pictures of {size[1]}x{size[0]}: {describe_error(error)}; "
            "give its input with --set system.size=[height,width]"
        ) from error
    if not isinstance(found, torch.Tensor) or found.ndim != 2:
        shape = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
        raise BadInput(f"classifier {name!r} answers with {shape}; it must be (pictures, classes)")
    if found.shape[1] > 1 and bool((found >= 0).all()) and bool(((found.sum(1) - 1).abs() < 1e-3).all()):
        raise BadInput(
            f"classifier {name!r} ends in a softmax: its outputs add up to 1. Give the network "
            "without its last layer, so that it answers with logits"
        )
    if all(bool(((one >= 0) & (one <= 1)).all()) for one in (found, loud)):
        raise BadInput(
            f"classifier {name!r} ends in a sigmoid: its outputs stay between 0 and 1. Give the network "
            "without its last layer, and --set system.independent=true"
        )
    return int(found.shape[1])


def _labels(name: str, classes: str | None, outputs: int) -> dict[str, tuple[int, ...]]:
    if classes in ("imagenet", "coco"):
        if outputs != 1000:
            raise BadInput(f"classifier {name!r} has {outputs} classes, and {classes} is for ImageNet's 1000")
        return outputs_of(classes)
    if classes is None:
        return {f"class {i}": (i,) for i in range(outputs)}
    lines = read_text(Path(classes), "classes").splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if len(names) != outputs:
        raise BadInput(f"{classes} has {len(names)} names, and {name!r} has {outputs} classes")
    grouped: dict[str, tuple[int, ...]] = {}
    for i, one in enumerate(names):  # several lines of one name are one class
        grouped[one] = (*grouped.get(one, ()), i)
    return grouped


def _three(name: str, what: str, values: Any, *, count: int = 3) -> Any:
    if not (isinstance(values, (list, tuple)) and len(values) == count and min(values) >= 0):
        raise BadInput(f"classifier {name!r}: {what} is {values!r}; give {count} numbers")
    return tuple(float(value) for value in values)
