"""`instar completion`: bash completes with the script, and every shell's names every command."""

from __future__ import annotations

import subprocess

import pytest

from instar.cli import main
from instar.cli.program import COMMANDS


def script(shell, capsys):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


def completed(script, line):
    """What bash offers for the last word of a line."""
    words = " ".join(f"'{word}'" for word in line)
    ask = f'COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _instar; echo "${{COMPREPLY[@]}}"'
    told = subprocess.run(["bash"], input=f"{script}\n{ask}", capture_output=True, text=True, check=True)
    return told.stdout.split()


def test_bash_completes_commands_options_and_names(capsys):
    bash = script("bash", capsys)
    assert completed(bash, ["instar", "rep"]) == ["report", "replay"]
    assert completed(bash, ["instar", "run", "--sc"]) == ["--scenes"]
    assert "street-blobs" in completed(bash, ["instar", "run", "--system", "street"])
    assert completed(bash, ["instar", "run", "--relation", "insert"]) == ["insert", "insertion"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_there(shell, capsys):
    told = script(shell, capsys)
    assert all(command in told for command in COMMANDS)
