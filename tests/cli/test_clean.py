"""`instar clean` says what runs take, and removes what was named: never anything that is not ours."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bench_runs import make_street_run
from instar.cli import main
from instar.store import RunStore
from instar.store.lock import RunLock


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_street_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def home(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `runs` with two runs, and something that is none."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(original, "runs/a")
    shutil.copytree(original, "runs/deep/b")
    Path("runs/photos").mkdir()
    Path("runs/photos/run.sqlite").write_text("not a run")
    return tmp_path


def said(*words: str) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main(["clean", *words, "--json"])
    return status, json.loads(out.getvalue())


def everything() -> dict[str, bytes]:
    """All files here but for the side files of SQLite, which come and go."""
    files = [path for path in Path().rglob("*") if path.is_file() and "sqlite-" not in path.name]
    return {str(path): path.read_bytes() for path in files}


def size(folder: str) -> int:
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def test_runs_are_listed_with_what_they_take(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything()
    status, document = said("runs")
    assert status == 0
    assert [run["run"] for run in document["runs"]] == ["runs/a", "runs/deep/b"]
    (run, _) = document["runs"]
    assert run["system"] == "street-blobs"
    assert run["age_seconds"] < 3600
    assert all(run["bytes"][part] > 0 for part in ("answers", "records", "pictures", "rest"))
    assert sum(run["bytes"].values()) == size("runs/a")
    assert "photos" in document["left_alone"][0]
    assert (document["removed"], document["freed"]) == (False, 0)
    assert main(["clean", "runs"]) == 0
    text = capsys.readouterr().out
    assert "street-blobs" in text
    assert "answers" in text
    assert everything() == before


@pytest.mark.parametrize("what", ["pictures", "answers", "all"])
def test_without_yes_nothing_is_removed(home: Path, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything()
    status, document = said("runs", f"--{what}")
    assert (status, document["removed"]) == (0, False)
    assert document["freed"] > 10_000
    assert main(["clean", "runs", f"--{what}"]) == 0
    assert "would be freed in 2 runs; say --yes" in capsys.readouterr().out
    assert everything() == before


def test_pictures_are_removed_and_made_again_when_looked_at(home: Path) -> None:
    own = {"runs/a/pictures/holiday.jpg": b"mine", "runs/a/notes.txt": b"mine too"}
    for path, content in own.items():
        Path(path).write_bytes(content)
    before, was = everything(), size("runs/a")
    status, document = said("runs/a", "--pictures", "--yes")
    assert (status, document["removed"]) == (0, True)
    assert document["freed"] == was - size("runs/a") > 10_000
    after = everything()
    gone = before.keys() - after.keys()
    assert gone
    assert all(path.endswith(".jpg") for path in gone)  # cut-outs are PNG files, and stay
    assert {path: after[path] for path in own} == own
    with RunStore.read("runs/a") as store:
        case = next(record.case for record, _ in store.violated())
        assert store.panels(case) is None
    for words in (["report", "runs/a", "--html", "page.html"], ["replay", "runs/a", case]):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            assert main(words) == 1
    assert "<image" in Path("page.html").read_text()
    assert {path: everything()[path] for path in before if "deep" in path} == {
        path: content for path, content in before.items() if "deep" in path
    }


def test_answers_are_removed_and_the_report_stays(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    was = size("runs/a")
    assert main(["clean", "runs/a", "--answers", "--yes"]) == 0
    assert "can neither be resumed nor replayed from memory" in capsys.readouterr().out
    assert size("runs/a") < was
    with contextlib.closing(sqlite3.connect("runs/a/run.sqlite")) as file:
        assert file.execute("SELECT count(*) FROM answers").fetchone() == (0,)
    assert main(["report", "runs/a"]) == 1
    assert capsys.readouterr().out.startswith("street-blobs fails in")


def test_all_removes_a_run_and_nothing_beside_it(home: Path) -> None:
    shutil.copytree("runs/a", "runs/a/runs/inner")  # where the workbench puts campaigns
    Path("elsewhere").mkdir()
    Path("elsewhere/photo.jpg").write_bytes(b"mine")
    shutil.rmtree("runs/deep/b/pictures")
    Path("runs/deep/b/pictures").symlink_to(home / "elsewhere")
    status, document = said("runs", "--all", "--yes")
    assert (status, len(document["runs"])) == (0, 3)  # a folder of runs is looked through
    assert not Path("runs/deep/b").exists()
    assert everything() == {"elsewhere/photo.jpg": b"mine", "runs/photos/run.sqlite": b"not a run"}


def test_a_run_in_a_run_is_not_part_of_it(home: Path) -> None:
    shutil.copytree("runs/a", "runs/a/runs/inner")
    Path("runs/a/notes.txt").write_text("mine")
    status, document = said("runs/a", "--all", "--yes")
    assert (status, len(document["runs"])) == (0, 1)
    assert {path.name for path in Path("runs/a").iterdir()} == {"runs", "notes.txt"}
    assert said("runs/a/runs/inner")[0] == 0


def test_pictures_behind_a_link_are_not_ours(home: Path) -> None:
    Path("runs/a/pictures").rename("elsewhere")
    Path("runs/a/pictures").symlink_to(home / "elsewhere")
    before = {path: content for path, content in everything().items() if path.startswith("elsewhere")}
    assert said("runs/a", "--pictures", "--yes")[0] == 0
    assert {p: c for p, c in everything().items() if p.startswith("elsewhere")} == before


def test_a_run_file_behind_a_link_is_not_ours(home: Path) -> None:
    Path("runs/a/run.sqlite").rename("elsewhere.sqlite")
    Path("runs/a/run.sqlite").symlink_to(home / "elsewhere.sqlite")
    before = everything()
    assert said("runs/a", "--answers", "--yes")[0] == 2
    assert everything() == before


def test_a_run_that_is_being_written_is_refused_before_anything_is_removed(home: Path) -> None:
    lock = RunLock(Path("runs/deep/b/lock"))
    before = everything()
    try:
        status, document = said("runs", "--all", "--yes")
    finally:
        lock.release()
    assert status == 2
    assert document == {"error": "runs/deep/b is being written by another process; wait for it"}
    assert everything() == before


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["nowhere"], "nowhere is no run folder, and there is none in it"),
        (["runs/photos"], "runs/photos"),
        (["runs/a", "--yes"], "--yes to what? give --pictures, --answers or --all as well"),
        (["runs/a", "--pictures", "--all"], "not allowed with argument"),
        ([], "the following arguments are required"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(home: Path, words: list[str], error: str) -> None:
    before = everything()
    status, document = said(*words)
    assert (status, error in document["error"], "\n" in document["error"]) == (2, True, False)
    assert everything() == before
