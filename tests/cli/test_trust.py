"""A run folder is data: what its plan names is imported only on the user's word."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bench_runs import PORT, make_street_run, make_test_site
from instar.campaigns.plan import Use, code_named_by
from instar.cli import main
from instar.workbench.app import make_app

EVIL = "subprocess:check_output"
PLANTED = {
    "system": f'[[system]]\nuse = "{EVIL}"\nargs = ["touch", "was-run"]\n',
    "system by another spelling": '[[system]]\nuse = "évil:attribute"\n',
    "network": '[[system]]\nuse = "torch-driver"\nnetwork = "évil:Network"\n',
    "relation": f'[[relation]]\nuse = "{EVIL}"\nsearch = "draws"\nargs = ["touch", "was-run"]\n',
    "search": f'[[relation]]\nuse = "insertion"\nsearch = {{use = "{EVIL}", args = ["touch", "was-run"]}}\n',
    "option": f'[[relation]]\nuse = "insertion"\nsearch = "guided"\nblend = "{EVIL}"\n',
    "nested option": f'[[relation]]\nuse = "insertion"\nsearch = "guided"\nblend = [{{a = "{EVIL}"}}]\n',
    "engines": '[[relation]]\nuse = "rule"\nsearch = "draws"\ntext = "If: it rains, Then: slow down."\n'
    'engines = "engines.txt"\n',
    "objects": f'objects = "{EVIL}"\n',
}
BY_REPLAY = ("relation", "option", "nested option", "engines")  # what looking at a case would need
PICTURES = (
    "/thumbnail/{}", "/panel/{}/0", "/drawing/{}", "/case/{}/pictures", "/case/{}/export.zip",
)  # fmt: skip
ENGINES = '[engine]\nevil = "command: touch was-run"\n[add]\n"*" = "evil"\n'


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_street_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def home(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a run of somebody else, in which nothing may be run."""
    shutil.copytree(original, tmp_path / "run")
    (tmp_path / "évil.py").write_text("open('was-run', 'w').close()")
    (tmp_path / "engines.txt").write_text(ENGINES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    assert not (tmp_path / "was-run").exists()


@pytest.mark.parametrize("what", ["system", "system by another spelling", "relation", "search"])
def test_what_is_planted_here_would_run(home: Path, what: str) -> None:
    plant(home, what)
    said("run", "run/plan.toml", "--out", "run", "--resume", "--trust")
    (home / "was-run").unlink()  # or it is not there


def plant(home: Path, what: str, run: str = "run") -> None:
    """Put code into the plan: in the place of its system or its relation, or beside them."""
    planted = PLANTED[what]
    parts = {
        "top": 'scenes = "street:6"\n',
        "[[system]]": '[[system]]\nuse = "street-blobs"\n',
        "[[relation]]": '[[relation]]\nuse = "insertion"\nsearch = "guided"\n',
    }
    first = planted.splitlines()[0]
    parts[first if first in parts else "top"] = planted if first in parts else parts["top"] + planted
    (home / run / "plan.toml").write_text("".join(parts.values()), encoding="utf-8")


def said(*words: str) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        status = main([*words, "--json"])
    return status, json.loads(out.getvalue())


def case_of(home: Path, status: str = "violated") -> str:
    with contextlib.closing(sqlite3.connect(home / "run" / "run.sqlite")) as file:
        query = "SELECT case_id FROM records WHERE status = ? AND role = 'case' ORDER BY margin LIMIT 1"
        return str(file.execute(query, [status]).fetchone()[0])


def refused(words: list[str], what: str) -> None:
    status, document = said(*words)
    assert (status, list(document)) == (2, ["error"]), document
    assert "names code of its own" in document["error"]
    assert "\n" not in document["error"]
    name = "évil" if "évil" in PLANTED[what] else "engines.txt" if what == "engines" else EVIL
    assert name in document["error"]
    assert "--trust" in document["error"]


@pytest.mark.parametrize("what", PLANTED)
def test_what_only_looks_works_from_what_the_run_keeps(home: Path, what: str) -> None:
    plant(home, what)
    assert said("report", "run", "--html", "page.html", "--markdown", "page.md", "--shrink")[0] == 1
    assert (home / "page.html").read_text().count("<image") >= 2
    assert said("known", "run", "--out", "known.json")[0] == 0
    assert said("compare", "run", "run")[0] == 0
    assert said("export", "run", "--format", "csv", "--out", "table")[0] == 0
    assert said("export", "run", "--format", "coco", "--out", "coco")[0] == 0


@pytest.mark.parametrize("what", PLANTED)
def test_what_needs_the_code_is_refused_in_one_line_that_names_it(home: Path, what: str) -> None:
    plant(home, what)
    refused(["run", "run/plan.toml", "--out", "run", "--resume"], what)
    if what in BY_REPLAY:
        refused(["run", "--changes", "run", "--system", "street-exact", "--out", "other"], what)
        refused(["ratings", "export", "run"], what)
    if what in (*BY_REPLAY, "system", "system by another spelling", "network"):
        refused(["replay", "run", case_of(home)], what)
        refused(["shrink", "run", case_of(home)], what)


@pytest.mark.parametrize("what", ["search", "objects"])
def test_what_a_command_has_no_use_for_does_not_stop_it(home: Path, what: str) -> None:
    plant(home, what)
    assert said("replay", "run", case_of(home))[1]["same"]
    assert said("shrink", "run", case_of(home))[0] == 1
    assert said("ratings", "export", "run", "--n", "2")[0] == 0
    assert said("run", "--changes", "run", "--system", "street-exact", "--out", "other")[0] == 0


@pytest.mark.parametrize("what", PLANTED)
def test_the_pages_of_the_workbench_run_nothing(home: Path, what: str) -> None:
    plant(home, what)
    site = make_test_site(home)
    with TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/", params={"token": site.access.token})
        of = {"of": "run"}
        for page in ("/runs", "/summary", "/explore", "/compare?run=run&run=run", "/campaign?of=run"):
            assert client.get(page).status_code == 200
        assert client.get("/rate", params={**of, "rater": "A"}).status_code == 200
        for case in (case_of(home), case_of(home, "held")):
            assert client.get(f"/case/{case}", params=of).status_code == 200
            for path in PICTURES:
                assert client.get(path.format(case), params=of).status_code == 200
            client.get(f"/rate/{case}/answers", params=of)
            for action in ("replay", "shrink"):
                client.post(f"/case/{case}/do/{action}", params=of, data={"form": site.access.form_token})
        client.post("/campaign/resume", params=of, data={"form": site.access.form_token})


def test_a_name_that_the_user_types_is_the_users_word(home: Path) -> None:
    (home / "mine.py").write_text(
        "from instar.tasks.detection.systems.street import street_blobs\n\n\n"
        "class Blobs:\n    name = 'blobs'\n\n    def predict(self, images):\n"
        "        return street_blobs().predict(images)\n"
    )
    words = ["--system", "mine:Blobs", "--relation", "insertion", "--scenes", "street:2", "--budget", "20"]
    first = said("run", *words, "--out", "own")
    assert first[0] in (0, 1)
    again = ["run", "own/plan.toml", "--out", "own", "--resume"]
    status, document = said(*again)
    assert (status, "give --system mine:Blobs" in document["error"]) == (2, True)
    for word in (["--trust"], ["--system", "mine:Blobs"]):
        status, document = said(*again, *word)
        assert (status, document["asked"]) == (first[0], 0)
    # Elsewhere, a plan is what the user wrote.
    shutil.copy(home / "own" / "plan.toml", home / "copy.toml")
    assert said("run", "copy.toml", "--out", "own", "--resume")[0] == first[0]


def test_the_name_of_a_system_says_nothing_about_its_options(home: Path) -> None:
    plan = f'scenes = "street:2"\n[[system]]\nuse = "mine:Blobs"\nnetwork = "{EVIL}"\n'
    (home / "run" / "plan.toml").write_text(plan + '[[relation]]\nuse = "insertion"\n')
    words = ["run", "run/plan.toml", "--out", "run", "--resume", "--system", "mine:Blobs"]
    status, document = said(*words)
    assert (status, EVIL in document["error"]) == (2, True)


def test_engines_of_our_own_are_no_code() -> None:
    assert code_named_by(Use("rule", {"text": "If: it rains, Then: slow down.", "engines": "migan"})) == []
    assert code_named_by(Use("rule", {"engines": "mine"})) == ["mine"]
    assert code_named_by(Use("onnx", {"weights": "C:\\nets\\a.onnx", "url": "http://localhost:80/"})) == []
