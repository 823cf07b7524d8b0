"""Small systems, relations and searches with planted behaviour, for tests of the core.

Everything stands at module level so that it can be sent to other processes.
"""

from __future__ import annotations

import builtins
import os
import time
from dataclasses import dataclass, replace

import numpy as np

import instar
from instar.core.digest import digest
from instar.store.rows import row_from_record


def pictures(n, size=12):
    """`n` different scenes of noise."""
    rng = np.random.default_rng(n)
    return [
        instar.Scene.of(f"{i:04d}.png", rng.integers(0, 256, (size, size, 3), dtype=np.uint8))
        for i in range(n)
    ]


def rows(records):
    """Every field of every record, in an order of their own."""
    return sorted(map(row_from_record, records), key=repr)


# --- a task: things that are seen ---------------------------------------------------------------------


def read_things(asked, answer):
    return answer


def compare_things(before, after):
    """Everything that was seen must be seen again."""
    return kept(before.answer["seen"], [after.answer["seen"]])


def kept(before, afters):
    lost = [
        instar.Finding("lost", one, -weight)
        for one, weight in before.items()
        if any(one not in after for after in afters)
    ]
    return instar.Verdict.violated(lost, of=len(before)) if lost else instar.Verdict.held(1.0)


def picture_of(seen):
    return instar.Panel("", seen.input)


@dataclass(frozen=True)
class Twist(instar.Null):
    """The first value of the picture so many levels up."""

    levels: int

    def apply(self, picture):
        made = picture.copy()
        made[0, 0, 0] = (int(made[0, 0, 0]) + self.levels) % 256
        return made


def fresh_twist(source, rng):
    return Twist(int(rng.integers(30, 60)))


def twists(source):
    return [Twist(2), Twist(3)]


nulls = instar.Nulls(fresh_twist, twists, conditions=(Twist(10), Twist(20)))
things = instar.Task("things", read_things, compare_things, picture_of)
checked_things = replace(things, nulls=nulls)


# --- changes and relations --------------------------------------------------------------------------


@dataclass(frozen=True)
class Dot(instar.Change):
    x: int
    y: int
    value: int


def draw_dot(source, rng):
    x, y, value = (int(v) for v in rng.integers(0, (12, 12, 256)))
    return instar.Inapplicable("unlucky") if value < 20 else Dot(x, y, value)


def apply_dot(image, change):
    if change.value == 255:
        return instar.Inapplicable("too bright")
    made = image.copy()
    made[change.y, change.x] = change.value
    return made


def apply_two_dots(image, change):
    made = apply_dot(image, change)
    return made if isinstance(made, instar.Inapplicable) else (made, apply_dot(made, replace(change, x=0)))


def expect_kept(source, follow_ups, change):
    """The same as the task's comparison, over all follow-ups at once."""
    return kept(source.answer["seen"], [one.answer["seen"] for one in follow_ups])


def placebo_dot(source, change):
    return replace(change, value=128)


plain = instar.Relation("plain", things, apply_dot, draw=draw_dot)
double = instar.Relation("double", things, apply_two_dots, draw=draw_dot, expect=expect_kept)
checked = instar.Relation("checked", checked_things, apply_dot, draw=draw_dot, placebo=placebo_dot)
checked_double = replace(checked, name="checked-double", apply=apply_two_dots)


# --- searches ---------------------------------------------------------------------------------------


def walk(steps):
    """Goes on from whatever was worst so far: what it asks depends on every verdict before."""

    def search(relation, source, rng):
        best, margin = None, 2.0
        for _ in range(steps):
            drawn = [relation.drawn(source, rng) for _ in range(3)]
            if best is not None:
                drawn.append(replace(best, x=(best.x + 1) % 12))
            verdicts = yield drawn
            for change, verdict in zip(drawn, verdicts):
                if isinstance(change, Dot) and verdict.margin < margin:
                    best, margin = change, verdict.margin

    return search


def roam(rounds, wide=6):
    """Across scenes: comes back to the sources where something was violated."""

    @instar.across_scenes
    def search(arms, rng):
        favourites = list(arms)
        for _ in range(rounds):
            chosen = [favourites[int(i)] for i in rng.integers(0, len(favourites), wide)]
            verdicts = yield [(arm, arm.relation.drawn(arm.source, rng)) for arm in chosen]
            favourites += [s for s, v in zip(chosen, verdicts) if v.status is instar.Status.VIOLATED] * 3

    return search


# --- systems ----------------------------------------------------------------------------------------


def sees(image, lose=3):
    """Of ten things those that are not hidden, `lose` in 16 each.

    Five hide at the slightest change, five whenever a dot of some brightness is about.
    """
    grey = image[np.ptp(image, axis=2) == 0]
    fickle, steady = int(digest(image), 16), int(digest(int(grey.max()) if grey.size else 0), 16)
    shown = [(bits >> 4 * i) & 15 >= lose for bits in (fickle, steady) for i in range(5)]
    return {"seen": {f"thing {i}": i / 4 + 0.5 for i in range(10) if shown[i]}}


class Hashed:
    """Answers the same for the same picture, and wildly from one to the next."""

    name = "hashed"

    def __init__(self, *, concurrent=False, batch=1, lose=3, pause=0.0):
        self.concurrent, self.batch, self._lose, self._pause = concurrent, batch, lose, pause

    def predict(self, inputs):
        if self._pause:
            time.sleep(self._pause)
        return [sees(one, self._lose) for one in inputs]


class Counting(Hashed):
    """Writes the hash of each picture it is asked into a file, before it answers."""

    def __init__(self, path, **settings):
        super().__init__(**settings)
        self._path = path

    def predict(self, inputs):
        log = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, "".join(digest(one) + "\n" for one in inputs).encode())
        os.close(log)
        return super().predict(inputs)


class Scripted:
    """Answers with a function of the input."""

    def __init__(self, answer, **settings):
        self.name, self._answer = "scripted", answer
        for key, value in settings.items():
            setattr(self, key, value)

    def predict(self, inputs):
        return [self._answer(one) for one in inputs]


class Gated(Counting):
    """Waits before it answers while more was asked than the file `path`.most allows."""

    name = "counting"

    def predict(self, inputs):
        answers = super().predict(inputs)
        while self._asked() > self._allowed():
            time.sleep(0.01)
        return answers

    def _asked(self):
        with open(self._path) as log:
            return sum(1 for _ in log)

    def _allowed(self):
        try:
            with open(f"{self._path}.most") as file:
                return int(file.read() or 0)
        except FileNotFoundError:
            return 1_000_000


class Failing(Hashed):
    """Dies of some pictures and raises at others."""

    name, slow = "failing", 6

    def predict(self, inputs):
        for one in inputs:
            kind = int(digest(one), 16) % 12
            if kind == 0:
                os._exit(3)
            if kind == 1:
                raise KeyError("no such layer")
        return super().predict(inputs)


class Varied(Hashed):
    """Has variants that see less, and says in a file who was asked."""

    name = "varied"

    def __init__(self, path, lose=3, fingerprint="varied 1"):
        super().__init__(lose=lose)
        self._path, self.fingerprint = path, fingerprint

    def variant(self, name):
        if name == "same":
            return Varied(self._path)
        return Varied(self._path, lose=8, fingerprint=f"{self.fingerprint} {name}")

    def predict(self, inputs):
        with open(self._path, "a") as log:
            log.write("".join(f"{self.fingerprint}\n" for _ in inputs))
        return super().predict(inputs)


class Hanging:
    """Sleeps on dark pictures, dies on bright ones, and says which process answers the others."""

    name = "hanging"

    def predict(self, inputs):
        for one in inputs:
            if one.mean() < 10:
                while True:
                    pass
            if one.mean() > 245:
                os._exit(3)
        return [{"process": os.getpid()} for _ in inputs]


class Asleep:
    """Says who it is, then stays in one call of C for an hour, holding the interpreter."""

    name = "asleep"

    def __init__(self, path):
        self._path = path

    def predict(self, inputs):
        with open(self._path, "w") as file:
            file.write(str(os.getpid()))
        import ctypes

        ctypes.PyDLL(None).sleep(3600)


def hashed_as(name):
    """The steady system under another name."""
    system = Hashed()
    system.name = name
    return system


class Raising:
    """Raises the builtin error of that name, or gives nothing at all."""

    name = "raising"
    temporary = (ConnectionError,)

    def __init__(self, error):
        self._error = error

    def predict(self, inputs):
        if self._error == "nothing":
            return None
        raise getattr(builtins, self._error)("no such layer")


class Unsendable:
    """Answers dark pictures with a function."""

    name = "unsendable"

    def predict(self, inputs):
        return [(lambda: 1) if one.max() == 0 else 1 for one in inputs]


class Unloadable:
    """Raises, or dies, when it arrives in another process."""

    name = "unloadable"

    def __init__(self, error):
        self._error = error

    def __reduce__(self):
        return fail_to_load, (self._error,)

    def predict(self, inputs):
        return [1 for _ in inputs]


def fail_to_load(error):
    if error is None:
        os._exit(4)
    raise error


class Visible:
    """Answers with the GPU that it sees."""

    name = "visible"

    def predict(self, inputs):
        return [os.environ.get("CUDA_VISIBLE_DEVICES", "") for _ in inputs]
