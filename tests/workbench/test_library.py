"""What is shown is what is there: marks, runs that come back as others, runs that are gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench_runs import lost, make_run, make_test_site, record
from instar.core.errors import InstarError
from instar.store import RunStore
from instar.workbench import NotHere, library
from instar.workbench.figures import account_of
from instar.workbench.pages.pictures import known_case

CASE = f"{1:016x}"


def make(folder: Path, margin: float = -0.5) -> Path:
    return make_run(folder, [record(1, verdict=lost(margin)), record(2)])


def test_a_mark_that_is_said_while_the_table_is_made_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path / "run")
    site = make_test_site(tmp_path)
    run, plain = site.library.run("run"), library.make_case_table

    def meanwhile(parts):
        made = plain(parts)
        site.library.mark(run, CASE, "acceptable", "")
        return made

    monkeypatch.setattr(library, "make_case_table", meanwhile)
    make(tmp_path / "another")  # so that there is a reason to make the table anew
    site.library.look()
    table = site.library.table
    assert set(table.words["run"]) == {"another", "run"}
    assert table.name("mark", table.row("run", CASE)) == "acceptable"
    assert run.marked == {CASE: "acceptable"}


def test_what_is_called_no_failure_is_counted_apart(tmp_path: Path) -> None:
    make(tmp_path / "run")
    site = make_test_site(tmp_path)
    before = account_of(site.library.readable_runs())
    site.library.mark(site.library.run("run"), CASE, "acceptable", "far away")
    after = account_of(make_test_site(tmp_path).library.readable_runs())
    assert [(one["distinct"], one["called_none"]) for one in (before, after)] == [(1, 0), (0, 1)]


def test_a_run_that_was_removed_and_made_anew_is_another(tmp_path: Path) -> None:
    make(tmp_path / "run")
    site = make_test_site(tmp_path)
    before = known_case(site, "run", CASE).wanted
    assert known_case(site, "run", CASE).wanted == before
    shutil.rmtree(tmp_path / "run")
    make(tmp_path / "run")
    site.library.look("run")
    after = known_case(site, "run", CASE).wanted
    assert after.verdict == before.verdict
    assert after != before


def test_a_case_that_was_judged_anew_is_pictured_anew(tmp_path: Path) -> None:
    make(tmp_path / "run")
    site = make_test_site(tmp_path)
    before = known_case(site, "run", CASE).wanted
    with RunStore.create(tmp_path / "other", identity={"system": "made-up", "fingerprint": "x"}) as store:
        store.keep_records([record(1, verdict=lost(-0.25))])
    shutil.copy(tmp_path / "other" / "run.sqlite", tmp_path / "run" / "run.sqlite")  # the file stays the same
    site.library.look("run")
    assert known_case(site, "run", CASE).wanted.verdict == ("violated", -0.25)
    assert known_case(site, "run", CASE).wanted != before


def test_a_run_that_is_gone_is_not_there_and_does_not_come_back(tmp_path: Path) -> None:
    folder = make(tmp_path / "run")
    site = make_test_site(tmp_path)
    (folder / "run.sqlite").unlink()
    with pytest.raises(InstarError):
        RunStore.read(folder).close()
    site.library.look()
    assert not (folder / "run.sqlite").exists()
    with pytest.raises(NotHere):
        known_case(site, "run", CASE)
    assert len(site.library.table) == 0
