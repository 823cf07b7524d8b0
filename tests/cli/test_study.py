"""`instar study text` on drawn pages."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from instar.adapters.picture_system import PictureSystem
from instar.cli import main


def test_a_study_finds_which_locator_is_unstable_and_when(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    words = [
        "study",
        "text",
        "--systems",
        "page-exact,page-glare",
        "--scenes",
        "page:3",
        "--out",
        str(out),
        "--retrain",
        "perspective",
        "--json",
    ]
    assert main(words) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {row[0]: row[1:] for row in document["tables"]["stability"]["rows"]}
    assert rows["relation"] == ["page-exact", "page-glare"]
    assert {row[0] for name, row in rows.items() if name != "relation"} == {"1.000"}
    assert float(rows["brightness-up"][1]) < 1
    assert rows["brightness-down"][1] == rows["null changes"][1] == "1.000"
    note = document["tables"]["stability"]["note"]
    assert note == "Brightness up is less stable than down for 1 of 2: page-glare."
    accuracy = {(row[0], row[1]): row[2:] for row in document["tables"]["accuracy"]["rows"]}
    assert accuracy["page-exact", "sources"] == ["1.000"] * 6
    cases = {(row[0], row[1]): int(row[2]) for row in document["tables"]["cases"]["rows"][1:]}
    assert [cases["page-exact", name] for name in ("brightness-up", "channel-switch", "masking")] == [
        30,
        6,
        3,
    ]
    assert document["retraining"] == len(list((out / "retraining" / "images").iterdir())) == 30
    with (out / "stability.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["relation", "page-exact", "page-glare"]
    # The runs are ordinary runs.
    assert main(["report", str(out / "page-glare"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["violated"] > 0


def test_a_study_that_is_there_is_told_again_without_a_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["study", "text", "--systems", "page-glare", "--scenes", "page:2", "--out", str(tmp_path)]
    words += ["--sweep", "1"]
    assert main([*words, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    swept = first["tables"]["brightness"]
    assert [row[0] for row in swept["rows"]] == [
        "grey levels",
        *(f"{n:+d}" for n in range(-200, 201, 5) if n),
    ]
    assert "page-glare down" in swept["note"]
    assert swept["note"].endswith(" of 1.")

    def refuse(self: PictureSystem, images: object) -> None:
        raise AssertionError("asked again")

    monkeypatch.setattr(PictureSystem, "predict", refuse)
    for more in ([], ["--as-is"]):
        assert main([*words, *more, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == first
    assert main([*words[:-4], "--out", str(tmp_path / "empty"), "--as-is"]) == 2
    assert "empty/page-glare is no run folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "study of what? give a family: detection, text, driving, interpretation"),
        (["text"], "the following arguments are required: --systems, --scenes"),
        (["text", "--systems", "page-exact,page-exact", "--scenes", "page:1"], "one of them twice"),
        (["text", "--systems", "page-exact", "--scenes", "page:1", "--retrain", "x"], "unknown relation 'x'"),
        (["text", "--systems", "page-exat", "--scenes", "page:1"], "did you mean 'page-exact'"),
        (["text", "--systems", "page-exact", "--scenes", "page:1", "--truth", "nowhere"], "nowhere"),
        (["text", "--systems", "page-exact", "--scenes", "page:1", "--sweep", "-1"], "--sweep is -1"),
        (
            ["text", "--systems", "page-exact", "--scenes", "page:1", "--set", "page-exact.limit=3"],
            "system 'page-exact': unknown option 'limit'",
        ),
        (
            ["text", "--systems", "page-exact", "--scenes", "page:1", "--set", "limits.queries=3"],
            "options of its systems only",
        ),
        pytest.param(
            ["interpretation", "--scenes", "street:1", "--set", "limits.queries=3"],
            "options of its systems only",
            marks=pytest.mark.real,  # it needs torch, and says that first
        ),
        (
            ["text", "--systems", "page-exact", "--scenes", "page:1", "--counts", "some"],
            "invalid choice: 'some'",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(
    words: list[str],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["study", *words]) == 2
    said = capsys.readouterr().err
    assert reason in said
    assert said.count("\n") == 1


def test_a_system_that_locates_no_text_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "study")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sees_no_text.py").write_text(
        'def nothing(images):\n    return [{"cars": 2} for _ in images]\n'
    )
    words = ["study", "text", "--systems", "sees_no_text:nothing", "--scenes", "page:1"]
    assert main([*words, "--out", out]) == 2
    assert "located text in none of 1 pictures" in capsys.readouterr().err
