"""Columns of a run: read once, kept, brought up to date, and never trusted blindly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import instar
from bench_runs import lost, make_run, record
from instar.store import RunStore
from instar.workbench import columns as module
from instar.workbench.columns import Columns, read_columns


def as_rows(columns: Columns) -> list[tuple[object, ...]]:
    named = [[columns.words[n][code] for code in columns.rows[n]] for n in module.NAMED]
    plain = [columns.rows[n].tolist() for n in ("case", "is_null", "status", "margin", "naturalness")]
    return [tuple("nan" if v != v else v for v in row) for row in zip(*plain, *named)]


def add(folder: Path, records: list[instar.Record]) -> None:
    with RunStore.resume(folder, identity={"system": "made-up", "fingerprint": "x"}) as store:
        store.keep_records(records)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    verdicts = [lost(-0.5), instar.Verdict.held(0.25), instar.Verdict.inapplicable("no free place")]
    records = [record(i, verdict=verdicts[i % 3], naturalness=0.5 if i % 3 == 0 else None) for i in range(30)]
    records.append(record(30, role="null"))
    return make_run(tmp_path / "run", records)


def test_every_record_is_there_with_what_filters_need(run: Path) -> None:
    columns = read_columns(run)
    rows = as_rows(columns)
    assert rows[0] == (b"0" * 16, False, 0, -0.5, 0.5, "insertion", "lost", "scene-0", "", "not verified")
    assert rows[2][2:] == (2, 0.0, "nan", "insertion", "", "scene-2", "no free place", "")
    assert (len(columns), columns.rows["is_null"].sum(), rows[30][1]) == (31, 1, True)


def test_a_violated_case_is_as_plain_as_its_plainest_finding(run: Path) -> None:
    rows = read_columns(run).rows
    assert rows["plain"][0] == lost(-0.5).plainest.plainness[1]
    assert rows["plain"][1] == rows["margin"][1] == 0.25


def test_what_was_read_is_kept_and_read_back_without_touching_the_run(run: Path) -> None:
    first = as_rows(read_columns(run))
    kept = (run / "workbench.npz").stat().st_mtime_ns
    assert as_rows(read_columns(run)) == first
    assert (run / "workbench.npz").stat().st_mtime_ns == kept


def test_new_changed_and_vanished_records_are_noticed(run: Path) -> None:
    before = read_columns(run)
    add(run, [record(40, scene="a new scene"), record(1, verdict=lost(-0.9))])
    updated = read_columns(run, before)
    (run / "workbench.npz").unlink()
    assert as_rows(updated) == as_rows(read_columns(run))
    assert len(updated) == len(before) + 1
    assert as_rows(updated)[1][2:4] == (0, -0.9)
    with RunStore.resume(run, identity={"system": "made-up", "fingerprint": "x"}) as store:
        store._database.execute("DELETE FROM records WHERE case_id = ?", (f"{5:016x}",))
    assert len(read_columns(run, updated)) == len(updated) - 1


def test_a_few_new_records_among_many_do_not_mean_reading_all(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_columns(run)
    add(run, [record(50)])
    asked = []
    true_rows_of = module._rows_of
    monkeypatch.setattr(module, "_rows_of", lambda db, cases: asked.extend(cases) or true_rows_of(db, cases))
    read_columns(run, before)
    assert asked == [f"{50:016x}"]


@pytest.mark.parametrize("damage", ["half", "codes", "pickle"])
def test_a_kept_file_that_is_damaged_is_made_again(run: Path, damage: str) -> None:
    good = as_rows(read_columns(run))
    file = run / "workbench.npz"
    if damage == "half":
        file.write_bytes(file.read_bytes()[:500])
    else:
        with np.load(file) as kept:
            arrays = dict(kept)
        arrays["rows"]["scene"] += 1000
        if damage == "pickle":
            arrays["rows"] = np.array([object()])
        np.savez(file, **arrays)
    assert as_rows(read_columns(run)) == good


def test_a_run_that_cannot_be_written_to_is_read_all_the_same(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("read-only")))
    assert len(read_columns(run)) == 31
    assert [path.name for path in run.glob("workbench*")] == []
