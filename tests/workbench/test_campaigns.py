"""Campaigns as processes: how they end, and what is said then."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from instar.workbench.children import Campaigns, Child
from instar.workbench.orders import Order

ORDER = Order("one", "street-exact", "street:1", ["insertion"])
DEAF = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
open({!r}, "w").close()
time.sleep(600)
"""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


def wait_for(what: Callable[[], bool], seconds: float = 1200.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)


def begun(root: Path, program: str, **settings: float) -> tuple[Campaigns, Child]:
    """A campaign that is any program."""
    campaigns = Campaigns(root, [sys.executable, "-c", program], **settings)
    child = campaigns.child(campaigns.start(ORDER))
    assert child is not None
    return campaigns, child


def test_one_that_does_not_listen_is_ended_all_the_same(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    campaigns, child = begun(tmp_path, DEAF.format(str(ready)), patience=0.2)
    wait_for(ready.exists)
    campaigns.stop("one")
    wait_for(lambda: not child.is_running)
    assert child.is_stopped
    campaigns.close()


def test_what_ended_one_from_outside_is_named(tmp_path: Path) -> None:
    campaigns, child = begun(tmp_path, "import time; time.sleep(600)")
    os.kill(child.process.pid, signal.SIGKILL)
    wait_for(lambda: not child.is_running)
    assert child.error() == "something ended it from outside (SIGKILL)"
    campaigns.close()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ('print(\'{"error": "no such model"}\'); raise SystemExit(2)', "no such model"),
        ("print('nothing'); raise SystemExit(3)", "it ended with status 3"),
        ("print('{}'); raise SystemExit(2)", ""),
        ("raise SystemExit(1)", ""),
    ],
)
def test_what_one_complained_of_is_told(tmp_path: Path, program: str, said: str) -> None:
    campaigns, child = begun(tmp_path, program)
    wait_for(lambda: not child.is_running)
    assert child.error() == said
    campaigns.close()


def test_a_run_that_was_begun_elsewhere_goes_on_by_its_plan_with_the_flags_given(tmp_path: Path) -> None:
    campaigns = Campaigns(tmp_path, [sys.executable, "-c", ""])
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "plan.toml").touch()
    campaigns.resume("one", folder, ["--trust"])
    child = campaigns.child("one")
    assert child is not None
    assert child.words == ["run", str(folder / "plan.toml"), f"--out={folder}", "--resume", "--trust"]
    campaigns.close()
