"""Which engine makes which picture, read from a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.core.errors import BadInput, UnknownName
from instar.tasks.driving.catalogue import IMPORTED
from instar.tasks.driving.rules.model import Condition, Rule
from instar.user_file import load_resource, read_user_file

if TYPE_CHECKING:
    from instar.tasks.driving.engines import Engine  # loads OpenCV, which naming an engine does not need

OPS = ("add", "remove", "replace")
USUAL = IMPORTED["engines"]
COMMAND = "command:"
WITHOUT_GALLERY = {f"instar.tasks.driving.engines.{name}" for name in ("rendered", "surface", "deeptest")}


@dataclass(frozen=True, slots=True)
class Engines:
    """`modules` by the name of the engine, and the name for each operation and element."""

    modules: Mapping[str, str]
    choices: Mapping[str, Mapping[str, str]]

    def name_for(self, condition: Condition) -> str | None:
        """The engine that makes this condition true, if there is one: "line faded" goes before "line"."""
        chosen = self.choices.get(condition.op, {})
        new = () if condition.new is None else condition.new.properties.values()
        keys = [*(f"{condition.element} {value}" for value in new), condition.element, "*"]
        return next((chosen[key] for key in keys if key in chosen), None)

    def lacking(self, rule: Rule) -> str | None:
        """What of a rule no engine here can make, in words."""
        for block in rule.blocks:
            for condition in block.changes:
                if self.name_for(condition) is None:
                    known = ", ".join(self.choices.get(condition.op, {}))
                    return f"no engine can {condition.op} {condition.element}, only: {known}"
        return None

    @property
    def needs_no_gallery(self) -> bool:
        return set(self.modules.values()) <= WITHOUT_GALLERY

    def named(self, name: str) -> Engine:
        """The engine of that name; only those that the file lists are ever imported."""
        if name not in self.modules:
            raise BadInput(str(UnknownName("engine", name, self.modules)))
        engine: Any = _found(name, self.modules[name])
        for part in ("plan", "make"):
            if not callable(getattr(engine, part, None)):
                raise BadInput(f"engine {name!r}: {self.modules[name]} has no function {part}")
        found: Engine = engine
        return found


@cache
def usual_engines(name: str = "pasted") -> Engines:
    """A mapping that comes with instar: "pasted" changes any picture, "rendered" draws a drive anew.

    The others add to one of the two.
    """
    return _engines(_usual_tables(name))


def _usual_tables(name: str) -> Mapping[str, Any]:
    tables = load_resource("instar.tasks.driving", f"{name}.toml")
    if name in ("pasted", "rendered"):
        return tables
    return _laid_over(_usual_tables("rendered" if name.endswith("rendered") else "pasted"), tables)


def read_engines(path: Path, name: str = "pasted") -> Engines:
    """The mapping of that name with what a user's file adds to it or changes."""
    usual = _usual_tables(name)
    return read_user_file(path, "engines", lambda own: _engines(_laid_over(usual, own)))


def _laid_over(usual: Mapping[str, Any], own: Mapping[str, Any]) -> Mapping[str, Any]:
    tables = {
        name: {**usual.get(name, {}), **table} if isinstance(table, Mapping) else table
        for name, table in own.items()
    }
    return {**usual, **tables}


def _found(name: str, path: str) -> Any:
    """The module, `module:object` or "command: ..." that an engine is."""
    if path.startswith(COMMAND):
        from instar.tasks.driving.engines.command import CommandEngine

        return CommandEngine(name, path.removeprefix(COMMAND).strip())
    module, _, attributes = path.partition(":")
    if os.getcwd() not in sys.path:  # a console script looks only into its own folder
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = import_module(module)
    except ImportError as error:
        raise BadInput(f"engine {name!r}: cannot import {module}: {error}") from None
    for part in filter(None, attributes.split(".")):
        if not hasattr(found, part):
            raise BadInput(f"engine {name!r}: {module} has no {attributes}")
        found = getattr(found, part)
    return found


def _engines(tables: Mapping[str, Any]) -> Engines:
    for name, table in tables.items():
        if name not in ("engine", *OPS):
            raise BadInput(str(UnknownName("table", name, ("engine", *OPS))))
        if not isinstance(table, Mapping) or not all(isinstance(value, str) for value in table.values()):
            raise BadInput(f"{name!r} must be a table of texts")
    modules = tables.get("engine", {})
    for op in OPS:
        for engine in tables.get(op, {}).values():
            if engine not in modules:
                raise BadInput(str(UnknownName("engine", engine, modules)))
    return Engines(modules, {op: tables.get(op, {}) for op in OPS})
