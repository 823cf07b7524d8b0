"""Paid services in bad weather: throttled, failing, stalling and cut off, and yet the right verdicts for the
money that was allowed; no key is left anywhere.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from clouds import KEYS, TOKEN, clouds
from instar.cli import main

TEXT = "channel-switch,masking,watermark"
# Patience for eight bad answers in a row, which a thousand questions meet now and then, and a stall that is
# longer than a busy machine is slow.
QUICK = ["--set", "system.patience=600", "--set", "system.stall=2", "--set", "system.concurrency=8"]
STREETS = ("rekognition-labels", "google-objects", "azure-objects")
PAGES = ("rekognition", "google-vision", "azure-read", "tencent-ocr")
SERVICES = (*STREETS, *PAGES)


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


def campaign(name: str, url: str, *more: str, scenes: int = 2) -> list[str]:
    relations, world = ("mirrored,noisy,brightened", "street") if name in STREETS else (TEXT, "page")
    words = ["run", "--system", name, "--relation", relations, "--scenes", f"{world}:{scenes}"]
    return [*words, "--referees", "none", "--set", f"system.endpoint={url}/", *QUICK, *more]


def said(capsys: pytest.CaptureFixture[str], words: list[str]) -> tuple[int, dict[str, Any]]:
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def records(run: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(Path(run) / "run.sqlite")) as file:
        columns = "source, relation, role, ordinal, status, margin, change"
        return file.execute(f"SELECT {columns} FROM records ORDER BY 1, 2, 3, 4").fetchall()


def require_no_key(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            for name, value in KEYS.items():
                assert "ENDPOINT" in name or value.encode() not in data, f"{name} is in {path}"
            assert TOKEN.encode() not in data, path


def in_a_storm(
    name: str, scenes: int, budget: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], dict[str, int]]:
    """The verdicts are those of a calm day, and those of the recording when the server is down."""
    limit = ["--budget", str(budget)]
    with clouds() as fine:
        calm = said(capsys, campaign(name, fine.url, *limit, "--out", "calm", "--yes", scenes=scenes))
    recording = [*limit, "--set", "system.recorded=answers"]
    with clouds(bad=0.3) as storm:
        words = campaign(name, storm.url, *recording, "--out", "storm", "--yes", scenes=scenes)
        rough = said(capsys, words)
    assert (calm[1]["failed"], rough[1]["failed"]) == (0, 0)
    assert (rough[0], records("storm")) == (calm[0], records("calm"))
    assert rough[1]["asked"] == rough[1]["queries"] <= budget
    assert len({body for _, _, body in storm.asked}) <= budget
    for variable in KEYS:
        monkeypatch.delenv(variable)
    # Without keys, and with nobody at the other end.
    again = said(capsys, campaign(name, storm.url, *recording, "--out", "again", scenes=scenes))
    assert (again[0], records("again")) == (calm[0], records("calm"))
    require_no_key(Path())
    return rough[1], storm.told


@pytest.mark.parametrize("name", ["google-objects", "tencent-ocr"])
def test_bad_weather_changes_no_verdict_and_a_recording_replays_for_nothing(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document, told = in_a_storm(name, 2, 40, capsys, monkeypatch)
    assert document["asked"] > 20
    assert len(told) > 3


@pytest.mark.real
@pytest.mark.parametrize("name", ["rekognition-labels", "tencent-ocr"])  # minutes each
def test_a_thousand_questions_in_bad_weather(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    document, told = in_a_storm(name, 40, 1000, capsys, monkeypatch)
    print(name, dict(told), document["asked"], document["held"], document["violated"], document["seconds"])
    assert document["asked"] > 900
    assert len(told) == 7  # all moods


@pytest.mark.parametrize("name", SERVICES)
def test_the_first_refused_key_stops_the_run_and_is_not_told(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = {key: f"wr0ng-{value}" for key, value in KEYS.items() if "ENDPOINT" not in key}
    for key, value in wrong.items():
        monkeypatch.setenv(key, value)
    with clouds() as server:
        words = campaign(name, server.url, "--out", "run", "--workers", "4", "--yes", scenes=6)
        status, document = said(capsys, words)
    assert (status, "refuses the credentials" in document["error"]) == (2, True)
    assert server.told.total() == 1
    assert not any(value in document["error"] for value in wrong.values())
    assert not any(b"wr0ng" in path.read_bytes() for path in Path().rglob("*") if path.is_file())


def test_what_failed_while_a_service_was_away_is_asked_again_on_resume(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, scenes = "google-objects", ["--out", "run", "--yes"]
    with clouds(bad=1.0) as server:
        away = campaign(
            name, server.url, *scenes, "--set", "system.patience=0", "--set", "limits.failures=1000"
        )
        _, before = said(capsys, away)
        assert before["failed"] > 0
        server.bad = 0.0
        asked = server.told.total()
        _, after = said(capsys, [*away, "--resume", "--set", "system.stall=20"])
        assert server.told.total() > asked
    assert after["failed"] == 0


def test_calls_are_told_beforehand_and_never_exceeded(capsys: pytest.CaptureFixture[str]) -> None:
    with clouds() as server:
        words = campaign("google-objects", server.url, "--out", "run")
        assert main(words) == 2
        told = re.search(r"about (\d+) calls, and at most (\d+) \(\d+ a picture", capsys.readouterr().err)
        assert told is not None
        status, document = said(capsys, [*words, "--yes"])
    about, most = map(int, told.groups())
    assert (status in (0, 1), document["finished"]) == (True, True)
    assert about / 2 < document["asked"] <= most
    assert server.told.total() <= most
    assert f"queries = {most}" in Path("run/plan.toml").read_text()


def test_nothing_is_sent_without_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    with clouds() as server:
        words = campaign("azure-objects", server.url, "--out", "run", "--budget", "50")
        status, document = said(capsys, [*words, "--set", "limits.price_per_query=0.01"])
    assert status == 2
    assert (
        "azure-objects will be asked at most 50 calls, for at most 0.50 at 0.01 a call; pictures go to 127"
        in document["error"]
    )
    assert server.told.total() == 0
    assert not Path("run").exists()


def test_a_study_tells_its_calls_before_the_first_picture_leaves(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "text", "--systems", "google-vision", "--scenes", "page:2", "--out", "study"]
    with clouds() as server:
        words += ["--set", f"google-vision.endpoint={server.url}"]
        assert main(words) == 2
    assert "google-vision will be asked about " in capsys.readouterr().err
    assert server.told.total() == 0
