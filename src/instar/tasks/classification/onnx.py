"""A classifier in a file of ONNX: a picture in, a number for each class out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN, imagenet_names
from instar.adapters.labels import read_labels
from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.core.errors import BadInput
from instar.core.options import require_fraction, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.core.system import describe_error
from instar.imaging.onnx_session import open_onnx

__all__ = ["describe_file", "onnx_classifier"]

BEST = 20
"""So many labels are told, as other classifiers do."""
USUAL_SIDE = 224
Scores = npt.NDArray[np.float32]


@recorded
def onnx_classifier(
    *,
    model: str,
    labels: str | Sequence[str] | None = None,
    size: int | Sequence[int] | None = None,
    mean: Sequence[float] = IMAGENET_MEAN,
    std: Sequence[float] = IMAGENET_DEVIATION,
    confidence: float = 0.5,
    threads: int = 1,
    called: str | None = None,
) -> PictureSystem[dict[str, Any]]:
    """Your own classifier: a file and the names of its classes, in a list or a text file.

    The whole picture is resized to `size` (height and width, by default what the file says, else 224), less
    `mean` and over `std` in grey levels, which are ImageNet's. Answers that are no probabilities go through a
    softmax.
    """
    recipe = partial(onnx_classifier, **locals())
    require_fraction("onnx-classifier", "confidence", confidence)
    require_whole_number("onnx-classifier", "threads", threads, least=1)
    session = _open(model, threads)
    shown_at = _size(session, size)
    numbers = _ask(session, np.zeros((*shown_at, 3), np.float32), model)
    names = _names(labels, len(numbers), model)
    grey = np.full((*shown_at, 3), 114, np.float32)
    are_shares = all(_are_shares(_ask(session, one, model)) for one in (0 * grey, (grey - mean) / std))

    def classify(image: Image) -> dict[str, Any]:
        small = cv2.resize(image, shown_at[::-1], interpolation=cv2.INTER_AREA)
        scores = _ask(session, (small.astype(np.float32) - mean) / std, model)
        if not are_shares:
            raised = np.exp(scores - scores.max())
            scores = raised / raised.sum()
        best = np.argsort(-scores, kind="stable")[:BEST]
        return {"labels": [names[i] for i in best], "scores": scores[best], "confidence": confidence}

    fingerprint = (
        f"onnx-classifier weights={hash_files(Path(model))} size={shown_at} mean={list(mean)} "
        f"std={list(std)} labels={labels} confidence={confidence:g} threads={threads}"
    )
    name = called or Path(model).stem
    return PictureSystem(name, one_by_one(classify), fingerprint=fingerprint, recipe=recipe)


def describe_file(model: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the file tells; BadInput where it is no classifier."""
    session = _open(model, 1)
    size = _size(session, given.get("size"))
    _names(given.get("labels"), len(_ask(session, np.zeros((*size, 3), np.float32), model)), model)
    return {"size": list(size)}


def _open(model: str, threads: int) -> Any:
    try:
        return open_onnx(model, threads)
    except Exception as error:  # whatever onnxruntime raises at what is no network
        raise BadInput(f"{model} is no network that can be run: {describe_error(error)[:300]}") from None


def _size(session: Any, given: int | Sequence[int] | None) -> tuple[int, int]:
    if isinstance(given, int):
        return given, given
    sides = given or list(session.get_inputs()[0].shape)[-2:]
    known = [side if isinstance(side, int) and side > 0 else USUAL_SIDE for side in sides]
    return known[0], known[-1]


def _ask(session: Any, shown: npt.NDArray[Any], model: str) -> Scores:
    """The numbers of one picture `float32 (H, W, 3)`."""
    (port,), batch = session.get_inputs()[:1], shown.transpose(2, 0, 1)[None].astype(np.float32)
    try:
        outputs = session.run(None, {port.name: batch})
    except Exception as error:
        raise BadInput(f"{model} takes no picture: {describe_error(error)[:200]}") from None
    seen = ", ".join(str(list(one.shape)) for one in outputs)
    if len(outputs) != 1 or outputs[0].ndim != 2 or len(outputs[0]) != 1 or outputs[0].shape[1] < 2:
        raise BadInput(f"{model} answers with {seen}; a classifier answers with [1, classes]")
    return np.asarray(outputs[0][0], np.float32)


def _names(labels: Any, many: int, model: str) -> Sequence[str]:
    if labels is None and many == len(imagenet_names()):
        return imagenet_names()
    names: Sequence[str] | None = read_labels(labels)
    if names is None:
        return [f"class {i}" for i in range(many)]
    if len(names) != many:
        raise BadInput(f"{model} has {many} classes, and labels names {len(names)}")
    return names


def _are_shares(scores: Scores) -> bool:
    return bool((scores >= 0).all() and abs(float(scores.sum()) - 1) < 1e-3)
