"""What campaigns can be ordered from, and an order: the form of the page, read and checked.

A campaign may use what whoever started the workbench has named: built-in systems and relations, drawn worlds,
and the scenes and systems given on the command line; and any folder of pictures whose path is typed in.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instar.campaigns.catalogue import catalogues, find_entry
from instar.campaigns.descriptions import describe
from instar.core.errors import BadInput, UnknownName
from instar.scenes.load import WORLDS

LISTS = ("levels",)  # options of searches that are lists of numbers
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
WORLD = re.compile(r"[a-z]+:[1-9][0-9]{0,4}")
MOST_RULES, LONGEST_RULE = 20, 500
MOST_NUMBERS = 200


@dataclass(frozen=True, slots=True)
class Offer:
    """A line about a system, relation or search, and the tasks it is for; none where it fits any.

    `numbers` may be given to a search; of each it says whether it is a list of them. `explained` are those of
    the tasks in which an interpreter explains the system, or may ("" of a user's own).
    """

    what: str = ""
    tasks: Sequence[str] = ()
    numbers: Mapping[str, bool] = field(default_factory=dict)
    explained: Sequence[str] = ()

    def fits(self, other: Offer) -> bool:
        return not (self.tasks and other.tasks) or bool(set(self.tasks) & set(other.tasks))


@dataclass(frozen=True, slots=True, eq=False)
class Offers:
    """What can be named in an order. `worlds` are drawn ones, `scenes` what else a campaign may look at.

    `read_rule` gives a driving rule as it is understood, or raises BadInput with `details` where one word is
    to blame.
    """

    systems: Mapping[str, Offer]
    relations: Mapping[str, Offer]
    searches: Mapping[str, Offer]
    interpreters: Sequence[str]
    worlds: Sequence[str]
    scenes: Sequence[str]
    read_rule: Callable[[str], Mapping[str, Any]]


def make_offers(
    systems: Sequence[str],
    scenes: Sequence[str],
    *,
    read_rule: Callable[[str], Mapping[str, Any]],
) -> Offers:
    """Everything built in, and the systems and scenes that campaigns may use besides."""
    known = [name for one in catalogues().values() for name in one.systems]
    for name in systems:
        if ":" not in name and name not in known:
            raise BadInput(f"--system {name!r} is no module:attr")
    for path in scenes:
        if not Path(path).exists():
            raise BadInput(f"--scenes {path!r} is not there")
    return Offers(
        systems=_built_in("system") | dict.fromkeys(systems, Offer(explained=[""])),
        relations=_built_in("relation"),
        searches=_built_in("search"),
        interpreters=[name for one in catalogues().values() for name in one.interpreters],
        worlds=sorted(WORLDS, key="street drive page poster".find),
        scenes=[os.path.abspath(path) for path in scenes],
        read_rule=read_rule,
    )


def _built_in(what: str) -> dict[str, Offer]:
    """What needs no option, with the titles of its tasks; several tasks may have one name."""
    offers: dict[str, Offer] = {}
    for entry in describe(what):
        name, options = entry["name"], entry["options"]
        if "..." in options.values():
            continue
        before = offers.get(name, Offer())
        title = [catalogues()[entry["task"]].title] if entry["task"] else []
        numbers = {o: o in LISTS for o, default in options.items() if what == "search" and default == "None"}
        explained = [*before.explained, *(title if "interpreter" in options else ())]
        offers[name] = Offer(before.what or entry["what"], [*before.tasks, *title], numbers, explained)
    return offers


@dataclass(frozen=True, slots=True)
class Order:
    """A campaign as it was asked for. `numbers` are those given to its search."""

    name: str
    system: str
    scenes: str
    relations: Sequence[str] = ()
    rules: Sequence[str] = ()
    interpreter: str = ""
    search: str = ""
    numbers: Mapping[str, Sequence[float] | float] = field(default_factory=dict)
    budget: int | None = None
    limit: int | None = None
    seed: int = 0

    def words(self, folder: Path) -> list[str]:
        """The arguments of `instar`; values that somebody typed stand behind `=` or are known names."""
        words = ["run", f"--system={self.system}", f"--scenes={self.scenes}", f"--out={folder}"]
        words += [f"--relation={relation}" for relation in self.relations]
        words += [f"--rule={rule}" for rule in self.rules]
        if self.interpreter:
            words.append(f"--interpreter={self.interpreter}")
        if self.search:
            words.append(f"--search={self.search}")
        words += [f"--set=search.{name}={value}" for name, value in self.numbers.items()]
        if self.budget is not None:
            words.append(f"--budget={self.budget}")
        if self.limit is not None:
            words.append(f"--limit={self.limit}")
        return [*words, f"--seed={self.seed}"]


def read_order(
    form: Mapping[str, Sequence[str]], offers: Offers, pictures: Mapping[str, str] | None = None
) -> Order:
    """The order that a form makes, or what is wrong with it; `pictures` are folders that were brought in."""
    one = {name: values[0].strip() for name, values in form.items() if values}
    lines = [line.strip() for line in one.get("rules", "").splitlines()]
    search, scenes = one.get("search", ""), chosen_scenes(one, offers, pictures or {})
    order = Order(
        name=one.get("name", ""),
        system=one.get("system", ""),
        scenes=scenes,
        relations=[name for name in form.get("relation", ()) if name],
        rules=[line for line in lines if line],
        interpreter=one.get("interpreter", ""),
        search=search,
        numbers=dict(_numbers(one, search, offers)),
        budget=_whole(one, "budget", least=1),
        limit=_whole(one, "limit", least=1),
        seed=_whole(one, "seed", least=0) or 0,
    )
    _check(order, offers, {*(pictures or {}).values(), *([scenes] if one.get("folder") else [])})
    return order


def chosen_scenes(one: Mapping[str, str], offers: Offers, pictures: Mapping[str, str]) -> str:
    """What the form says of scenes: a folder by its path, so many drawn ones, or what is offered by name."""
    scenes = one.get("scenes", "")
    if folder := one.get("folder", ""):
        return _existing(folder)
    if scenes in offers.worlds:
        return f"{scenes}:{one.get('count', '') or 12}"
    return pictures.get(scenes, scenes)


def _existing(folder: str) -> str:
    """The folder or file of that path on this machine."""
    path = Path(folder).expanduser()
    if "\0" in folder or not path.is_absolute() or not path.exists():
        raise BadInput(
            f"the folder {folder[:200]!r} is not there; give a whole path, such as /home/me/photos"
        )
    return str(path)


def _numbers(
    one: Mapping[str, str], search: str, offers: Offers
) -> Iterator[tuple[str, Sequence[float] | float]]:
    """What was typed for the search: each is one number, or several with commas between them."""
    for name, is_list in offers.searches.get(search, Offer()).numbers.items():
        text = one.get(f"{search}.{name}", "")
        if not text:
            continue
        try:
            numbers = [float(part) for part in text.split(",", MOST_NUMBERS)]
        except ValueError:
            numbers = []
        if not numbers or not all(map(math.isfinite, numbers)) or (len(numbers) > 1 and not is_list):
            wanted = "numbers with commas between them" if is_list else "a number"
            raise BadInput(f"{name} of {search} is {text[:80]!r}; give {wanted}")
        yield name, numbers if is_list else numbers[0]


def _check(order: Order, offers: Offers, pictures: Set[str]) -> None:
    if not NAME.fullmatch(order.name):
        raise BadInput(f"the name {order.name[:80]!r} must be letters, digits, dots, dashes; 60 at most")
    system = _known("system", order.system, offers.systems)
    relations = {name: _known("relation", name, offers.relations) for name in order.relations}
    if not (order.relations or order.rules or system.tasks):
        raise BadInput("choose a relation or write a rule")  # the suite of which task is not known
    if order.rules:
        relations["a driving rule"] = Offer(tasks=[catalogues()[find_entry("relation", "rule").task].title])
    for name, relation in relations.items():
        if not relation.fits(system):
            ours, theirs = (" and ".join(one.tasks).lower() for one in (relation, system))
            raise BadInput(f"{name} is for {ours}, but {order.system} is for {theirs}")
    if order.search:
        _known("search", order.search, offers.searches)
    if order.interpreter:
        if order.interpreter not in offers.interpreters:
            raise UnknownName("interpreter", order.interpreter[:200], offers.interpreters)
        if not system.explained:
            raise BadInput(f"{order.system} has nothing to explain; choose no interpreter")
    is_world = WORLD.fullmatch(order.scenes) and order.scenes.partition(":")[0] in offers.worlds
    if not is_world and order.scenes not in offers.scenes and order.scenes not in pictures:
        known = [*(f"{world}:N" for world in offers.worlds), *offers.scenes]
        raise UnknownName("scenes", order.scenes[:200], known)
    if len(order.rules) > MOST_RULES:
        raise BadInput(f"there are {len(order.rules)} rules; {MOST_RULES} at most")
    for rule in order.rules:
        if len(rule) > LONGEST_RULE:
            raise BadInput(f"a rule has {len(rule)} characters; {LONGEST_RULE} at most")
        offers.read_rule(rule)


def _known(what: str, name: str, offered: Mapping[str, Offer]) -> Offer:
    if name not in offered:
        raise UnknownName(what, name[:200], offered)
    return offered[name]


def _whole(one: Mapping[str, str], name: str, *, least: int) -> int | None:
    text = one.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < least:
        raise BadInput(f"{name} is {text[:80]!r}; it must be a whole number from {least} on")
    return int(text)
