"""A system with a time limit lives in a process that can be killed, dies with us and holds no lock."""

import gc
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.errors import BadInput, TooManyFailures
from instar.core.system import Limits, ask
from instar.engines import process
from instar.engines.worker import WorkerSystem, gpus, within_limits
from instar.store import RunStore

HERE = Path(__file__).parent
DARK, MIDDLE, BRIGHT = (np.full((4, 4, 3), level, np.uint8) for level in (0, 100, 255))


def answers(system, inputs, timeout=120.0, batch=1):
    with closing(within_limits(system, Limits(timeout=timeout, start=0))) as safe:
        return [
            reply
            for start in range(0, len(inputs), batch)
            for reply in ask(safe, inputs[start : start + batch], retries=0)
        ]


def test_the_answers_are_those_of_the_system_itself():
    inputs = [scene.image for scene in planted.pictures(5)]
    assert [r.answer for r in answers(planted.Hashed(), inputs, batch=3)] == [planted.sees(i) for i in inputs]


def test_a_system_that_dies_fails_with_its_exit_code_and_a_fresh_process_goes_on():
    first, died, after = answers(planted.Hanging(), [MIDDLE, BRIGHT, MIDDLE])
    assert died.error == "the system's process died (exit code 3)"
    assert first.answer["process"] != after.answer["process"]
    assert os.getpid() not in (first.answer["process"], after.answer["process"])


def test_a_system_that_hangs_is_killed_and_a_fresh_process_goes_on():
    with closing(within_limits(planted.Hanging(), Limits(timeout=10.0, start=0))) as safe:
        (first,) = ask(safe, [MIDDLE])
        (hung,) = ask(safe, [DARK])
        assert hung.error == "TimeoutError: no answer within 10 s"
        with pytest.raises(ProcessLookupError):
            os.kill(first.answer["process"], 0)
        (after,) = ask(safe, [MIDDLE])
        assert after.answer["process"] != first.answer["process"]


@pytest.fixture
def nothing_inherited(monkeypatch):
    """As on Windows, where a process inherits neither sockets nor memory."""
    monkeypatch.setattr(process, "INHERITS", False)


@pytest.mark.usefixtures("nothing_inherited")
def test_a_process_that_inherits_nothing_answers_dies_and_hangs_alike():
    inputs = [scene.image for scene in planted.pictures(3)]
    assert [r.answer for r in answers(planted.Hashed(), inputs, batch=3)] == [planted.sees(i) for i in inputs]
    first, died, hung, after = answers(planted.Hanging(), [MIDDLE, BRIGHT, DARK, MIDDLE], timeout=10.0)
    assert died.error == "the system's process died (exit code 3)"
    assert hung.error == "TimeoutError: no answer within 10 s"
    assert first.answer["process"] != after.answer["process"]


@pytest.mark.usefixtures("nothing_inherited")
def test_a_process_that_ends_before_it_calls_is_told_of(monkeypatch):
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(BadInput, match=r"cannot be built: the system's process died \(exit code 1\)"):
        WorkerSystem(planted.Hashed)


def test_one_hanging_input_of_a_batch_fails_alone():
    replies = answers(planted.Hanging(), [MIDDLE, DARK, MIDDLE], timeout=10.0, batch=3)
    assert [reply.error for reply in replies] == [None, "TimeoutError: no answer within 10 s", None]


def test_an_error_in_the_process_reads_as_it_would_at_home():
    (reply,) = answers(planted.Raising("KeyError"), [MIDDLE])
    assert reply.error == "KeyError: 'no such layer'"


def test_a_temporary_error_in_the_process_is_tried_again():
    pauses = []
    with closing(within_limits(planted.Raising("ConnectionError"), Limits(timeout=120.0, start=20))) as safe:
        (reply,) = ask(safe, [MIDDLE], retries=2, sleep=pauses.append)
    assert pauses == [0.5, 1.0]
    assert reply.error == "Temporary: ConnectionError: no such layer"


def test_answers_that_cannot_be_sent_are_a_failure_and_the_process_lives_on():
    unsendable, after = answers(planted.Unsendable(), [DARK, MIDDLE])
    assert unsendable.error is not None
    assert "an answer with a function cannot be kept" in unsendable.error
    assert after.answer == 1


def test_what_is_no_list_of_answers_is_named_as_it_would_be_at_home():
    (reply,) = answers(planted.Raising("nothing"), [MIDDLE])
    assert reply.error == "predict gave a NoneType, not a sequence of answers"


def test_a_system_that_cannot_be_sent_is_refused_in_one_line():
    with pytest.raises(BadInput) as refused:
        list(
            instar.run(
                planted.pictures(1), planted.plain, planted.Scripted(lambda i: 1), limits=Limits(timeout=5)
            )
        )
    assert str(refused.value).startswith(
        "a time limit needs a process of its own, and system 'scripted' cannot"
    )
    assert "\n" not in str(refused.value)


def test_a_system_that_does_not_start_is_refused_and_says_why():
    limits = Limits(timeout=120)
    with pytest.raises(BadInput, match=r"^the system cannot be built: ValueError: no weights$"):
        within_limits(planted.Unloadable(ValueError("no weights")), limits)
    with pytest.raises(BadInput, match=r"cannot be built: the system's process died \(exit code 4\)"):
        within_limits(planted.Unloadable(None), limits)


def test_records_are_the_same_with_and_without_processes(tmp_path):
    how = {"search": instar.draws(4), "seed": 1}
    reference = instar.run(planted.pictures(4), planted.checked, planted.Hashed(), **how)
    system = planted.Hashed(concurrent=True)
    apart = instar.run(
        planted.pictures(4), planted.checked, system, limits=Limits(timeout=30), workers=2, batch=3, **how
    )
    assert planted.rows(apart) == planted.rows(reference)


def test_a_hanging_system_stops_a_campaign_like_any_failing_one(tmp_path):
    scenes = [instar.Scene.of(f"{i}.png", DARK) for i in range(3)]
    with pytest.raises(TooManyFailures, match=r"hanging failed 1 times in a row, last with: TimeoutError"):
        list(
            instar.run(
                scenes, planted.plain, planted.Hanging(), limits=Limits(timeout=0.5, start=0, failures=1)
            )
        )


PARENT = """
import sys
import instar, planted_core as planted
system = planted.Asleep(sys.argv[2])
limits = instar.Limits(timeout=1000)
list(instar.run(planted.pictures(1), planted.plain, system, limits=limits, out=sys.argv[1]))
"""


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds=1200.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_process_dies_with_a_killed_parent_and_never_holds_the_runs_lock(tmp_path):
    path = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parent)])
    told = tmp_path / "process"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path / "run"), str(told)],
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert wait_for(lambda: told.exists() and told.read_text())
        child = int(told.read_text())
        assert is_alive(child)
        os.kill(child, signal.SIGSTOP)  # it cannot end by itself now: only the lock can tell
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        provenance = json.loads((tmp_path / "run" / "provenance.json").read_text())
        identity = {key: value for key, value in provenance.items() if key not in ("format", "sessions")}
        RunStore.resume(tmp_path / "run", identity=identity).close()
        assert wait_for(lambda: not is_alive(child))
    finally:
        parent.kill()
        parent.wait()


def test_a_system_that_leaks_is_ended_and_begun_anew(monkeypatch):
    with closing(within_limits(planted.Hanging(), Limits(timeout=60))) as safe:
        monkeypatch.setattr("instar.engines.worker.MEMORY_SHARE", 0.0)
        (first,) = ask(safe, [MIDDLE])
        monkeypatch.undo()
        (second,) = ask(safe, [MIDDLE])
        assert first.answer["process"] != second.answer["process"]


def test_one_process_for_each_gpu_which_it_sees_alone(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    assert gpus() == ["3", "5"]
    with closing(WorkerSystem(planted.Visible)) as system:
        both = [system._free.get(), system._new_worker()]
        assert [worker.call([0], 60)[0] for worker in both] == ["3", "5"]
        for worker in both:
            worker.stop()


def test_a_process_that_a_late_call_starts_after_the_end_ends_with_the_system():
    safe = within_limits(planted.Hanging(), Limits(timeout=60.0, start=0))
    late = threading.Thread(target=ask, args=(safe, [DARK]), kwargs={"retries": 0})
    late.start()
    while safe._free.qsize():  # the call has not begun
        time.sleep(0.01)
    time.sleep(0.2)
    safe.close()
    late.join()
    (reply,) = ask(safe, [MIDDLE])
    process = reply.answer["process"]
    del safe
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_call_into_an_object_that_hangs_holds_up_neither_the_campaign_nor_its_account(tmp_path):
    waiting = threading.Event()

    def answer(image):
        waiting.wait(300)

    limits = Limits(seconds=0.5)
    records = instar.run(
        planted.pictures(2), planted.plain, planted.Scripted(answer), limits=limits, out=tmp_path / "run"
    )
    assert list(records) == []
    waiting.set()
    with RunStore.read(tmp_path / "run") as store:
        assert not store.totals().finished
