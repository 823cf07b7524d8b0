"""What the command line lends to the workbench: runs opened, names listed, rules read and pictured."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from instar.cli.answers import answer_text
from instar.cli.catalogue import RELATIONS, SEARCHES, SYSTEMS
from instar.cli.descriptions import describe
from instar.cli.run_reader import OpenedRun, opened
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.core.run import Folder, prepared
from instar.core.scene import Image, Observation, Scene
from instar.report.case_picture import picture_of
from instar.scenes import load_scenes
from instar.scenes.load import WORLDS
from instar.tasks.interpretation.interpreter_names import INTERPRETERS
from instar.workbench.tools import Cases, Offer, Tools

__all__ = ["make_tools"]

DRIVES = "drive:8"  # what rules are pictured on
FAMILIES = {
    "detection": "Object detection", "text": "Text", "driving": "Driving", "interpretation": "Explanations",
}  # fmt: skip
LISTS = ("levels",)  # options of searches that are lists of numbers


def make_tools(systems: Sequence[str], scenes: Sequence[str]) -> Tools:
    """The tools; `systems` and `scenes` are those that campaigns may use besides what is built in."""
    rules = _Pictured()
    for name in systems:
        if ":" not in name and name not in SYSTEMS:
            raise BadInput(f"--system {name!r} is no module:attr")
    for path in scenes:
        if not Path(path).exists():
            raise BadInput(f"--scenes {path!r} is not there")
    relations = _offers("relation", RELATIONS)
    return Tools(
        command=[sys.executable, "-m", "instar"],
        opened=_opened,
        systems=_ready(_offers("system", SYSTEMS)) | dict.fromkeys(systems, Offer(is_explained=True)),
        relations=_ready(relations),
        rule=relations["rule"],
        searches=_offers("search", SEARCHES),
        interpreters=INTERPRETERS,
        worlds=sorted(WORLDS, key="street drive page".find),
        scenes=[os.path.abspath(path) for path in scenes],
        read_rule=_read_rule,
        picture_rule=rules.picture,
        prepare_rules=rules.prepare,
    )


def _offers(what: str, builtin: Mapping[str, str]) -> dict[str, Offer]:
    """What is built in, each with the family in whose package it lies."""
    offers = {}
    for entry in describe(what, builtin):
        name, options = entry["name"], entry["options"]
        family = FAMILIES.get(re.split("[.:]", builtin[name])[2], "")
        needs = {option: option in LISTS for option, default in options.items() if default == "..."}
        offers[name] = Offer(entry["what"], family, needs, "interpreter" in options)
    return offers


def _ready(offers: Mapping[str, Offer]) -> dict[str, Offer]:
    """Those that need nothing more."""
    return {name: offer for name, offer in offers.items() if not offer.needs}


@dataclass(frozen=True, slots=True, eq=False)
class _Cases:
    run: OpenedRun

    def show(self, case: str) -> Any:
        return self.run.show(case)

    def drawing(self, case: str) -> Image | None:
        record = self.run.store.record(case)
        again = self.run.again(record, self.run.remembered)
        return picture_of(self.run.relation(record.relation), again)

    def answers(self, case: str) -> list[str]:
        again = self.run.again(self.run.store.record(case), self.run.remembered)
        observed = [again.source, *again.follow_ups]
        return [answer_text(one.answer) for one in observed if one is not None]


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[Cases]:
    with opened(str(folder), quiet=True) as run:
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
            return prepared(rule(text), self._scenes, Folder(Path(self._folder.name)))


def _tried(relation: Relation, scene: Scene) -> list[Image] | Inapplicable:
    source = Observation(scene, None, scene.read)
    change = relation.draw(source, np.random.default_rng(0))
    if isinstance(change, Inapplicable):
        return change
    made = relation.apply(source.input, change)
    return made if isinstance(made, Inapplicable) else [source.input, *made]
