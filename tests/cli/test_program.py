from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from instar.campaigns.catalogue import catalogue_entries
from instar.cli import main
from instar.cli.program import COMMANDS

Captured = pytest.CaptureFixture[str]


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    heavy = ["cv2", "scipy", "onnxruntime", "rich", "sqlite3", "numpy", "instar.core.campaign"]
    code = f"import sys, instar.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_names_every_command_and_the_exit_status(capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    text = capsys.readouterr().out
    for command, purpose in COMMANDS.items():
        assert f"  {command.ljust(11)}{purpose}\n" in text
    assert "exit status: 0 no headline finding, 1 headline findings" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: instar {command}")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "give a command: demo, init, run"),
        (["rum"], "unknown command 'rum'; did you mean 'run'"),
        (["run", "--sytem", "x"], "unknown option '--sytem'; did you mean '--system'"),
        (["run", "--sytem=x"], "unknown option '--sytem'; did you mean '--system'"),
        (["run", "--seed", "x"], "argument --seed: invalid int value: 'x'; see instar run --help"),
        (["run", "a.toml", "b.toml"], "'b.toml' is one argument too many; see instar run --help"),
        (["report"], "the following arguments are required: RUN; see instar report --help"),
        (["run"], "no system was given; name one, such as --system yolox-nano"),
        (["models", "fetch"], "instar models fetch needs a NAME"),
        (["models", "list", "cat"], "'cat' is one argument too many; see instar models --help"),
        (["models", "show", "yolo"], "unknown model 'yolo'; did you mean 'yolox-nano'"),
        (["report", "nowhere"], "nowhere is no run folder"),
        (["replay", "nowhere", "abc"], "nowhere is no run folder"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(words: list[str], complaint: str, capsys: Captured) -> None:
    assert main(words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"instar: {complaint}")
    assert said.err.count("\n") == 1

    assert main([*words, "--json"]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["error"].startswith(complaint)
    assert said.err == ""


def test_a_traceback_is_shown_only_when_debugging(capsys: Captured) -> None:
    main(["report", "nowhere", "--debug"])
    said = capsys.readouterr().err
    assert said.startswith("Traceback")
    assert said.endswith("has no run.sqlite\n")


def test_the_version_is_told(capsys: Captured) -> None:
    assert main(["--version", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["version"]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    code = "import sys; from instar.cli import main; sys.exit(main(['models', 'list']))"
    command = f"{sys.executable!r} -c {code!r} | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_systems_relations_and_models_are_listed(capsys: Captured) -> None:
    assert main(["systems", "--json"]) == 0
    systems = json.loads(capsys.readouterr().out)["systems"]
    assert [one["name"] for one in systems] == [one.name for one in catalogue_entries("system")]
    options = {one["name"]: one["options"] for one in systems}
    assert {"yolox-nano", "street-exact", "page-exact"} <= options.keys()
    assert options["yolox-nano"]["confidence"] == "0.3"
    assert main(["relations", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in listed["relations"]] == [one.name for one in catalogue_entries("relation")]
    assert all(one["what"] for one in listed["relations"])
    assert [one["name"] for one in listed["searches"]] == [one.name for one in catalogue_entries("search")]
    assert main(["models", "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert models[0]["name"] == "yolox-nano"


def test_a_model_is_shown_with_licence_and_hash(capsys: Captured) -> None:
    assert main(["models", "show", "yolox-nano"]) == 0
    text = capsys.readouterr().out
    assert "licence  Apache-2.0" in text
    assert "sha256   695e750a5d5754bb5a8d5325643b59282191a7e7a564e435a415fd3c578eab14" in text


def test_a_wrong_file_among_the_models_is_shown_as_wrong(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSTAR_MODELS", str(tmp_path))
    (tmp_path / "chelsea.png").write_bytes(b"not a cat")
    assert main(["models", "list"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if len(line.split()) > 3]
    rows = {words[0]: words[3] for words in lines}
    assert (rows["cat"], rows["coffee"]) == ("wrong", "no")
    assert main(["models", "show", "cat"]) == 0
    assert (
        f"here     {tmp_path / 'chelsea.png'} is not the file that belongs there" in capsys.readouterr().out
    )
    assert main(["models", "show", "cat", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["here"], shown["wrong"].endswith("; delete it and it is fetched anew")) == (False, True)


def test_the_process_ends_at_once_while_a_call_is_under_way() -> None:
    code = """
import atexit, sys, threading, time
from instar.cli import main
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
atexit.register(print, "cleaned up")
sys.argv = ["instar", "--version"]
main()
print("and on")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[1:] == ["cleaned up"]
