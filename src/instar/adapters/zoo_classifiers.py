"""MobileNetV2 and ResNet-50 of ImageNet out of registry packages: their weights in networks of ours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.adapters.classifier import Classifier
from instar.adapters.devices import require_device
from instar.adapters.imagenet import outputs_of
from instar.adapters.networks import (
    fill_tensor,
    iterate_convolutions,
    mobilenet_v2_network,
    resnet50_network,
)
from instar.adapters.picture_system import hash_files
from instar.core.errors import UnknownName
from instar.core.options import require_one_of
from instar.zoo import fetch

VGG_MEAN = (123.68, 116.779, 103.939)


def zoo_classifier(network: str, *, classes: str = "coco", device: str = "cpu") -> Classifier:
    """The network of that name, its weights fetched if need be; `classes` are those of COCO or ImageNet."""
    if network not in NETWORKS:
        raise UnknownName("network", network, NETWORKS)
    require_one_of(network, "classes", classes, ("coco", "imagenet"))
    device = require_device(device, network)
    make, colours = NETWORKS[network]
    module, fingerprint = make()
    outputs = outputs_of(classes)
    return Classifier(
        name=network,
        module=module.to(device).eval(),
        labels=tuple(outputs),
        outputs=tuple(outputs.values()),
        size=(224, 224),
        fingerprint=f"weights={fingerprint} classes={classes}",
        device=device,
        **colours,
    )


def _mobilenet_v2() -> tuple[Any, str]:
    """The network of the ONNX model zoo (13 MB), and the hash of its file."""
    (path,) = fetch("mobilenet-v2")
    net = cv2.dnn.readNetFromONNX(str(path))
    layers = [net.getLayer(net.getLayerId(name)) for name in net.getLayerNames()]
    blobs = [layer.blobs for layer in layers if layer.type in ("Convolution", "BatchNorm")]
    module = mobilenet_v2_network()
    for (kernel,), values, (convolution, norm) in zip(blobs[::2], blobs[1::2], iterate_convolutions(module)):
        fill_tensor(convolution.weight, kernel)
        for tensor, value in zip((norm.running_mean, norm.running_var, norm.weight, norm.bias), values):
            fill_tensor(tensor, value)
    fill_tensor(module[-1].weight, blobs[-1][0])
    return module, hash_files(path)


def _resnet50() -> tuple[Any, str]:
    """Keras' ResNet-50 out of an npm package (95 MB), in its TF.js form: float32 in shards."""
    manifest, *shards = fetch("resnet50")
    arrays = _tfjs(manifest, shards)
    module = resnet50_network()
    names = ["conv1", *_resnet_names()]
    for name, (convolution, norm) in zip(names, iterate_convolutions(module)):
        fill_tensor(convolution.weight, arrays[f"{name}/kernel"].transpose(3, 2, 0, 1).copy())
        fill_tensor(convolution.bias, arrays[f"{name}/bias"])
        own = "bn_conv1" if name == "conv1" else "bn" + name.removeprefix("res")
        for tensor, what in (
            (norm.weight, "gamma"),
            (norm.bias, "beta"),
            (norm.running_mean, "moving_mean"),
            (norm.running_var, "moving_variance"),
        ):
            fill_tensor(tensor, arrays[f"{own}/{what}"])
    fill_tensor(module[-1].weight, arrays["fc1000/kernel"].T.copy())
    fill_tensor(module[-1].bias, arrays["fc1000/bias"])
    return module, hash_files(shards[-1])


NETWORKS: dict[str, tuple[Callable[[], tuple[Any, str]], dict[str, Any]]] = {
    "mobilenet-v2": (_mobilenet_v2, {}),
    "resnet50": (_resnet50, {"mean": VGG_MEAN, "deviation": (1.0, 1.0, 1.0), "bgr": True}),
}
"""How each is made, and which colours it wants."""


def _resnet_names() -> list[str]:
    """Keras' names of the convolutions, in the order of ours: the branch, then the shortcut if any."""
    names = []
    for stage, repeats in ((2, 3), (3, 4), (4, 6), (5, 3)):
        for block in "abcdef"[:repeats]:
            names += [f"res{stage}{block}_branch2{part}" for part in "abc"]
            names += [f"res{stage}{block}_branch1"] if block == "a" else []
    return names


def _tfjs(manifest: Path, shards: list[Path]) -> dict[str, npt.NDArray[np.float32]]:
    """Every tensor of a TF.js layers model by name; shards in order are one stream of floats."""
    groups = json.loads(manifest.read_text(encoding="utf-8"))["weightsManifest"]
    arrays: dict[str, npt.NDArray[np.float32]] = {}
    for group in groups:
        own, shards = shards[: len(group["paths"])], shards[len(group["paths"]) :]
        stream = b"".join(path.read_bytes() for path in own)
        at = 0
        for one in group["weights"]:
            count = int(np.prod(one["shape"], dtype=np.int64))
            arrays[one["name"]] = np.frombuffer(stream, "<f4", count, at).reshape(one["shape"]).copy()
            at += 4 * count
    return arrays
