"""`instar report`: files for people and for servers."""

from __future__ import annotations

import json
import shutil

import pytest

from instar.cli import main
from instar.store import RunStore
from instar.store.marks import Marks


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "blobs"
    words = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:5"]
    assert main([*words, "--budget", "120", "--out", str(out), "--json"]) == 1
    return out


def test_the_page_has_pictures_groups_and_the_command_that_replays(run, tmp_path, capsys):
    page = tmp_path / "deep" / "page.html"
    assert main(["report", str(run), "--html", str(page), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    html = page.read_text(encoding="utf-8")
    assert html.count("data:image/webp;base64,") >= 2 * len(document["groups"])
    assert "No picture" not in html
    for group in document["groups"]:
        assert group["title"] in html
        assert f"instar replay {run} {group['representative']}" in html
    assert sum(group["violations"] for group in document["groups"]) == document["headline"]


def test_the_text_names_the_groups(run, capsys):
    assert main(["report", str(run)]) == 1
    told = capsys.readouterr().out
    assert "failing cases, " in told
    assert " is pasted in" in told


def test_a_page_that_cannot_be_written_is_one_line(run, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["report", str(run), "--html", str(tmp_path / "file" / "page.html")]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("instar: cannot write ")


def told(capsys, *words):
    """Exit status and document of a command."""
    status = main([*map(str, words), "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_files_for_servers_and_pull_requests_are_written(run, tmp_path, capsys):
    names = {"junit": "j.xml", "sarif": "s.sarif", "markdown": "m.md"}
    flags = [word for name, file in names.items() for word in (f"--{name}", tmp_path / file)]
    _, document = told(capsys, "report", run, *flags)
    failing = {finding["scene"] for finding in document["findings"] if finding["headline"]}
    assert (tmp_path / "j.xml").read_text().count("<failure") == len(failing)
    sarif = json.loads((tmp_path / "s.sarif").read_text())
    # A failure of each kind that an object has.
    assert document["distinct_real"] <= len(sarif["runs"][0]["results"]) <= document["headline"]
    pictures = list((tmp_path / "m-pictures").iterdir())
    assert len(pictures) == min(10, len(document["groups"]))
    text = (tmp_path / "m.md").read_text()
    assert all(f"(m-pictures/{path.name})" in text for path in pictures)
    assert all(path.stat().st_size < 200_000 for path in pictures)


def test_conditions_decide_the_exit_status(run, capsys):
    assert told(capsys, "report", run, "--fail-on", "rate>0.99")[0] == 0
    status, document = told(capsys, "report", run, "--fail-on", "rate>0.99", "--fail-on", "violated>0")
    assert (status, document["failed_by"]) == (1, ["violated>0"])
    status, document = told(capsys, "report", run, "--fail-on", "rat>1")
    assert (status, "did you mean 'rate'" in document["error"]) == (2, True)
    assert told(capsys, "report", run, "--fail-on", "new>0")[0] == 2


def test_only_new_failures_fail_and_fixed_ones_are_named(run, tmp_path, capsys):
    known = tmp_path / "known.json"
    status, document = told(capsys, "known", run, "--out", known)
    assert (status, len(document["failures"])) == (0, len(json.loads(known.read_text())["failures"]))
    status, document = told(capsys, "report", run, "--known", known)
    assert (status, document["known"]["new"], document["known"]["fixed"]) == (0, [], [])
    baseline = json.loads(known.read_text())
    first = baseline["failures"].pop(0)
    moved = {"object": "object 99", "box": [1, 2, 3, 4]}
    baseline["failures"].append(first | moved)
    known.write_text(json.dumps(baseline))
    status, document = told(capsys, "report", run, "--known", known)
    first = {name: first[name] for name in ("relation", "scene", "object", "kind")}
    assert (status, document["known"]["new"]) == (1, [first])
    assert document["known"]["fixed"] == [first | {"object": "object 99"}]
    assert told(capsys, "report", run, "--known", known, "--fail-on", "new>1")[0] == 0
    assert told(capsys, "report", run, "--known", tmp_path / "missing.json")[0] == 2


def test_a_finding_that_is_called_no_failure_is_none_here_and_in_later_runs(run, tmp_path, capsys):
    here, words = tmp_path / "run", tmp_path / "words.json"
    shutil.copytree(run, here)
    _, before = told(capsys, "report", here)
    case = next(one["case"] for one in before["findings"] if one["headline"])
    for refused in ([case], ["--reason", "x"], [case, "--reason", " "]):
        assert told(capsys, "known", here, *refused, "--out", words)[0] == 2
    status, document = told(capsys, "known", here, case[:12], "--reason", "a poster", "--out", words)
    assert (status, document["failures"], len(document["no_failure"])) == (0, [], 1)
    entry = document["no_failure"][0]
    assert entry["reason"] == "a poster"
    _, after = told(capsys, "report", here)
    assert after["headline"] < before["headline"]
    assert after["called_none"] == {"said": 1, "of": before["called_none"]["of"]}
    # The same file in a run where nobody has said anything, and a baseline that keeps what was said.
    status, later = told(capsys, "report", run, "--known", words)
    assert (status, later["headline"], len(later["known"]["known"])) == (1, after["headline"], 0)
    assert "users" in main_text(capsys, "report", run, "--known", words)
    status, both = told(capsys, "known", here, "--out", words)
    assert (status, both["no_failure"], len(both["failures"]) > 0) == (0, document["no_failure"], True)
    assert told(capsys, "report", run, "--known", words)[0] == 0
    # A mark of the workbench says the same, and it can be taken back.
    told(capsys, "known", here, case, "--undo", "--out", words)
    assert told(capsys, "report", here)[1]["headline"] == before["headline"]
    Marks(here).add(case, "oracle wrong", "it is hidden")
    _, marked = told(capsys, "known", here, "--out", tmp_path / "marked.json")
    assert [one["reason"] for one in marked["no_failure"]] == ["it is hidden"]


def test_what_is_called_no_failure_is_neither_broken_nor_fixed_in_a_comparison(run, tmp_path, capsys):
    here, words = tmp_path / "run", tmp_path / "words.json"
    shutil.copytree(run, here)
    _, found = told(capsys, "report", here)
    case = next(one["case"] for one in found["findings"] if one["headline"])
    told(capsys, "known", here, case, "--reason", "a poster", "--out", words)
    assert told(capsys, "report", here)[1]["headline"] < found["headline"]
    for runs in ((here, run), (run, here)):
        status, document = told(capsys, "compare", *runs)
        assert (status, document["broken"], document["fixed"]) == (0, 0, 0)
    exact = tmp_path / "exact"
    told(capsys, "run", "--changes", run, "--system", "street-exact", "--out", exact)
    fixed = [told(capsys, "compare", one, exact)[1]["fixed"] for one in (run, here)]
    assert fixed[1] < fixed[0]
    assert told(capsys, "compare", run, exact, "--known", words)[1]["fixed"] == fixed[1]


def main_text(capsys, *words):
    main([*map(str, words)])
    return capsys.readouterr().out


def test_the_changes_of_one_run_are_asked_of_another_system_and_compared(run, tmp_path, capsys):
    other = tmp_path / "exact"
    status, document = told(capsys, "run", "--changes", run, "--system", "street-exact", "--out", other)
    assert (status, document["violated"]) == (0, 0)
    with RunStore.read(run) as first, RunStore.read(other) as second:
        assert list(first.changes()) == list(second.changes())
    status, document = told(capsys, "compare", run, other)
    assert (status, document["broken"], document["newly_broken"]) == (0, 0, [])
    assert document["fixed"] > 0
    assert document["paired_scenes"] <= 5
    assert document["p"] is None  # too few scenes
    status, document = told(capsys, "compare", other, run)
    assert (status, document["fixed"]) == (1, 0)
    # A case of the second run can be made again, although its change was drawn in the first.
    case = next(iter(store_cases(other)))
    assert told(capsys, "replay", other, case)[1]["same"] is True


def store_cases(run):
    with RunStore.read(run) as store:
        return [record.case for record in store.records(changes=False) if record.role == "case"]


def test_flags_that_the_changes_decide_are_refused(run, tmp_path, capsys):
    for flag, value in [("--relation", "insertion"), ("--search", "random")]:
        status, document = told(capsys, "run", "--changes", run, "--system", "street-exact", flag, value)
        assert (status, f"{flag} cannot be given with --changes" in document["error"]) == (2, True)


def test_runs_that_share_nothing_cannot_be_compared(run, tmp_path, capsys):
    words = ["run", "--system", "page-exact", "--relation", "masking", "--scenes", "page:1"]
    told(capsys, *words, "--out", tmp_path / "pages")
    assert told(capsys, "compare", run, tmp_path / "pages")[0] == 2


def test_a_case_is_shrunk_and_the_page_tells_so(run, tmp_path, capsys):
    _, document = told(capsys, "report", run)
    case = document["groups"][0]["representative"]
    status, shrunk = told(capsys, "shrink", run, case)
    assert (status, shrunk["questions"] <= 60, shrunk["verdict"]["status"]) == (1, True, "violated")
    assert shrunk["words"].endswith(" suffices")
    page = tmp_path / "page.html"
    told(capsys, "report", run, "--html", page, "--shrink")
    assert page.read_text().count("Smallest: ") == len(document["groups"])
    assert told(capsys, "report", run, "--shrink")[0] == 2
    held = next(c for c in store_cases(run) if told(capsys, "replay", run, c)[1]["then"]["status"] == "held")
    assert "is not violated (held): nothing to shrink" in told(capsys, "shrink", run, held)[1]["error"]
