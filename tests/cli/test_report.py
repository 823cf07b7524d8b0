"""`instar report`: files for people and for servers."""

from __future__ import annotations

import json

import pytest

from instar.cli import main


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
    assert sum(group["violations"] for group in document["groups"]) == document["violated"]


def test_the_text_names_the_groups(run, capsys):
    assert main(["report", str(run)]) == 1
    told = capsys.readouterr().out
    assert "violations, " in told
    assert "lost under insertion" in told


def test_a_page_that_cannot_be_written_is_one_line(run, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["report", str(run), "--html", str(tmp_path / "file" / "page.html")]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("instar: cannot write ")
