"""What the campaigns of all studies share: their systems, looked up at once, and runs that go on."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from instar.campaigns.overrides import systems_with
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.campaigns.resolve import resolve_system
from instar.campaigns.run import execute
from instar.core.errors import BadInput
from instar.core.options import split_names
from instar.core.system import System
from instar.core.workspace import prepare_relation
from instar.store import RunStore
from instar.studies.output import require_matplotlib

__all__ = ["find_systems", "folder_of", "run_campaign"]


def find_systems(args: argparse.Namespace) -> list[tuple[Use, System]]:
    """The systems of `--systems`, at least one, each once, before the first is run."""
    names = split_names(args.systems)
    if not names or len(set(names)) < len(names):
        raise BadInput(f"--systems {args.systems!r} names none, or one of them twice")
    if args.plots:
        require_matplotlib()
    return [(use, resolve_system(use)) for use in systems_with(names, getattr(args, "set", ()))]


def folder_of(args: argparse.Namespace, system: str) -> Path:
    """Where the runs of a system go."""
    return Path(args.out) / "".join(c if c.isalnum() or c in "-_." else "-" for c in system)


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
    """The run of a system in that folder, once all is in it; only as it is unless it may `ask`."""
    settings = {"scenes": args.scenes, "seed": args.seed, "limit": args.limit, "out": str(folder)}
    plan = Plan(systems=(use,), relations=tuple(relations), **(settings | more))
    if ask:
        execute(plan, resume=True, quiet=args.json, prepare=prepare)
    with RunStore.read(folder) as store:
        yield store
