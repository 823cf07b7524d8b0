"""Plans: what a campaign is to do, as a TOML file or flags say it.

Here every key and type is checked. Whether a relation takes an option of some name is known only when the
relation is looked up, in `instar.campaigns.resolve`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, get_args, get_type_hints

from instar.campaigns.catalogue import catalogues
from instar.campaigns.toml import write_table
from instar.core.errors import BadInput, UnknownName, Untrusted
from instar.core.system import Limits
from instar.engines.cluster import Cluster
from instar.user_file import read_user_file

Tables: TypeAlias = dict[str, Any]
"""A plan, or a part of one, as TOML gives it."""

WORDS = {str: "a text", int: "a whole number", float: "a number", dict: "a table", list: "a list of tables"}
LEAST = {"seed": 0, "limit": 1, "workers": 1, "batch": 1}
CODE = re.compile(r"[^\s:/\\]+:[^\s:/\\]+")
PICKLED = (".pt", ".pth", ".torchscript")
MISSING = {
    "system": "name one, such as --system yolox-nano",
    "scenes": "give a folder, a file or street:N, such as --scenes photos/",
}


@dataclass(frozen=True, slots=True)
class Use:
    """A built-in name or `module:attr`, and the options it is called with.

    `called` is what the plan calls it, so that it can use the same thing twice; None for its own name.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    called: str | None = None


@dataclass(frozen=True, slots=True)
class RelationUse:
    """A relation and the search that goes with it; None for the usual one."""

    relation: Use
    search: Use | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that was asked for."""

    systems: tuple[Use, ...]
    relations: tuple[RelationUse, ...]
    scenes: str
    format: str | None = None
    seed: int = 0
    out: str | None = None
    objects: str | None = None
    pool: str | None = None
    truth: str | None = None
    changes: str | None = None
    palette: str | None = None
    maps: str | None = None
    referees: str | None = None
    referee_labels: str | None = None
    limit: int | None = None
    workers: int | None = None
    batch: int | None = None
    limits: Limits = field(default_factory=Limits)
    ray: Cluster | None = None  # where the systems are, if not here


def _kinds(owner: type[Any], *without: str) -> dict[str, type]:
    """The fields that are plain values, each with its type."""
    hints = get_type_hints(owner)
    kinds = {one.name: get_args(hints[one.name]) or (hints[one.name],) for one in dataclasses.fields(owner)}
    return {name: kind[0] for name, kind in kinds.items() if name not in without}


PLAIN = _kinds(Plan, "systems", "relations", "scenes", "format", "limits", "ray")
LIMITS, CLUSTER = _kinds(Limits), _kinds(Cluster)


def read_tables(path: Path) -> Tables:
    """What a plan file says, checked; it need not be complete, since flags may add to it."""

    def checked(tables: Mapping[str, Any]) -> Tables:
        _parts(dict(tables))
        return dict(tables)

    return read_user_file(path, "plan", checked)


def make_plan(tables: Tables, *, complete: bool = True) -> Plan:
    """The plan that these tables describe, checked; the plan of a run made in Python need not be complete.

    >>> make_plan({"relatoin": []})
    Traceback (most recent call last):
    instar.core.errors.BadInput: unknown key 'relatoin'; did you mean 'relation'?
    """
    parts = _parts(tables)
    for what, hint in MISSING.items():
        # The scenes of a run made in Python have no name.
        if not tables.get(what) and (complete or tables.get(what) != ""):
            raise BadInput(f"no {what} was given; {hint}")
    return Plan(**{"scenes": "", **parts})


def plan_to_toml(plan: Plan) -> str:
    """The plan as a file that is read back as the same plan."""
    scenes: Any = {"path": plan.scenes, "format": plan.format} if plan.format else plan.scenes
    parts = [write_table({"scenes": scenes} | {key: getattr(plan, key) for key in PLAIN})]
    parts += ["[[system]]\n" + write_table({**_head(use), **use.options}) for use in plan.systems]
    for pair in plan.relations:
        search = None if pair.search is None else {"use": pair.search.name, **pair.search.options}
        entry = {**_head(pair.relation), "search": search, **pair.relation.options}
        parts.append("[[relation]]\n" + write_table(entry))
    unusual = {
        f.name: getattr(plan.limits, f.name)
        for f in dataclasses.fields(Limits)
        if getattr(plan.limits, f.name) != f.default
    }
    if unusual:
        parts.append("[limits]\n" + write_table(unusual))
    if plan.ray is not None:
        parts.append("[ray]\n" + write_table(dataclasses.asdict(plan.ray)))
    return "\n".join(parts)


def uses_of(plan: Plan) -> list[tuple[str, Use]]:
    """Everything that a plan names, each with the flag of `instar run` that names such a thing."""
    uses = [("system", use) for use in plan.systems]
    uses += [("relation", pair.relation) for pair in plan.relations]
    uses += [("search", pair.search) for pair in plan.relations if pair.search is not None]
    helpers = [("objects", plan.objects), ("maps", plan.maps)]
    helpers += [("referees", name) for name in (plan.referees or "").split(",")]
    return uses + [(flag, Use(name.strip())) for flag, name in helpers if name]


def code_named_by(use: Use) -> list[str]:
    """The users' code that a plan names there: `module:attr`, a file of torch, which may have code in it, or
    a TOML file, which may name some in turn. A server or a command is named alike: it gets the pictures.

    >>> code_named_by(Use("mine:detector", {"weights": "a.onnx", "network": "nets:Small"}))
    ['mine:detector', 'nets:Small']
    """
    named = [use.name] if ":" in use.name or use.name.endswith(PICKLED) else []
    imported = {name: known for one in catalogues().values() for name, known in one.imported.items()}
    for option, value in use.options.items():
        for text in _texts(value):
            is_run = option in imported and text not in imported[option]
            if is_run or CODE.fullmatch(text) or text.endswith((".toml", *PICKLED)):
                named.append(text)
    return named


def require_trust(
    uses: Iterable[tuple[str, Use]], folder: object, *, trusted: bool, given: Collection[str] = ()
) -> None:
    """Refuse to import what the plan of a run names, unless the user has said that it may be.

    `given` are names that the user has typed: they are no news.
    """
    for what, use in uses:
        code = [] if trusted else [name for name in code_named_by(use) if name not in given]
        if code:
            instead = f", or give --{what} {use.name}" if code[0] == use.name else ""
            raise Untrusted(
                f"{folder} names code of its own, {what} {code[0]!r}, which would be run; say --trust if you "
                f"know it{instead}"
            )


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value of a plan."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _head(use: Use) -> Tables:
    return {"use": use.name, "name": use.called}


def _parts(tables: Tables) -> dict[str, Any]:
    """The fields of a plan that the tables fill, each checked."""
    _known(tables, [*PLAIN, "scenes", "system", "relation", "limits", "ray"])
    parts = {key: tables[key] for key in PLAIN if key in tables}
    for key, value in parts.items():
        _typed(key, value, PLAIN[key])
        if key in LEAST and value < LEAST[key]:
            raise BadInput(f"{key} is {value}; it must be at least {LEAST[key]}")
    parts["systems"] = tuple(_named_use("system", entry) for entry in _entries(tables, "system"))
    parts["relations"] = tuple(_relation(entry) for entry in _entries(tables, "relation"))
    parts["limits"] = Limits(**_typed_table("limits", tables.get("limits", {}), LIMITS))
    if "ray" in tables:
        parts["ray"] = Cluster(**_typed_table("ray", tables["ray"], CLUSTER))
    if "scenes" in tables:
        parts["scenes"], parts["format"] = _scenes(tables["scenes"])
    return parts


def _entries(tables: Tables, what: str) -> list[Any]:
    entries = tables.get(what, [])
    if not isinstance(entries, list):
        raise BadInput(f"{what} is {entries!r}; write it as [[{what}]] with a line use = ...")
    return entries


def _use(what: str, entry: Any) -> Use:
    _typed(what, entry, dict)
    if "use" not in entry:
        raise BadInput(f"a {what} has no key 'use', which names it")
    _typed(f"{what}: use", entry["use"], str)
    return Use(entry["use"], {key: value for key, value in entry.items() if key != "use"})


def _named_use(what: str, entry: Any) -> Use:
    """What also has a `name` in the plan."""
    use = _use(what, entry)
    options = dict(use.options)
    called = options.pop("name", None)
    if called is not None:
        _typed(f"{what}: name", called, str)
        if not called.strip():
            raise BadInput(f"{what}: name is {called!r}; it must say something, or be left out")
    return Use(use.name, options, called)


def _relation(entry: Any) -> RelationUse:
    use = _named_use("relation", entry)
    options = dict(use.options)
    search = options.pop("search", None)
    if isinstance(search, str):
        search = {"use": search}
    relation = dataclasses.replace(use, options=options)
    return RelationUse(relation, None if search is None else _use("search", search))


def _scenes(value: Any) -> tuple[str, str | None]:
    if isinstance(value, str):
        return value, None
    if not isinstance(value, dict):
        raise BadInput(f"scenes is {value!r}; it must be a text, or a table with path and format")
    _known(value, ["path", "format"], "scenes ")
    for key, entry in value.items():
        _typed(f"scenes: {key}", entry, str)
    if "path" not in value:
        raise BadInput('scenes has no path; write scenes = {path = "...", format = "..."}')
    return value["path"], value.get("format")


def _typed_table(what: str, table: Any, kinds: Mapping[str, type]) -> Tables:
    _typed(what, table, dict)
    _known(table, kinds, f"{what} ")
    for key, value in table.items():
        _typed(f"{what}: {key}", value, kinds[key])
    return dict(table)


def _known(table: Tables, known: Iterable[str], owner: str = "") -> None:
    known = list(known)
    for key in table:
        if key not in known:
            raise BadInput(str(UnknownName(f"{owner}key", key, known)))


def _typed(key: str, value: Any, wanted: type) -> None:
    accepted = (int, float) if wanted is float else wanted
    # True and False are numbers to Python, but not to whoever writes a plan.
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise BadInput(f"{key} is {value!r}; it must be {WORDS[wanted]}")
