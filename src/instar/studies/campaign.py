"""What the campaigns of all studies share: systems looked up at once, runs that go on, and cases counted."""

from __future__ import annotations

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instar.campaigns.definite_plan import folder_name
from instar.campaigns.overrides import systems_with
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.campaigns.resolve import resolve_system
from instar.campaigns.run import execute
from instar.core.errors import BadInput
from instar.core.options import split_names
from instar.core.record import Record
from instar.core.system import System
from instar.core.verdict import Status
from instar.core.workspace import prepare_relation
from instar.stats import clustered_rate
from instar.store import RunStore
from instar.studies.output import require_matplotlib


def find_systems(args: argparse.Namespace, settings: Iterable[str] = ()) -> list[tuple[Use, System]]:
    """The systems of `--systems` with their settings, at least one, each once, before the first is run."""
    names = split_names(args.systems)
    if not names or len(set(names)) < len(names):
        raise BadInput(f"--systems {args.systems!r} names none, or one of them twice")
    if args.plots:
        require_matplotlib()
    return [(use, resolve_system(use)) for use in systems_with(names, settings)]


def folder_of(args: argparse.Namespace, system: str) -> Path:
    """Where the runs of a system go."""
    return Path(args.out) / folder_name(system)


@contextlib.contextmanager
def run_campaign(
    args: argparse.Namespace,
    use: Use,
    relations: Iterable[RelationUse],
    folder: Path,
    *,
    prepare: Any = prepare_relation,
    ask: bool = True,
    **more: Any,
) -> Iterator[RunStore]:
    """Run a system into that folder, or go on there, and open the run; without `ask` only open it."""
    settings = {"scenes": args.scenes, "seed": args.seed, "limit": args.limit, "out": str(folder)}
    plan = Plan(systems=(use,), relations=tuple(relations), **(settings | more))
    if ask:
        # Studies whose systems are no services have no such flag.
        execute(plan, resume=True, quiet=args.json, prepare=prepare, yes=getattr(args, "yes", False))
    with RunStore.read(folder) as store:
        yield store


@dataclass(eq=False)
class CaseCounts:
    """Cases `by_scene`, those of them that `failed_by_scene`, and those that could not be judged.

    `unstable` cases show what null changes show too, or what does not recur; `kinds` are those of violations.
    """

    by_scene: Counter[str] = field(default_factory=Counter)
    failed_by_scene: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    unstable: int = 0
    inapplicable: int = 0
    failed: int = 0

    @property
    def judged(self) -> int:
        return self.by_scene.total()

    @property
    def violated(self) -> int:
        return self.failed_by_scene.total()

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % for the violated share, over scenes; None where nothing was judged."""
        if not self.judged:
            return None
        scenes = sorted(self.by_scene)
        violated = [self.failed_by_scene[scene] for scene in scenes]
        return clustered_rate(violated, [self.by_scene[scene] for scene in scenes])

    def judge(self, scene: str, *, violated: bool) -> None:
        """Count one case that was judged."""
        self.by_scene[scene] += 1
        self.failed_by_scene[scene] += violated

    def add(self, record: Record) -> None:
        """Count one case, whatever came of it."""
        status, kind = record.verdict.status, record.verdict.kind
        if status in (Status.HELD, Status.VIOLATED):
            self.judge(record.scene, violated=status is Status.VIOLATED)
        if status is Status.VIOLATED:
            self.kinds[kind] += 1
        self.unstable += kind == "unstable"
        self.failed += status is Status.FAILED
        self.inapplicable += status is Status.INAPPLICABLE and kind != "unstable"
