"""Groups of a run: made once for the same violations, and never taken from a file that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_runs import lost, make_run, record
from instar.workbench import groups as grouping
from instar.workbench.groups import group_run


@pytest.fixture
def run(tmp_path: Path) -> Path:
    kinds = ["lost", "drifted"]
    records = [record(i, verdict=lost(-0.5, kind=kinds[i % 2], label=kinds[i % 2])) for i in range(20)]
    return make_run(tmp_path / "run", records)


def test_groups_are_kept_for_the_same_violations(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = group_run(str(run), "content")
    assert sorted(first.of) == [f"{i:016x}" for i in range(20)]
    assert first.distinct == 7  # an object in each of seven scenes, whatever became of it
    monkeypatch.setattr(grouping, "group_failures", lambda *_: pytest.fail("they were made again"))
    assert group_run(str(run), "content") == first


@pytest.mark.parametrize("damage", ["other violations", "half a file", "other shape"])
def test_groups_that_do_not_fit_are_made_again(run: Path, damage: str) -> None:
    first = group_run(str(run), "content")
    kept = run / "workbench-groups.json"
    if damage == "half a file":
        kept.write_text(kept.read_text()[:40])
    elif damage == "other shape":
        kept.write_text('{"content": "content", "titles": ["x"], "of": {"a": 1}, "distinct": 1}')
    assert group_run(str(run), "other" if damage == "other violations" else "content") == first
