"""Whatever a user's system does, the campaign goes on, the account is right, and it is told what happened."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import instar

MODULE = '''
import ctypes, hashlib, os, sys, time
import numpy as np
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system


def chance(image):
    """A number between 0 and 1 that any other pixel changes."""
    return int.from_bytes(hashlib.sha256(image.tobytes()).digest()[:4], "big") / 2**32


def as_answer(found):
    boxes, scores, labels = zip(*found) if found else ((), (), ())
    return {"boxes": list(boxes), "scores": list(scores), "labels": list(labels)}


class Right:
    """Finds the things of a drawn street."""

    def __init__(self):
        self.name, self.inner, self.calls = type(self).__name__.lower(), build_system(Use("street-exact")), 0

    def predict(self, inputs):
        self.calls += 1
        return [self.answer(one) for one in inputs]

    def found(self, image):
        (answer,) = self.inner.predict([image])
        return list(zip(answer.boxes.tolist(), answer.scores.tolist(), answer.labels))

    def answer(self, image):
        return as_answer(self.found(image))


class Drawing(Right):
    def answer(self, image):
        found = self.found(image)
        image[:] = 0
        return as_answer(found)


class Dropping(Right):
    def answer(self, image):
        return as_answer([] if chance(image) < 0.25 else self.found(image))


class Wavering(Right):
    """Boxes that move by up to two pixels, and scores by two percent, for no reason."""

    def answer(self, image):
        off = 4 * chance(image) - 2
        return as_answer([([v + off for v in b], s * (1 + off / 100), l) for b, s, l in self.found(image)])


class Alternating(Right):
    def answer(self, image):
        return as_answer([] if self.calls % 2 else self.found(image))


class Raising(Right):
    def answer(self, image):
        if chance(image) < 0.15:
            raise RuntimeError("out of luck")
        return super().answer(image)


class Printing(Right):
    def answer(self, image):
        print("{not json")
        os.write(1, b"nor this")
        return super().answer(image)


class Lazy(Right):
    def answer(self, image):
        if self.calls == 1:
            time.sleep(11)
        return super().answer(image)


class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("no")


class Foul(Right):
    """Fails in another way for each of a few pictures."""

    def answer(self, image):
        n = int(chance(image) * 40)
        if n == 0:
            os._exit(3)
        if n == 1:
            ctypes.string_at(0)
        if n == 2:
            endless = []
            endless.append(endless)
            return endless
        if n == 3:
            deep = []
            for _ in range(100_000):
                deep = [deep]
            return deep
        if n == 4:
            raise Unspeakable
        if n == 5:
            sys.exit(0)
        if n == 6:
            return as_answer([([0, 0, 9, 9], 0.9, "dog")] * 300_000)
        return super().answer(image)


class Hung(Right):
    def answer(self, image):
        if os.path.exists("hang"):
            time.sleep(3600)
        return super().answer(image)


class Absent(Right):
    """A service that does not always answer while the file `down` is there."""

    def answer(self, image):
        if os.path.exists("down") and chance(image) < 0.2:
            raise RuntimeError("502 Bad Gateway")
        return super().answer(image)
'''


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("foul")
    (home / "mine.py").write_text(MODULE)
    return home


# A shell that starts something in the background has it ignore interrupts.
PROGRAM = """import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from instar.cli.program import main
sys.exit(main())
"""


def words_of(system, *more, scenes=4):
    return [
        sys.executable, "-c", PROGRAM, "run", "--system", f"mine:{system}", "--relation", "insertion",
        "--scenes", f"street:{scenes}", "--set", "search.per_object=2", "--json", *more,
    ]  # fmt: skip


def environment():
    return {**os.environ, "PYTHONPATH": str(Path(instar.__file__).parents[1])}


def run(home, system, *more, scenes=4):
    done = subprocess.run(
        words_of(system, "--out", system, *more, scenes=scenes),
        cwd=home,
        capture_output=True,
        text=True,
        env=environment(),
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("system", ["Right", "Drawing", "Wavering", "Printing"])
def test_one_that_is_right_is_not_accused_whatever_else_it_does(home, system):
    status, document = run(home, system)
    assert (status, document["not_judged"], document["violated"], document["failed"]) == (0, None, 0, 0)
    assert document["held"] > 50
    assert document["isolated"]


@pytest.mark.parametrize(
    ("system", "why"), [("Dropping", "too unstable to judge: "), ("Alternating", "too unstable to judge: ")]
)
def test_one_that_wavers_is_too_unstable_to_judge_and_not_blamed_for_a_change(home, system, why):
    status, document = run(home, system, "--seed", "2", scenes=10)
    assert (status, document["violated"]) == (2, 0)
    assert document["not_judged"].startswith(why)
    assert document["cases"] == sum(document[end] for end in ("held", "violated", "inapplicable", "failed"))
    assert document["relations"]["insertion"]["rate"] in (0.0, None)


def test_one_that_is_not_deterministic_is_called_that(home):
    with_another_answer = run(home, "Alternating", "--resume", "--seed", "2", scenes=10)[1]["repeats"]
    assert with_another_answer["contradicting"] > 0
    report = subprocess.run(
        [sys.executable, "-m", "instar", "report", "Alternating"],
        cwd=home, capture_output=True, text=True, env=environment(),
    )  # fmt: skip
    assert "the system is not deterministic" in report.stdout


def test_too_many_failures_are_no_pass(home):
    status, document = run(home, "Raising")
    assert (status, document["not_judged"].startswith("too many failures: ")) == (2, True)


def test_every_foul_answer_fails_alone_and_the_campaign_goes_on(home):
    _, document = run(home, "Foul", scenes=6)
    assert document["finished"]
    assert document["violated"] == 0
    assert document["held"] > 50
    told = " ".join(document["reasons"])
    for reason in (
        "the system's process died (exit code 3)",
        "the system's process died (exit code -11)",
        "the answer is nested more than 24 levels deep",
        "Unspeakable: (its text cannot be had: ValueError)",
        "SystemExit: 0",
    ):
        assert reason in told


def test_one_that_loads_when_it_is_first_asked_has_time_for_it(home):
    status, document = run(home, "Lazy", "--timeout", "10", scenes=2)
    assert (status, document["failed"]) == (0, 0)


@pytest.mark.parametrize("how", ["seconds", "interrupt"])
def test_a_call_that_hangs_is_ended_with_the_campaign_which_can_be_resumed(home, how):
    (home / "hang").touch()
    folder = f"Hung-{how}"
    more = ["--out", folder, *(["--max-seconds", "3"] if how == "seconds" else [])]
    child = subprocess.Popen(
        words_of("Hung", *more), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    try:
        if how == "interrupt":
            until = time.monotonic() + 300
            while not (home / folder / "plan.toml").exists() and time.monotonic() < until:
                time.sleep(0.1)
            time.sleep(2)
            child.send_signal(signal.SIGINT)
            began = time.monotonic()
        _, err = child.communicate(timeout=3000)
        if how == "interrupt":
            print(f"ended {time.monotonic() - began:.1f} s after the interrupt")
    finally:
        child.kill()
        (home / "hang").unlink()
    assert child.returncode == (130 if how == "interrupt" else 2), err
    status, document = run(home, "Hung", "--out", folder, "--resume")
    assert (status, document["failed"], document["finished"]) == (0, 0, True)


def test_what_failed_is_asked_again_on_resume_and_another_version_is_refused(home):
    (home / "down").touch()
    status, document = run(home, "Absent")
    (home / "down").unlink()
    assert (status, document["failed"] > 0) == (2, True)
    status, after = run(home, "Absent", "--resume")
    assert (status, after["failed"]) == (0, 0)
    assert 0 < after["asked"] < document["asked"]
    (home / "mine.py").write_text(MODULE.replace("< 0.25", "< 0.20"))
    try:
        status, refused = run(home, "Absent", "--resume")
    finally:
        (home / "mine.py").write_text(MODULE)
    assert status == 2
    assert "was begun with another version of absent: its source, files or settings have" in refused["error"]
