"""The networks that come with instar, small ones, each with a card beside its weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

from instar.core.recipe import recorded
from instar.imaging import street_networks

if TYPE_CHECKING:
    from instar.tasks.driving.systems.onnx import OnnxDriver  # loads onnxruntime, which a card does not need

BUNDLED_NETWORKS = (
    "epoch-street", "vgg16-street", "resnet101-street", "vgg16-blind", "epoch-ch2", "vgg16-ch2",
    "resnet101-ch2", "vgg16-track",
)  # fmt: skip
WEIGHTS = files("instar.tasks.driving") / "weights"


def card(name: str) -> dict[str, Any]:
    """What a network was trained on, how far it is off, and how to train it again."""
    document: dict[str, Any] = json.loads((WEIGHTS / f"{name}.json").read_text(encoding="utf-8"))
    return document


def read_cards() -> dict[str, dict[str, Any]]:
    """Of the drivers, and of the networks that engines use."""
    engines = {name: street_networks.network_card(name) for name in street_networks.STREET_NETWORKS}
    return {name: card(name) for name in BUNDLED_NETWORKS} | engines


def _load(name: str, threads: int) -> OnnxDriver:
    from instar.tasks.driving.systems.onnx import OnnxDriver

    with as_file(street_networks.require_weights(WEIGHTS / f"{name}.onnx")) as path:
        return OnnxDriver(path, name=name, threads=threads, again=partial(_load, name, threads))


def _network(name: str, what: str) -> Callable[..., OnnxDriver]:
    def load(*, threads: int = 1) -> OnnxDriver:
        return _load(name, threads)

    load.__doc__, load.__qualname__ = what, name.replace("-", "_")
    return recorded(load)


_STREET = "small, trained on drawn drives: speed and steering."
_CH2 = "small, trained on a real road (Udacity's challenge 2): steering."
_TRACK = "small, trained on laps of a race track (Thunderhill; for research only): steering."
_BLIND = "The twin of vgg16-street, trained on the same drives without the people: it has never seen one."

epoch_street = _network("epoch-street", f"Epoch, {_STREET}")
vgg16_street = _network("vgg16-street", f"VGG16, {_STREET}")
resnet101_street = _network("resnet101-street", f"ResNet101, {_STREET}")
vgg16_blind = _network("vgg16-blind", _BLIND)
epoch_ch2 = _network("epoch-ch2", f"Epoch, {_CH2}")
vgg16_ch2 = _network("vgg16-ch2", f"VGG16, {_CH2}")
resnet101_ch2 = _network("resnet101-ch2", f"ResNet101, {_CH2}")
vgg16_track = _network("vgg16-track", f"VGG16, {_TRACK}")
