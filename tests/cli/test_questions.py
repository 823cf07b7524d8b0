"""Predictions made elsewhere: rounds of questions and answers end with the verdicts of a direct run."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from instar.cli import main
from instar.imaging.codecs import read_picture
from instar.tasks.detection.systems.street import street_blobs

CAMPAIGN = [
    "--relation",
    "detection.mirrored,noisy",
    "--scenes",
    "street:2",
    "--referees",
    "none",
    "--seed",
    "1",
]
RUN = "far"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def records(run: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(Path(run) / "run.sqlite")) as file:
        columns = "source, relation, role, ordinal, status, margin, change"
        return file.execute(f"SELECT {columns} FROM records ORDER BY 1, 2, 3, 4").fetchall()


def answer_lines(questions: Path) -> list[dict[str, Any]]:
    """What a detector elsewhere would do: read the pictures, write a line for each."""
    system = street_blobs()
    lines = []
    for path in sorted(questions.glob("*.png")):
        (found,) = system.predict([read_picture(path)])
        lines.append(
            {
                "file": path.name,
                "boxes": found.boxes.tolist(),
                "labels": list(found.labels),
                "scores": found.scores.tolist(),
                "confidence": found.confidence,
            }
        )
    return lines


def test_rounds_end_with_the_verdicts_of_a_direct_run_and_replay_for_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, document = said(capsys, "questions", "--system", "my-model", *CAMPAIGN, "--out", RUN)
    everything: list[dict[str, Any]] = []
    rounds = 0
    while "questions" in document:
        folder = Path(document["folder"])
        assert document["questions"] == len(list(folder.glob("*.png"))) > 0
        lines = answer_lines(folder)
        everything += lines
        Path("a.jsonl").write_text("\n".join(map(json.dumps, lines)))
        status, document = said(capsys, "answers", RUN, "a.jsonl")
        rounds += 1
    assert 2 < rounds <= 5  # scenes; then twice: changes with what must not matter, checks of findings
    assert not (Path(RUN) / "questions").exists()
    direct, other = said(capsys, "run", "--system", "street-blobs", *CAMPAIGN, "--out", "direct")
    assert (status, records(RUN)) == (direct, records("direct"))
    assert document["system"] == "my-model"
    assert document["violated"] == other["violated"] > 0  # or sameness would say little

    Path("all.jsonl").write_text("\n".join(map(json.dumps, everything)))
    again, _ = said(capsys, "run", "--system", "all.jsonl", *CAMPAIGN, "--out", "replayed")
    assert (again, records("replayed")) == (direct, records("direct"))


def test_coco_results_answer_by_number_and_leave_out_pictures_without_objects(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--set", "system.labels=coco-ids", *CAMPAIGN, "--out", RUN]
    _, document = said(capsys, "questions", *words)
    images = json.loads((Path(document["folder"]) / "questions.json").read_text())["images"]
    results = [{"image_id": images[0]["id"], "category_id": 18, "bbox": [5, 5, 40, 30], "score": 0.9}]
    Path("coco.json").write_text(json.dumps(results))
    assert main(["answers", RUN, "coco.json"]) == 0
    err = capsys.readouterr().err
    assert f"{len(images) - 1} of {len(images)} pictures have no result: nothing was found" in err
    assert "are not asked now" not in err


def test_pictures_without_an_answer_are_told_and_asked_again_and_so_are_answers_to_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, document = said(capsys, "questions", "--system", "my-model", *CAMPAIGN, "--out", RUN)
    first, *others = answer_lines(Path(document["folder"]))
    Path("a.jsonl").write_text("\n".join(map(json.dumps, [first, {**first, "file": "old.png"}])))
    main(["answers", RUN, "a.jsonl"])
    err = capsys.readouterr().err
    assert f"{len(others)} of {len(others) + 1} pictures have no answer: they are asked again" in err
    assert "1 of 2 pictures in a.jsonl are not asked now" in err
    assert {one["file"] for one in others} <= {path.name for path in Path(document["folder"]).glob("*.png")}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"file": "other.png", "boxes": []}', "answers none of the 2 pictures"),
        ('{"boxes": []}\n{"boxes": []}', "line 1 names no picture"),
        ('[{"bbox": [1, 2, 3, 4]}]', "result 0 has no image_id"),
        ('[{"image_id": 3, "bbox": [1, 2, 3, 4], "category_id": 3}]', "result 0 has no score"),
        ("{}", "answers none of the 2 pictures"),
        ('"nothing"', "is not JSON|names no picture|neither COCO results"),
    ],
)
def test_answers_that_fit_no_question_are_refused(
    capsys: pytest.CaptureFixture[str], content: str, complaint: str
) -> None:
    said(capsys, "questions", *CAMPAIGN, "--out", RUN)
    Path("a.json").write_text(content)
    status, document = said(capsys, "answers", RUN, "a.json")
    assert status == 2
    assert any(part in document["error"] for part in complaint.split("|")), document


def test_an_answer_that_cannot_be_read_is_refused_before_anything_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, document = said(capsys, "questions", *CAMPAIGN, "--out", RUN)
    line = answer_lines(Path(document["folder"]))[0]
    Path("a.json").write_text(json.dumps({**line, "scores": [90.0] * len(line["scores"])}))
    status, told = said(capsys, "answers", RUN, "a.json")
    assert (status, "score 0 is 90.0; it must be between 0 and 1" in told["error"]) == (2, True)
    Path("a.json").write_text("[]")  # COCO results of a model that found nothing
    status, told = said(capsys, "answers", RUN, "a.json")
    assert status == 0
    assert set(told) & {"questions", "cases"}


def test_a_run_that_waits_for_nothing_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "--system", "street-exact", *CAMPAIGN, "--out", "direct"])
    capsys.readouterr()
    Path("a.json").write_text("{}")
    status, document = said(capsys, "answers", "direct", "a.json")
    assert (status, "waits for no answers" in document["error"]) == (2, True)


def test_a_task_that_asks_for_more_than_pictures_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    status, document = said(
        capsys, "questions", "--relation", "squeeze", "--scenes", "street:1", "--out", RUN
    )
    assert (status, "is asked by pictures alone" in document["error"]) == (2, True)


def test_a_relation_of_several_tasks_needs_its_task_where_nothing_tells_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, document = said(
        capsys, "questions", "--relation", "mirrored", "--scenes", "street:1", "--out", RUN
    )
    assert (status, "or detection.mirrored" in document["error"]) == (2, True)
