"""Models of torchvision: detectors and classifiers, by name or as the user has made them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from instar.adapters.devices import require_device
from instar.adapters.picture_system import PictureSystem, hash_state, one_by_one
from instar.core.errors import BadInput, UnknownName
from instar.core.options import require_fraction
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.installation import MissingExtra, import_extra

MOST_LABELS = 20


def load_model(
    *, model: str, weights: str = "DEFAULT", confidence: float = 0.5, device: str = "cpu"
) -> PictureSystem[Any]:
    """A model of torchvision with the named weights, which it fetches; with "none" it is untrained."""
    models = _torchvision(f"torchvision:{model}").models
    if model not in models.list_models():
        raise UnknownName("torchvision model", model, models.list_models())
    chosen, names = None, None
    if weights.lower() != "none":
        known = models.get_model_weights(model)
        if weights not in known.__members__:
            raise UnknownName(f"weights of {model}", weights, [*known.__members__, "none"])
        chosen = known[weights]
        names = list(chosen.meta["categories"])
    try:
        # A detector without weights would fetch those of its backbone.
        is_bare = chosen is None and model in models.list_models(module=models.detection)
        bare = {"weights_backbone": None} if is_bare else {}
        module = models.get_model(model, weights=chosen, **bare)
    except (OSError, RuntimeError) as error:
        raise BadInput(f"torchvision:{model} cannot be loaded: {describe_error(error)}") from error
    name = f"torchvision:{model}"
    if any("torchvision.models.detection" in kind.__module__ for kind in type(module).__mro__):
        return module_system(module, name, labels=names, confidence=confidence, device=device)
    if chosen is None:
        raise BadInput(f"{name} has no weights, so its classes have no names; leave weights out")
    return _classifier(module, name, chosen.transforms(), names, confidence, device)


def module_system(
    module: Any,
    name: str,
    *,
    labels: Sequence[str] | None = None,
    confidence: float = 0.5,
    device: str = "cpu",
) -> PictureSystem[Any]:
    """A detector of torchvision's kind: a list of pictures in, a dictionary for each out.

    `labels` are the names of its numbers, the background first.
    """
    require_fraction(name, "confidence", confidence)
    torch = import_extra("torch", "torch", extra="torch", needed_for=name)
    device = require_device(device, name)
    module = module.to(device).eval()

    def find(image: Image) -> dict[str, Any]:
        tensor = torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))).to(device)
        with torch.no_grad():
            (found,) = module([tensor.float() / 255])
        keep = (found["boxes"][:, 2:] > found["boxes"][:, :2]).all(dim=1)  # some are clipped to nothing
        parts = {key: found[key][keep] for key in ("boxes", "labels", "scores")}
        return {**parts, "confidence": confidence, **({} if labels is None else {"names": list(labels)})}

    fingerprint = f"{name} weights={hash_state(module)} confidence={confidence:g} labels={labels}"
    return PictureSystem(name, one_by_one(find), fingerprint=fingerprint, recipe=None, concurrent=False)


def _classifier(
    module: Any, name: str, prepare: Any, names: Any, confidence: float, device: str
) -> PictureSystem[Any]:
    require_fraction(name, "confidence", confidence)
    torch = import_extra("torch", "torch", extra="torch", needed_for=name)
    module = module.to(require_device(device, name)).eval()

    def classify(image: Image) -> dict[str, Any]:
        tensor = prepare(torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))))
        with torch.no_grad():
            scores = module(tensor[None].to(device)).softmax(dim=1)[0].cpu().numpy()
        best = np.argsort(-scores, kind="stable")[:MOST_LABELS]
        return {"labels": [names[i] for i in best], "scores": scores[best], "confidence": confidence}

    fingerprint = f"{name} weights={hash_state(module)} confidence={confidence:g}"
    return PictureSystem(name, one_by_one(classify), fingerprint=fingerprint, recipe=None, concurrent=False)


def _torchvision(needed_for: str) -> Any:
    try:
        return import_extra("torchvision", "torchvision", extra="torchvision", needed_for=needed_for)
    except MissingExtra:
        raise
    except Exception as broken:  # a torchvision for another torch raises what it likes
        raise BadInput(f"torchvision does not fit the installed torch: {describe_error(broken)}") from broken
