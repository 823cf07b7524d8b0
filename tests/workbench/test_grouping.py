"""Groups of a run: made once for the same violations, and never taken from a file that does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_runs import lost, make_run, record
from instar.store import RunStore
from instar.store.marks import Marks
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


def test_what_is_called_no_failure_is_in_no_group(run: Path) -> None:
    before = group_run(str(run), "before")
    with RunStore.read(run) as store:
        scene = store.record(f"{3:016x}", change=False).scene
        ours = [one.case for one, _ in store.violated() if one.scene == scene]
    for case in ours:
        Marks(run).add(case, "acceptable", "too far away")
    after = group_run(str(run), "after")
    assert (before.distinct, before.none) == (7, 0)
    assert (after.distinct, after.none) == (6, 1)
    assert after.of.keys() == before.of.keys() - set(ours)


@pytest.mark.parametrize("damage", ["other violations", "half a file", "other shape"])
def test_groups_that_do_not_fit_are_made_again(run: Path, damage: str) -> None:
    first = group_run(str(run), "content")
    kept = run / "workbench-groups.json"
    if damage == "half a file":
        kept.write_text(kept.read_text()[:40])
    elif damage == "other shape":
        kept.write_text('{"content": "content", "titles": ["x"], "of": {"a": 1}, "distinct": 1}')
    assert group_run(str(run), "other" if damage == "other violations" else "content") == first
