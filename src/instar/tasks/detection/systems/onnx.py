"""A detector in an ONNX file, by declaration: what it wants to see and what its answers mean."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one, open_onnx
from instar.core.errors import BadInput, UnknownName
from instar.core.options import require_fraction, require_one_of, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.decode import FITS, SAME_OBJECT, Fit, Floats, fit_picture, to_detections
from instar.tasks.detection.systems.heads import HEADS, Head
from instar.user_file import read_text
from instar.zoo import fetch

__all__ = ["onnx_detector", "yolox"]

COLOURS = ("rgb", "bgr")
LAYOUTS = ("nchw", "nhwc")
DECODER = 1
"""Counts up whenever the code below, or a head, gives other answers for the same network output."""
YOLOX_SIZES = ("nano",)


@recorded
def onnx_detector(
    *,
    model: str,
    head: str,
    labels: str | Sequence[str] = "coco",
    size: int | Sequence[int] | None = None,
    colour: str = "rgb",
    divide: float = 255.0,
    mean: float | Sequence[float] = 0.0,
    std: float | Sequence[float] = 1.0,
    layout: str = "nchw",
    fit: Fit = "letterbox",
    padding: int = 114,
    same_object: float = SAME_OBJECT,
    confidence: float = 0.5,
    threads: int = 1,
    called: str | None = None,
) -> PictureSystem[Detections]:
    """Your own ONNX detector: a file, its head (yolox, yolov5, yolov8, ssd, tensorflow) and its labels.

    The picture is fitted into `size` (height and width, by default what the file says): in the middle of a
    square ("letterbox"), in its top left ("corner") or stretched to it ("stretch"), the rest `padding`. Then
    colours in the order `colour` are divided by `divide`, less `mean`, over `std`. `labels` are "coco", a
    list, or a text file with one on each line. Of boxes of a class that overlap by more than `same_object`
    the strongest stays.
    """
    recipe = partial(onnx_detector, **locals())
    require_one_of("onnx", "head", head, HEADS)
    require_one_of("onnx", "colour", colour, COLOURS)
    require_one_of("onnx", "layout", layout, LAYOUTS)
    require_one_of("onnx", "fit", fit, FITS)
    return _open(
        Path(model),
        called or Path(model).stem,
        head=HEADS[head],
        names=_names(labels),
        size=size,
        to_input=partial(_to_input, colour=colour, divide=divide, mean=mean, std=std, layout=layout),
        fit=partial(fit_picture, fit=fit, padding=padding),
        layout=layout,
        same_object=same_object,
        confidence=confidence,
        threads=threads,
        settings=f"head={head} colour={colour} divide={divide:g} mean={mean} std={std} layout={layout} "
        f"fit={fit} padding={padding} same_object={same_object:g}",
        recipe=recipe,
    )


@recorded
def yolox(size: str = "nano", *, confidence: float = 0.3, threads: int = 1) -> PictureSystem[Detections]:
    """YOLOX, 80 COCO classes, 416x416; its weights are fetched if need be.

    `confidence` is the score from which on an object counts as found; every box of at least 0.05 is
    reported. One thread makes answers repeatable to the bit and lets a campaign run several at once.
    """
    if size not in YOLOX_SIZES:
        raise UnknownName("YOLOX size", size, YOLOX_SIZES)
    (weights,) = fetch(f"yolox-{size}")
    return _open(
        weights,
        f"yolox-{size}",
        head=HEADS["yolox"],
        names=COCO_NAMES,
        to_input=_to_bgr,
        fit=partial(fit_picture, fit="corner", padding=114),
        confidence=confidence,
        threads=threads,
        recipe=partial(yolox, size, confidence=confidence, threads=threads),
    )


def _open(
    model: Path,
    name: str,
    *,
    head: Head,
    names: Sequence[str],
    to_input: Callable[[Image], Floats],
    fit: Callable[[Image, tuple[int, int]], tuple[Image, Floats, Floats]],
    confidence: float,
    threads: int,
    recipe: Callable[[], PictureSystem[Detections]],
    size: int | Sequence[int] | None = None,
    layout: str = "nchw",
    same_object: float = SAME_OBJECT,
    settings: str = "",
) -> PictureSystem[Detections]:
    """The network in a file.

    `settings` are what a user declared, for the fingerprint; empty for a network whose name says it all.
    """
    require_fraction(name, "confidence", confidence)
    require_whole_number(name, "threads", threads, least=1)
    try:
        session = open_onnx(model.read_bytes(), threads)
    except OSError as error:
        raise BadInput(f"onnx: cannot read {model}: {error.strerror or error}") from None
    except Exception as error:  # whatever onnxruntime raises at what is no network
        raise BadInput(f"onnx: {model} is no network that onnxruntime can run: {error}") from None
    (network_input, *others) = session.get_inputs()
    if others:
        raise BadInput(f"onnx: {model} wants {1 + len(others)} inputs; a detector is shown one picture")
    input_size = _size(size, network_input.shape, layout, model)
    kind = np.float32 if "float" in network_input.type else np.uint8

    def find(image: Image) -> Detections:
        fitted, scale, offset = fit(image, input_size)
        shown = to_input(fitted).astype(kind, copy=False)
        boxes, classes, scores = head(session.run(None, {network_input.name: shown}), input_size)
        if len(classes) and int(classes.max()) >= len(names):
            raise ValueError(f"class {int(classes.max())} has no label; there are {len(names)}")
        return to_detections(
            (boxes - offset) * scale,
            classes,
            scores,
            names=names,
            size=(image.shape[0], image.shape[1]),
            confidence=float(confidence),
            same_object=float(same_object),
        )

    labels = hashlib.sha256(repr(tuple(names)).encode()).hexdigest()[:8]
    declared = f"size={input_size} {settings} labels={labels} " if settings else ""
    fingerprint = (
        f"{'onnx' if settings else name} weights={hash_files(model)} {declared}"
        f"confidence={confidence:g} threads={threads} decoder={DECODER} "
        f"onnxruntime={onnxruntime.__version__} cv2={cv2.__version__}"
    )
    return PictureSystem(name, one_by_one(find), fingerprint=fingerprint, recipe=recipe)


def _size(
    given: int | Sequence[int] | None, shape: Sequence[Any], layout: str, model: Path
) -> tuple[int, int]:
    wanted = [given, given] if isinstance(given, int) else given
    if wanted is None:
        wanted = list(shape[2:4] if layout == "nchw" else shape[1:3])
        if not all(isinstance(side, int) for side in wanted):
            raise BadInput(f"onnx: {model} takes pictures of any size; give size, such as size = 640")
    if len(wanted) != 2 or not all(isinstance(side, int) and side > 0 for side in wanted):
        raise BadInput(f"onnx: size is {given!r}; it must be a whole number, or height and width")
    return int(wanted[0] or 0), int(wanted[1] or 0)


def _names(labels: str | Sequence[str]) -> Sequence[str]:
    if labels == "coco":
        return COCO_NAMES
    if not isinstance(labels, str):
        return tuple(str(label) for label in labels)
    lines = read_text(Path(labels), "labels").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def _to_bgr(image: Image) -> Floats:
    """`float32 (1, 3, H, W)`, BGR, 0 to 255."""
    return np.asarray(cv2.dnn.blobFromImage(image, swapRB=True), np.float32)


def _to_input(
    image: Image,
    *,
    colour: str,
    divide: float,
    mean: float | Sequence[float],
    std: float | Sequence[float],
    layout: str,
) -> Floats:
    """`float32 (1, 3, H, W)` or `(1, H, W, 3)`, as the network was trained to see it."""
    ordered = image if colour == "rgb" else image[..., ::-1]
    values = ordered.astype(np.float32) / np.float32(divide)
    values = (values - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    return np.ascontiguousarray(values[None] if layout == "nhwc" else values.transpose(2, 0, 1)[None])
