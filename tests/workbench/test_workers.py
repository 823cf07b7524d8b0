"""Processes behind the pages: replaced when one is lost, gone when the workbench is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

import pytest

from instar.workbench.workers import Results, Workers

PARENT = """
import os, signal
from instar.workbench.workers import Workers
if __name__ == "__main__":
    print(Workers(1).submit(os.getpid).result(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_worker_that_was_killed_is_replaced() -> None:
    workers = Workers(1)
    try:
        lost = workers.submit(os.getpid).result(1200)
        broken = workers.submit(time.sleep, 600)
        os.kill(lost, signal.SIGKILL)
        with pytest.raises(BrokenExecutor):
            broken.result(1200)
        assert workers.submit(os.getpid).result(1200) != lost
    finally:
        workers.shutdown()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_no_worker_outlives_a_workbench_that_was_killed(tmp_path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    parent = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=1200)
    # Its end was waited for, which comes when nobody holds its output any more, the worker included.
    assert parent.returncode == -signal.SIGKILL
    assert int(parent.stdout) > 0


def test_what_failed_for_want_of_a_process_is_begun_again() -> None:
    def killed() -> int:
        raise BrokenExecutor("killed")

    with ThreadPoolExecutor(1) as workers:
        made = Results[int](workers, 3)
        assert isinstance(made.get("a", killed).exception(), BrokenExecutor)
        assert made.get("a", lambda: 1).result() == 1
        assert made.get("a", lambda: 2).result() == 1
        for key in "bcd":
            assert made.get(key, lambda: 3).result() == 3
        assert made.get("a", lambda: 4).result() == 4
