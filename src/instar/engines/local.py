"""The local engine: many scenes' stories at once, their questions gathered into full batches.

Three kinds of work overlap. A pool of threads steps stories, which is pixel work (OpenCV and NumPy let
go of the interpreter lock). One thread, or several where the system allows it, asks the system. The
calling thread alone talks to the store and decides what is next.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from typing import Any

from instar.core.budget import Purse, Want, share_out, who_ends
from instar.core.campaign import Campaign, Store
from instar.core.case import Ask, Consult, Lane, Needs
from instar.core.errors import BadInput
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.scene import Scene
from instar.core.scene_run import Inputs, Pair, Pixels, Setting, Story, observe_scene, tell_across, tell_scene
from instar.core.search import is_across_scenes
from instar.core.system import System, fingerprint_of
from instar.core.verdict import Status
from instar.engines.batcher import Desk
from instar.engines.worker import killable

__all__ = ["Tally", "batch_size", "run_local"]

ACCOUNT_SECONDS = 5.0  # between two accounts of a run that is under way


@dataclass(frozen=True, slots=True)
class Tally:
    """How far a campaign has come, for whoever watches."""

    scenes: int
    scenes_done: int
    cases: int
    violated: int
    queries: int
    seconds: float
    price: float


def run_local(
    campaign: Campaign,
    store: Store,
    *,
    workers: int = 1,
    batch: int | None = None,
    watch: Callable[[Tally], None] = lambda tally: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[Record, None, None]:
    """The records of a campaign, as they come; the store has them all at the end.

    `workers` threads do pixel work, and as many ask the system where it says it is `concurrent`.
    `batch` inputs go into one call of `predict`, by default as many as the system likes.
    """
    size = batch_size(campaign.system, batch=batch, workers=workers)
    slots = workers if getattr(campaign.system, "concurrent", False) else 1
    with ExitStack() as stack:
        system = campaign.system
        if campaign.limits.timeout is not None:
            system = stack.enter_context(killable(system, campaign.limits.timeout, processes=slots))
        # Entered last, so left first: no thread is inside a worker process when that is ended.
        askers = stack.enter_context(_Threads(slots, "instar-system"))
        steppers = stack.enter_context(_Threads(workers, "instar-pixels"))
        events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        desk = Desk(
            system,
            store,
            fingerprint=fingerprint_of(campaign.system),
            batch=size,
            slots=slots,
            limits=campaign.limits,
            askers=askers,
            later=events.put,
        )
        window = 2 * size * slots + 2 * workers
        engine = _Engine(campaign, store, desk, steppers, events, window, watch, clock)
        with closing(engine.records()) as records:
            yield from records


def batch_size(system: System, *, batch: int | None, workers: int) -> int:
    """How many inputs go into one call: `batch`, else what the system likes. Refuses what makes no sense."""
    size = batch if batch is not None else int(getattr(system, "batch", 1))
    for name, value in (("workers", workers), ("batch", size)):
        if value < 1:
            raise BadInput(f"{name} is {value}; it must be at least 1")
    return size


@dataclass(eq=False)
class _Told:
    """A story and the generator that tells it; `order` is its scene's place."""

    order: int
    story: Story
    generator: Needs[None]


class _Engine:
    def __init__(
        self,
        campaign: Campaign,
        store: Store,
        desk: Desk,
        steppers: ThreadPoolExecutor,
        events: queue.SimpleQueue[Callable[[], None]],
        window: int,
        watch: Callable[[Tally], None],
        clock: Callable[[], float],
    ) -> None:
        self._campaign, self._store, self._desk = campaign, store, desk
        self._steppers, self._events, self._window = steppers, events, window
        self._watch, self._clock = watch, clock
        self._began = self._accounted = clock()
        self._inputs = Inputs(window + 8)
        self._running = self._stepping = 0
        self._wanting: list[tuple[_Told, Want]] = []
        self._treasury = 0  # questions that are in nobody's purse
        self._records: list[Record] = []
        self._pictures: set[str] = set()
        self._scenes: set[str] = set()
        self._skipped: dict[str, Skipped] = {}
        self._cases = self._violated = self._done = 0
        self._stopped = False  # by the time limit, before everything was done

    def records(self) -> Generator[Record, None, None]:
        finished = False
        self._keep_account()
        try:
            per_scene = [pair for pair in self._campaign.relations if not is_across_scenes(pair[1])]
            across = [pair for pair in self._campaign.relations if is_across_scenes(pair[1])]
            if per_scene:
                yield from self._run_per_scene(per_scene)
            if across:
                yield from self._run_across(across)
            finished = not self._stopped
        finally:
            self._store.keep_totals(self._totals(finished))

    def _run_per_scene(self, pairs: Sequence[Pair]) -> Iterator[Record]:
        setting = self._setting(pairs)
        left = self._left()
        share = None if left is None else left * len(pairs) // len(self._campaign.relations)
        purse = None if left is None else 0
        stories = (
            self._told(order, purse, partial(tell_scene, setting, scene))
            for order, scene in enumerate(self._campaign.scenes)
        )
        yield from self._drive(stories, share or 0)

    def _run_across(self, pairs: Sequence[Pair]) -> Iterator[Record]:
        """Observe the scenes on half of the budget, then let each search have its rounds on the rest."""
        setting = self._setting(pairs)
        seen: dict[int, list[tuple[Lane, Any]]] = {}

        def look(order: int, scene: Scene, story: Story) -> Needs[None]:
            seen[order] = yield from observe_scene(setting, scene, story)

        left = self._left()
        purse = None if left is None else 0
        looks = (self._told(o, purse, partial(look, o, s)) for o, s in enumerate(self._campaign.scenes))
        yield from self._drive(looks, (left or 0) // 2)
        all_lanes = [lane for _, lanes in sorted(seen.items()) for lane, _ in lanes]
        for n, (relation, search) in enumerate(pairs):
            lanes = [lane for lane in all_lanes if lane.relation is relation]
            left = self._left()
            share = None if left is None else left // (len(pairs) - n)
            yield from self._drive([self._told(0, share, partial(tell_across, setting, search, lanes))], 0)

    def _setting(self, pairs: Sequence[Pair]) -> Setting:
        return Setting(self._campaign.system.name, pairs, self._campaign.seed, self._inputs)

    def _told(self, order: int, purse: int | None, tell: Callable[[Story], Needs[None]]) -> _Told:
        story = Story(Purse(purse))
        return _Told(order, story, tell(story))

    def _left(self) -> int | None:
        """The questions of the whole budget that nobody has used."""
        budget = self._campaign.limits.queries
        return None if budget is None else budget - self._desk.queries

    def _drive(self, stories: Iterable[_Told], treasury: int) -> Iterator[Record]:
        """Tell stories to their ends, at most `window` at a time, handing out budget in rounds."""
        coming: Iterator[tuple[_Told, Any]] = ((told, None) for told in stories)
        self._treasury = treasury
        while True:
            stopping = self._out_of_time()
            while self._running < self._window and not stopping:
                resumed = next(coming, None)
                if resumed is None:
                    break
                self._running += 1
                self._step(*resumed)
            if not stopping:
                self._desk.send(more_coming=bool(self._stepping) or not self._events.empty())
            if self._stepping == self._desk.busy == 0 and (stopping or not self._running):
                if stopping or not self._wanting:
                    self._stopped |= stopping and self._unfinished(coming)
                    break
                coming = self._next_round()
                continue
            self._events.get()()
            if self._clock() - self._accounted > ACCOUNT_SECONDS:
                self._keep_account()
            yield from self._take_records()
        self._running = 0
        self._wanting.clear()
        self._desk.drop()

    def _unfinished(self, coming: Iterator[tuple[_Told, Any]]) -> bool:
        return bool(self._running or self._wanting) or next(coming, None) is not None

    def _next_round(self) -> Iterator[tuple[_Told, int]]:
        waiting = sorted(self._wanting, key=lambda pair: pair[0].order)
        grants = share_out(self._treasury, [want for _, want in waiting])
        self._treasury -= sum(grants)
        going_on = {i for i, grant in enumerate(grants) if grant}
        if not going_on:  # to their ends, having been granted nothing
            going_on = set(who_ends(self._treasury, [want for _, want in waiting]))
        # The others wait on: they may yet be left something.
        self._wanting = [pair for i, pair in enumerate(waiting) if i not in going_on]
        return iter([(waiting[i][0], grants[i]) for i in sorted(going_on)])

    def _step(self, told: _Told, sent: Any) -> None:
        self._stepping += 1
        self._steppers.submit(self._work, told, sent)

    def _work(self, told: _Told, sent: Any) -> None:
        try:
            self._events.put(partial(self._stepped, told, told.generator.send(sent)))
        except StopIteration:
            self._events.put(partial(self._stepped, told, None))
        except BaseException as defect:  # of a relation or a search: not ours to hide
            self._events.put(partial(self._raise, defect))

    def _raise(self, defect: BaseException) -> None:
        raise defect

    def _stepped(self, told: _Told, event: Ask | Want | Consult | None) -> None:
        self._stepping -= 1
        while told.story.notes:
            self._note(told.story.notes.popleft())
        if isinstance(event, Ask):
            self._desk.take(event.questions, partial(self._step, told))
        elif isinstance(event, Consult):
            self._desk.consult(event.call, self._campaign.system, partial(self._step, told))
        else:
            self._running -= 1
            if isinstance(event, Want):
                self._wanting.append((told, event))
            else:
                self._done += 1
                self._treasury += told.story.purse.left or 0
        self._watch(self._tally())

    def _note(self, note: Any) -> None:
        if isinstance(note, Record):
            self._records.append(note)
            if note.role == "case":
                self._cases += 1
                self._violated += note.verdict.status is Status.VIOLATED
        elif isinstance(note, Pixels):
            if note.digest not in self._pictures:
                self._store.keep_picture(note.digest, note.pixels)
                self._pictures.add(note.digest)
        elif isinstance(note, Source):
            self._scenes.add(note.scene)
            self._store.keep_source(note)
        else:
            self._skipped[note.scene] = note
            self._store.keep_skipped(note)

    def _take_records(self) -> Iterator[Record]:
        records, self._records = self._records, []
        if records:
            self._store.keep_records(records)
            yield from records

    def _keep_account(self) -> None:
        """So that a run that is under way, or was killed, can be reported on."""
        self._accounted = self._clock()
        self._store.keep_totals(self._totals(finished=False))

    def _out_of_time(self) -> bool:
        seconds = self._campaign.limits.seconds
        return seconds is not None and self._clock() - self._began >= seconds

    def _tally(self) -> Tally:
        return Tally(
            scenes=len(self._campaign.scenes),
            scenes_done=self._done,
            cases=self._cases,
            violated=self._violated,
            queries=self._desk.queries,
            seconds=self._clock() - self._began,
            price=self._desk.asked * self._campaign.limits.price_per_query,
        )

    def _totals(self, finished: bool) -> Totals:
        return Totals(
            run=self._campaign.name,
            system=self._campaign.system.name,
            seed=self._campaign.seed,
            scenes=len(self._scenes),
            queries=self._desk.queries,
            asked=self._desk.asked,
            seconds=self._clock() - self._began,
            price_per_query=self._campaign.limits.price_per_query,
            skipped=tuple(sorted(self._skipped.values(), key=lambda skipped: skipped.scene)),
            finished=finished,
        )


class _Threads(ThreadPoolExecutor):
    """A thread pool that drops what has not begun when it is left."""

    def __init__(self, workers: int, name: str) -> None:
        super().__init__(workers, thread_name_prefix=name)

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown(wait=True, cancel_futures=True)
