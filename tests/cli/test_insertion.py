"""The command line with the relation that is built in, on drawn streets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from instar.cli import main

Captured = pytest.CaptureFixture[str]
ON_STREETS = ["--relation", "insertion", "--search", "guided", "--seed", "0", "--budget", "150"]


def run_json(capsys: Captured, *words: str) -> tuple[int, dict]:
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_detector_that_fuses_neighbours_is_found_out(capsys: Captured) -> None:
    words = ["run", "--system", "street-blobs", *ON_STREETS, "--scenes", "street:3", "--out", "R"]
    status, document = run_json(capsys, *words)
    assert status == 1
    assert document["queries"] <= 150
    assert document["false_alarm_rate"] == 0.0
    assert document["kinds"]["lost"] > 0
    worst = document["findings"][0]
    assert 0 < worst["naturalness"] <= 1

    # The run carries its cut-outs: the pool that they came from is not needed any more.
    shutil.rmtree("R/pool")
    status, again = run_json(capsys, "replay", "R", worst["case"])
    assert (status, again["same"], again["picture"]) == (1, True, f"R/replays/{worst['case']}.png")
    assert set(again["source"]) == {"boxes", "labels", "scores", "confidence", "aside"}


def test_a_detector_that_is_right_is_not_accused(capsys: Captured) -> None:
    words = ["run", "--system", "street-exact", *ON_STREETS, "--scenes", "street:3", "--out", "R"]
    status, document = run_json(capsys, *words)
    assert (status, document["violated"], document["unstable"]) == (0, 0, 0)
    assert document["held"] > 100


def test_a_pool_of_one_run_serves_another(capsys: Captured) -> None:
    words = ["run", "--system", "street-exact", *ON_STREETS]
    _, own = run_json(capsys, *words, "--scenes", "street:3", "--out", "A")
    status, document = run_json(capsys, *words, "--scenes", "street:3", "--pool", "A/pool", "--out", "B")
    assert status == 0
    assert document["held"] == own["held"]
    assert not Path("B/pool").exists()


def test_insertion_with_two_blends_keeps_both_names(capsys: Captured) -> None:
    Path("plan.toml").write_text(
        'scenes = "street:3"\nout = "R"\n[limits]\nqueries = 150\n[[system]]\nuse = "street-blobs"\n'
        '[[relation]]\nuse = "insertion"\n[[relation]]\nuse = "insertion"\nname = "hard"\nblend = "hard"\n'
        'pool = "scenes"\n'
    )
    _, document = run_json(capsys, "run", "plan.toml")
    assert {name: relation["cases"] > 0 for name, relation in document["relations"].items()} == {
        "insertion": True,
        "hard": True,
    }
    worst = next(finding for finding in document["findings"] if finding["relation"] == "hard")
    _, again = run_json(capsys, "replay", "R", worst["case"])
    assert (again["relation"], again["same"]) == ("hard", True)
