"""The pages over a real run: what they show, and what they keep."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import sqlite3
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from starlette.testclient import TestClient

from bench_runs import PORT, make_street_run, make_test_site
from instar.store import RunStore
from instar.workbench.app import make_app
from instar.workbench.site import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    root = tmp_path_factory.mktemp("runs")
    make_street_run(root / "blobs")
    return make_test_site(root)


@pytest.fixture(scope="module")
def client(site: Site) -> Iterator[TestClient]:
    with TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/", params={"token": site.access.token})
        yield client


@pytest.fixture(scope="module")
def worst(site: Site) -> str:
    return site.library.table.case_id(int(site.library.table.order("worst")[0]))


def wait_for(what: Callable[[], bool], seconds: float = 1200.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.1)


def size(picture: bytes) -> tuple[int, ...]:
    return cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR).shape


def test_the_first_page_of_one_run_is_its_violations(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.url.path == "/explore"
    assert answer.url.query == b"status=violated"


def test_explore_counts_what_the_filter_leaves(client: TestClient, site: Site) -> None:
    violated = site.library.run("blobs").counts()["violated"]
    page = client.get("/explore", params={"status": "violated"}).text
    assert f'<span id="count">{violated}</span>' in page
    assert page.count('class="card"') == min(violated, 36)
    for kind, words in (("lost", "lost"), ("drifted", "moved")):
        one = client.get("/explore", params={"status": "violated", "kind": kind}).text
        count = int(re.search(r'id="count">(\d+)<', one)[1])
        assert re.search(rf'<bdi>{words}</bdi></span><span class="number">{count}<', page)


def test_thumbnails_and_panels_are_made_from_the_recipe(client: TestClient, worst: str) -> None:
    thumbnail = client.get(f"/thumbnail/{worst}", params={"of": "blobs"})
    assert thumbnail.headers["content-type"] == "image/webp"
    assert max(size(thumbnail.content)) == 480
    before, after = (client.get(f"/panel/{worst}/{i}", params={"of": "blobs"}).content for i in (0, 1))
    assert size(before) == size(after)
    assert before != after
    drawing = client.get(f"/drawing/{worst}", params={"of": "blobs"})
    assert drawing.headers["content-type"] == "image/png"
    assert client.get(f"/panel/{worst}/7", params={"of": "blobs"}).headers["content-type"] == "image/svg+xml"


def test_a_thumbnail_shows_the_place_that_is_asked_for(client: TestClient, worst: str) -> None:
    address = f"/thumbnail/{worst}?of=blobs"
    pictures = [client.get(address + place).content for place in ("", "&place=10,20,60,80", "&place=")]
    assert pictures[0] == pictures[2] != pictures[1]
    for place in ("1,2,3", "1,2,3,nan", "a"):
        assert client.get(f"{address}&place={place}").status_code == 404


def test_a_picture_that_the_browser_has_is_not_sent_again(client: TestClient, worst: str) -> None:
    for path in (f"/thumbnail/{worst}", f"/panel/{worst}/0", f"/panel/{worst}/1", f"/drawing/{worst}"):
        first = client.get(path, params={"of": "blobs"})
        again = client.get(path, params={"of": "blobs"}, headers={"if-none-match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert "etag" not in client.get(f"/panel/{worst}/7", params={"of": "blobs"}).headers


def test_a_case_says_its_change_and_how_to_see_it_again(client: TestClient, site: Site, worst: str) -> None:
    assert re.search(r'class="numbers change"><bdi>insertion: \w+ \w+', _case_page(client, worst))
    command = f"instar replay {site.library.root / 'blobs'} {worst}"
    assert command in client.get(f"/case/{worst}", params={"of": "blobs"}).text


def _case_page(client: TestClient, case: str) -> str:
    """With its pictures, which on a slow machine come later."""
    page = client.get(f"/case/{case}", params={"of": "blobs", "status": "violated"}).text
    if "data-load" in page:
        page += client.get(f"/case/{case}/pictures", params={"of": "blobs"}).text
    return page


def test_a_case_shows_both_pictures_outlines_and_evidence(client: TestClient, worst: str) -> None:
    page = _case_page(client, worst)
    assert re.findall(r'<image href="(/panel/\w+/\d)', page) == [f"/panel/{worst}/0", f"/panel/{worst}/1"]
    assert '<polygon class="lost"' in page
    assert '<polygon class="change"' in page
    assert "&#34;found again&#34;" in page
    assert 'rel="next"' in page
    assert 'rel="prev"' not in page


def test_next_and_previous_walk_through_the_view(client: TestClient, site: Site, worst: str) -> None:
    seen, address = [worst], f"/case/{worst}?of=blobs&status=violated"
    while found := re.search(r'<a rel="next" class="button" href="([^"]+)"', client.get(address).text):
        address = found[1].replace("&amp;", "&")
        seen.append(address.split("/case/")[1][:16])
    assert len(seen) == len(set(seen)) == site.library.run("blobs").counts()["violated"]
    back = re.search(r'<a rel="prev" class="button" href="([^"]+)"', client.get(address).text)
    assert back is not None
    assert seen[-2] in back[1]


def test_a_mark_is_kept_shown_and_filtered_by(client: TestClient, site: Site, worst: str) -> None:
    form = {"form": site.access.form_token, "mark": "oracle wrong", "note": "it is the shadow"}
    answer = client.post(f"/case/{worst}/mark", params={"of": "blobs", "status": "violated"}, data=form)
    assert answer.url.path == f"/case/{worst}"
    assert "status=violated" in str(answer.url)
    assert "it is the shadow" in answer.text
    assert worst in client.get("/explore", params={"mark": "oracle wrong"}).text
    again = make_test_site(site.library.root)
    assert again.library.run("blobs").marked == {worst: "oracle wrong"}
    client.post(f"/case/{worst}/mark", params={"of": "blobs"}, data={"form": form["form"], "mark": ""})
    assert worst not in client.get("/explore", params={"mark": "oracle wrong"}).text
    assert client.get(f"/case/{worst}", params={"of": "blobs"}).text.count("<li><b>") == 2


def test_replay_asks_again_in_a_process_of_its_own(client: TestClient, site: Site, worst: str) -> None:
    begun = client.post(
        f"/case/{worst}/do/replay", params={"of": "blobs"}, data={"form": site.access.form_token}
    )
    job = begun.json()["job"]
    wait_for(lambda: client.get(f"/job/{job}").json()["done"])
    assert "The same came out." in client.get(f"/job/{job}").json()["html"]


def test_an_export_has_the_pictures_and_what_was_found(client: TestClient, worst: str) -> None:
    answer = client.get(f"/case/{worst}/export.zip", params={"of": "blobs"})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert sorted(archive.namelist()) == ["case.json", "drawing.png", "follow-up-1.png", "source.png"]
        told = json.loads(archive.read("case.json"))
        assert size(archive.read("source.png")) == size(archive.read("follow-up-1.png"))
    assert (told["case"], told["status"], told["system"]) == (worst, "violated", "street-blobs")
    assert told["change"]["type"].startswith("instar.")


def test_the_summary_says_what_the_report_says(client: TestClient, site: Site) -> None:
    from instar.campaigns.run import read_totals
    from instar.report.summary import summarise
    from instar.report.words import interval_words, percent

    with RunStore.read(site.library.root / "blobs") as store:
        summary = summarise(store.records(changes=False), read_totals(store))
    client.get("/summary/figures", params={"whole": "1"})
    page = client.get("/summary").text
    assert f'<dd id="violated">{summary.counts.violated}</dd>' in page
    assert f"{percent(summary.drawn.rate)}, {interval_words(summary.drawn.interval)}" in page
    assert "data-later" not in page
    for title in site.library.run("blobs").groups.titles:
        assert title in page


def test_what_is_said_of_whole_runs_is_not_said_of_a_part(client: TestClient) -> None:
    assert "different failures" in client.get("/summary").text
    for part in ({"most": "0"}, {"least": "0"}, {"kind": "lost"}):
        assert "different failures" not in client.get("/summary", params=part).text


def test_it_takes_two_runs_to_compare(client: TestClient) -> None:
    for runs in ([], ["blobs"]):
        assert client.get("/compare/with", params={"run": runs}).status_code == 400


def test_two_comparisons_at_once_are_held_against_half_the_level(site: Site, tmp_path: Path) -> None:
    for name in "abc":
        shutil.copytree(site.library.run("blobs").folder, tmp_path / name)
    three = make_test_site(tmp_path)
    several = "Of 2 at once, only one below 0.025 counts as below 0.05."
    with TestClient(make_app(three), base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/", params={"token": three.access.token})
        assert several in client.get("/compare", params={"run": ["a", "b", "c"]}).text
        assert several not in client.get("/compare", params={"run": ["a", "b"]}).text
        one = client.get("/compare/with", params={"run": ["a", "b"]}).text
    assert "sign flips over 6 scenes" in one


def test_naturalness_is_a_threshold(client: TestClient, site: Site) -> None:
    table = site.library.table
    known = np.sort(table.naturalness[~np.isnan(table.naturalness)])
    threshold = round(float(known[len(known) // 2]), 2)
    page = client.get("/summary/figures", params={"natural": str(threshold)}).text
    assert f'<dd id="violated">{int((known >= np.float32(threshold)).sum())}</dd>' in page


def test_rules_are_read_at_once_with_formula_engine_and_picture(client: TestClient, site: Site) -> None:
    rule = "If: a {} appears on the roadside, Then: slow down."
    typed = f"{rule.format('pedestrian')}\n\n  {rule.format('pedestrain')}"
    rules = client.post("/rule", data={"form": site.access.form_token, "rules": typed}).json()["rules"]
    assert rules[0]["formulas"] == ["add(1 pedestrian, on, sidewalk) -> x1 > x2"]
    assert rules[0]["engines"] == [{"change": "add pedestrian", "engine": "paste"}]
    assert rules[1] is None
    assert (rules[2]["word"], rules[2]["column"]) == ("pedestrain", 9)
    assert "pedestrian" in rules[2]["suggestions"]
    assert client.get(f"/rule/{rules[0]['picture']}").json() == {"pictures": 2}
    before, after = (client.get(f"/rule/{rules[0]['picture']}/{i}").content for i in (0, 1))
    assert size(before) == size(after)
    assert before != after


def test_a_campaign_runs_stops_and_goes_on(client: TestClient, site: Site) -> None:
    form = {
        "form": site.access.form_token,
        "name": "tried",
        "system": "street-exact",
        "scenes": "street",
        "count": "4",
        "relation": "insertion",
        "budget": "300",
    }
    begun = client.post("/campaign/new", data=form)
    assert str(begun.url).endswith("/campaign?of=tried")
    assert client.post("/campaign/new", data=form).status_code == 400
    child = site.campaigns.child("tried")
    assert child is not None
    wait_for(lambda: (site.library.root / "tried" / "run.sqlite").exists())
    site.library.look()
    page = client.get("/campaign/state", params={"of": "tried"}).text
    assert 'id="state"' in page
    if child.is_running:
        client.post("/campaign/stop", params={"of": "tried"}, data={"form": form["form"]})
    wait_for(lambda: not child.is_running)
    page = client.get("/campaign", params={"of": "tried"}).text  # nobody has looked at its folder since
    if "It has finished." not in page:
        assert "It was stopped" in page
        assert "Resume" in page
        client.post("/campaign/resume", params={"of": "tried"}, data={"form": form["form"]})
        wait_for(lambda: not site.campaigns.child("tried").is_running)
        page = client.get("/campaign/state", params={"of": "tried"}).text
    assert "It has finished." in page
    assert site.library.run("tried").totals.queries <= 300


def test_a_campaign_that_cannot_be_is_refused_in_words(client: TestClient, site: Site) -> None:
    good = {
        "form": site.access.form_token,
        "name": "x",
        "system": "street-exact",
        "scenes": "street",
        "relation": "insertion",
    }
    for wrong, words in [
        ({"name": "a b"}, "must be letters"),
        ({"system": "os:system"}, "unknown system"),
        ({"scenes": "/"}, "unknown scenes"),
        ({"system": "", "relation": ""}, "unknown system"),
        ({"budget": "-1"}, "whole number"),
        ({"search": "x"}, "unknown search"),
        ({"system": "street-driver", "relation": "", "rules": "If it suddenly rains"}, "not known"),
        ({"relation": "masking"}, "masking is for text"),
    ]:
        answer = client.post("/campaign/new", data=good | wrong)
        assert answer.status_code == 400
        assert words in answer.text
    assert not (site.library.root / "x").exists()


def test_two_people_rate_and_see_how_far_they_agree(client: TestClient, site: Site) -> None:
    answers = {"ann": [6, 2], "bob": [6, 3]}
    for rater, (real, reasonable) in answers.items():
        for pair in range(3):
            page = client.get("/rate", params={"of": "blobs", "rater": rater}).text
            case = re.search(r'action="/rate/(\w+)\?', page)[1]
            assert "badge" not in page
            form = {
                "form": site.access.form_token,
                "rater": rater,
                "real": real - pair,
                "reasonable": reasonable + pair,
            }
            client.post(f"/rate/{case}", params={"of": "blobs"}, data=form)
    page = client.get("/rate", params={"of": "blobs"}).text
    alphas = re.findall(r'class="alpha">([^<]+)<', page)
    assert alphas[0] == "1.00"
    assert -1 < float(alphas[1]) < 1
    for wrong in ({"real": "4"}, {"real": "8", "reasonable": "1"}, {"real": "\u00b2", "reasonable": "1"}):
        answer = client.post(
            f"/rate/{case}", params={"of": "blobs"}, data={"form": form["form"], "rater": "ann"} | wrong
        )
        assert answer.status_code == 400


def test_a_damaged_run_is_shown_as_such(client: TestClient, site: Site) -> None:
    folder = site.library.root / "broken"
    folder.mkdir()
    (folder / "run.sqlite").write_bytes(b"this is no database" * 100)
    site.library.look()
    page = client.get("/runs").text
    assert "broken" in page
    assert "not a database" in page
    assert client.get("/explore").status_code == 200


def test_a_run_without_its_scenes_is_still_browsed(client: TestClient, tmp_path: Path) -> None:
    from bench_runs import lost, make_run, record

    make_run(tmp_path / "bare", [record(1, verdict=lost(-0.5))])
    site = make_test_site(tmp_path)
    with TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}") as other:
        other.get("/", params={"token": site.access.token})
        page = other.get(f"/case/{1:016x}/pictures", params={"of": "bare"})
        assert page.status_code == 200
        assert "plan.toml is missing" in page.text
        assert (
            other.get(f"/thumbnail/{1:016x}", params={"of": "bare"}).headers["content-type"]
            == "image/svg+xml"
        )
        assert "car 0.90 is lost" in other.get(f"/case/{1:016x}", params={"of": "bare"}).text


@pytest.mark.real
def test_two_tabs_and_a_running_campaign_do_not_corrupt_the_run(tmp_path: Path) -> None:
    """People mark and look while it runs; what it ends with is what it ends with alone."""
    words = ["--scenes", "street:8", "--budget", "300"]
    alone = make_street_run(tmp_path / "alone", *words)
    (tmp_path / "seen").mkdir()
    site = make_test_site(tmp_path / "seen")
    app = make_app(site)
    with TestClient(app, base_url=f"http://127.0.0.1:{PORT}") as first:
        second = TestClient(app, base_url=f"http://127.0.0.1:{PORT}")
        for tab in (first, second):
            tab.get("/", params={"token": site.access.token})
        form = {"form": site.access.form_token, "name": "run", "system": "street-blobs", "scenes": "street",
                "count": "8", "relation": "insertion", "budget": "300"}  # fmt: skip
        first.post("/campaign/new", data=form)
        child = site.campaigns.child("run")
        marked = []
        while child.is_running:
            site.library.look()
            table = site.library.table
            for tab, row in zip((first, second), table.order("worst")[:2]):
                case = table.case_id(int(row))
                address = f"/case/{case}"
                tab.post(
                    f"{address}/mark", params={"of": "run"}, data={"form": form["form"], "mark": "acceptable"}
                )
                tab.get(address, params={"of": "run"})
                tab.get("/summary")
                marked.append(case)
            time.sleep(0.05)
        assert child.error() == ""
        assert len(set(marked)) >= 1
        site.library.look()
        assert set(site.library.run("run").marked) == set(marked)
    with contextlib.closing(sqlite3.connect(tmp_path / "seen" / "run" / "run.sqlite")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    rows = [_records(folder) for folder in (alone, tmp_path / "seen" / "run")]
    assert rows[0] == rows[1]


def _records(folder: Path) -> list[tuple[object, ...]]:
    with RunStore.read(folder) as store:
        return [(r.case, r.verdict.status, r.verdict.margin) for r in store.records()]
