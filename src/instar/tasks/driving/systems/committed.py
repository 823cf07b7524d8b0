"""The networks that come with instar, small ones, each with a card beside its weights."""

from __future__ import annotations

from functools import partial
from importlib.resources import as_file, files

from instar.core.recipe import recorded
from instar.tasks.driving.systems.onnx import OnnxDriver

__all__ = [
    "epoch_ch2",
    "epoch_street",
    "resnet101_ch2",
    "resnet101_street",
    "vgg16_blind",
    "vgg16_ch2",
    "vgg16_street",
]


@recorded
def epoch_street(*, threads: int = 1) -> OnnxDriver:
    """Epoch, small, trained on drawn drives: speed and steering."""
    return _loaded("epoch-street", threads)


@recorded
def vgg16_street(*, threads: int = 1) -> OnnxDriver:
    """VGG16, small, trained on drawn drives: speed and steering."""
    return _loaded("vgg16-street", threads)


@recorded
def resnet101_street(*, threads: int = 1) -> OnnxDriver:
    """ResNet101, small, trained on drawn drives: speed and steering."""
    return _loaded("resnet101-street", threads)


@recorded
def vgg16_blind(*, threads: int = 1) -> OnnxDriver:
    """The twin of vgg16-street, trained on the same drives without the people: it has never seen one."""
    return _loaded("vgg16-blind", threads)


@recorded
def epoch_ch2(*, threads: int = 1) -> OnnxDriver:
    """Epoch, small, trained on a real road (Udacity's challenge 2): steering."""
    return _loaded("epoch-ch2", threads)


@recorded
def vgg16_ch2(*, threads: int = 1) -> OnnxDriver:
    """VGG16, small, trained on a real road (Udacity's challenge 2): steering."""
    return _loaded("vgg16-ch2", threads)


@recorded
def resnet101_ch2(*, threads: int = 1) -> OnnxDriver:
    """ResNet101, small, trained on a real road (Udacity's challenge 2): steering."""
    return _loaded("resnet101-ch2", threads)


def _loaded(name: str, threads: int) -> OnnxDriver:
    with as_file(files("instar.tasks.driving") / "weights" / f"{name}.onnx") as path:
        return OnnxDriver(path, name=name, threads=threads, again=partial(_loaded, name, threads))
