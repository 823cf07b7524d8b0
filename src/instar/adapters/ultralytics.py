"""Models of ultralytics, from the user's own installation: its licence (AGPL) keeps it out of ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from instar.adapters.picture_system import PictureSystem, hash_files
from instar.core.errors import BadInput, InstarError
from instar.core.options import require_fraction
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.user_file import find_file

LEAST_SCORE = 0.05


def load_yolo(*, model: str, confidence: float = 0.25, device: str = "cpu") -> PictureSystem[Any]:
    """The weights in a file of ultralytics; 0.25 is the confidence that it uses itself."""
    path = find_file(model, "model")
    try:
        from ultralytics import YOLO  # type: ignore[import-not-found]  # the user's own
    except ImportError:
        raise InstarError(
            f"{model} is a model of ultralytics, which is not installed; run: pip install ultralytics (its "
            "licence is AGPL-3.0), or export the model to ONNX and give that file"
        ) from None
    try:
        loaded = YOLO(str(path))
    except Exception as error:  # whatever unpickling raises
        raise BadInput(f"{model} cannot be loaded by ultralytics: {describe_error(error)}") from error
    return _system(loaded, path.stem, f"weights={hash_files(path)}", confidence, device)


def yolo_system(found: Any, name: str, *, confidence: float = 0.25) -> PictureSystem[Any]:
    """A model that the user has loaded."""
    return _system(found, name, str(getattr(found, "ckpt_path", "")), confidence, None)


def _system(found: Any, name: str, weights: str, confidence: float, device: str | None) -> PictureSystem[Any]:
    require_fraction(name, "confidence", confidence)
    options = {"conf": LEAST_SCORE, "verbose": False} | ({} if device is None else {"device": device})

    def answer(images: Sequence[Image]) -> list[dict[str, Any]]:
        answers = []
        for image in images:
            bgr = np.ascontiguousarray(image[..., ::-1])  # it takes arrays to be OpenCV's
            (result,) = found.predict(bgr, **options)
            answers.append(_answer(result, confidence))
        return answers

    return PictureSystem(
        name, answer, fingerprint=f"{name} {weights} confidence={confidence:g}", recipe=None, concurrent=False
    )


def _answer(result: Any, confidence: float) -> dict[str, Any]:
    names = {str(number): name for number, name in result.names.items()}
    if result.boxes is None:
        return {"labels": list(names.values()), "scores": result.probs.data, "confidence": confidence}
    boxes = result.boxes
    return {
        "boxes": boxes.xyxy, "labels": boxes.cls, "scores": boxes.conf,
        "names": names, "confidence": confidence,
    }  # fmt: skip
