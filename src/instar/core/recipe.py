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

P = ParamSpec("P")
T = TypeVar("T")
_RECIPES: WeakKeyDictionary[Any, tuple[str, Mapping[str, Any]]] = WeakKeyDictionary()


def recorded(factory: Callable[P, T]) -> Callable[P, T]:
    """Make a factory remember the options of everything it makes."""
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
    """The `module:attr` of a thing, or of its factory and the options given to it; None if it has no name."""
    try:
        if thing in _RECIPES:
            return _RECIPES[thing]
    except TypeError:
        pass
    # The script that runs comes last: to import it again is to run it again.
    for name, module in sorted(sys.modules.copy().items(), key=lambda one: one[0] == "__main__"):
        home = _importable(name, module)
        if home is None or home.partition(".")[0] in ("instar", "builtins"):
            continue
        for attribute, value in list(getattr(module, "__dict__", {}).items()):
            if value is thing and not attribute.startswith("_"):
                return f"{home}:{attribute}", {}
    return None


def _importable(name: str, module: Any) -> str | None:
    """The name that a module can be imported by: that of its file where it is the script that runs.

    None where there is no file: what was typed into a shell cannot be imported.
    """
    if name != "__main__":
        return name
    spec, file = getattr(module, "__spec__", None), getattr(module, "__file__", None)
    if spec is not None:  # python -m
        return str(spec.name).removesuffix(".__main__")
    return Path(file).stem if file else None
