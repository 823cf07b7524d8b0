"""Systems under test, and how they are asked.

A system is anything with a `name` and `predict(inputs) -> answers` over a batch. It may also carry

- `fingerprint`: a string that changes when its answers may (weights hash, version, settings);
- `batch`: how many inputs it likes at once (1);
- `concurrent`: True when `predict` may be called from several threads at a time (False), or by how many;
- `temporary`: a tuple of exception types after which the same question may succeed;
- `sends_to`: the host that pictures leave the machine for ("", nowhere);
- `variant(name)`: another system made of it, such as one with randomised weights, under a fingerprint of its
  own (see `instar.Variant`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from instar.core.errors import BadInput, Refused, Temporary
from instar.core.fingerprint import fingerprint_of

DEEPEST = 24
MOST_VALUES = 1_000_000
MOST_BYTES = 256 << 20
"""What one answer may have: levels, values in lists and mappings, bytes in arrays and texts."""
_WHOLE = frozenset((str, bytes, int, float, bool, type(None), np.ndarray))


@runtime_checkable
class System(Protocol):
    """What is under test: a network, a process, a service, a plain function behind a name."""

    @property
    def name(self) -> str: ...

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be spent, and how patient to be.

    `timeout` is the seconds one call of `predict` may take; a system that has one runs in a process
    that can be killed. The first call may take `start` seconds more, to load. `retries` are for errors
    that the system calls temporary, each after a longer pause. After `failures` failed questions in a
    row the campaign stops. `disk` is the megabytes of pictures that a run folder may keep; findings beyond
    that are kept without.
    """

    queries: int | None = None
    seconds: float | None = None
    price_per_query: float = 0.0
    retries: int = 3
    timeout: float | None = None
    start: float = 60.0
    failures: int = 20
    disk: float = 2_000

    def __post_init__(self) -> None:
        for name, least in [("queries", 1), ("seconds", 0), ("price_per_query", 0), ("retries", 0),
                            ("timeout", 0), ("start", 0), ("failures", 1), ("disk", 0)]:  # fmt: skip
            value = getattr(self, name)
            if value is not None and not (isinstance(value, (int, float)) and least <= value < math.inf):
                raise BadInput(f"limits: {name} is {value!r}; it must be a number of at least {least}")
        for name in ("queries", "retries", "failures"):
            if isinstance(getattr(self, name), float):
                raise BadInput(f"limits: {name} is {getattr(self, name)!r}; it must be a whole number")


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one question, or why there is none."""

    answer: Any = None
    error: str | None = None
    seconds: float = 0.0


class RemoteError(Exception):
    """An error that a system raised in another process; the text says which."""


class NoAnswers(Exception):
    """What `predict` gave is no sequence of answers; the text says what it is."""


def describe_error(error: BaseException) -> str:
    r"""An exception in one line.

    >>> describe_error(ValueError("no such\nlayer"))
    'ValueError: no such layer'
    """
    try:
        text = " ".join(str(error).split())
    except Exception as broken:
        text = f"(its text cannot be had: {type(broken).__name__})"
    if isinstance(error, (RemoteError, NoAnswers)):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def is_temporary(system: System, error: BaseException) -> bool:
    """Whether the same question may succeed later, by the system's own word."""
    return isinstance(error, (Temporary, *getattr(system, "temporary", ())))


def is_isolated(system: System) -> bool:
    """Whether it lives in a process of its own."""
    return bool(getattr(system, "isolated", False))


def variant_of(system: System, name: str) -> System:
    """The variant of that name."""
    variant = getattr(system, "variant", None)
    if not callable(variant):
        raise BadInput(f"the relation needs the variant {name!r}, and {system.name} has no variant(name)")
    found: System = variant(name)
    if fingerprint_of(found) == fingerprint_of(system):
        raise BadInput(f"variant {name!r} of {system.name} has the fingerprint of the system itself")
    return found


def ask(
    system: System,
    inputs: Sequence[Any],
    *,
    retries: int = 3,
    pause: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
    copies: bool = True,
) -> list[Reply]:
    """One reply per input, whatever the system does short of killing the process.

    It is given copies, so that it cannot spoil what others are asked; a system in a process of its own
    makes them there.

    A batch that raises, or answers with the wrong number of answers, is asked again one by one, so
    that one bad input fails alone. Temporary errors are tried again after pauses that double.
    """
    began = time.perf_counter()
    for attempt in range(retries + 1):
        error = ""
        try:
            given = deepcopy(list(inputs)) if copies and not is_isolated(system) else inputs
            answers = answers_of(system, given)
            break
        except Refused:
            raise
        except (Exception, SystemExit) as raised:  # a system that exits has failed, and is not obeyed
            error = describe_error(raised)
            if not is_temporary(system, raised):
                break
            if attempt < retries:
                sleep(pause * 2**attempt)
    seconds = (time.perf_counter() - began) / len(inputs)
    if not error:
        return [_reply(answer, seconds) for answer in answers]
    if len(inputs) == 1:
        return [Reply(error=error, seconds=seconds)]
    alone = (ask(system, [one], retries=retries, pause=pause, sleep=sleep, copies=copies) for one in inputs)
    return [reply for replies in alone for reply in replies]


def answers_of(system: System, inputs: Sequence[Any]) -> list[Any]:
    """What `predict` gives: as many answers as inputs, each of bounded size."""
    given = system.predict(inputs)
    # Text and mappings have a length too, and are no answers.
    if isinstance(given, (str, bytes, Mapping)) or not hasattr(given, "__len__"):
        raise NoAnswers(f"predict gave a {type(given).__name__}, not a sequence of answers")
    answers = list(given)
    if len(answers) != len(inputs):
        raise NoAnswers(f"predict gave {len(answers)} answers to {len(inputs)} inputs")
    for answer in answers:
        _require_bounded(answer)
    return answers


def _require_bounded(answer: Any) -> None:
    """NoAnswers for one that is nested too deeply, perhaps in itself, or larger than any answer needs be."""
    values, size, level = 0, 0, [answer]
    for _ in range(DEEPEST):
        values += len(level)
        size += sum(value.nbytes for value in level if isinstance(value, (np.ndarray, np.generic)))
        size += sum(len(value) for value in level if isinstance(value, (str, bytes)))
        if values > MOST_VALUES or size > MOST_BYTES:
            raise NoAnswers(
                f"the answer is over the limit of {MOST_VALUES:,} values or {MOST_BYTES >> 20} MiB"
            )
        level = [part for value in level for part in _parts(value)]
        if not level:
            return
    raise NoAnswers(f"the answer is nested more than {DEEPEST} levels deep")


def _parts(value: Any) -> Iterable[Any]:
    """What an answer is made of, one level down."""
    if type(value) in _WHOLE:  # most of them, and looking further takes time
        return ()
    if isinstance(value, Mapping):
        return value.values()
    if isinstance(value, (list, tuple)):
        return value
    return [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]


def _reply(answer: Any, seconds: float) -> Reply:
    if answer is None:
        return Reply(error="the answer is None", seconds=seconds)
    if _has_nan(answer):
        return Reply(error="the answer contains NaN", seconds=seconds)
    return Reply(answer, seconds=seconds)


def _has_nan(value: Any) -> bool:
    if isinstance(value, (np.ndarray, np.inexact)):
        return value.dtype.kind in "fc" and bool(np.isnan(value).any())
    if isinstance(value, (float, complex, str)):
        return value != value
    return any(_has_nan(part) for part in _parts(value))
