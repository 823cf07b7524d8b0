"""From names to things: built-in ones by a table, a user's own by `module:attr`."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import Any

from instar.campaigns.catalogue import catalogues, find_entry
from instar.campaigns.own_systems import (
    NamedLabels,
    find_library_adapter,
    function_system,
    required_parameters,
)
from instar.campaigns.plan import Use, code_named_by
from instar.campaigns.system_names import (
    find_adapter,
    is_asked_from_here,
    is_remote,
    settle_name,
    tasks_of_name,
)
from instar.core.errors import BadInput, InstarError, UnknownName
from instar.core.fingerprint import fingerprint_of
from instar.core.relation import Relation
from instar.core.search import Search, SearchAcross
from instar.core.system import System, describe_error
from instar.engines.cluster import Cluster
from instar.engines.ray_system import build_on_cluster
from instar.engines.worker import WorkerSystem
from instar.report.words import with_article

THROTTLE_OPTIONS = ("rate", "concurrency", "patience", "stall")
"""Options of everything that is asked over a network (see `instar.adapters.throttle`)."""
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def resolve_system(
    use: Use, *, what: str = "system", tasks: Sequence[str] = (), cluster: Cluster | None = None
) -> System:
    """The system of that name. One that a user's code is part of is built in a process of its own.

    With a cluster it is built there, unless it is answered over a network or elsewhere: that is asked from
    here, so that one account is kept of how much is asked.
    """
    use = settle_name(use)
    build = partial(build_system, use, what=what, tasks=tasks)
    is_foreign = bool(code_named_by(use)) and not is_remote(use)
    if is_foreign:
        _add_current_folder_to_path()
    if cluster is not None and not is_asked_from_here(use):
        system = build_on_cluster(build, cluster, ours=not is_foreign)
        if not system.sends_to:
            return system
        system.close()
    return WorkerSystem(build) if is_foreign else build()


class LazySystem:
    """A system that is made when it is asked for the first time."""

    concurrent = False

    def __init__(self, name: str, make: Callable[[], System]) -> None:
        self.name, self._make = name, make

    @cached_property
    def _system(self) -> System:
        return self._make()

    @property
    def batch(self) -> int:
        return int(getattr(self._system, "batch", 1))

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self._system)

    @property
    def classes(self) -> Any:
        return getattr(self._system, "classes", None)

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        return self._system.predict(inputs)


def build_system(use: Use, *, what: str = "system", tasks: Sequence[str] = ()) -> System:
    """The system in this process; `module:attr` may be a system, a class, a factory or a predict function."""
    adapted = find_adapter(use)
    if adapted is not None:
        factory, with_name = adapted
        return _made_of(what, with_name, factory)
    found = find_by_name(what, use.name, tasks=tasks or tasks_of_system(use))
    if ":" not in use.name:
        return _made_of(what, use, found)
    adapter = find_library_adapter(found) or _adapter(found, use, tasks)
    if adapter is not None:
        return _made_of(what, use, partial(adapter, found, use.name))
    labels = use.options.get("labels")
    if labels is not None and "labels" not in _parameters_of(found):
        rest = {name: value for name, value in use.options.items() if name != "labels"}
        return NamedLabels(_own_system(what, Use(use.name, rest), found), labels)
    return _own_system(what, use, found)


def _own_system(what: str, use: Use, found: Any) -> System:
    is_made = not isinstance(found, type) and hasattr(found, "predict")
    if is_made or (_is_function(found) and _awaits_inputs(found, use.options)):
        _require_no_options(what, use)
        return _as_system(what, use.name, found)
    return _made_of(what, use, found)


def _is_function(found: Any) -> bool:
    return callable(found) and not isinstance(found, type)


def _as_system(what: str, name: str, thing: Any) -> System:
    """A thing that was named, or that what was named has made, as a system where it can be one."""
    adapter = find_library_adapter(thing) or _adapter(thing, Use(name), ())
    if adapter is not None:
        made: System = adapter(thing, name)
        return made
    if hasattr(thing, "predict") and not hasattr(thing, "name"):
        with contextlib.suppress(AttributeError):  # of what has no place for one
            thing.name = name
    if isinstance(thing, System) and callable(thing.predict):
        return thing
    if _is_function(thing) and not hasattr(thing, "predict"):
        return function_system(name, thing)
    raise BadInput(f"{what} {name!r} is {_kind(thing)}; it needs predict(inputs), or to be a function")


def tasks_of_system(use: Use) -> list[str]:
    """The tasks that a built-in system belongs to; of several, those that take all the options given."""
    if told := tasks_of_name(use):
        return told
    named = [(c.name, c.systems[use.name]) for c in catalogues().values() if use.name in c.systems]
    if len(named) < 2:
        return [task for task, _ in named]
    return [task for task, home in named if set(use.options) <= set(_parameters(_attribute("system", home)))]


def _adapter(found: Any, use: Use, tasks: Sequence[str]) -> Any:
    """What makes a system of a user's network: that of the first task which takes the options given."""
    torch = sys.modules.get("torch")
    is_network = torch is not None and isinstance(found, torch.nn.Module)
    if not is_network and (not callable(found) or set(use.options) <= set(_parameters(found))):
        return None
    for catalogue in sorted(catalogues().values(), key=lambda one: one.name not in tasks):
        if catalogue.adapter:
            adapter = _attribute("system", catalogue.adapter)
            options = _parameters(adapter)
            required = [name for name, p in list(options.items())[2:] if p.default is p.empty]
            if set(use.options) <= set(options) and set(required) <= set(use.options):
                return adapter
    return None


def _parameters_of(found: Any) -> dict[str, inspect.Parameter]:
    """Those that it is made with; none of what is made already."""
    is_made = hasattr(found, "predict") and not isinstance(found, type)
    return {} if is_made or not callable(found) else _parameters(found)


def _parameters(function: Any) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(function).parameters)


def _made_of(what: str, use: Use, factory: Any) -> System:
    throttle = {key: use.options[key] for key in THROTTLE_OPTIONS if key in use.options}
    throttle = {key: value for key, value in throttle.items() if key not in _parameters(factory)}
    rest = {key: value for key, value in use.options.items() if key not in throttle}
    made = _make(what, Use(use.name, rest, use.called), factory)
    if throttle and not hasattr(made, "set_throttle"):
        raise BadInput(f"{what} {use.name!r} is no server; {next(iter(throttle))} is for those")
    if throttle:
        made.set_throttle(**throttle)
    return _as_system(what, use.name, made)


def resolve_relation(
    use: Use, *, given: Mapping[str, Any] | None = None, tasks: Sequence[str] = ()
) -> Relation:
    """The relation of that name, or as the plan calls it; `module:attr` may be one or a factory of one.

    `given` are things that a factory gets when it has a parameter of that name, before any option.
    """
    made = find_by_name("relation", use.name, tasks=tasks)
    if isinstance(made, Relation):
        _require_no_options("relation", use)
    else:
        made = _make("relation", use, made, also=["search", "name"], given=given or {})
    if not isinstance(made, Relation):
        raise BadInput(f"relation {use.name!r} is {_kind(made)}; it must be an instar.Relation")
    return made if use.called is None else dataclasses.replace(made, name=use.called)


def takes(use: Use, parameter: str) -> bool:
    """Whether a relation is made with a parameter of that name."""
    found = find_by_name("relation", use.name)
    return not isinstance(found, Relation) and parameter in inspect.signature(found).parameters


def resolve_search(use: Use) -> Search | SearchAcross:
    """The search of that name: what the factory under it makes."""
    made = _make("search", use, find_by_name("search", use.name))
    if not callable(made):
        raise BadInput(f"search {use.name!r} is {_kind(made)}; it must be a function")
    search: Search | SearchAcross = made
    return search


def resolve_searches(uses: Sequence[Use]) -> list[Search | SearchAcross]:
    """The search of each; the same use is the same search, so that relations can be searched together."""
    made: list[tuple[Use, Search | SearchAcross]] = []
    for use in uses:
        known = next((search for other, search in made if other == use), None)
        made.append((use, known or resolve_search(use)))
    return [search for _, search in made]


def find_by_name(what: str, name: str, *, tasks: Sequence[str] = ()) -> Any:
    """What a built-in name or `module:attr` stands for; a name that several have is that of `tasks`."""
    if ":" not in name:
        kind = what if what in ("relation", "search") else "system"
        return _attribute(what, find_entry(kind, name, tasks=tasks).home)
    _add_current_folder_to_path()
    return _attribute(what, name)


def _attribute(what: str, path: str) -> Any:
    module_name, _, attributes = path.partition(":")
    try:
        found: Any = import_module(module_name)
    except InstarError:
        raise
    except (Exception, SystemExit) as error:
        raise BadInput(f"{what} {path!r}: cannot import {module_name}: {describe_error(error)}") from error
    for name in attributes.split("."):
        if not hasattr(found, name):
            public = [known for known in dir(found) if not known.startswith("_")]
            raise BadInput(f"{what} {path!r}: {UnknownName('attribute', name, public)}")
        found = getattr(found, name)
    return found


def _add_current_folder_to_path() -> None:
    # `python -m` does so by itself; a console script looks only into its own folder.
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)


def _awaits_inputs(function: Callable[..., Any], options: Mapping[str, Any]) -> bool:
    """Whether it is predict(inputs) itself: exactly one parameter is left that must be given."""
    return len([name for name in required_parameters(function) if name not in options]) == 1


def _make(
    what: str, use: Use, factory: Any, *, also: Sequence[str] = (), given: Mapping[str, Any] | None = None
) -> Any:
    """Call the factory with the options, after checking that it knows them."""
    if not callable(factory):
        raise BadInput(f"{what} {use.name!r} is {_kind(factory)}, which cannot be used as one")
    parameters = inspect.signature(factory).parameters.values()
    named = {p.name: p for p in parameters if p.kind in NAMED}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for option in use.options:
            if option not in named:
                unknown = UnknownName("option", option, [*named, *also])
                raise BadInput(f"{what} {use.name!r}: {unknown}")
    arguments = dict(use.options) | {name: value for name, value in (given or {}).items() if name in named}
    missing = [p.name for p in named.values() if p.default is p.empty and p.name not in arguments]
    if missing:
        raise BadInput(
            f"{what} {use.name!r} needs {' and '.join(missing)}; give --set {what}.{missing[0]}=..."
        )
    try:
        return factory(**arguments)
    except SystemExit as error:
        raise BadInput(f"{what} {use.name!r} ends the program: {describe_error(error)}") from error


def _require_no_options(what: str, use: Use) -> None:
    if use.options:
        raise BadInput(f"{what} {use.name!r} takes no options, but {next(iter(use.options))!r} was given")


def _kind(value: Any) -> str:
    return with_article(type(value).__name__)
