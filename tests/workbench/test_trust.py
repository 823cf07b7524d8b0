"""A run that names code of its own is shown without it, until somebody says that it may be run."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from bench_runs import PORT, make_test_site
from instar.cli import main
from instar.workbench.app import make_app
from instar.workbench.site import Site
from instar.workbench.trust import Trust

MODULE = '''
import numpy as np
import instar
from instar.tasks.detection.systems.street import street_exact

open("imported", "a").close()


def brighten(picture, levels):
    return np.clip(picture.astype(np.int16) + round(levels), 0, 255).astype(np.uint8)


brighter = instar.Relation("brighter", "detection", apply=brighten, severity=instar.Range(2, 30, "levels"))


class Dazzled:
    """Sees nothing in a bright picture."""

    name = "dazzled"

    def predict(self, images):
        found = street_exact().predict(images)
        return [one.select(np.full(len(one.boxes), i.mean() < 172)) for i, one in zip(images, found)]
'''
NAMES = ("dazzling:Dazzled", "dazzling:brighter")
BUTTON = "Trust this run and go on"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("dazzling")
    (home / "dazzling.py").write_text(MODULE)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(home)
        patch.syspath_prepend(str(home))
        words = ["--system", NAMES[0], "--relation", NAMES[1], "--scenes", "street:3", "--out", "runs/own"]
        assert main(["run", *words, "--json"]) == 1
    return home / "runs" / "own"


@pytest.fixture
def site(run: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    home = run.parents[1]
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.delitem(sys.modules, "dazzling", raising=False)
    (home / "imported").unlink(missing_ok=True)
    return make_test_site(run.parent)


@pytest.fixture
def client(site: Site) -> Iterator[TestClient]:
    with TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/", params={"token": site.access.token})
        yield client


def cases(site: Site, status: str) -> list[str]:
    table = site.library.table
    return [table.case_id(row) for row in range(len(table)) if table.name("status", row) == status]


def looked_at(client: TestClient, case: str) -> str:
    """The page of a case, and its pictures."""
    pages = [f"/case/{case}", f"/case/{case}/pictures"]
    return "".join(client.get(page, params={"of": "own"}).text for page in pages)


def agree(client: TestClient, site: Site, page: str) -> None:
    """Press the button that a page has."""
    form = re.search(r'<form method="post" action="/trust.*?</form>', page, re.DOTALL)[0]
    fields = re.findall(r'name="(\w+)" value="([^"]*)"', form)
    data = {key: [value for name, value in fields if name == key] for key, _ in fields}
    assert data["form"] == [site.access.form_token]
    answer = client.post("/trust", params={"of": "own"}, data=data)
    assert answer.status_code == 200


def test_findings_are_shown_without_the_code_and_the_rest_asks(client: TestClient, site: Site) -> None:
    violated, held = cases(site, "violated")[0], cases(site, "held")[0]
    page = looked_at(client, violated)
    assert 'class="lost"' in page
    assert page.count(BUTTON) == 1  # for replay and shrink
    assert "data-do" not in page
    page = looked_at(client, held)
    assert "<image" not in page
    assert all(name in page for name in NAMES)
    assert BUTTON in page
    assert BUTTON in client.get("/rate", params={"of": "own", "rater": "A"}).text
    form = {"form": site.access.form_token}
    for action in ("replay", "shrink"):
        answer = client.post(f"/case/{violated}/do/{action}", params={"of": "own"}, data=form)
        assert (answer.status_code, NAMES[0] in answer.json()["error"]) == (403, True)
    answer = client.post("/campaign/resume", params={"of": "own"}, data=form)
    assert (answer.status_code, NAMES[0] in answer.text) == (400, True)
    assert not Path("imported").exists()


def test_once_trusted_pictures_are_made_and_cases_replayed(client: TestClient, site: Site) -> None:
    violated, held = cases(site, "violated")[0], cases(site, "held")[0]
    before = client.get(f"/thumbnail/{held}", params={"of": "own"})
    assert before.headers["content-type"] == "image/svg+xml"
    agree(client, site, looked_at(client, held))
    page = looked_at(client, held)
    assert BUTTON not in page
    assert "<image" in page
    assert client.get(f"/thumbnail/{held}", params={"of": "own"}).headers["content-type"] == "image/webp"
    page = looked_at(client, violated)
    assert page.count("data-do") == 2
    form = {"form": site.access.form_token}
    job = client.post(f"/case/{violated}/do/replay", params={"of": "own"}, data=form).json()["job"]
    assert "--trust" in site.jobs.job(job).words
    while not (said := client.get(f"/job/{job}").json())["done"]:
        pass
    assert "The same came out." in said["html"]
    assert client.get(f"/rate/{held}/answers", params={"of": "own"}).status_code == 200
    assert Path("imported").exists()
    assert site.trust.flags(site.library.run("own").folder) == ["--trust"]


def test_nobody_else_can_say_so(client: TestClient, site: Site) -> None:
    named = {"name": list(NAMES), "back": "/"}
    assert client.post("/trust", params={"of": "own"}, data=named).status_code == 403
    elsewhere = {"origin": "http://example.org"}
    named["form"] = site.access.form_token
    assert client.post("/trust", params={"of": "own"}, data=named, headers=elsewhere).status_code == 403
    assert site.trust.unknown(site.library.run("own").folder) == list(NAMES)


@pytest.mark.parametrize("back", ["//example.org", "/\\example.org", "http://example.org/"])
def test_going_on_leads_nowhere_else(client: TestClient, site: Site, back: str) -> None:
    data = {"form": site.access.form_token, "back": back}
    answer = client.post("/trust", params={"of": "own"}, data=data, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert site.trust.unknown(site.library.run("own").folder) == list(NAMES)


def test_trust_is_in_names(run: Path, tmp_path: Path) -> None:
    assert Trust().unknown(run) == list(NAMES)
    trust = Trust([NAMES[0]])
    assert trust.unknown(run) == [NAMES[1]]
    assert trust.flags(run) == []
    trust.agree(run, [NAMES[1]])
    assert trust.unknown(run) == []
    assert trust.flags(run) == ["--trust"]
    (tmp_path / "plan.toml").write_text((run / "plan.toml").read_text())
    assert trust.unknown(tmp_path) == [NAMES[1]]  # another run
    trust.agree(tmp_path, NAMES)
    (tmp_path / "plan.toml").write_text('scenes = "street:1"\n[[system]]\nuse = "os:system"\n')
    assert trust.unknown(tmp_path) == ["os:system"]  # it says something else now
    (tmp_path / "plan.toml").write_text("[[[")
    assert trust.unknown(tmp_path) == []
