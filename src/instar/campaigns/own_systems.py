"""A user's own things as systems: plain functions, and models of the usual libraries."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from instar.adapters.labels import read_labels, with_labels
from instar.campaigns.catalogue import import_home
from instar.core.errors import BadInput
from instar.core.fingerprint import fingerprint_of
from instar.core.system import System
from instar.store.foreign_values import is_one_answer, to_plain

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
MANY = frozenset({"batch", "images", "inputs", "pictures", "frames", "imgs", "xs"})
ONE = frozenset({"image", "picture", "frame", "img", "photo", "input", "x"})
"""What people call the parameter of a function over a batch, and over one picture."""
LIBRARIES = {
    "transformers": "instar.adapters.hugging_face:pipeline_system",
    "ultralytics": "instar.adapters.ultralytics:yolo_system",
    "torchvision.models.detection": "instar.adapters.torchvision:module_system",
}
"""What makes a system of an object, by the module that its class, or one that it is derived from, is in."""


@dataclass(frozen=True, slots=True)
class FunctionSystem:
    """A plain function as a system, under the name it was given by: of a batch, or of one picture."""

    name: str
    function: Callable[[Any], Any]
    of_one: bool = False

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        if self.of_one:
            return [self.function(one) for one in inputs]
        answers: Sequence[Any] = self.function(inputs)
        return answers


def function_system(name: str, function: Callable[[Any], Any]) -> FunctionSystem:
    """The function as a system.

    Whether it takes a batch or one picture is told by the name of its parameter (`images`, `image`), and
    else by trying: one that does not give two answers to two pictures, but one to one, takes one.
    """
    names = [word.lower() for word in required_parameters(function)]
    if len(names) == 1 and names[0] in MANY | ONE:
        return FunctionSystem(name, function, of_one=names[0] in ONE)
    return FunctionSystem(name, function, of_one=_takes_one(name, function))


def _takes_one(name: str, function: Callable[[Any], Any]) -> bool:
    black, grey = (np.full((64, 96, 3), level, np.uint8) for level in (0, 128))
    given = _try(function, [black, grey])
    if isinstance(given, System):  # a factory whose one parameter was taken for the inputs
        parameter = required_parameters(function)[0]
        raise BadInput(f"{name} makes a system, it is none; give --set system.{parameter}=...")
    if not is_one_answer(given) and _try(len, given) == 2:
        return False
    return _try(function, black) is not None  # else nothing is known: it is asked as a system is


def _try(function: Callable[[Any], Any], given: Any) -> Any:
    """What the function gives, None where it raises, as it may at what it does not take."""
    try:
        return function(given)
    except Exception:
        return None


def required_parameters(function: Callable[..., Any]) -> list[str]:
    """The parameters that have to be given, by their names."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in POSITIONAL and p.default is p.empty]


def find_library_adapter(found: Any) -> Any:
    """What makes a system of an object of a known library; None for anything else."""
    if isinstance(found, type) or inspect.isroutine(found):
        return None
    modules = [kind.__module__ for kind in type(found).__mro__]
    for library, home in LIBRARIES.items():
        if any(module == library or module.startswith(f"{library}.") for module in modules):
            return import_home(home)
    return None


class NamedLabels:
    """A system whose labels are numbers, with their names: "coco", "coco-ids", a list, or a text file."""

    def __init__(self, system: System, labels: Any) -> None:
        self._system, self._names = system, read_labels(labels)
        self.name = system.name
        self.fingerprint = f"{fingerprint_of(system)} labels={self._names}"
        self.batch = int(getattr(system, "batch", 1))
        self.concurrent = int(getattr(system, "concurrent", False))
        self.temporary = tuple(getattr(system, "temporary", ()))
        self.sends_to = str(getattr(system, "sends_to", ""))

    def predict(self, inputs: Sequence[Any], /) -> list[Any]:
        return [with_labels(to_plain(answer), self._names) for answer in self._system.predict(inputs)]
