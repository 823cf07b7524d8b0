from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from instar.campaigns.catalogue import catalogues
from instar.cli import main
from instar.imaging.codecs import encode_png
from instar.scenes import load_scenes

Captured = pytest.CaptureFixture[str]
BRIGHTNESS = ["--system", "own_things:brightness", "--scenes", "street:2"]
STRICT = ["--relation", "own_things:darkening", "--set", "relation.tolerance=0.5"]
LENIENT = ["--relation", "own_things:darkening", "--set", "relation.tolerance=255"]


@pytest.fixture(autouse=True)
def _a_folder_with_own_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__).with_name("own_things.py").read_text(encoding="utf-8")
    (tmp_path / "own_things.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_things", raising=False)


def run_json(capsys: Captured, *words: str) -> tuple[int, dict]:
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_violations_give_status_1_and_the_promised_document(capsys: Captured) -> None:
    status, document = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    assert status == 1
    assert (document["run"], document["system"]) == ("R", "own_things:brightness")
    assert (document["cases"], document["violated"], document["held"]) == (20, 20, 0)
    assert document["queries"] == document["asked"] == 24  # the two sources are asked again
    assert (document["scenes"], document["scenes_violated"], document["distinct"]) == (2, 2, 2)
    assert document["relations"]["darkening"]["rate"] == 1.0
    margins = [(finding["margin"], finding["case"]) for finding in document["findings"]]
    assert margins == sorted(margins)


def test_all_held_gives_status_0(capsys: Captured) -> None:
    status, document = run_json(capsys, "run", *BRIGHTNESS, *LENIENT, "--out", "R")
    assert status == 0
    assert (document["held"], document["violated"]) == (20, 0)


def test_nothing_judged_gives_status_2_and_still_the_document(capsys: Captured) -> None:
    words = ["--system", "own_things:broken", "--scenes", "street:2", *STRICT, "--out", "R"]
    status, document = run_json(capsys, "run", *words)
    assert status == 2
    assert (document["failed"], document["held"] + document["violated"]) == (2, 0)
    assert document["reasons"] == {"RuntimeError: no device": 2}


def test_what_a_system_prints_does_not_spoil_the_document(capfd: Captured) -> None:
    words = ["--system", "own_things:noisy", "--scenes", "street:1", *LENIENT, "--out", "R"]
    assert main(["run", *words, "--json"]) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["held"] == 10
    assert "I print where only JSON should be" in said.err


def test_a_plan_is_run_and_flags_override_it(capsys: Captured) -> None:
    Path("plan.toml").write_text(
        """
        seed = 7
        scenes = "street:2"
        out = "R"
        [[system]]
        use = "own_things:brightness"
        [[relation]]
        use = "own_things:darkening"
        search = {use = "draws", n = 3}
        tolerance = 255
        [limits]
        retries = 0
        """
    )
    status, document = run_json(capsys, "run", "plan.toml", "--seed", "8", "--limit", "1")
    assert (status, document["seed"], document["cases"], document["scenes"]) == (0, 8, 3, 1)


def test_the_run_folder_keeps_the_plan_as_it_was_resolved(capsys: Captured) -> None:
    run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R", "--budget", "9", "--seed", "3")
    assert Path("R/plan.toml").read_text() == (
        'scenes = "street:2"\nseed = 3\nout = "R"\n\n'
        '[[system]]\nuse = "own_things:brightness"\n\n'
        '[[relation]]\nuse = "own_things:darkening"\nsearch = {use = "draws"}\ntolerance = 0.5\n\n'
        "[limits]\nqueries = 9\n"
    )


def test_the_scenes_are_found_again_from_another_folder(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("photos").mkdir()
    Path("photos/a.png").write_bytes(encode_png(load_scenes("street:1")[0].image))
    words = ["--system", "own_things:brightness", "--scenes", "photos", *STRICT, "--out", "R"]
    _, document = run_json(capsys, "run", *words)
    run = Path("R").resolve()
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    status, again = run_json(capsys, "replay", str(run), document["findings"][0]["case"], "--trust")
    assert (status, again["same"]) == (1, True)


def test_without_a_relation_the_suite_of_the_systems_task_is_run(capsys: Captured) -> None:
    words = ["--system", "street-exact", "--scenes", "street:3", "--budget", "30", "--out", "R"]
    _, document = run_json(capsys, "run", *words)
    assert document["scenes_judged"] == 3
    assert set(document["relations"]) < set(catalogues()["detection"].suite)
    assert len(document["relations"]) > 5
    assert all(relation["yield"] for relation in document["relations"].values())
    assert main(["run", *BRIGHTNESS, "--out", "S"]) == 2
    assert "no relation was given; name one, such as --relation" in capsys.readouterr().err


def test_several_systems_of_a_plan_get_a_run_each(capsys: Captured) -> None:
    Path("plan.toml").write_text(
        'scenes = "street:1"\nout = "R"\n[[system]]\nuse = "own_things:brightness"\n'
        '[[system]]\nuse = "own_things:noisy"\n[[relation]]\nuse = "own_things:darker"\n'
    )
    status, document = run_json(capsys, "run", "plan.toml")
    assert status == 1
    folders = ["R/own_things-brightness", "R/own_things-noisy"]
    assert [run["run"] for run in document["runs"]] == folders
    assert all(Path(folder, "run.sqlite").is_file() for folder in folders)


TWICE = """
scenes = "street:1"
out = "R"
[[system]]
use = "own_things:Grey"
[[system]]
use = "own_things:Grey"
gain = 0.0
[[system]]
use = "own_things:Grey"
name = "dim"
gain = 0.5
[[relation]]
use = "own_things:darkening"
tolerance = 0.5
"""


def test_one_system_with_different_options_is_compared_with_itself(capsys: Captured) -> None:
    Path("plan.toml").write_text(TWICE)
    assert main(["run", "plan.toml"]) == 1
    text = capsys.readouterr().out
    rows = [line.split() for line in text[text.rindex("run ") :].splitlines()]
    assert [row[:5] for row in rows] == [
        ["run", "judged", "violated", "unstable", "rate"],
        ["own_things-Grey", "10", "10", "0", "100.0"],
        ["own_things-Grey-2", "10", "0", "0", "0.0"],
        ["dim", "10", "10", "0", "100.0"],
    ]
    assert sorted(path.name for path in Path("R").iterdir()) == [
        "dim",
        "own_things-Grey",
        "own_things-Grey-2",
    ]
    assert "instar replay R/own_things-Grey " in text


def test_what_is_wrong_with_a_later_system_is_said_before_anything_is_asked(capsys: Captured) -> None:
    Path("plan.toml").write_text(TWICE.replace('"own_things:Grey"\nname', '"own_things:Gray"\nname'))
    status, refusal = run_json(capsys, "run", "plan.toml")
    assert status == 2
    assert refusal["error"].startswith("plan.toml: system 'own_things:Gray': unknown attribute 'Gray'; did")
    assert not Path("R").exists()


def test_a_later_run_that_is_there_already_is_refused_before_anything_is_asked(capsys: Captured) -> None:
    Path("plan.toml").write_text(TWICE)
    run_json(capsys, "run", *BRIGHTNESS, *LENIENT, "--out", "R/dim")
    status, refusal = run_json(capsys, "run", "plan.toml")
    assert (status, refusal["error"][:24]) == (2, "R/dim holds a run alread")
    assert [path.name for path in Path("R").iterdir()] == ["dim"]


def test_one_relation_is_used_twice_under_two_names(capsys: Captured) -> None:
    plan = (
        'scenes = "street:1"\nout = "R"\n[[system]]\nuse = "own_things:brightness"\n'
        '[[relation]]\nuse = "own_things:darkening"\ntolerance = 0.5\n'
        '[[relation]]\nuse = "own_things:darkening"\n'
    )
    Path("plan.toml").write_text(plan)
    status, refusal = run_json(capsys, "run", "plan.toml")
    assert (status, refusal["error"]) == (
        2,
        "plan.toml: two relations are called 'darkening'; write name = \"...\" into one in the plan",
    )
    Path("plan.toml").write_text(plan + 'name = "lenient"\n')
    status, document = run_json(capsys, "run", "plan.toml", "--set", "lenient.tolerance=255")
    rates = {name: relation["rate"] for name, relation in document["relations"].items()}
    assert (status, rates) == (1, {"darkening": 1.0, "lenient": 0.0})


def test_an_existing_run_is_refused_without_resume_and_taken_up_with_it(capsys: Captured) -> None:
    _, first = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    status, refusal = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    assert status == 2
    assert refusal["error"].startswith("R holds a run already; go on with --resume")
    status, again = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R", "--resume")
    assert (status, again["queries"], again["asked"]) == (1, 24, 0)
    assert again["findings"] == first["findings"]


def test_resuming_with_other_options_is_refused(capsys: Captured) -> None:
    run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    status, refusal = run_json(capsys, "run", *BRIGHTNESS, *LENIENT, "--out", "R", "--resume")
    assert status == 2
    assert refusal["error"] == (
        "R was begun with darkening.tolerance 0.5, not 255; give the same again, or choose another --out"
    )


def test_resuming_with_another_search_or_another_system_is_refused(capsys: Captured) -> None:
    grey = ["--system", "own_things:Grey", "--scenes", "street:1", *STRICT, "--out", "R", "--resume"]
    run_json(capsys, "run", *grey)
    _, refusal = run_json(capsys, "run", *grey, "--set", "search.n=3")
    assert refusal["error"].startswith("R was begun with darkening.search.n null, not 3;")
    _, refusal = run_json(capsys, "run", *grey, "--set", "system.gain=0.5")
    assert refusal["error"].startswith("R was begun with system.gain null, not 0.5;")


def test_resuming_after_pictures_were_added_is_refused(capsys: Captured) -> None:
    Path("photos").mkdir()
    for n, scene in enumerate(load_scenes("street:2")):
        Path(f"photos/{n}.png").write_bytes(encode_png(scene.image))
    words = ["--system", "own_things:brightness", "--scenes", "photos", *STRICT, "--out", "R", "--resume"]
    run_json(capsys, "run", *words)
    shutil.copyfile("photos/0.png", "photos/2.png")
    status, refusal = run_json(capsys, "run", *words)
    assert status == 2
    assert refusal["error"].startswith(f'R was begun with scenes "{Path("photos").resolve()}: 2 in all, ')
    Path("photos/2.png").unlink()
    assert run_json(capsys, "run", *words)[0] == 1


def test_only_a_run_over_files_is_said_to_keep_pictures_of_them(capsys: Captured) -> None:
    Path("a.png").write_bytes(encode_png(load_scenes("street:1")[0].image))
    said = "keeps pictures of your data; instar sends them nowhere"
    main(["run", *BRIGHTNESS, *STRICT, "--out", "R"])
    assert said not in capsys.readouterr().err
    main(["run", "--system", "own_things:brightness", "--scenes", "a.png", *STRICT, "--out", "S"])
    assert f"S {said}\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--system", "yolox-nao", "--scenes", "street:1", *STRICT], "unknown system 'yolox-nao'; did you"),
        (
            [*BRIGHTNESS, "--relation", "insertoin"],
            "unknown relation 'insertoin'; did you mean 'insertion' or 'insert'?",
        ),
        ([*BRIGHTNESS, *STRICT, "--search", "gided"], "unknown search 'gided'; did you mean 'guided'"),
        ([*BRIGHTNESS, *STRICT, "--limit", "0"], "limit is 0; it must be at least 1"),
        ([*BRIGHTNESS, *STRICT, "--budget", "0"], "limits: queries is 0; it must be a number of at least 1"),
        ([*BRIGHTNESS, *STRICT, "--scenes", "none/"], "scenes 'none/' do not exist"),
        (
            [*BRIGHTNESS, *STRICT, "--set", "relation.tol=1"],
            "relation 'own_things:darkening': unknown opt",
        ),
        ([*BRIGHTNESS, *STRICT, "--pool", "x"], "pool was given, but none of the relations makes use of it"),
        (["none.toml"], "cannot read the plan none.toml: No such file or directory"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    words: list[str], complaint: str, capsys: Captured
) -> None:
    status, refusal = run_json(capsys, "run", *words, "--out", "R")
    assert status == 2
    assert refusal["error"].startswith(complaint)
    assert not Path("R").exists()


def test_an_option_the_plan_misspells_is_refused_with_the_file(capsys: Captured) -> None:
    Path("plan.toml").write_text(
        'scenes = "street:1"\n[[system]]\nuse = "own_things:brightness"\n'
        '[[relation]]\nuse = "own_things:darkening"\ntolerence = 3\n'
    )
    status, refusal = run_json(capsys, "run", "plan.toml")
    assert status == 2
    assert refusal["error"] == (
        "plan.toml: relation 'own_things:darkening': unknown option 'tolerence'; did you mean 'tolerance'?"
    )


def test_a_defect_of_a_relation_is_one_line_that_says_where(capsys: Captured) -> None:
    assert main(["run", *BRIGHTNESS, "--relation", "own_things:defective", "--out", "R"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("instar: unexpected error in own_things.py:")
    assert said.endswith("(expect): ZeroDivisionError: in the relation; --debug shows more")


def test_code_that_ends_the_program_never_passes_for_success(capsys: Captured) -> None:
    status, refusal = run_json(capsys, "run", *BRIGHTNESS, "--relation", "own_things:leaving", "--out", "R")
    assert status == 2
    assert refusal["error"].startswith("unexpected error in own_things.py:")
    assert refusal["error"].endswith("(expect): SystemExit: 0; --debug shows more")


def test_a_run_is_reported_again(capsys: Captured) -> None:
    _, document = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    status, again = run_json(capsys, "report", "R")
    assert status == 1
    assert again == document
    assert main(["report", "R"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("own_things:brightness fails in 20 of 20 judged cases: 2 different")
    assert f"instar replay R {document['findings'][0]['case']}" in text


def test_the_replay_that_a_report_suggests_is_of_the_folder_it_was_given(capsys: Captured) -> None:
    run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    Path("R").rename("moved")
    main(["report", "moved"])
    assert "See one again:  instar replay moved " in capsys.readouterr().out


def test_a_case_is_replayed_by_the_beginning_of_its_id(capsys: Captured) -> None:
    _, document = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    finding = document["findings"][0]
    status, again = run_json(capsys, "replay", "R", finding["case"][:10], "--trust")
    assert status == 1
    assert (again["case"], again["scene"], again["same"]) == (finding["case"], finding["scene"], True)
    assert again["then"] == again["now"]
    assert abs(again["source"] - again["follow_ups"][0]) - 0.5 == pytest.approx(-finding["margin"])
    assert Path(again["picture"]).read_bytes()[:4] == b"\x89PNG"
    assert main(["replay", "R", finding["case"], "--trust"]) == 1
    assert "same    yes" in capsys.readouterr().out


def test_a_system_that_hangs_when_replayed_fails_within_the_time_limit(capsys: Captured) -> None:
    words = ["--system", "own_things:hanging", "--scenes", "street:1", *STRICT, "--set", "search.n=1"]
    _, document = run_json(capsys, "run", *words, "--set", "limits.timeout=60", "--out", "R")
    plan = Path("R/plan.toml")
    assert "timeout = 60\n" in plan.read_text()
    plan.write_text(plan.read_text().replace("timeout = 60", "timeout = 0.1"))  # not to wait for a minute
    Path("hang").touch()
    status, again = run_json(capsys, "replay", "R", document["findings"][0]["case"], "--trust")
    assert (status, again["same"], again["now"]["status"]) == (2, False, "failed")
    assert again["now"]["reason"] == "TimeoutError: no answer within 0.1 s"


def test_a_replay_is_as_patient_as_its_run(capsys: Captured) -> None:
    words = ["--system", "own_things:overloaded", "--scenes", "street:1", *STRICT, "--set", "search.n=1"]
    _, document = run_json(capsys, "run", *words, "--set", "limits.retries=1", "--out", "R")
    Path("busy").touch()
    status, again = run_json(capsys, "replay", "R", document["findings"][0]["case"], "--trust")
    assert (status, again["now"]["status"]) == (2, "failed")
    assert Path("busy").read_text() == "xx"


def test_where_a_run_cannot_be_written_to_the_picture_goes_elsewhere(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, document = run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    Path("R/replays").touch()  # not even root can make files in this
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main(["replay", "R", document["findings"][0]["case"], "--trust"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("picture ")]
    picture = Path(line.split()[1])
    assert picture.parent.parent == tmp_path
    assert picture.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("case", "complaint"), [("xyz", "'xyz' is no case id"), ("0" * 16, f"no case '{'0' * 16}' in R")]
)
def test_a_case_that_is_not_there_is_refused(case: str, complaint: str, capsys: Captured) -> None:
    run_json(capsys, "run", *BRIGHTNESS, *STRICT, "--out", "R")
    status, refusal = run_json(capsys, "replay", "R", case)
    assert (status, refusal["error"].startswith(complaint)) == (2, True)


def test_a_relation_of_another_task_than_the_systems_is_refused(capsys: Captured) -> None:
    words = ["run", "--system", "street-blobs", "--scenes", "street:1", "--out", "R"]
    assert main([*words, "--relation", "brightness-up"]) == 2
    told = capsys.readouterr().err
    assert "relation 'brightness-up' is one of text, and 'street-blobs' is a system for detection" in told
    assert not Path("R").exists()
