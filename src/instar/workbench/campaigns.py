"""Campaigns as child processes: `instar run` with a list of arguments, never through a shell.

What a campaign may use was named by whoever started the workbench: built-in systems and relations, drawn
worlds, and the scenes and systems given on the command line. Its run folder lies in the folder that is shown.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from instar.errors import BadInput, UnknownName
from instar.workbench.tools import Tools

__all__ = ["Campaigns", "Child", "Order"]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
WORLD = re.compile(r"[a-z]+:[1-9][0-9]{0,4}")
MOST_RULES, LONGEST_RULE = 20, 500
AT_ONCE = 4
PATIENCE = 20.0  # seconds that a stopped campaign may take to end


@dataclass(frozen=True, slots=True)
class Order:
    """A campaign as it was asked for."""

    name: str
    system: str
    scenes: str
    relations: Sequence[str] = ()
    rules: Sequence[str] = ()
    search: str = ""
    budget: int | None = None
    seed: int = 0

    def words(self, folder: Path) -> list[str]:
        """The arguments of `instar`; values that somebody typed stand behind `=` or are known names."""
        words = ["run", f"--system={self.system}", f"--scenes={self.scenes}", f"--out={folder}"]
        words += [f"--relation={relation}" for relation in self.relations]
        words += [f"--rule={rule}" for rule in self.rules]
        if self.search:
            words.append(f"--search={self.search}")
        if self.budget is not None:
            words.append(f"--budget={self.budget}")
        return [*words, f"--seed={self.seed}"]


@dataclass(eq=False)
class Child:
    """A campaign that was started here."""

    run: str
    words: Sequence[str]
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    budget: int | None
    began: float
    is_stopped: bool = False

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def error(self) -> str:
        """What it complained of, once it has ended."""
        if self.is_running or self.process.returncode in (0, 1):
            return ""
        self.output.seek(0)
        try:
            document = json.loads(self.output.read())
            return str(document.get("error", ""))
        except (ValueError, AttributeError):
            return f"it ended with status {self.process.returncode}"


class Campaigns:
    """What was started here, by the name of its run."""

    def __init__(self, root: Path, tools: Tools) -> None:
        self._home = root / "runs" if (root / "run.sqlite").is_file() else root
        self._root, self._tools = root, tools
        self._children: dict[str, Child] = {}
        self._lock = threading.Lock()

    def child(self, run: str) -> Child | None:
        return self._children.get(run)

    def running(self) -> list[Child]:
        return [child for child in self._children.values() if child.is_running]

    def read_order(self, form: Mapping[str, Sequence[str]]) -> Order:
        """The order that a form makes, or what is wrong with it."""
        one = {name: values[0].strip() for name, values in form.items() if values}
        relations = [name for name in form.get("relation", ()) if name]
        lines = [line.strip() for line in one.get("rules", "").splitlines()]
        order = Order(
            name=one.get("name", ""),
            system=one.get("system", ""),
            scenes=self._scenes(one),
            relations=relations,
            rules=[line for line in lines if line],
            search=one.get("search", ""),
            budget=_whole(one, "budget", least=1),
            seed=_whole(one, "seed", least=0) or 0,
        )
        self._check(order)
        return order

    def start(self, order: Order) -> str:
        """Begin a campaign; the name of its run."""
        folder = self._home / order.name
        if folder.exists():
            raise BadInput(f"there is a {order.name!r} already; choose another name")
        run = folder.relative_to(self._root).as_posix()
        self._begin(run, order.words(folder), order.budget)
        return run

    def resume(self, run: str, folder: Path) -> None:
        """Go on with a run: as it was begun here, or else as its plan says."""
        before, plan = self._children.get(run), folder / "plan.toml"
        if before is not None:
            words = [*(word for word in before.words if word != "--resume"), "--resume"]
            self._begin(run, words, before.budget)
        elif plan.is_file():
            self._begin(run, ["run", str(plan), f"--out={folder}", "--resume"], None)
        else:
            raise BadInput(f"{run} has no plan.toml; it was not made by the command line")

    def stop(self, run: str) -> None:
        """Ask a campaign to end; it keeps what it has and can be resumed."""
        child = self._children.get(run)
        if child is None or not child.is_running:
            raise BadInput(f"{run} was not started here, or has ended")
        child.is_stopped = True
        child.process.send_signal(signal.SIGINT)

    def close(self) -> None:
        """End whatever still runs, so that nothing goes on unseen."""
        for child in self.running():
            child.is_stopped = True
            child.process.send_signal(signal.SIGINT)
        for child in self._children.values():
            try:
                child.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                child.process.kill()
                child.process.wait()
            child.output.close()

    def _begin(self, run: str, words: Sequence[str], budget: int | None) -> None:
        with self._lock:
            before = self._children.get(run)
            if before is not None and before.is_running:
                raise BadInput(f"{run} is running already")
            if len(self.running()) >= AT_ONCE:
                raise BadInput(f"{AT_ONCE} campaigns are running already; stop one or wait")
            if before is not None:
                before.output.close()
            self._home.mkdir(parents=True, exist_ok=True)
            output = tempfile.TemporaryFile()  # noqa: SIM115 - read when the child has ended
            process = subprocess.Popen(
                [*self._tools.command, *words, "--json"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            self._children[run] = Child(run, words, process, output, budget, time.monotonic())

    def _scenes(self, one: Mapping[str, str]) -> str:
        scenes = one.get("scenes", "")
        if scenes in self._tools.worlds:
            scenes = f"{scenes}:{one.get('count', '') or 12}"
        return scenes

    def _check(self, order: Order) -> None:
        if not NAME.fullmatch(order.name):
            raise BadInput(f"the name {order.name[:80]!r} must be letters, digits, dots, dashes; 60 at most")
        if order.system not in self._tools.systems:
            raise UnknownName("system", order.system[:200], self._tools.systems)
        for relation in order.relations:
            if relation not in self._tools.relations:
                raise UnknownName("relation", relation[:200], self._tools.relations)
        if order.search and order.search not in self._tools.searches:
            raise UnknownName("search", order.search[:200], self._tools.searches)
        is_world = WORLD.fullmatch(order.scenes) and order.scenes.partition(":")[0] in self._tools.worlds
        if not is_world and order.scenes not in self._tools.scenes:
            known = [*(f"{world}:N" for world in self._tools.worlds), *self._tools.scenes]
            raise UnknownName("scenes", order.scenes[:200], known)
        if not (order.relations or order.rules):
            raise BadInput("choose a relation or write a rule")
        if len(order.rules) > MOST_RULES:
            raise BadInput(f"there are {len(order.rules)} rules; {MOST_RULES} at most")
        for rule in order.rules:
            if len(rule) > LONGEST_RULE:
                raise BadInput(f"a rule has {len(rule)} characters; {LONGEST_RULE} at most")
            self._tools.read_rule(rule)


def _whole(one: Mapping[str, str], name: str, *, least: int) -> int | None:
    text = one.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 9) or int(text) < least:
        raise BadInput(f"{name} is {text[:80]!r}; it must be a whole number from {least} on")
    return int(text)
