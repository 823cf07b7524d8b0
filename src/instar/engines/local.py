"""The local engine: many scenes at once, their queries gathered into full batches.

Three kinds of work overlap. A pool of threads steps the runs of scenes, which is pixel work (OpenCV and
NumPy let go of the interpreter lock). One thread, or several where the system allows it, asks the system. The
calling thread alone talks to the store and decides what is next.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from instar.core.across import Rounds, run_round
from instar.core.budget import Budget, Request, share_out, who_ends
from instar.core.campaign import Campaign, Store
from instar.core.case import Ask, RelationState, Steps
from instar.core.errors import BadInput
from instar.core.fingerprint import fingerprint_of
from instar.core.picture_cache import PictureCache
from instar.core.record import Record, Totals
from instar.core.scene import Scene
from instar.core.scene_run import (
    AT_ONCE,
    Pair,
    RunSettings,
    SceneRun,
    SourceStates,
    observe_scene,
    run_scene,
)
from instar.core.search import is_across_scenes
from instar.core.system import System, is_isolated, variant_of
from instar.engines.account import Account, Tally
from instar.engines.batcher import Batcher
from instar.engines.threads import GRACE_SECONDS, Threads
from instar.engines.worker import Isolated, gpus, within_limits

AT_ONCE_ELSEWHERE = 4000  # cases in a round, whose pictures are held meanwhile


def run_local(
    campaign: Campaign,
    store: Store,
    *,
    workers: int = 1,
    batch: int | None = None,
    watch: Callable[[Tally], None] = lambda tally: None,
    clock: Callable[[], float] = time.monotonic,
    before: Sequence[Totals] = (),
) -> Generator[Record, None, None]:
    """The records of a campaign, as they come; the store has them all at the end.

    `workers` threads do pixel work, and as many ask the system where it says it is `concurrent`, or more
    where it says how many.
    `batch` inputs go into one call of `predict`, by default as many as the system likes.
    `before` are the accounts of what was asked for this campaign already; they are added to its own.
    """
    size = batch_size(campaign.system, batch=batch, workers=workers)
    at_once = int(getattr(campaign.system, "concurrent", False))
    slots = max(workers, at_once) if at_once else 1
    opened: list[Isolated] = []

    def limit(system: System) -> System:
        if hasattr(system, "ask_later"):
            return system
        limited = within_limits(system, campaign.limits)
        if is_isolated(limited):
            opened.append(cast(Isolated, limited))
        return limited

    def limit_worker(referee: System) -> System:
        return limit(referee) if is_isolated(referee) else referee

    system = limit(campaign.system)
    if is_isolated(system):
        slots = max(slots, len(gpus()))
    askers, steppers = Threads(slots, "instar-system"), Threads(workers, "instar-pixels")
    try:
        events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        batcher = Batcher(
            system,
            store,
            fingerprint=fingerprint_of(campaign.system),
            variant=lambda name: limit(variant_of(campaign.system, name)),
            referees=[limit_worker(referee.system) for referee in campaign.referees],
            batch=size,
            slots=slots,
            limits=campaign.limits,
            askers=askers,
            later=events.put,
        )
        batcher.queries = sum(one.queries for one in before)
        batcher.asked = sum(one.asked for one in before)
        # What is answered elsewhere is asked of all scenes at once.
        later = hasattr(system, "ask_later")
        window = len(campaign.scenes) + 1 if later else 2 * size * slots + 2 * workers
        isolated = is_isolated(system) or type(system).__module__.startswith("instar.")
        account = Account(campaign, store, batcher, isolated=isolated, clock=clock)
        engine = _Engine(campaign, account, batcher, steppers, events, window, watch)
        with contextlib.closing(engine.records()) as records:
            yield from records
    finally:
        for one in opened:
            one.close()  # which ends the calls that threads are still waiting for
        for threads in (askers, steppers):
            threads.leave()


def batch_size(system: System, *, batch: int | None, workers: int) -> int:
    """How many inputs go into one call: `batch`, else what the system likes. Refuses what makes no sense."""
    size = batch if batch is not None else int(getattr(system, "batch", 1))
    for name, value in (("workers", workers), ("batch", size)):
        if value < 1:
            raise BadInput(f"{name} is {value}; it must be at least 1")
    return size


@dataclass(eq=False)
class _Running:
    """A scene's run and the generator that steps it; `order` is the scene's place."""

    order: int
    run: SceneRun
    generator: Steps[None]


class _Engine:
    def __init__(
        self,
        campaign: Campaign,
        account: Account,
        batcher: Batcher,
        steppers: Threads,
        events: queue.SimpleQueue[Callable[[], None]],
        window: int,
        watch: Callable[[Tally], None],
    ) -> None:
        self._campaign, self._account, self._batcher = campaign, account, batcher
        self._steppers, self._events, self._window, self._watch = steppers, events, window, watch
        self._inputs = PictureCache(window + 8)
        self._sources: SourceStates | None = None
        self._running = self._stepping = self._done = 0
        self._waiting: list[tuple[_Running, Request]] = []
        self._reserve = 0  # questions that are in nobody's budget
        self._stopped = False  # by the time limit, before everything was done

    def records(self) -> Generator[Record, None, None]:
        finished = False
        self._account.keep()
        try:
            per_scene = [pair for pair in self._campaign.relations if not is_across_scenes(pair[1])]
            across = [pair for pair in self._campaign.relations if is_across_scenes(pair[1])]
            if per_scene and across:
                self._sources = {}
            if per_scene:
                yield from self._run_per_scene(per_scene)
            if across and not self._batcher.parked:
                yield from self._run_across(across)
            finished = not self._stopped
        finally:
            self._account.keep(finished=finished)

    def _run_per_scene(self, pairs: Sequence[Pair]) -> Iterator[Record]:
        settings = self._settings(pairs)
        left = self._left()
        share = None if left is None else left * len(pairs) // len(self._campaign.relations)
        budget = None if left is None else 0
        runs = (
            self._start(order, budget, partial(run_scene, settings, scene))
            for order, scene in enumerate(self._campaign.scenes)
        )
        yield from self._drive(runs, share or 0)

    def _run_across(self, pairs: Sequence[Pair]) -> Iterator[Record]:
        """Observe the scenes on half of the budget, then let each search have its rounds on the rest.

        Relations with the same search are searched together.
        """
        settings = self._settings(pairs)
        seen: dict[int, list[tuple[RelationState, Any]]] = {}

        def look(order: int, scene: Scene, run: SceneRun) -> Steps[None]:
            seen[order] = yield from observe_scene(settings, scene, run)

        left = self._left()
        budget = None if left is None else 0
        looks = (self._start(o, budget, partial(look, o, s)) for o, s in enumerate(self._campaign.scenes))
        yield from self._drive(looks, (left or 0) // 2)
        if self._batcher.parked:
            return
        opened = [pair for _, states in sorted(seen.items()) for pair in states]
        searches = list(dict.fromkeys(search for _, search in pairs))
        for n, search in enumerate(searches):
            left = self._left()
            until = None if left is None else left - left // (len(searches) - n)
            states = [state for state, own in opened if own is search]
            if states:
                yield from self._run_rounds(settings, Rounds(settings, search, states), until)

    def _run_rounds(self, settings: RunSettings, rounds: Rounds, until: int | None) -> Iterator[Record]:
        """Round by round, until so many questions are left."""
        while not (self._out_of_time() or self._batcher.parked):
            left = self._left()
            reserve = 0 if left is None or until is None else left - until
            parts = rounds.next() if left is None or reserve else None
            if parts is None:
                return
            budget = None if left is None else 0
            runs = [self._start(part.order, budget, partial(run_round, settings, part)) for part in parts]
            yield from self._drive(runs, reserve)

    def _settings(self, pairs: Sequence[Pair]) -> RunSettings:
        campaign = self._campaign
        shared = (self._inputs, self._sources, campaign.referees)
        at_once = AT_ONCE
        if hasattr(campaign.system, "ask_later") and campaign.limits.queries is None:
            at_once = max(AT_ONCE, AT_ONCE_ELSEWHERE // max(1, len(campaign.scenes)))
        return RunSettings(campaign.system.name, pairs, campaign.seed, *shared, at_once)

    def _start(self, order: int, budget: int | None, begin: Callable[[SceneRun], Steps[None]]) -> _Running:
        run = SceneRun(Budget(budget), order)
        return _Running(order, run, begin(run))

    def _left(self) -> int | None:
        """The questions of the whole budget that nobody has used."""
        budget = self._campaign.limits.queries
        return None if budget is None else budget - self._batcher.queries

    def _drive(self, runs: Iterable[_Running], reserve: int) -> Iterator[Record]:
        """Step the runs to their ends, at most `window` at a time, handing out budget in rounds."""
        coming: Iterator[tuple[_Running, Any]] = ((running, None) for running in runs)
        self._reserve = reserve
        while True:
            stopping = self._out_of_time()
            while self._running < self._window and not stopping:
                resumed = next(coming, None)
                if resumed is None:
                    break
                self._running += 1
                self._step(*resumed)
            if not stopping:
                self._batcher.send(more_coming=bool(self._stepping) or not self._events.empty())
            if self._is_parked():
                self._stopped = True
                break
            if self._stepping == self._batcher.busy == 0 and (stopping or not self._running):
                if stopping or not self._waiting:
                    break
                coming = self._next_round()
                continue
            if not self._take_event(stopping):
                break
            self._account.keep_now_and_then()
            yield from self._account.keep_records()
        self._stopped |= stopping and self._unfinished(coming)
        self._running = 0
        self._waiting.clear()
        self._batcher.drop()

    def _is_parked(self) -> bool:
        """Whether nothing can happen before questions are answered elsewhere."""
        is_idle = self._stepping == self._batcher.busy == 0 and self._events.empty()
        return is_idle and self._batcher.parked > 0

    def _take_event(self, stopping: bool) -> bool:
        """Handle the next event; False when the time is over and none comes any more."""
        limit = self._campaign.limits.seconds
        wait = None if limit is None else max(0.0, limit - self._account.seconds)
        try:
            self._events.get(timeout=GRACE_SECONDS if stopping else wait)()
        except queue.Empty:
            return not stopping
        return True

    def _unfinished(self, coming: Iterator[tuple[_Running, Any]]) -> bool:
        return bool(self._running or self._waiting) or next(coming, None) is not None

    def _next_round(self) -> Iterator[tuple[_Running, int]]:
        waiting = sorted(self._waiting, key=lambda pair: pair[0].order)
        grants = share_out(self._reserve, [request for _, request in waiting])
        self._reserve -= sum(grants)
        going_on = {i for i, grant in enumerate(grants) if grant}
        if not going_on:  # to their ends, having been granted nothing
            going_on = set(who_ends(self._reserve, [request for _, request in waiting]))
        # The others wait on: they may yet be left something.
        self._waiting = [pair for i, pair in enumerate(waiting) if i not in going_on]
        return iter([(waiting[i][0], grants[i]) for i in sorted(going_on)])

    def _step(self, running: _Running, sent: Any) -> None:
        self._stepping += 1
        self._steppers.submit(self._work, running, sent)

    def _work(self, running: _Running, sent: Any) -> None:
        try:
            self._events.put(partial(self._stepped, running, running.generator.send(sent)))
        except StopIteration:
            self._events.put(partial(self._stepped, running, None))
        except BaseException as defect:  # of a relation or a search: not ours to hide
            self._events.put(partial(self._raise, defect))

    def _raise(self, defect: BaseException) -> None:
        raise defect

    def _stepped(self, running: _Running, event: Ask | Request | None) -> None:
        self._stepping -= 1
        while running.run.notes:
            self._account.add(running.run.notes.popleft())
        if isinstance(event, Ask):
            self._batcher.take(event.queries, partial(self._step, running))
            self._batcher.ask_ahead(event.ahead)
        else:
            self._running -= 1
            if isinstance(event, Request):
                self._waiting.append((running, event))
            else:
                self._done += 1
                self._reserve += running.run.budget.left or 0
        self._watch(self._account.tally(self._done))

    def _out_of_time(self) -> bool:
        seconds = self._campaign.limits.seconds
        return seconds is not None and self._account.seconds >= seconds
