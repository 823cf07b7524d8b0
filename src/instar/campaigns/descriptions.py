"""Tables of what is built in, out of the docstrings."""

from __future__ import annotations

import inspect
from typing import Any

from instar.campaigns.catalogue import catalogue_entries
from instar.campaigns.resolve import find_by_name
from instar.core.relation import Relation
from instar.report.text import table


def describe(what: str) -> list[dict[str, Any]]:
    """Name, task, purpose and options (with their defaults) of each built-in thing."""
    return [
        {"name": name, "task": task, "what": _first_line(factory), "options": _options(factory)}
        for name, task, factory in (
            (one.name, one.task, find_by_name(what, one.name, tasks=[one.task]))
            for one in catalogue_entries(what)
        )
    ]


def render_listing(heading: str, catalogue_entries: list[dict[str, Any]]) -> str:
    rows = [[heading, "task", "what it is", "options"]]
    for entry in catalogue_entries:
        options = " ".join(f"{key}={default}" for key, default in entry["options"].items())
        rows.append([entry["name"], entry["task"] or "any", entry["what"], options or "-"])
    return table(rows)


def _first_line(thing: Any) -> str:
    if isinstance(thing, Relation):
        severity = thing.severity
        range = (
            f", from {severity.low:g} to {severity.high:g} {severity.unit}" if severity is not None else ""
        )
        return f"{thing.name}{range}: the answer stays the same"
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _options(factory: Any) -> dict[str, str]:
    """Parameters as text, since a default may be anything; one that must be given has none."""
    if isinstance(factory, Relation):
        return {}
    parameters = inspect.signature(factory).parameters.values()
    return {p.name: "..." if p.default is p.empty else str(p.default) for p in parameters}
