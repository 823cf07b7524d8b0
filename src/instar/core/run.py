"""Running a campaign from Python: choose a store, let relations prepare, and go."""

from __future__ import annotations

import contextlib
import dataclasses
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar.core.campaign import Campaign, Store
from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.relation import Relation
from instar.core.scene import Scene
from instar.core.search import Search, SearchAcross, draws
from instar.core.system import Limits, System, fingerprint_of
from instar.engines.local import Tally, batch_size, run_local

__all__ = ["Folder", "identity_of", "prepared", "run"]


class _Silent:
    def advance(self, n: int = 1) -> None:
        """Nobody is watching."""


@contextlib.contextmanager
def no_progress(what: str, total: int | None) -> Iterator[Any]:
    yield _Silent()


@dataclass(frozen=True)
class Folder:
    """A workspace (see `instar.core.relation.Workspace`): a folder, and a way to show progress."""

    folder: Path
    progress: Callable[[str, int | None], Any] = no_progress


def prepared(relation: Relation, scenes: Sequence[Scene], workspace: Folder) -> Relation:
    """The relation with whatever it has to collect from the scenes first, under the name it had."""
    if relation.prepare is None:
        return relation
    return dataclasses.replace(relation.prepare(scenes, workspace), name=relation.name)


def identity_of(campaign: Campaign) -> dict[str, Any]:
    """What makes a campaign this one; a resumed run must agree on all of it."""
    return {
        "system": campaign.system.name,
        "fingerprint": fingerprint_of(campaign.system),
        "relations": [relation.name for relation, _ in campaign.relations],
        "seed": campaign.seed,
    }


def run(
    scenes: Iterable[Scene],
    relation: Relation | Sequence[Relation],
    system: System,
    *,
    search: Search | SearchAcross | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    workers: int = 1,
    batch: int | None = None,
    watch: Callable[[Tally], None] = lambda tally: None,
) -> Generator[Record, None, None]:
    """Test a system; the records come one by one, those of null changes (`role == "null"`) included.

    `search` is ten independent draws per source by default. With `out` everything is kept in that
    folder, from which the command line reports and replays; without it, nothing is written.
    """
    relations = [relation] if isinstance(relation, Relation) else list(relation)
    scenes = list(scenes)
    with contextlib.ExitStack() as stack:
        # Everything that can be refused is refused before a run folder is made.
        campaign = Campaign(
            scenes=scenes,
            relations=[(one, search or draws()) for one in relations],
            system=system,
            seed=seed,
            limits=limits or Limits(),
            name=str(out or ""),
        )
        batch = batch_size(system, batch=batch, workers=workers)
        store, folder = _open_store(campaign, out, resume, stack)
        ready = [(prepared(one, scenes, Folder(folder)), how) for one, how in campaign.relations]
        campaign = dataclasses.replace(campaign, relations=ready)
        records = run_local(campaign, store, workers=workers, batch=batch, watch=watch)
        yield from stack.enter_context(contextlib.closing(records))


def _open_store(
    campaign: Campaign, out: str | Path | None, resume: bool, stack: contextlib.ExitStack
) -> tuple[Store, Path]:
    from instar.store import MemoryStore, RunStore  # SQLite and OpenCV only when something runs

    if out is None:
        if resume:
            raise BadInput("resume needs a run folder; give out as well")
        return MemoryStore(), Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="instar-")))
    open_run = RunStore.resume if resume else RunStore.create
    store = stack.enter_context(open_run(out, identity=identity_of(campaign)))
    return store, store.folder
