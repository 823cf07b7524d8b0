"""A classifier in a file of ONNX, OpenVINO or torch: a picture in, a number for each class out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.imagenet import IMAGENET_DEVIATION, IMAGENET_MEAN, imagenet_names
from instar.adapters.labels import exported_names, read_labels
from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.adapters.sessions import TYPES, open_network, require_one_picture
from instar.core.errors import BadInput
from instar.core.options import require_fraction, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.core.system import describe_error

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
    network: str | None = None,
) -> PictureSystem[dict[str, Any]]:
    """Your own classifier: a file and the names of its classes, in a list or a text file.

    The file is of ONNX or OpenVINO, or of torch: TorchScript, or the state of the `network` (`module:attr`).
    The whole picture is resized to `size` (height and width, by default what the file says, else 224), less
    `mean` and over `std` in grey levels, which are ImageNet's. Answers that are no probabilities go through a
    softmax.
    """
    recipe = partial(onnx_classifier, **locals())
    require_fraction("onnx-classifier", "confidence", confidence)
    require_whole_number("onnx-classifier", "threads", threads, least=1)
    opened = _open(Path(model), labels, size, network, threads)
    grey = np.full((*opened.size, 3), 114, np.float32)
    are_shares = all(_are_shares(opened.ask(one)) for one in (0 * grey, (grey - mean) / std))

    def classify(image: Image) -> dict[str, Any]:
        small = cv2.resize(image, opened.size[::-1], interpolation=cv2.INTER_AREA)
        scores = opened.ask((small.astype(np.float32) - mean) / std)
        if not are_shares:
            raised = np.exp(scores - scores.max())
            scores = raised / raised.sum()
        best = np.argsort(-scores, kind="stable")[:BEST]
        return {"labels": [opened.names[i] for i in best], "scores": scores[best], "confidence": confidence}

    fingerprint = (
        f"onnx-classifier weights={hash_files(Path(model))} size={opened.size} mean={list(mean)} "
        f"std={list(std)} labels={labels} confidence={confidence:g} threads={threads}"
    )
    name = called or Path(model).stem
    return PictureSystem(name, one_by_one(classify), fingerprint=fingerprint, recipe=recipe)


def describe_file(model: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that the file tells; BadInput where it is no classifier."""
    opened = _open(Path(model), given.get("labels"), given.get("size"), None, 1)
    as_it_is = {"mean": [0, 0, 0], "std": [1, 1, 1]} if issubclass(opened.kind, np.integer) else {}
    return {"size": list(opened.size), **as_it_is}


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """A network that is shown one picture; the output at `place` has a number for each class."""

    where: Path
    session: Any
    port: Any
    size: tuple[int, int]
    place: int = 0
    names: Sequence[str] = ()

    @property
    def kind(self) -> type[np.generic]:
        return TYPES.get(self.port.type, np.float32)

    @property
    def channels_last(self) -> bool:
        return bool(self.port.shape[-1] == 3)

    def ask(self, shown: npt.NDArray[Any]) -> Scores:
        """The numbers of one picture `float (H, W, 3)`."""
        return np.asarray(self.run(shown)[self.place][0], np.float32)

    def run(self, shown: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        shaped = shown if self.channels_last else shown.transpose(2, 0, 1)
        try:
            outputs = self.session.run(None, {self.port.name: np.ascontiguousarray(shaped[None], self.kind)})
        except Exception as error:
            raise BadInput(f"{self.where} takes no picture: {describe_error(error)[:200]}") from None
        # Some keep the sides that pooling has left, one each.
        return [one.reshape(one.shape[:2]) if one.shape[2:] == (1, 1) else one for one in outputs]


def _open(model: Path, labels: Any, size: Any, network: str | None, threads: int) -> _Network:
    session, _ = open_network(model, network=network, threads=threads)
    port, *further = session.get_inputs()
    if further or len(port.shape) != 4:
        listed = ", ".join(f"{one.name} {list(one.shape)}" for one in (port, *further))
        raise BadInput(f"{model} takes {listed}; a classifier takes one picture")
    bare = _Network(model, session, port, (0, 0))
    require_one_picture(model, port, "nhwc" if bare.channels_last else "nchw")
    told = list(port.shape)[1:3] if bare.channels_last else list(port.shape)[2:]
    sides = [size, size] if isinstance(size, int) else size or told
    height, width = (side if isinstance(side, int) and side > 0 else USUAL_SIDE for side in sides)
    outputs = bare.run(np.zeros((height, width, 3), np.float32))
    metadata = session.get_modelmeta().custom_metadata_map if model.suffix == ".onnx" else {}
    names = read_labels(labels) or exported_names(metadata) or None
    rows = [n for n, one in enumerate(outputs) if one.ndim == 2 and len(one) == 1 and one.shape[1] > 1]
    fitting = [n for n in rows if names is None or outputs[n].shape[1] == len(names)]
    if len(rows) == 1 and not fitting:
        raise BadInput(
            f"{model} has {outputs[rows[0]].shape[1]} classes, and labels names {len(names or ())}"
        )
    if len(fitting) != 1:
        seen = ", ".join(str(list(one.shape)) for one in outputs)
        hint = "; give --set system.labels=FILE, whose length says which" if rows else ""
        raise BadInput(f"{model} answers with {seen}; a classifier answers with [1, classes]{hint}")
    many = outputs[fitting[0]].shape[1]
    if names is None:
        known = imagenet_names()
        names = known if many == len(known) else [f"class {i}" for i in range(many)]
    return _Network(model, session, port, (height, width), fitting[0], names)


def _are_shares(scores: Scores) -> bool:
    return bool((scores >= 0).all() and abs(float(scores.sum()) - 1) < 1e-3)
