"""Flags over a plan file: both are tables of the same shape, and a flag replaces what the file says."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from instar.campaigns.catalogue import catalogue_entries, usual_search
from instar.campaigns.plan import Tables, Use
from instar.campaigns.toml import parse_value
from instar.core.errors import BadInput, UnknownName

OWNERS = ("system", "relation", "search", "limits", "ray")


def add_settings(parser: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """The option `--set`, which may be repeated."""
    parser.add_argument("--set", action="append", default=[], metavar=metavar, help=help)


def override(tables: Tables, flags: Mapping[str, Any]) -> Tables:
    """The tables with what the flags say in its place; a flag that is None was not given.

    `system` and `relation` are lists of names and `search` is a name. All that the tables already hold
    under such a name is kept with its options. Limits, and what is said of a cluster, are replaced one by
    one.

    >>> override({"seed": 1, "limits": {"retries": 0}}, {"seed": 2, "limits": {"queries": 9}})
    {'seed': 2, 'limits': {'retries': 0, 'queries': 9}}
    """
    given = {key: value for key, value in flags.items() if value is not None}
    search = given.pop("search", None)
    grouped = {
        what: {key: value for key, value in given.pop(what).items() if value is not None}
        for what in ("limits", "ray")
        if what in given
    }
    for what in ("system", "relation"):
        if what in given:
            there: list[Tables] = tables.get(what, [])
            given[what] = [
                entry
                for name in given[what]
                for entry in [e for e in there if name in _names(e)] or [{"use": name}]
            ]
    merged = tables | given
    for what, group in grouped.items():
        if group or what == "ray":
            merged[what] = tables.get(what, {}) | group
    if search is not None:
        merged["relation"] = [
            entry if _search(entry).get("use") == search else entry | {"search": search}
            for entry in merged.get("relation", [])
        ]
    return merged


def put_settings(tables: Tables, settings: Iterable[str]) -> Tables:
    """The tables with each `owner.key=value` put in.

    The owner is `system`, `relation` or `search` (each of them), `limits`, `ray` (with a cluster), or the
    name of one system or relation; the value is read as TOML, or else as text.

    >>> put_settings({"relation": [{"use": "insertion"}]}, ["relation.blend=hard", "limits.retries=0"])
    {'relation': [{'use': 'insertion', 'blend': 'hard'}], 'limits': {'retries': 0}}
    """
    for setting in settings:
        left, equals, text = setting.partition("=")
        owner, _, key = left.strip().rpartition(".")
        if not (equals and owner and key):
            raise BadInput(f"--set {setting!r} is not of the form relation.key=value")
        try:
            tables = _put(tables, owner, {key: parse_value(text.strip())})
        except BadInput as error:
            raise BadInput(f"--set {setting!r}: {error}") from None
    return tables


def systems_with(names: Sequence[str], settings: Iterable[str]) -> list[Use]:
    """The systems with the options that were set for them, where nothing else can be set."""
    tables = put_settings({"system": [{"use": name} for name in names]}, settings)
    if tables.keys() != {"system"}:
        raise BadInput("--set: this takes options of its systems only; give SYSTEM.KEY=VALUE")
    return [Use(options.pop("use"), options) for options in map(dict, tables["system"])]


def _put(tables: Tables, owner: str, setting: Tables) -> Tables:
    if owner == "limits" or (owner == "ray" and "ray" in tables):
        return tables | {owner: tables.get(owner, {}) | setting}
    if owner == "search":
        return tables | {"relation": _put_into_searches(tables.get("relation", []), setting)}
    for what in ("system", "relation"):
        entries: list[Tables] = tables.get(what, [])
        concerned = [owner in (what, *_names(entry)) for entry in entries]
        if any(concerned):
            put = [entry | setting if hit else entry for entry, hit in zip(entries, concerned)]
            return tables | {what: put}
    if owner == "ray":
        raise BadInput("it is of a cluster; give --on ray")
    if owner in OWNERS:
        raise BadInput(f"no {owner} was given")
    if any(owner == one.name for one in catalogue_entries("relation")) and not tables.get("relation"):
        raise BadInput("no relation was given, and those of a suite have no options; name them by --relation")
    named = [name for what in ("system", "relation") for e in tables.get(what, []) for name in _names(e)]
    raise UnknownName("owner", owner, [*OWNERS, *named])


def _names(entry: Tables) -> list[str]:
    """What a system or a relation can be spoken of as: what it uses, and its name in the plan."""
    return [entry[key] for key in ("use", "name") if key in entry]


def _put_into_searches(relations: list[Tables], setting: Tables) -> list[Tables]:
    if not relations:
        raise BadInput("no search was given, nor a relation that has one")
    if not any(map(_search, relations)):  # then those they have by default are meant
        relations = [entry | {"search": usual_search(entry["use"])} for entry in relations]
    return [entry | {"search": _search(entry) | setting} if _search(entry) else entry for entry in relations]


def _search(relation: Tables) -> Tables:
    """The search of a relation as a table; empty when it has none."""
    search = relation.get("search", {})
    return {"use": search} if isinstance(search, str) else search
