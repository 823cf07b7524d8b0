"""A run that is there, with everything that its plan names looked up when it is first needed."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from instar.cli.campaign import resolve_relations
from instar.cli.plan import Plan, make_plan
from instar.cli.progress import show_steps
from instar.cli.resolve import resolve_system
from instar.cli.toml import parse_toml
from instar.core.campaign import AnswerKey
from instar.core.change import Change
from instar.core.digest import digest
from instar.core.errors import BadInput, InstarError
from instar.core.record import Record
from instar.core.relation import Relation
from instar.core.replay import Asking, Replay, replay
from instar.core.run import Folder, prepared
from instar.core.scene import Image, Scene
from instar.core.shrink import MOST_QUESTIONS, Shrunk, shrink_case
from instar.core.system import Reply, System, ask
from instar.core.verdict import Status
from instar.engines.worker import killable
from instar.report.case_picture import panels_of, picture_of
from instar.report.case_view import Shown
from instar.scenes import load_scenes
from instar.store import RunStore

NOT_KEPT = "the run keeps no answer to this input"

__all__ = ["OpenedRun", "opened"]


@contextlib.contextmanager
def opened(run: str, *, quiet: bool = False) -> Iterator[OpenedRun]:
    """The run in a folder, for looking only."""
    with RunStore.read(run) as store:
        yield OpenedRun(store, quiet)


@dataclass(eq=False)
class OpenedRun:
    """A run's store and plan, and what the plan names."""

    store: RunStore
    quiet: bool = False
    _ready: dict[str, Relation] = field(default_factory=dict)

    @cached_property
    def plan(self) -> Plan:
        """Only runs of the command line have one; what needs none can be said of any run."""
        return make_plan(parse_toml(self.store.plan()))

    @cached_property
    def system(self) -> System:
        return resolve_system(self.plan.systems[0])

    @cached_property
    def scenes(self) -> Sequence[Scene]:
        plan = self.plan
        return load_scenes(
            plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth, palette=plan.palette
        )

    @cached_property
    def _scenes_by_id(self) -> Mapping[str, Scene]:
        return {scene.id: scene for scene in self.scenes}

    @cached_property
    def _relations(self) -> Mapping[str, Relation]:
        # The run carries the cut-outs it used: neither the pool nor the helper is needed again.
        resolved = resolve_relations(self.plan, {"pool": self.store.pictures})
        return {relation.name: relation for relation in resolved}

    def scene(self, id: str) -> Scene:
        if id not in self._scenes_by_id:
            raise BadInput(f"scene {id!r} is not in {self.plan.scenes} any more")
        return self._scenes_by_id[id]

    def relation(self, name: str) -> Relation:
        """The relation of that name, prepared for the run's scenes."""
        if name not in self._ready:
            workspace = Folder(self.store.folder, partial(show_steps, quiet=self.quiet))
            self._ready[name] = prepared(self._relations[name], self.scenes, workspace)
        return self._ready[name]

    def again(self, record: Record, asking: Asking) -> Replay:
        """The case made again, its questions answered by `asking`."""
        return replay(
            record,
            self.scene(record.scene),
            self.relation(record.relation),
            _WhenNeeded(lambda: self.system),
            known_as=self.store.source_digest(record.source),
            asking=asking,
        )

    def show(self, case: str) -> Shown:
        """The case with its pictures, made from its recipe and the answers that the run keeps.

        Nothing is asked of the system. Where the pictures cannot be made (a scene has gone, the relation's
        module is not there) the case is shown without them, and says why.
        """
        record = self.store.record(case, change=False)
        try:
            record = self.store.record(case)
            again = self.again(record, self.remembered)
            panels, why = panels_of(self.relation(record.relation), again), ""
            if not panels:
                why = again.verdict.reason or "its inputs are no pictures"
        except InstarError as error:
            panels, why = [], str(error)
        verdict = record.verdict
        return Shown(
            case=record.case,
            scene=record.source,
            relation=record.relation,
            status=verdict.status,
            margin=verdict.margin,
            change="" if record.change is None else str(record.change),
            findings=verdict.findings,
            panels=panels,
            naturalness=record.naturalness,
            why=why,
        )

    def shrunk(self, case: str, asking: Asking, *, most: int = MOST_QUESTIONS) -> Shrunk:
        """The smallest change of a violated case that still fails; `asking` is how the system is asked."""
        record = self.store.record(case)
        if record.verdict.status is not Status.VIOLATED or record.change is None:
            raise BadInput(
                f"case {record.case} is not violated ({record.verdict.status.value}): nothing to shrink"
            )
        relation = self.relation(record.relation)
        source = self.again(record, self.remembered_or(asking)).source
        if source is None:
            raise BadInput(f"case {record.case}: the system does not answer to its source any more")
        keys = [finding.key for finding in record.verdict.findings]
        return shrink_case(relation, source, record.change, keys, asking, most=most)

    def picture_with(self, record: Record, change: Change, asking: Asking) -> Image | None:
        """The case as one picture, under another change."""
        again = self.again(dataclasses.replace(record, change=change), self.remembered_or(asking))
        return picture_of(self.relation(record.relation), again)

    def remembered_or(self, asking: Asking) -> Asking:
        """Answers that the run keeps, and for the rest those of `asking`."""

        def answers(inputs: Sequence[Any]) -> list[Reply]:
            replies = self.remembered(inputs)
            missing = [i for i, reply in enumerate(replies) if reply.error == NOT_KEPT]
            for i, reply in zip(missing, asking([inputs[i] for i in missing]) if missing else ()):
                replies[i] = reply
            return replies

        return answers

    @contextlib.contextmanager
    def asking(self) -> Iterator[Asking]:
        """How the run's system is asked: within the time limit and retries of its plan."""
        limits = self.plan.limits
        with contextlib.ExitStack() as stack:
            asked = self.system
            if limits.timeout is not None:
                asked = stack.enter_context(killable(self.system, limits.timeout, processes=1))
            yield partial(ask, asked, retries=limits.retries)

    def picture(self, case: str) -> Image | None:
        """The case as one picture, from what the run keeps; None where it cannot be made."""
        try:
            again = self.again(self.store.record(case), self.remembered)
            return picture_of(self.relation(again.record.relation), again)
        except InstarError:
            return None

    def remembered(self, inputs: Sequence[Any]) -> list[Reply]:
        """The answers that the run keeps to these inputs."""
        fingerprint = self.store.fingerprint()
        replies = []
        for one in inputs:
            reply = self.store.answer(AnswerKey(fingerprint, digest(one), 0))
            replies.append(reply or Reply(error=NOT_KEPT))
        return replies


class _WhenNeeded:
    """A system that is looked up when something of it is used: most pictures need only its answers."""

    def __init__(self, find: Callable[[], System]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)
