"""What the command line lends to the workbench: runs opened, names listed, rules read and pictured."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from instar.campaigns.catalogue import catalogue_entries, catalogues
from instar.campaigns.descriptions import describe
from instar.campaigns.reader import RunReader, open_run
from instar.cli.answers import answer_text
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of
from instar.core.relation import Relation
from instar.core.scene import Image, Observation, Scene
from instar.core.workspace import Folder, prepare_relation
from instar.scenes import load_scenes
from instar.scenes.load import WORLDS
from instar.tasks.interpretation.interpreter_names import INTERPRETERS
from instar.workbench.tools import Cases, CatalogueOption, Tools

__all__ = ["make_tools"]

DRIVES = "drive:8"  # what rules are pictured on
LISTS = ("levels",)  # options of searches that are lists of numbers


def make_tools(systems: Sequence[str], scenes: Sequence[str]) -> Tools:
    """The tools; `systems` and `scenes` are those that campaigns may use besides what is built in."""
    rules = _Pictured()
    known = {entry.name for entry in catalogue_entries("system")}
    for name in systems:
        if ":" not in name and name not in known:
            raise BadInput(f"--system {name!r} is no module:attr")
    for path in scenes:
        if not Path(path).exists():
            raise BadInput(f"--scenes {path!r} is not there")
    return Tools(
        command=[sys.executable, "-m", "instar"],
        opened=_opened,
        systems=_offers("system") | dict.fromkeys(systems, CatalogueOption(is_explained=True)),
        relations=_offers("relation"),
        rule=CatalogueOption(tasks=[catalogues()["driving"].title]),
        searches=_offers("search"),
        interpreters=INTERPRETERS,
        worlds=sorted(WORLDS, key="street drive page".find),
        scenes=[os.path.abspath(path) for path in scenes],
        read_rule=_read_rule,
        picture_rule=rules.picture,
        prepare_rules=rules.prepare,
    )


def _offers(what: str) -> dict[str, CatalogueOption]:
    """What is built in and needs no option, with the titles of its tasks; several may have one name."""
    offers: dict[str, CatalogueOption] = {}
    for entry in describe(what):
        name, options = entry["name"], entry["options"]
        if "..." in options.values():
            continue
        others = offers.get(name, CatalogueOption())
        title = [catalogues()[entry["task"]].title] if entry["task"] else []
        numbers = {o: o in LISTS for o, default in options.items() if what == "search" and default == "None"}
        is_explained = others.is_explained or "interpreter" in options
        offers[name] = CatalogueOption(entry["what"], [*others.tasks, *title], numbers, is_explained)
    return offers


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    run: RunReader

    def show(self, case: str) -> Any:
        return self.run.show(case)

    def drawing(self, case: str) -> Image | None:
        return self.run.picture(case)

    def answers(self, case: str) -> list[str]:
        return [answer_text(answer) for answer in self.run.answers(case)]


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Cases]:
    with open_run(str(folder), quiet=True) as run:
        yield _Cases(run)


def _read_rule(text: str) -> Mapping[str, Any]:
    from instar.cli import rule

    parser = ArgumentParser()
    rule.arguments(parser)
    return rule.perform(parser.parse_args(["--", text])).document


@dataclass(eq=False)
class _Pictured:
    """Rules tried on drawn drives; what they need of them is collected once."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _scenes: Sequence[Scene] = ()
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def prepare(self) -> None:
        """Collect what any rule needs, which takes seconds."""
        self._ready("If: it rains, Then: slow down.")

    def picture(self, text: str) -> list[Image]:
        """A drive and what the rule makes of it: the first on which it can be done."""
        relation = self._ready(text)
        why = "no drawn drive allows it"
        for scene in self._scenes:
            made = _tried(relation, scene)
            if not isinstance(made, Inapplicable):
                return made
            why = made.reason
        raise BadInput(why)

    def _ready(self, text: str) -> Relation:
        from instar.tasks.driving.relations import rule

        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="instar-rules-")
                # Clear days first, night and fog last: there is more to see.
                self._scenes = sorted(load_scenes(DRIVES), key=lambda scene: -float(scene.image.std()))
            return prepare_relation(rule(text), self._scenes, Folder(Path(self._folder.name)))


def _tried(relation: Relation, scene: Scene) -> list[Image] | Inapplicable:
    source = Observation(scene, None, scene.read)
    change = relation.drawn(source, np.random.default_rng(0))
    made = change if isinstance(change, Inapplicable) else follow_ups_of(relation, source.input, change)
    return made if isinstance(made, Inapplicable) else [source.input, *(one.input for one in made)]
