"""How something was made, so that a run made in Python can name it: a factory and its options."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

__all__ = ["find_name", "recorded"]

P = ParamSpec("P")
T = TypeVar("T")
_RECIPES: WeakKeyDictionary[Any, tuple[str, Mapping[str, Any]]] = WeakKeyDictionary()


def recorded(factory: Callable[P, T]) -> Callable[P, T]:
    """Remember of everything that the factory makes how it was made."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def make(*args: P.args, **options: P.kwargs) -> T:
        made = factory(*args, **options)
        given = signature.bind(*args, **options).arguments
        try:
            json.dumps(given)
            _RECIPES[made] = (f"{factory.__module__}:{factory.__qualname__}", given)
        except (TypeError, ValueError):
            pass  # an option is an object, or what was made cannot be referred to
        return made

    return make


def find_name(thing: Any) -> tuple[str, Mapping[str, Any]] | None:
    """`module:attr` that stands for a thing, with options where that is its factory; None without one."""
    try:
        if thing in _RECIPES:
            return _RECIPES[thing]
    except TypeError:
        pass
    for name, module in list(sys.modules.items()):
        if module is None or name.partition(".")[0] in ("instar", "builtins"):
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            if value is thing and not attribute.startswith("_"):
                return f"{_importable(name, module)}:{attribute}", {}
    return None


def _importable(name: str, module: Any) -> str:
    """The name of a module; that of its file where it is the script that runs."""
    file = getattr(module, "__file__", None)
    return Path(file).stem if name == "__main__" and file else name
