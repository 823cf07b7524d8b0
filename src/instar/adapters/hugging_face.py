"""Object detection and image classification pipelines of Hugging Face's transformers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instar.adapters.picture_system import PictureSystem, hash_state
from instar.core.errors import BadInput
from instar.core.options import require_fraction
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.installation import import_extra

TASKS = {"ForObjectDetection": "object-detection", "ForImageClassification": "image-classification"}
LEAST_SCORE = 0.05
WEIGHTS = ("*.safetensors", "*.bin", "*.json")


def load_pipeline(*, model: str, confidence: float = 0.5, device: str = "cpu") -> PictureSystem[Any]:
    """The model in a folder, or of that name on the hub; what it does is told by its architecture."""
    transformers = import_extra("transformers", "transformers", extra="hf", needed_for=f"hf:{model}")
    try:
        config = transformers.AutoConfig.from_pretrained(model)
        kinds = [
            task for name in config.architectures or () for end, task in TASKS.items() if name.endswith(end)
        ]
        if not kinds:
            raise BadInput(
                f"hf:{model} is {', '.join(config.architectures or ['of no kind'])}; it must be an object "
                "detector or an image classifier"
            )
        pipe = transformers.pipeline(kinds[0], model=model, device=device)
    except (OSError, ValueError, ImportError) as error:
        raise BadInput(f"hf:{model} cannot be loaded: {describe_error(error)}") from error
    return pipeline_system(pipe, f"hf:{model}", confidence=confidence)


def pipeline_system(pipe: Any, name: str, *, confidence: float = 0.5) -> PictureSystem[Any]:
    """A pipeline as a system; what scores at least `confidence` counts."""
    require_fraction(name, "confidence", confidence)
    pictures = import_extra("PIL.Image", "pillow", extra="hf", needed_for=name)
    if pipe.task not in TASKS.values():
        raise BadInput(f"{name} is a pipeline for {pipe.task}; known are {' and '.join(TASKS.values())}")
    finds_objects = pipe.task == "object-detection"
    options = {"threshold": LEAST_SCORE} if finds_objects else {"top_k": 20}

    def answer(images: Sequence[Image]) -> list[Any]:
        # One by one: padding to a common size would let an answer depend on its neighbours.
        found = [pipe(pictures.fromarray(image), **options) for image in images]
        return [_with(confidence, one, finds_objects=finds_objects) for one in found]

    version = import_extra("transformers", "transformers", extra="hf", needed_for=name).__version__
    return PictureSystem(
        name,
        answer,
        fingerprint=f"{name} weights={_weights_of(pipe)} confidence={confidence:g} transformers={version}",
        recipe=None,
        concurrent=False,
    )


def _with(confidence: float, found: list[dict[str, Any]], *, finds_objects: bool) -> dict[str, Any]:
    if finds_objects:
        return {"objects": found, "confidence": confidence}
    labels, scores = [one["label"] for one in found], [one["score"] for one in found]
    return {"labels": labels, "scores": scores, "confidence": confidence}


def _weights_of(pipe: Any) -> str:
    """What was loaded: the hub's revision, or the content of a folder; else of the parameters themselves."""
    revision = getattr(pipe.model.config, "_commit_hash", None)
    if revision:
        return str(revision)
    folder = Path(str(getattr(pipe.model.config, "_name_or_path", "") or "/nowhere"))
    files = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern))
    if not files:
        return hash_state(pipe.model, as_floats=True)
    total = hashlib.sha256()
    for path in files:
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]
