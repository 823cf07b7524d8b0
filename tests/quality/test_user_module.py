"""A relation and a system from a user's own module go through everything that instar does."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import instar
from bench_runs import PORT, make_test_site
from instar.campaigns.reader import Named, open_run
from instar.workbench.app import make_app

MODULE = '''
import numpy as np
import instar
from instar.tasks.detection.systems.street import street_exact


def mirror(picture, _):
    width = picture.shape[1]
    return instar.Moved(np.ascontiguousarray(picture[:, ::-1]), [[-1, 0, width], [0, 1, 0], [0, 0, 1]])


def brighten(picture, levels):
    return np.clip(picture.astype(np.int16) + round(levels), 0, 255).astype(np.uint8)


mirrored = instar.Relation("mirrored", "detection", apply=mirror)
levels = instar.Range(2, 30, "grey levels")
brighter = instar.Relation("brighter", "detection", apply=brighten, severity=levels)


class Careful:
    name = "careful"
    seen = street_exact()

    def predict(self, images):
        return list(self.seen.predict(images))


class Careless(Careful):
    """Loses what is far on the right, and everything in a bright picture."""

    name = "careless"

    def predict(self, images):
        return [self.without(image, found) for image, found in zip(images, super().predict(images))]

    def without(self, image, found):
        keep = found.boxes[:, 2] < 0.8 * image.shape[1]
        if image.mean() > self.limit():
            keep[:] = False
        return found.select(keep)

    def limit(self):
        return 172.0


careless = Careless()
'''
TESTS = """
import instar, mine
from instar.pytest_plugin import metamorphic

test_careful = metamorphic(mine.mirrored, mine.Careful, instar.load_scenes("street:3"))
test_careless = metamorphic(mine.mirrored, mine.careless, instar.load_scenes("street:3"))
"""
RELATIONS = "mine:mirrored,mine:brighter"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("user")
    (home / "mine.py").write_text(MODULE)
    (home / "test_mine.py").write_text(TESTS)
    return home


def command(home, *words):
    """The command line in a process of its own, where nothing is imported yet."""
    paths = [str(Path(instar.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "instar", *words, "--json"],
        cwd=home, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(home):
    status, document = command(
        home,
        "run",
        "--system",
        "mine:Careless",
        "--relation",
        RELATIONS,
        "--scenes",
        "street:6",
        "--out",
        "run",
    )
    assert status == 1
    return document


def worst(document, relation):
    return next(finding["case"] for finding in document["findings"] if finding["relation"] == relation)


def test_it_is_accused_and_a_careful_one_is_not(home, found):
    assert found["relations"]["mirrored"]["violated"] > 0
    assert found["relations"]["mirrored"]["cases"] == 6  # one possible change, one case a scene
    assert found["relations"]["brighter"]["violated"] > 0
    assert found["false_alarms"]["n"] == 6  # about one for every ten cases
    status, document = command(
        home,
        "run",
        "--system",
        "mine:Careful",
        "--relation",
        RELATIONS,
        "--scenes",
        "street:6",
        "--out",
        "good",
    )
    assert (status, document["violated"], document["unstable"]) == (0, 0, 0)


def test_the_report_shows_its_pictures_without_its_code(home, found):
    (home / "mine.py").rename(home / "gone.py")
    try:
        status, _ = command(home, "report", "run", "--html", "page.html")
    finally:
        (home / "gone.py").rename(home / "mine.py")
    page = (home / "page.html").read_text()
    assert status == 1
    assert 'class="lost"' in page
    shown = re.findall(r'<article class="case".*?</article>', page, re.DOTALL)
    violated = [card for card in shown if "<b>violated</b>" in card]
    assert violated
    assert all(card.count("<image") >= 2 for card in violated)


@pytest.mark.parametrize("relation", ["mirrored", "brighter"])
def test_a_case_is_replayed(home, found, relation):
    status, document = command(home, "replay", "run", worst(found, relation), "--trust")
    assert (status, document["same"], document["now"]["status"]) == (1, True, "violated")
    assert (home / document["picture"]).is_file()


def test_a_case_with_a_severity_is_shrunk(home, found):
    status, document = command(home, "shrink", "run", worst(found, "brighter"), "--trust")
    assert status == 1
    assert document["to"]["value"] <= document["from"]["value"]
    assert document["complete"]
    status, document = command(home, "shrink", "run", worst(found, "mirrored"), "--trust")
    assert (status, "neither" in document["error"] or "no smaller()" in document["error"]) == (2, True)


def test_its_findings_are_exported_where_the_objects_are(home, found):
    status, _ = command(home, "export", "run", "--format", "coco", "--out", "coco")
    assert status == 0
    document = json.loads((home / "coco" / "annotations.json").read_text())
    assert len(document["images"]) == found["scenes_violated"]  # one bright picture loses all of a scene
    status, document = command(home, "export", "run", "--format", "csv", "--out", "table")
    assert (status, document["cases"] > found["cases"]) == (0, True)


def test_runs_are_compared_and_resumed(home, found):
    status, document = command(home, "compare", "run", "run")
    assert status == 0
    assert document["newly_broken"] == []
    words = ("--system", "mine:Careless", "--relation", RELATIONS, "--scenes", "street:6", "--out", "run")
    status, document = command(home, "run", *words, "--resume")
    assert (status, document["asked"], document["violated"]) == (1, 0, found["violated"])


def test_pytest_keeps_runs_that_the_command_line_reads(home):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_mine.py", "--instar-runs", "kept"],
        cwd=home, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(instar.__file__).parents[1]), str(home)])},
    )  # fmt: skip
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert "contradicts itself" in done.stdout
    assert {one.name for one in (home / "kept").iterdir()} == {
        "test_mine.py-test_careful",
        "test_mine.py-test_careless",
    }
    (run,) = [one for one in (home / "kept").iterdir() if "careless" in one.name and one.is_dir()]
    status, document = command(home, "report", str(run.relative_to(home)))
    assert status == 1
    status, again = command(
        home, "replay", str(run.relative_to(home)), document["findings"][0]["case"], "--trust"
    )
    assert (status, again["same"]) == (1, True)


def test_a_run_from_python_is_read_by_the_command_line(home, monkeypatch):
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.chdir(home)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    import mine

    records = list(instar.run("street:6", [mine.mirrored, mine.brighter], mine.careless, out="python"))
    violated = [record for record in records if record.verdict.status is instar.Status.VIOLATED]
    status, document = command(home, "report", "python")
    assert (status, document["violated"]) == (1, len(violated))
    for relation in ("mirrored", "brighter"):
        status, again = command(home, "replay", "python", worst(document, relation), "--trust")
        assert (status, again["same"]) == (1, True)
    status, _ = command(home, "shrink", "python", worst(document, "brighter"), "--trust")
    assert status == 1
    trusted = Named(trusted=True)
    with open_run("python", named=trusted, quiet=True) as there, there.asking() as asking:
        assert there.replay(there.record(violated[0].case), asking).same


def test_what_has_no_name_is_replayed_once_it_is_given(home, monkeypatch):
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.chdir(home)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    import mine

    nameless = mine.Careless()
    (record, *_) = [
        record
        for record in instar.run("street:6", mine.mirrored, nameless, out="nameless")
        if record.verdict.status is instar.Status.VIOLATED
    ]
    status, document = command(home, "replay", "nameless", record.case, "--trust")
    assert (status, "made in Python" in document["error"], "--system" in document["error"]) == (2, True, True)
    status, document = command(
        home, "replay", "nameless", record.case, "--system", "mine:Careless", "--trust"
    )
    assert (status, document["same"]) == (1, True)
    named = Named(system=nameless, trusted=True)
    with open_run("nameless", named=named, quiet=True) as there, there.asking() as asking:
        assert there.replay(there.record(record.case), asking).same


def test_the_workbench_shows_its_findings_without_its_code(home, found, monkeypatch):
    monkeypatch.setitem(sys.modules, "mine", None)  # cannot be imported
    site, case = make_test_site(home), worst(found, "mirrored")
    with TestClient(make_app(site), base_url=f"http://127.0.0.1:{PORT}") as client:
        client.get("/", params={"token": site.access.token})
        page = client.get(f"/case/{case}", params={"of": "run"}).text
        page += client.get(f"/case/{case}/pictures", params={"of": "run"}).text
    assert "mirrored" in page
    assert "<polygon" in page
