"""An existing run and its plan: its cases shown, replayed and shrunk.

What the plan names is looked up when it is first needed. Looking at findings needs none of it: their
pictures are kept in the run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from instar.campaigns.definite_plan import UNNAMED
from instar.campaigns.plan import Plan, Use, make_plan, require_trust
from instar.campaigns.resolve import resolve_relation, resolve_system
from instar.campaigns.run import read_totals, resolve_relations
from instar.campaigns.shrink import MOST_QUESTIONS, Shrunk, shrink_case
from instar.core.campaign import AnswerKey
from instar.core.change import Change
from instar.core.errors import BadInput, InstarError, RunError, Untrusted
from instar.core.fingerprint import fingerprint_of
from instar.core.follow_up import Asking, Query
from instar.core.marks import Panel, make_panels
from instar.core.record import Record, case_id
from instar.core.relation import Relation
from instar.core.replay import Replay, replay
from instar.core.scene import Image, Observation, Scene
from instar.core.system import Reply, System, ask, variant_of
from instar.core.task import Task
from instar.core.verdict import Status
from instar.core.workspace import Folder, prepare_relation
from instar.engines.worker import WorkerSystem, within_limits
from instar.progress import show_steps
from instar.report.cards import CaseView
from instar.report.case_picture import draw_case
from instar.report.close_up import outline_change
from instar.scenes import load_scenes
from instar.store import RunStore
from instar.user_file import parse_toml

NOT_KEPT = "the run keeps no answer to this input"


@dataclass(frozen=True, slots=True)
class Named:
    """What a user gives instead of what the plan names: the thing itself, or its name."""

    system: str | System | None = None
    relations: Sequence[str | Relation] = ()
    scenes: str | Sequence[Scene] | None = None
    trusted: bool = False
    """Whether what the plan names may be imported, which runs it."""


@contextlib.contextmanager
def open_run(run: str, *, named: Named | None = None, quiet: bool = False) -> Iterator[RunReader]:
    """The run in a folder, for looking only."""
    with RunStore.read(run) as store:
        yield RunReader(store, named or Named(), quiet)


@dataclass(eq=False)
class RunReader:
    """A run's store and plan, and what the plan names."""

    store: RunStore
    named: Named = field(default_factory=Named)
    quiet: bool = False
    _prepared: dict[str, Relation] = field(default_factory=dict)

    @cached_property
    def plan(self) -> Plan:
        return make_plan(parse_toml(self.store.plan()), complete=False)

    @cached_property
    def system(self) -> System:
        given = self.named.system
        if given is None:
            use = self.plan.systems[0]
            self._require_name("system", use.name, use.called)
            require_trust([("system", use)], self.store.folder, trusted=self.named.trusted)
        else:
            use = Use(given) if isinstance(given, str) else Use(UNNAMED)
        tasks = [relation.resolved_task.name for relation in self._relations.values()]
        return resolve_system(use, tasks=tasks) if given is None or isinstance(given, str) else given

    @cached_property
    def scenes(self) -> Sequence[Scene]:
        given, plan = self.named.scenes, self.plan
        if given is not None and not isinstance(given, str):
            return given
        if given is None:
            self._require_name("scenes", plan.scenes, None)
        return load_scenes(
            given or plan.scenes, format=plan.format, limit=plan.limit, truth=plan.truth, palette=plan.palette
        )

    @cached_property
    def _fingerprints(self) -> dict[str, str]:
        """What answers are kept under, by the variant that gave them."""
        return {"": self.store.fingerprint()}

    @cached_property
    def _scenes_by_id(self) -> Mapping[str, Scene]:
        return {scene.id: scene for scene in self.scenes}

    @cached_property
    def _relations(self) -> Mapping[str, Relation]:
        given = [r if isinstance(r, Relation) else resolve_relation(Use(r)) for r in self.named.relations]
        if given:
            return {relation.name: relation for relation in given}
        for pair in self.plan.relations:
            self._require_name("relation", pair.relation.name, pair.relation.called)
        uses = [("relation", pair.relation) for pair in self.plan.relations]
        require_trust(uses, self.store.folder, trusted=self.named.trusted)
        # The run carries the cut-outs it used: neither the pool nor the helper is needed again.
        kept = self.store.pictures
        resolved = resolve_relations(self.plan, {"pool": kept, "cutouts": kept})
        return {relation.name: relation for relation in resolved}

    def _require_name(self, what: str, name: str, called: str | None) -> None:
        if name == UNNAMED:
            which = f" {called!r}" if called else ""
            raise BadInput(
                f"{self.store.folder} was made in Python, where its {what}{which} had no name; "
                f"give --{what} {'PATH' if what == 'scenes' else 'module:attr'}"
            )

    def scene(self, id: str) -> Scene:
        if id not in self._scenes_by_id:
            raise BadInput(f"scene {id!r} is not in {self.plan.scenes} any more")
        return self._scenes_by_id[id]

    def relation(self, name: str) -> Relation:
        """The relation of that name, prepared for the run's scenes.

        A null change has none: it is judged by the first relation whose task has null changes.
        """
        if not name:
            nulls = [one.name for one in self._relations.values() if one.resolved_task.nulls is not None]
            name = nulls[0] if nulls else name
        if name not in self._prepared:
            if name not in self._relations:
                raise BadInput(
                    f"{self.store.folder} has no relation {name!r}; it has {', '.join(self._relations)}"
                )
            workspace = Folder(self.store.folder, partial(show_steps, quiet=self.quiet))
            self._prepared[name] = prepare_relation(self._relations[name], self.scenes, workspace)
        return self._prepared[name]

    def record(self, case: str) -> Record:
        """A case, with its change as an object: the module of its relation is imported first."""
        self.relation(self.store.record(case, change=False).relation)
        record, system = self.store.record(case), read_totals(self.store).system
        if record.case != case_id(system, record.relation, record.source, record.ordinal, record.change):
            raise RunError(f"case {record.case} is not what it was; {self.store.folder} was changed")
        return record

    def replay(self, record: Record, asking: Asking) -> Replay:
        """The case made again, its queries answered by `asking`."""
        return replay(
            record,
            self.scene(record.scene),
            self.relation(record.relation),
            asking,
            known_as=self.store.source_digest(record.source),
        )

    def show(self, case: str) -> CaseView:
        """The case with its pictures: those that the run keeps, or made again from recipe and answers.

        Nothing is asked of the system. Where the pictures cannot be made (a scene has gone, the relation's
        module is not there) the case is shown without them, and says why.
        """
        record = self.store.record(case, change=False)
        why, is_untrusted = "", False
        panels: Sequence[Panel] = ()
        try:
            panels = self.panels(record.case)
        except InstarError as error:
            why, is_untrusted = str(error), isinstance(error, Untrusted)
        why = why or ("" if panels else record.verdict.reason)
        words = self.store.change_text(record.case)
        return CaseView(record, words, panels, why, is_untrusted=is_untrusted)

    def panels(self, case: str) -> Sequence[Panel]:
        """The pictures of a case: those that the run keeps, or made again from what it keeps."""
        kept = self.store.panels(case)
        if kept is not None:
            return outline_change(kept)
        return outline_change(self.panels_of(self.replay(self.record(case), self.remembered)))

    def kept_case(self, record: Record, task: Task) -> Replay:
        """A finding from what the run keeps alone: the scene, its answer, and the follow-ups' pictures.

        Nothing of the relation is needed. The change, the follow-ups' answers and a source that is more than
        its scene's picture are left out.
        """
        kept = self.store.panels(record.case)
        digest = self.store.source_digest(record.source)
        reply = self.store.answer(AnswerKey(self.store.fingerprint(), digest, 0)) if digest else None
        if kept is None or reply is None or reply.error is not None:
            raise BadInput(
                f"{self.store.folder} keeps no pictures or answers of case {record.case}, and its code may "
                "not be run; say --trust if you know it"
            )
        scene = self.scene(record.scene)
        source = Observation.of(scene.image, task.read(scene.image, reply.answer), scene)
        after = [replace(Observation.of(one.picture, None, scene), frame=one.frame) for one in kept[1:]]
        return Replay(record, source, after, record.verdict)

    def panels_of(self, again: Replay) -> Sequence[Panel]:
        """The pictures of a case that was made again; none where it has none."""
        record = again.record
        if again.source is None or not again.follow_ups or record.change is None:
            return ()
        # The record knows which findings were struck out; the bare comparison does not.
        verdict = record.verdict if again.same else again.verdict
        task = self.relation(record.relation).resolved_task
        return make_panels(task, again.source, again.follow_ups, record.change, verdict)

    def picture(self, case: str) -> Image | None:
        """The case as one picture, from what the run keeps; None where it cannot be made."""
        try:
            return draw_case(self.panels(case), self.sentence(case))
        except InstarError:
            return None

    def sentence(self, case: str) -> str:
        """The change and what came of it, in a line."""
        from instar.report.causes import finding_words

        record = self.store.record(case, change=False)
        verdict, change = record.verdict, self.store.change_text(case)
        told = verdict.failures or verdict.findings
        outcome = ", ".join(map(finding_words, told)) or verdict.reason or verdict.status.value
        if change[:1].isdigit():  # a bare severity does not say of what
            change = f"{record.relation} by {change}"
        return f"{change}: {outcome}"

    def shrink(self, case: str, asking: Asking, *, most: int = MOST_QUESTIONS) -> Shrunk:
        """The smallest change of a violated case that still fails; `asking` is how the system is asked."""
        record = self.record(case)
        if record.verdict.status is not Status.VIOLATED or record.change is None:
            raise BadInput(
                f"case {record.case} is not violated ({record.verdict.status.value}): nothing to shrink"
            )
        relation = self.relation(record.relation)
        source = self.replay(record, self.remembered_or(asking)).source
        if source is None:
            raise BadInput(f"case {record.case}: the system does not answer to its source any more")
        keys = [finding.key for finding in record.verdict.findings]
        return shrink_case(relation, source, record.change, keys, asking, most=most)

    def picture_with(self, record: Record, change: Change, asking: Asking) -> Image | None:
        """The case as one picture, under another change."""
        again = self.replay(replace(record, change=change), self.remembered_or(asking))
        return draw_case(self.panels_of(again), str(change))

    def remembered_or(self, asking: Asking) -> Asking:
        """Stored answers where there are any; the rest is asked."""

        def answers(queries: Sequence[Query]) -> list[Reply]:
            replies = self.remembered(queries)
            missing = [i for i, reply in enumerate(replies) if reply.error == NOT_KEPT]
            for i, reply in zip(missing, asking([queries[i] for i in missing]) if missing else ()):
                replies[i] = reply
            return replies

        return answers

    @contextlib.contextmanager
    def asking(self) -> Iterator[Asking]:
        """How the run's system is asked: within the time limit and retries of its plan."""
        limits = self.plan.limits
        systems: dict[str, System] = {}

        def asked(queries: Sequence[Query]) -> list[Reply]:
            replies: list[Reply] = []
            for query in queries:
                if query.variant not in systems:
                    system = variant_of(self.system, query.variant) if query.variant else self.system
                    systems[query.variant] = within_limits(system, limits)
                replies += ask(systems[query.variant], [query.input], retries=limits.retries)
            return replies

        try:
            yield asked
        finally:
            for system in systems.values():
                if isinstance(system, WorkerSystem):
                    system.close()

    def remembered(self, queries: Sequence[Query]) -> list[Reply]:
        """The stored answers to these queries."""
        replies = []
        for query in queries:
            fingerprint = self._fingerprints.get(query.variant)
            if fingerprint is None:
                fingerprint = fingerprint_of(variant_of(self.system, query.variant))
                self._fingerprints[query.variant] = fingerprint
            reply = self.store.answer(AnswerKey(fingerprint, query.digest, query.repeat))
            replies.append(reply or Reply(error=NOT_KEPT))
        return replies

    def answers(self, case: str) -> list[Any]:
        """What the system said to the source and to each follow-up."""
        again = self.replay(self.record(case), self.remembered)
        return [one.answer for one in (again.source, *again.follow_ups) if one is not None]
