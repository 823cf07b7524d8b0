"""How a server is asked: how often, how much at a time, and how long to wait while it is busy."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from instar.core.errors import Refused, Temporary
from instar.core.options import require_number, require_whole_number
from instar.core.scene import Image

Answer = TypeVar("Answer")
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0


class Busy(Temporary):
    """The server says: not now. `after` are the seconds that it asks for, where it says so."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class NotThere(Temporary):
    """Nobody answers at that address: a wrong one, or a server that does not run."""


class Unavailable(Exception):
    """The server stayed busy, or away, for longer than the user's patience. Asked again on resume."""


class Throttle:
    """At most `rate` questions a second and `concurrency` at a time.

    A question that finds the server busy is asked again for `patience` seconds, after the pause that the
    server asks for, or after pauses that double; no two wait equally long, so that they do not come back
    together. Until the first answer is there, one question is under way, and where that is refused, or nobody
    is there, nobody is asked any more: a wrong key costs one picture.
    """

    def __init__(
        self,
        *,
        rate: float | None = None,
        concurrency: int = 4,
        patience: float = 120.0,
        stall: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if rate is not None:
            require_number("system", "rate", rate, least=1e-6)
        require_whole_number("system", "concurrency", concurrency, least=1)
        require_number("system", "patience", patience, least=0)
        require_number("system", "stall", stall, least=0.001)
        self.rate, self.concurrency, self.patience, self.stall = rate, concurrency, patience, stall
        self._sleep, self._clock = sleep, clock
        self._places, self._lock = threading.Semaphore(concurrency), threading.Lock()
        self._next = 0.0
        self._alone, self._is_known = threading.Lock(), False
        self._refusal: Refused | None = None

    def __reduce__(self) -> tuple[Callable[[], Throttle], tuple[()]]:
        options = {name: getattr(self, name) for name in ("rate", "concurrency", "patience", "stall")}
        return partial(Throttle, **options), ()  # locks stay in their process

    def ask(self, once: Callable[[], Answer]) -> Answer:
        """The result of `once`, which is called again while the server is busy."""
        began, attempt = self._clock(), 0
        while True:
            try:
                return self._try(once)
            except Temporary as raised:
                busy = raised
            wait = _pause(busy, attempt)
            if self._clock() - began + wait > self.patience:
                raise Unavailable(f"{busy} (patience {self.patience:g} s)")
            self._sleep(wait)
            attempt += 1

    def _try(self, once: Callable[[], Answer]) -> Answer:
        with self._places, contextlib.nullcontext() if self._is_known else self._alone:
            if self._refusal is not None and not self._is_known:
                raise self._refusal
            self._wait_for_turn()
            return self._remember(once)

    def _remember(self, once: Callable[[], Answer]) -> Answer:
        """The result of `once`, and what the call tells: whether the server is there and takes the key."""
        try:
            answer = once()
        except NotThere as nobody:
            if self._is_known:
                raise
            self._refusal = Refused(str(nobody))
            raise self._refusal from nobody
        except Refused as refusal:
            self._refusal = refusal
            raise
        self._is_known = True
        return answer

    def _wait_for_turn(self) -> None:
        if self.rate is None:
            return
        with self._lock:
            turn = max(self._next, self._clock())
            self._next = turn + 1 / self.rate
        if (wait := turn - self._clock()) > 0:
            self._sleep(wait)


class ThrottledSystem(ABC):
    """A system that is asked one picture at a time, as many at once as its throttle allows."""

    batch = 1
    throttle: Throttle

    def predict(self, images: Sequence[Image]) -> list[Any]:
        """The answers to pictures `uint8 (H, W, 3)` RGB."""
        return [self.ask(image) for image in images]

    @abstractmethod
    def ask(self, image: Image) -> Any: ...

    @property
    def concurrent(self) -> int:
        return self.throttle.concurrency

    def set_throttle(self, **options: Any) -> None:
        """How it is asked from now on (see `Throttle`)."""
        self.throttle = Throttle(**options)


def _pause(busy: Temporary, attempt: int) -> float:
    after = busy.after if isinstance(busy, Busy) else None
    if after is not None:
        return after * random.uniform(1.0, 1.1)
    pause: float = min(FIRST_PAUSE * 2.0**attempt, LONGEST_PAUSE)
    return pause * random.uniform(0.5, 1.0)
