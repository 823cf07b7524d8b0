"""What campaigns can be ordered from: what is built in, and what the command line adds to it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instar.campaigns.catalogue import catalogues
from instar.campaigns.descriptions import describe
from instar.core.errors import BadInput
from instar.scenes.load import WORLDS

__all__ = ["Offer", "Offers", "make_offers"]

LISTS = ("levels",)  # options of searches that are lists of numbers


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
    interpreters: Sequence[str],
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
        interpreters=interpreters,
        worlds=sorted(WORLDS, key="street drive page".find),
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
