"""Whose case is next: relations of a scene in turn, or the rounds of a search across scenes."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Sequence
from typing import Generic, TypeVar

from instar.core.case import Case, Lane, prepare_case
from instar.core.scene import Observation
from instar.core.search import Drawn
from instar.core.verdict import Verdict

__all__ = ["Feed", "Rounds", "Turns"]

Item = TypeVar("Item")


class Feed(Generic[Item]):
    """A search, one item at a time; it goes on when all it yielded has been judged."""

    def __init__(self, search: Generator[Sequence[Item], Sequence[Verdict], None]) -> None:
        self._search = search
        self._pending: deque[Item] = deque()
        self._verdicts: list[Verdict] | None = None
        self._unjudged = 0

    @property
    def waits(self) -> bool:
        """True when nothing can come before outstanding verdicts have."""
        return not self._pending and self._unjudged > 0

    def next(self) -> Item | None:
        """None when the search waits for verdicts, or has ended."""
        while not self._pending:
            if self._unjudged:
                return None
            try:
                batch = next(self._search) if self._verdicts is None else self._search.send(self._verdicts)
            except StopIteration:
                return None
            self._verdicts = []
            self._pending.extend(batch)
            self._unjudged = len(batch)
        return self._pending.popleft()

    def tell(self, verdict: Verdict) -> None:
        assert self._verdicts is not None
        self._verdicts.append(verdict)
        self._unjudged -= 1


class Turns:
    """Relations of one scene taking turns: a first case each, a null change each, a second case, ..."""

    def __init__(self, feeds: Sequence[tuple[Lane, Feed[Drawn]]]) -> None:
        self._queue = deque(feeds)
        self._feed_of = {id(lane): feed for lane, feed in feeds}
        self._had_first: set[int] = set()
        self._had_null: set[int] = set()

    def next(self) -> Case | None:
        """None when all have ended, or when the one whose turn it is waits for verdicts."""
        while self._queue:
            lane, feed = self._queue[0]
            if lane.nulls and id(lane) in self._had_first and id(lane) not in self._had_null:
                self._had_null.add(id(lane))
                self._queue.rotate(-1)
                return prepare_case(lane, lane.nulls[0], role="null")
            drawn = feed.next()
            self._had_first.add(id(lane))
            if drawn is not None:
                self._queue.rotate(-1)
                return prepare_case(lane, drawn)
            if feed.waits:
                return None
            if not lane.nulls or id(lane) in self._had_null:
                self._queue.popleft()
        return None

    def tell(self, case: Case) -> None:
        if case.role == "case" and case.verdict is not None:
            self._feed_of[id(case.lane)].tell(case.verdict)


class Rounds:
    """A search across scenes, round by round; a source's null change follows its first case."""

    def __init__(self, lanes: Sequence[Lane], feed: Feed[tuple[Observation, Drawn]]) -> None:
        self._lanes = {lane.source.id: lane for lane in lanes}
        self._feed = feed
        self._had_first: set[str] = set()
        self._null_due: Lane | None = None

    def next(self) -> Case | None:
        if self._null_due is not None:
            lane, self._null_due = self._null_due, None
            return prepare_case(lane, lane.nulls[0], role="null")
        item = self._feed.next()
        if item is None:
            return None
        source, drawn = item
        lane = self._lanes[source.id]
        if source.id not in self._had_first:
            self._had_first.add(source.id)
            self._null_due = lane if lane.nulls else None
        return prepare_case(lane, drawn)

    def tell(self, case: Case) -> None:
        if case.role == "case" and case.verdict is not None:
            self._feed.tell(case.verdict)
