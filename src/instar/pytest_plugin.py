"""Relations as pytest tests: one for each scene, over one campaign whose batches are full.

    from instar.pytest_plugin import metamorphic

    test_insertion = metamorphic(insertion(), my_detector, instar.folder("photos/"))

gives a test for every photograph, named by it. The first of them that runs asks everything that the selected
ones need, together; under xdist one worker does and the others wait for it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from instar.core.record import Record, Totals
    from instar.core.relation import Relation
    from instar.core.scene import Scene
    from instar.core.search import Search, SearchAcross
    from instar.core.system import Limits, System

MOST_TOLD = 5  # violated cases of a scene that its failure tells of
PAUSE = 0.1  # seconds between two looks whether another worker has finished
PARAMETER = "scene"


def metamorphic(
    relation: Relation | Sequence[Relation],
    system: System | Callable[[], System],
    scenes: Iterable[Scene],
    *,
    search: Search | SearchAcross | None = None,
    seed: int = 0,
    limits: Limits | None = None,
    workers: int = 1,
    batch: int | None = None,
) -> Callable[..., None]:
    """A test function with a test for each scene; give it a name that begins with `test_`.

    `system` may be a function that makes the system, which is then called when a test first runs. The
    other arguments are those of `instar.run`.
    """
    from instar.campaigns.run import run
    from instar.core.relation import Relation as OneRelation
    from instar.report.words import readable

    relations = [relation] if isinstance(relation, OneRelation) else list(relation)
    run_relations = partial(
        run, relation=relations, search=search, seed=seed, limits=limits, workers=workers, batch=batch
    )
    campaign = _Campaign(run_relations, system, scenes if isinstance(scenes, list) else list(scenes))

    def test(scene: str, request: pytest.FixtureRequest) -> None:
        __tracebackhide__ = True
        campaign.require_held(scene, request)

    test.instar_campaign = campaign  # type: ignore[attr-defined]  # functions carry attributes
    names = [scene.id for scene in campaign.scenes]
    marked: Callable[..., None] = pytest.mark.parametrize(
        PARAMETER, names, ids=[readable(name, 120) for name in names]
    )(test)
    return marked


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("instar")
    group.addoption("--instar-pictures", metavar="DIR", help="where pictures of failures go")
    group.addoption("--instar-runs", metavar="DIR", help="keep the run folders there, for instar report, ...")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is not selected is not asked."""
    for item in session.items:
        campaign = getattr(getattr(item, "obj", None), "instar_campaign", None)
        if isinstance(campaign, _Campaign) and isinstance(item, pytest.Function):
            campaign.selected.append(str(item.callspec.params[PARAMETER]))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # the last one to leave
        shutil.rmtree(_workspace(session.config), ignore_errors=True)


@dataclass(eq=False)
class _Campaign:
    run: Callable[..., Iterable[Record]]
    given: System | Callable[[], System]
    scenes: Sequence[Scene]
    selected: list[str] = field(default_factory=list)
    _found: tuple[dict[str, list[Record]], Totals] | None = None

    @cached_property
    def system(self) -> System:
        from instar.core.system import System as OneSystem

        given: Any = self.given
        return given if isinstance(given, OneSystem) and not isinstance(given, type) else given()

    def require_held(self, scene: str, request: pytest.FixtureRequest) -> None:
        """Fail with what was found on the scene; skip where nothing could be judged."""
        __tracebackhide__ = True
        from instar.report.summary import summarise

        owner = str(request.node.nodeid).partition("[")[0]  # whichever of its scenes is asked about
        folder = work = _workspace(request.config) / uuid.uuid5(uuid.NAMESPACE_OID, owner).hex
        if kept := request.config.getoption("--instar-runs"):
            folder = Path(kept) / re.sub(r"[^\w.-]+", "-", owner)
        if self._found is None:
            self._found = self._carried_out(folder, work)
        by_scene, totals = self._found
        records = by_scene.get(scene, [])
        if not records:
            pytest.skip(f"nothing was tried on {scene}: it cannot be read, or the budget did not reach it")
        found = summarise(records, totals)
        headline = {violation.case for violation in found.findings if violation.headline}
        if headline:
            failures = [record for record in records if record.case in headline]
            worst = sorted(failures, key=lambda r: (r.verdict.margin, r.case))
            path = self._save_picture(worst[0], folder, request)
            told = _told(self.system.name, scene, worst, found.counts.judged, path)
            pytest.fail("\n".join(told), pytrace=False)
        reasons = ", ".join(found.reasons)
        why = self._unstable or (found.why_not_judged if found.counts.failed else "")
        if why:
            pytest.fail(f"{self.system.name} on {scene}: {why}: {reasons}", pytrace=False)
        if not found.counts.held:
            pytest.skip(f"nothing could be judged on {scene}: {reasons}")

    @cached_property
    def _unstable(self) -> str:
        """Why the system is too unstable to judge on all scenes together; empty where it is not."""
        from instar.report.summary import summarise

        assert self._found is not None
        by_scene, totals = self._found
        why = summarise((one for records in by_scene.values() for one in records), totals).why_not_judged
        return why if why.startswith("too unstable") else ""

    def _carried_out(self, folder: Path, work: Path) -> tuple[dict[str, list[Record]], Totals]:
        """The records of the selected scenes, asked now or by another worker, and the account of them all."""
        from instar.campaigns.run import read_totals
        from instar.core.scene import SceneList
        from instar.store import RunStore

        names = set(self.selected)
        chosen = [scene for scene in self.scenes if scene.id in names]
        if isinstance(self.scenes, SceneList):  # it says where the scenes are found again
            chosen = SceneList(chosen, self.scenes.source, self.scenes.limit)
        done = work.with_suffix(".done")
        with _only_one(work.with_suffix(".lock")):
            if not done.exists():
                # What is there is of an earlier session, or of a worker that was killed.
                shutil.rmtree(folder, ignore_errors=True)
                for _ in self.run(chosen, system=self.system, out=folder):
                    pass
                done.touch()
        by_scene: dict[str, list[Record]] = {}
        with RunStore.read(folder) as store:
            for record in store.records():
                if record.role == "case":
                    by_scene.setdefault(record.scene, []).append(record)
            return by_scene, read_totals(store)

    def _save_picture(self, record: Record, folder: Path, request: pytest.FixtureRequest) -> Path | None:
        """The pictures of the case that the campaign kept, as one."""
        from instar.campaigns.reader import open_run
        from instar.report.files import write_picture

        with open_run(str(folder), quiet=True) as reader:
            picture = reader.picture(record.case)
        if picture is None:
            return None
        chosen = request.config.getoption("--instar-pictures")
        cache = getattr(request.config, "cache", None)
        where = Path(chosen) if chosen else Path(cache.mkdir("instar")) if cache else Path("instar-pictures")
        path = where / f"{record.case}.png"
        write_picture(path, picture)
        return path


def _told(
    system: str, scene: str, violated: Sequence[Record], judged: int, picture: Path | None
) -> Iterator[str]:
    from instar.report.causes import finding_words
    from instar.report.words import readable

    cases = f"{len(violated)} of {judged} judged cases"
    yield f"{readable(system)} contradicts itself on {readable(scene)} in {cases}"
    for record in violated[:MOST_TOLD]:
        found = "; ".join(map(finding_words, record.verdict.findings))
        change = f"{readable(record.relation, 60)}, {readable(str(record.change), 200)}"
        yield f"  {change}: {readable(found, 300)} ({record.verdict.margin:.3f})"
    if len(violated) > MOST_TOLD:
        yield f"  and {len(violated) - MOST_TOLD} more"
    if picture is not None:
        yield f"picture: {picture}"


def _workspace(config: pytest.Config) -> Path:
    """A folder that all workers of this session share, and no other session."""
    uid = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"{os.getpid()}-{id(config)}"
    folder = Path(tempfile.gettempdir()) / f"instar-pytest-{uid}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[None]:
    """Wait until nobody else is at it."""
    from instar.core.errors import RunLocked
    from instar.store.lock import RunLock

    while True:
        try:
            lock = RunLock(path)
            break
        except RunLocked:
            time.sleep(PAUSE)
    try:
        yield
    finally:
        lock.release()
