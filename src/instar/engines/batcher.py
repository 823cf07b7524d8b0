"""Gathers queries, answers them from the store, or sends them to the system in batches."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from instar.core.campaign import AnswerKey, Store
from instar.core.errors import InstarError, TooManyFailures
from instar.core.fingerprint import fingerprint_of
from instar.core.follow_up import Query
from instar.core.system import Limits, Reply, System, ask
from instar.engines.threads import Threads

Later = Callable[[Callable[[], None]], None]
"""Hands work to the thread that owns the store."""


_Target: TypeAlias = tuple[str, str]
"""The variant and the referee that a question goes to; both are empty for the system itself."""


def _target(query: Query) -> _Target:
    return query.variant, query.referee


@dataclass(eq=False)
class _Order:
    """Queries asked together; `done` gets the replies when the last one is in."""

    replies: list[Reply | None]
    done: Callable[[list[Reply]], None]

    def deliver(self, i: int, reply: Reply) -> None:
        self.replies[i] = reply
        self.finish_if_complete()

    def finish_if_complete(self) -> None:
        if all(reply is not None for reply in self.replies):
            self.done([reply for reply in self.replies if reply is not None])


class Batcher:
    """Used by one thread only; the system is called in `askers`, whose work comes back through `later`.

    A question that is on its way already is not sent twice. Answers are safe in the store before anyone
    sees them.
    """

    def __init__(
        self,
        system: System,
        store: Store,
        *,
        fingerprint: str,
        variant: Callable[[str], System],
        referees: Sequence[System],
        batch: int,
        slots: int,
        limits: Limits,
        askers: Threads,
        later: Later,
    ) -> None:
        self.queries = self.asked = self.busy = self.referee_queries = self.parked = 0
        self.referees: dict[str, str] = {}
        self._store, self._variant = store, variant
        self._systems: dict[_Target, tuple[System, str]] = {("", ""): (system, fingerprint)}
        self._referees = {referee.name: referee for referee in referees}
        self._locks = {name: threading.Lock() for name in self._referees}
        self._batch, self._slots, self._limits = batch, slots, limits
        self._askers, self._later = askers, later
        self._unsent: deque[tuple[AnswerKey, Query]] = deque()
        self._expected: dict[AnswerKey, list[tuple[_Order, int]]] = {}
        self._streak: list[AnswerKey] = []

    def take(self, queries: Sequence[Query], done: Callable[[list[Reply]], None]) -> None:
        """Have the questions answered; `done` is called at once when the store knows them all."""
        order = _Order([None] * len(queries), done)
        for i, query in enumerate(queries):
            self.queries += not query.referee
            self.referee_queries += bool(query.referee)
            try:
                fingerprint = self._system(_target(query))[1]
            except InstarError as missing:
                if not query.referee:
                    raise
                self.referees[query.referee] = str(missing)
                order.replies[i] = Reply(error=str(missing))
                continue
            key = AnswerKey(fingerprint, query.digest, query.repeat)
            if key in self._expected:
                self._expected[key].append((order, i))
                continue
            order.replies[i] = self._store.answer(key)
            if order.replies[i] is None:
                self._expected[key] = [(order, i)]
                if self._is_answered_later(query):
                    self.parked += 1
                else:
                    self._unsent.append((key, query))
        order.finish_if_complete()

    def ask_ahead(self, ahead: Callable[[], Iterable[Query]]) -> None:
        """Tell a system that is answered elsewhere what will probably be asked next: rounds are few then."""
        system, fingerprint = self._systems["", ""]
        tell: Callable[[Query], None] | None = getattr(system, "ask_later", None)
        if tell is None or self._limits.queries is not None:
            return
        for query in ahead():
            if self._store.answer(AnswerKey(fingerprint, query.digest, query.repeat)) is None:
                tell(query)

    def send(self, *, more_coming: bool) -> None:
        """Full batches as soon as there are any; a partial one when no more is coming to fill it.

        As many full ones again lie ready for the threads, which need not wait then until an answer is kept.
        """
        while self._unsent and self.busy < 2 * self._slots:
            if len(self._unsent) < self._batch and (more_coming or self.busy >= self._slots):
                return
            taken = [self._unsent.popleft()]
            target = _target(taken[0][1])
            while self._unsent and len(taken) < self._batch and _target(self._unsent[0][1]) == target:
                taken.append(self._unsent.popleft())
            self.asked += 0 if taken[0][1].referee else len(taken)
            self.busy += 1
            self._askers.submit(self._predict, taken)

    def load(self) -> str:
        """How busy the actors of a system in a cluster are, in words; nothing for other systems."""
        load: Callable[[], str] | None = getattr(self._systems["", ""][0], "load", None)
        if load is None:
            return ""
        return f"{load()}, {min(self.busy, self._slots)} calls under way, {len(self._unsent)} waiting"

    def drop(self) -> None:
        """Forget what has not been sent."""
        self._unsent.clear()
        self._expected.clear()

    def _system(self, target: _Target) -> tuple[System, str]:
        """The system, a variant of it or a referee, with the fingerprint that its answers are kept under."""
        if target not in self._systems:
            variant, referee = target
            if self.referees.get(referee):
                raise InstarError(self.referees[referee])
            system = self._referees[referee] if referee else self._variant(variant)
            self._systems[target] = (system, fingerprint_of(system))
            if referee:
                self.referees[referee] = ""
        return self._systems[target]

    def _is_answered_later(self, query: Query) -> bool:
        """Whether the answer is made elsewhere: then the system is told the question, and nobody waits."""
        tell: Callable[[Query], None] | None = getattr(self._system(_target(query))[0], "ask_later", None)
        if tell is None:
            return False
        tell(query)
        return True

    def _predict(self, taken: list[tuple[AnswerKey, Query]]) -> None:
        inputs = [query.input for _, query in taken]
        target = _target(taken[0][1])
        alone = self._locks.get(target[1], contextlib.nullcontext())  # referees need not be concurrent
        try:
            with alone:
                replies = ask(self._systems[target][0], inputs, retries=self._limits.retries)
        except BaseException as stop:  # an interrupt or exit inside the system ends the campaign
            self._later(partial(self._raise, stop))
            return
        keyed = [(key, reply) for (key, _), reply in zip(taken, replies)]
        self._later(partial(self._answered, keyed, is_referee=bool(target[1])))

    def _raise(self, stop: BaseException) -> None:
        self.busy -= 1
        raise stop

    def _answered(self, keyed: list[tuple[AnswerKey, Reply]], *, is_referee: bool) -> None:
        self.busy -= 1
        kept = self._store.keep_answers(keyed)
        for (key, _), reply in zip(keyed, kept):
            if not is_referee:  # of which there are others
                self._streak = [*self._streak, key] if reply.error is not None else []
        if len(self._streak) >= self._limits.failures:
            # They say that the system is down, not what it makes of these inputs: ask them again later.
            self._store.forget_answers(self._streak)
            raise TooManyFailures(
                f"{self._systems['', ''][0].name} failed {len(self._streak)} times in a row, "
                f"last with: {kept[-1].error}; what came before is kept: mend it and go on with --resume"
            )
        for (key, _), reply in zip(keyed, kept):
            for order, i in self._expected.pop(key, ()):
                order.deliver(i, reply)
