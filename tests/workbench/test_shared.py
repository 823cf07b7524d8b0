"""What is brought into the workbench: pictures, looked at first, and the marks of colleagues."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient

import instar
from bench_runs import PORT, lost, make_run, make_test_site, record
from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png
from instar.workbench import picture_sets
from instar.workbench.app import make_app
from instar.workbench.cards import cards_of
from instar.workbench.filters import CaseFilter, select_cases
from instar.workbench.orders import read_order
from instar.workbench.picture_sets import PictureSets
from instar.workbench.site import Site

PICTURE = encode_png(np.full((8, 8, 3), 90, np.uint8))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    records = [record(i, verdict=lost(-0.5 - i / 100, "dog")) for i in range(3)]
    make_run(tmp_path / "a", [*records, record(3)])
    return make_test_site(tmp_path)


def client_of(site: Site) -> TestClient:
    client = TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}")
    client.get("/", params={"token": site.access.token})
    return client


def send(site: Site, path: str, content: bytes, *, token: str | None = None, **query: str):  # type: ignore[no-untyped-def]
    headers = {
        "content-type": "application/octet-stream",
        "x-instar-form": site.access.form_token if token is None else token,
    }
    return client_of(site).post(path, params=query, content=content, headers=headers)


def test_pictures_are_kept_under_harmless_names_and_offered(site: Site) -> None:
    assert send(site, "/pictures", PICTURE, to="mine", file="../../day 1/a.PNG").json() == {"kept": 1}
    assert send(site, "/pictures", PICTURE, to="mine", file="a.PNG").json() == {"kept": 2}
    folder = site.library.root / "pictures" / "mine"
    assert sorted(path.name for path in folder.iterdir()) == ["a-2.PNG", "a.PNG"]
    assert site.pictures.paths() == {"pictures/mine": str(folder)}
    form = {"name": ["x"], "system": ["street-exact"], "scenes": ["pictures/mine"], "limit": ["1"]}
    words = read_order(form, site.offers, site.pictures.paths()).words(Path("x"))
    assert words[2:] == [f"--scenes={folder}", "--out=x", "--limit=1", "--seed=0"]
    assert "pictures/mine" in client_of(site).get("/campaign/new").text


@pytest.mark.parametrize(
    ("to", "file", "content", "why"),
    [
        ("mine", "a.txt", PICTURE, "no picture by its name"),
        ("mine", "a.png", b"hello", "a.png: "),
        ("../mine", "a.png", PICTURE, "must be letters"),
        ("", "a.png", PICTURE, "must be letters"),
    ],
)
def test_what_is_no_picture_is_refused(site: Site, to: str, file: str, content: bytes, why: str) -> None:
    answer = send(site, "/pictures", content, to=to, file=file)
    assert answer.status_code == 400
    assert why in answer.json()["error"]
    assert not (site.library.root / "pictures").exists()


def test_files_of_strangers_and_large_ones_are_refused(site: Site) -> None:
    assert send(site, "/pictures", PICTURE, token="", to="mine", file="a.png").status_code == 403
    assert send(site, "/marks", b"{}", token="wrong", of="a").status_code == 403
    client = client_of(site)
    header = {"x-instar-form": site.access.form_token}
    assert client.post("/pictures", content=PICTURE, headers=header).status_code == 415
    large = {"content-type": "application/octet-stream", "content-length": str(26 * 2**20)} | header
    assert client.post("/pictures", content=PICTURE, headers=large).status_code == 413


def test_a_set_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_sets, "MOST_FILES", 2)
    sets = PictureSets(tmp_path)
    assert [sets.keep("mine", "a.png", PICTURE) for _ in range(2)] == [1, 2]
    with pytest.raises(BadInput, match="mine is full"):
        sets.keep("mine", "a.png", PICTURE)


def test_a_folder_is_named_by_its_whole_path(site: Site, tmp_path: Path) -> None:
    form = {"name": ["x"], "system": ["street-exact"], "scenes": ["street"], "folder": [str(tmp_path)]}
    assert f"--scenes={tmp_path}" in read_order(form, site.offers).words(Path("x"))
    for bad in ("photos", str(tmp_path / "nowhere"), "/\0"):
        with pytest.raises(BadInput, match="is not there"):
            read_order(form | {"folder": [bad]}, site.offers)


def test_marks_and_notes_go_from_one_copy_of_a_run_to_another(site: Site, tmp_path: Path) -> None:
    run = site.library.run("a")
    site.library.mark(run, f"{0:016x}", "real defect", "the dog is plain to see")
    site.library.mark(run, f"{1:016x}", "acceptable", "")
    saved = client_of(site).get("/marks.json", params={"of": "a"}).content
    make_run(tmp_path / "other" / "a", [record(i, verdict=lost(-0.5)) for i in (0, 2)])
    other = make_test_site(tmp_path / "other")
    told = send(other, "/marks", saved, of="a").json()
    assert told == {"words": "1 mark added of 2; 1 case is not of this run."}
    assert other.library.run("a").marks.history(f"{0:016x}")[0].note == "the dog is plain to see"
    assert send(other, "/marks", saved, of="a").json()["words"].startswith("0 marks added")


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"what": "instar marks", "marks": [{"case": 1, "mark": "x"}]}']
)
def test_what_is_no_file_of_marks_is_refused(site: Site, content: bytes) -> None:
    answer = send(site, "/marks", content, of="a")
    assert (answer.status_code, "no file of marks" in answer.json()["error"]) == (400, True)


def test_cards_say_what_was_lost(site: Site) -> None:
    table = site.library.table
    rows = [int(row) for row in select_cases(table, CaseFilter()).rows]
    cards = cards_of(site.words, table, rows)
    assert [card["words"] for card in cards] == ["dog 0.90 is lost"] * 3 + [""]
    assert cards[0]["known"] == "not verified"
    assert "dog 0.90 is lost" in client_of(site).get("/explore").text


def test_tasks_take_turns_since_their_margins_have_different_units(tmp_path: Path) -> None:
    degrees = [record(i, verdict=lost(-20.0 - i)) for i in range(3)]
    make_run(tmp_path / "drive", degrees, system="driver", task="driving")
    make_run(tmp_path / "detect", [record(9, verdict=lost(-0.4))], system="detector", task="detection")
    site = make_test_site(tmp_path)
    rows = select_cases(site.library.table, CaseFilter()).rows
    assert "detector" in {site.library.table.name("system", int(row)) for row in rows[:2]}
    summary = client_of(site).get("/summary").text
    assert "no common rate: several systems" in summary
    assert 'aria-label="runs"' in summary
    assert 'aria-label="runs"' not in client_of(site).get("/summary", params={"run": "drive"}).text


def test_severities_are_drawn(tmp_path: Path) -> None:
    records = [
        record(i, verdict=(lost(-0.5) if i > 5 else record(0).verdict).with_evidence(level=float(i)))
        for i in range(10)
    ]
    make_run(tmp_path / "a", records)
    page = client_of(make_test_site(tmp_path)).get("/summary").text
    assert "Severity of" in page
    assert "1 of 1 fail" in page


def test_every_word_is_explained_and_what_runs_is_told(site: Site) -> None:
    page = client_of(site).get("/words").text
    for word in ("placebo", "false alarms", "different failures", "unstable"):
        assert f"<dt>{word}</dt>" in page
    assert "is running" not in client_of(site).get("/running").text


def test_the_marks_file_is_plain(site: Site) -> None:
    assert json.loads(client_of(site).get("/marks.json", params={"of": "a"}).content) == {
        "what": "instar marks", "run": "a", "system": "made-up", "marks": [],
    }  # fmt: skip


def test_a_failure_that_goes_and_another_that_comes_under_the_same_name_are_both_shown(
    tmp_path: Path,
) -> None:
    boxes = {"was": ("dog", [0, 0, 9, 9]), "now": ("car", [50, 50, 90, 90])}
    for run, (label, box) in boxes.items():
        evidence = {"was": {"label": label, "score": 0.9, "box": box}}
        verdict = instar.Verdict.violated([instar.Finding("lost", "object 1", -0.5, evidence)])
        make_run(tmp_path / run, [record(1, verdict=verdict)])
    page = client_of(make_test_site(tmp_path)).get("/compare/with", params={"run": ["was", "now"]}).text
    assert page.index("car 0.90 is lost") < page.index("dog 0.90 is lost")
