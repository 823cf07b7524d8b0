from __future__ import annotations

from pathlib import Path

from instar.campaigns.plan import make_plan
from instar.campaigns.result import names_code, read_result
from instar.campaigns.run import execute, run
from instar.core.system import Limits
from instar.store import RunStore


def test_a_run_that_ends_early_says_why(tmp_path: Path) -> None:
    plan = {
        "scenes": "street:1",
        "system": [{"use": "street-exact"}],
        "relation": [{"use": "mirrored", "search": {"use": "draws", "n": 1}}],
        "limits": {"queries": 500},
        "out": str(tmp_path / "run"),
    }
    (run,) = execute(make_plan(plan), quiet=True)
    with RunStore.read(run) as store:
        result = read_result(store)
    spent = result.summary.totals.queries
    words = f"Ended after {spent} of 500 questions: nothing was left to try"
    assert result.summary.ended.startswith(words)
    assert words in result.text(brief=True)
    assert result.document()["ended"].startswith(words)
    assert not names_code(run)


def test_a_run_whose_system_fails_says_why_first_and_does_not_ask_for_more(tmp_path: Path) -> None:
    class Broken:
        name = "broken"

        def predict(self, images):
            raise RuntimeError("no device")

    list(run("street:2", "detection.mirrored", Broken(), limits=Limits(queries=500), out=tmp_path / "run"))
    with RunStore.read(tmp_path / "run") as store:
        result = read_result(store)
    (first, *_) = result.text(brief=True).splitlines()
    assert first.startswith("broken: too many failures: the system failed in ")
    assert first.endswith(": RuntimeError: no device.")
    assert result.summary.ended == ""
