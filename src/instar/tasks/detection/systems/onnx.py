"""A detector in a file of ONNX or torch, by declaration: what it wants to see and what its answers mean."""

from __future__ import annotations

import glob
import hashlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np

from instar.adapters.picture_system import PictureSystem, hash_files, one_by_one
from instar.adapters.sessions import TYPES, open_network
from instar.core.errors import BadInput, UnknownName
from instar.core.options import require_fraction, require_number, require_one_of, require_whole_number
from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.coco_names import COCO_IDS, COCO_NAMES
from instar.tasks.detection.systems.decode import (
    FITS,
    LEAST_SCORE,
    Fit,
    Floats,
    fit_picture,
    sides,
    to_detections,
)
from instar.tasks.detection.systems.head_declaration import make_head
from instar.tasks.detection.systems.heads import DecodedBoxes, Head
from instar.tasks.detection.systems.network_file import describe_file
from instar.tasks.detection.systems.onnx_input import input_size, to_bgr, to_input, value_for
from instar.user_file import read_text
from instar.zoo import fetch

COLOURS = ("rgb", "bgr")
LAYOUTS = ("nchw", "nhwc")
DECODER = 1
"""Counts up whenever the code below, or a head, gives other answers for the same network output."""
CORNER = 0.02
"""The share of the picture's sides within which all boxes lie only if they are no pixels."""
YOLOX_SIZES = ("nano",)
GPU_BATCH = 64


@recorded
def onnx_detector(
    *,
    model: str,
    head: str | Mapping[str, Any] | None = None,
    labels: str | Sequence[str] = "coco",
    size: int | Sequence[int] | None = None,
    colour: str = "rgb",
    divide: float = 255.0,
    mean: float | Sequence[float] = 0.0,
    std: float | Sequence[float] = 1.0,
    layout: str = "nchw",
    fit: Fit = "letterbox",
    padding: int = 114,
    same_object: float | None = None,
    also: Mapping[str, Any] | None = None,
    confidence: float = 0.5,
    threads: int = 1,
    called: str | None = None,
    network: str | None = None,
) -> PictureSystem[Detections]:
    """Your own detector: a file, its head (see `instar.tasks.detection.systems.heads`) and its labels.

    The file is of ONNX, or of torch (`.pt`, `.pth`): TorchScript, or the state of the `network`
    (`module:attr`). Without a head, all that was not given is found out as far as the file tells it.

    The picture is fitted into `size` (height and width, by default what the file says): in the middle of a
    square ("letterbox"), in its top left ("corner") or stretched to it ("stretch"), the rest `padding`. Then
    colours in the order `colour` are divided by `divide`, less `mean`, over `std`. `labels` are "coco",
    "coco-ids" (by COCO's own numbers 1 to 90), a list, or a text file with one on each line. Of boxes of a
    class that overlap by more than `same_object` the strongest stays; by default that is 0.45, and nothing is
    dropped where the head says that the network has done it. `also` are values for further inputs, by name.
    """
    options = locals()
    if head is None:
        usual = inspect.signature(onnx_detector).parameters
        given = {name: value for name, value in options.items() if value != usual[name].default}
        return onnx_detector(**(describe_file(model, given) | given))
    recipe = partial(onnx_detector, **options)
    require_one_of("onnx", "colour", colour, COLOURS)
    require_one_of("onnx", "layout", layout, LAYOUTS)
    require_one_of("onnx", "fit", fit, FITS)
    require_number("onnx", "divide", divide, least=1e-6)
    if same_object is not None:
        require_fraction("onnx", "same_object", same_object)
    names = _names(labels)
    decode = make_head(head, len(names))
    if same_object is not None:
        decode = replace(decode, same_object=same_object)
    return _open(
        Path(model),
        called or Path(model).stem,
        head=decode,
        names=names,
        size=size,
        show=partial(to_input, colour=colour, divide=divide, mean=mean, std=std, layout=layout),
        fit=partial(fit_picture, fit=fit, padding=padding),
        layout=layout,
        also=also or {},
        confidence=confidence,
        threads=threads,
        settings=f"head={head} colour={colour} divide={divide:g} mean={mean} std={std} layout={layout} "
        f"fit={fit} padding={padding} same_object={decode.same_object} also={also}"
        f"{'' if network is None else f' network={network}'}",
        recipe=recipe,
        network=network,
    )


@recorded
def yolox(
    size: str = "nano", *, weights: str = "", confidence: float = 0.3, threads: int = 1
) -> PictureSystem[Detections]:
    """YOLOX, 80 COCO classes, 416x416.

    Its weights come along or are fetched, or are those of a file that `instar retrain` wrote. `confidence` is
    the score from which on an object counts as found; every box of at least 0.05 is reported. One thread
    makes answers repeatable to the bit and lets a campaign run several at once.
    """
    if size not in YOLOX_SIZES:
        raise UnknownName("YOLOX size", size, YOLOX_SIZES)
    recipe = partial(yolox, size, weights=weights, confidence=confidence, threads=threads)
    return _open_yolox(f"yolox-{size}", weights or size, confidence, threads, None, recipe)


@recorded
def yolox_torch(
    *, weights: str = "", confidence: float = 0.3, threads: int = 1, device: str = "cpu"
) -> PictureSystem[Detections]:
    """The same network as `yolox`, run by torch, on a GPU too; `instar retrain` trains it (extra torch)."""
    recipe = partial(yolox_torch, weights=weights, confidence=confidence, threads=threads, device=device)
    return _open_yolox("yolox-nano-torch", weights or "nano", confidence, threads, device, recipe)


def _open_yolox(
    name: str,
    weights: str,
    confidence: float,
    threads: int,
    device: str | None,
    recipe: Callable[[], PictureSystem[Detections]],
) -> PictureSystem[Detections]:
    return _open(
        fetch(f"yolox-{weights}")[0] if weights in YOLOX_SIZES else Path(weights),
        name,
        head=make_head("yolox", len(COCO_NAMES)),
        names=COCO_NAMES,
        show=to_bgr,
        fit=partial(fit_picture, fit="corner", padding=114),
        confidence=confidence,
        threads=threads,
        device=device,
        recipe=recipe,
    )


def _open(
    model: Path,
    name: str,
    *,
    head: Head,
    names: Sequence[str],
    show: Callable[[Image], Floats],
    fit: Callable[[Image, tuple[int, int]], tuple[Image, Floats, Floats]],
    confidence: float,
    threads: int,
    recipe: Callable[[], PictureSystem[Detections]],
    size: int | Sequence[int] | None = None,
    layout: str = "nchw",
    also: Mapping[str, Any] = MappingProxyType({}),
    settings: str = "",
    network: str | None = None,
    device: str | None = None,
) -> PictureSystem[Detections]:
    """The network in a file, run by torch on `device` where there is one.

    `settings` are what a user declared, for the fingerprint; empty for a network whose name says it all.
    """
    require_fraction(name, "confidence", confidence)
    require_whole_number(name, "threads", threads, least=1)
    session, run_by = open_network(model, network=network, threads=threads, device=device)
    inputs = {one.name: one for one in session.get_inputs()}
    further = {key: value_for(key, value, inputs) for key, value in also.items()}
    left = [one for key, one in inputs.items() if key not in further]
    if len(left) != 1:
        listed = ", ".join(f"{one.name} {one.shape}" for one in left)
        raise BadInput(
            f"onnx: {model} wants {len(left)} inputs ({listed}); a detector is shown one picture, so give "
            "the others, such as also = {sizes = [640, 640]}"
        )
    (network_input,) = left
    shown_at = input_size(size, network_input.shape, layout, model)
    kind = TYPES.get(network_input.type, np.float32)
    answers = [one.name for one in session.get_outputs()]

    def ask(shown: Floats) -> dict[str, Any]:
        shown = shown.astype(kind, copy=False)
        shown = shown[0] if len(network_input.shape) == 3 else shown
        return {
            name: value.astype(np.float32) if value.dtype == np.float16 else value
            for name, value in zip(answers, session.run(None, {network_input.name: shown, **further}))
        }

    def decode(outputs: dict[str, Any]) -> DecodedBoxes:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # of outputs that mean something else
                decoded = head.decode(outputs, shown_at)
            return _checked(decoded, names, shown_at, confidence)
        except ValueError as error:
            seen = ", ".join(f"{key} {value.shape}" for key, value in outputs.items())
            raise ValueError(f"{error}; the network answers with {seen}") from None

    def run(fitted: Image) -> DecodedBoxes:
        return decode(ask(show(fitted)))

    if settings:
        grey = np.full((*shown_at, 3), 114, np.uint8)
        _require_whole(show(grey), kind, model)
        _try_out(run, grey, model)

    def detections(image: Image, scale: Floats, offset: Floats, decoded: DecodedBoxes) -> Detections:
        boxes, classes, scores = decoded
        return to_detections(
            (boxes - offset) * scale,
            classes,
            scores,
            names=names,
            size=(image.shape[0], image.shape[1]),
            confidence=float(confidence),
            same_object=head.same_object,
        )

    def find(image: Image) -> Detections:
        fitted, scale, offset = fit(image, shown_at)
        return detections(image, scale, offset, run(fitted))

    def find_together(images: Sequence[Image]) -> list[Detections]:
        fitted = [fit(image, shown_at) for image in images]
        outputs = ask(np.concatenate([show(shown) for shown, _, _ in fitted]))
        return [
            detections(image, scale, offset, decode({key: out[i : i + 1] for key, out in outputs.items()}))
            for i, (image, (_, scale, offset)) in enumerate(zip(images, fitted))
        ]

    labels = hashlib.sha256(repr(tuple(names)).encode()).hexdigest()[:8]
    declared = f"size={shown_at} {settings} labels={labels} " if settings else ""
    # Weights of large networks may lie in a file beside the network.
    files = [model, *sorted(model.parent.glob(f"{glob.escape(model.name)}?data"))]
    files += [beside for beside in [model.with_suffix(".bin")] if model.suffix == ".xml" and beside.is_file()]
    fingerprint = (
        f"{'onnx' if settings else name} weights={hash_files(*files)} {declared}"
        f"confidence={confidence:g} threads={threads} decoder={DECODER} "
        f"{run_by} cv2={cv2.__version__}"
    )
    if device in (None, "cpu"):
        return PictureSystem(name, one_by_one(find), fingerprint=fingerprint, recipe=recipe, classes=names)
    # A GPU looks at many together, in two calls at once: one is made ready while it works on the other.
    return PictureSystem(
        name,
        find_together,
        fingerprint=f"{fingerprint} batch={GPU_BATCH}",
        recipe=recipe,
        classes=names,
        batch=GPU_BATCH,
        concurrent=2,
    )


def _require_whole(shown: Floats, kind: type[np.generic], model: Path) -> None:
    """BadInput where values between 0 and 1 would be shown to a network that takes whole numbers."""
    if not np.array_equal(shown, shown.astype(kind).astype(np.float32)) and issubclass(kind, np.integer):
        raise BadInput(
            f"onnx: {model} takes whole numbers ({kind.__name__}), and {shown.flat[0]:.3g} would be shown to "
            "it; give divide = 1, and neither mean nor std"
        )


def _try_out(run: Callable[[Image], Any], blank: Image, model: Path) -> None:
    """Show the network a grey picture, so that a declaration that does not fit is refused at once."""
    try:
        run(blank)
    except ValueError as error:
        raise BadInput(f"onnx: {model}: {error}") from None
    except Exception as error:  # whatever onnxruntime raises at an input of the wrong shape
        raise BadInput(f"onnx: {model} cannot be shown a picture as declared: {error}") from None


def _checked(
    boxes: DecodedBoxes, names: Sequence[str], size: tuple[int, int], confidence: float
) -> DecodedBoxes:
    """The same boxes without the weak ones, unless they show that the outputs were misread."""
    keep = boxes[2] >= LEAST_SCORE
    corners, classes, scores = (part[keep] for part in boxes)
    if len(classes) and not 0 <= int(classes.min()) <= int(classes.max()) < len(names):
        wrong = int(classes.max() if classes.min() >= 0 else classes.min())
        raise ValueError(f"class {wrong} has no label; there are {len(names)}, counted from 0")
    found = corners[scores >= confidence]
    inside = np.clip(found, 0, sides(size))
    there = (inside[:, 2] > inside[:, 0]) & (inside[:, 3] > inside[:, 1])
    if len(found) and not there.any():
        first = ", ".join(f"{value:.4g}" for value in found[0])
        raise ValueError(
            f"no box lies in the picture of {size[1]}x{size[0]} (the first of {len(found)}: {first}): "
            "they are written in another way"
        )
    if len(found) and found.max() <= max(CORNER * min(size), 1.0):
        reach = f"reach no farther than {found.max():.2g} pixels from the corner"
        raise ValueError(f"all boxes {reach}: they are shares of the picture, or offsets within cells")
    return corners, classes, scores


def _names(labels: str | Sequence[str]) -> Sequence[str]:
    if labels == "coco":
        return COCO_NAMES
    if labels == "coco-ids":
        named = dict(zip(COCO_IDS, COCO_NAMES))
        return tuple(named.get(number, f"unused {number}") for number in range(1, 91))
    if not isinstance(labels, str):
        return tuple(str(label) for label in labels)
    lines = read_text(Path(labels), "labels").splitlines()
    return tuple(line.strip() for line in lines if line.strip())
