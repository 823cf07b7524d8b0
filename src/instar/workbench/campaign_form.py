"""What a campaign is ordered with: the form of the page, read and checked, as arguments of `instar run`.

A campaign may use what whoever started the workbench has named: built-in systems and relations, drawn worlds,
and the scenes and systems given on the command line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from instar.campaigns.catalogue import catalogues, find_entry
from instar.core.errors import BadInput, UnknownName
from instar.workbench.offers import Offer, Offers

__all__ = ["LONGEST_RULE", "MOST_RULES", "Order", "read_order"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
WORLD = re.compile(r"[a-z]+:[1-9][0-9]{0,4}")
MOST_RULES, LONGEST_RULE = 20, 500
MOST_NUMBERS = 200


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
        return [*words, f"--seed={self.seed}"]


def read_order(form: Mapping[str, Sequence[str]], offers: Offers) -> Order:
    """The order that a form makes, or what is wrong with it."""
    one = {name: values[0].strip() for name, values in form.items() if values}
    lines = [line.strip() for line in one.get("rules", "").splitlines()]
    search = one.get("search", "")
    order = Order(
        name=one.get("name", ""),
        system=one.get("system", ""),
        scenes=_scenes(one, offers),
        relations=[name for name in form.get("relation", ()) if name],
        rules=[line for line in lines if line],
        interpreter=one.get("interpreter", ""),
        search=search,
        numbers=dict(_numbers(one, search, offers)),
        budget=_whole(one, "budget", least=1),
        seed=_whole(one, "seed", least=0) or 0,
    )
    _check(order, offers)
    return order


def _scenes(one: Mapping[str, str], offers: Offers) -> str:
    scenes = one.get("scenes", "")
    if scenes in offers.worlds:
        scenes = f"{scenes}:{one.get('count', '') or 12}"
    return scenes


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


def _check(order: Order, offers: Offers) -> None:
    if not NAME.fullmatch(order.name):
        raise BadInput(f"the name {order.name[:80]!r} must be letters, digits, dots, dashes; 60 at most")
    system = _known("system", order.system, offers.systems)
    relations = {name: _known("relation", name, offers.relations) for name in order.relations}
    if not (order.relations or order.rules):
        raise BadInput("choose a relation or write a rule")
    for name, relation in (relations | ({"a driving rule": _rules()} if order.rules else {})).items():
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
    if not is_world and order.scenes not in offers.scenes:
        known = [*(f"{world}:N" for world in offers.worlds), *offers.scenes]
        raise UnknownName("scenes", order.scenes[:200], known)
    if len(order.rules) > MOST_RULES:
        raise BadInput(f"there are {len(order.rules)} rules; {MOST_RULES} at most")
    for rule in order.rules:
        if len(rule) > LONGEST_RULE:
            raise BadInput(f"a rule has {len(rule)} characters; {LONGEST_RULE} at most")
        offers.read_rule(rule)


def _rules() -> Offer:
    return Offer(tasks=[catalogues()[find_entry("relation", "rule").task].title])


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
