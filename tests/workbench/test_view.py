"""`instar view` refuses in one line what it cannot serve."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from instar.cli import main


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["view", *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_folder_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "is no folder" in refusal(capsys, str(tmp_path / "nowhere"))


@pytest.mark.parametrize("port", ["-1", "70000"])
def test_a_port_that_is_none(capsys: pytest.CaptureFixture[str], tmp_path: Path, port: str) -> None:
    assert f"--port {port} is none" in refusal(capsys, str(tmp_path), f"--port={port}")


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} cannot be used" in refusal(capsys, str(tmp_path), "--port", str(port))


@pytest.mark.parametrize(("option", "words"), [("--system", "no module:attr"), ("--scenes", "is not there")])
def test_what_campaigns_may_use_must_be_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str, words: str
) -> None:
    assert words in refusal(capsys, str(tmp_path), option, "nonsense")


def test_the_extra_is_named_where_it_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    said = refusal(capsys, str(tmp_path))
    assert "pip install " in said
    assert "[workbench]'" in said
