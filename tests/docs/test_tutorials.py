"""What the tutorials tell a user to type is typed, against a real detector and on real photographs."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import instar
from instar.zoo import fetch

ROOT = Path(__file__).parents[2]
NO_REFEREES = ("--referees", "none")  # plain tests fetch little
PHOTOGRAPHS = ("person", "bus", "astronaut")
SOURCE = str(Path(instar.__file__).parents[1])


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the photographs and with what the tutorials save."""
    home = tmp_path_factory.mktemp("home")
    (home / "photos").mkdir()
    for name in PHOTOGRAPHS:
        (path,) = fetch(name)
        shutil.copyfile(path, home / "photos" / path.name)
    relation, system, task = (ROOT / "docs" / f"add-a-{what}.md" for what in ("relation", "system", "task"))
    (home / "mine.py").write_text("\n".join([blocks(relation)[0], blocks(system)[0]]))
    (home / "segment.py").write_text("\n".join(blocks(task)[:2]))
    return home


def instar_in(home, *words):
    done = subprocess.run(
        [sys.executable, "-m", "instar", *words, "--json"],
        cwd=home, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout)


def test_mirror_takes_at_most_ten_lines():
    block = blocks(ROOT / "docs" / "add-a-relation.md")[0]
    lines = [line for line in block.splitlines() if line.strip() and "defocus" not in line]
    assert len([line for line in lines if "GaussianBlur" not in line]) <= 10


def test_the_relations_of_the_tutorial_judge_a_real_detector(home):
    relations = "mine:mirrored,mine:defocused"
    words = ["--system", "yolox-nano", "--relation", relations, "--scenes", "photos", "--out", "run"]
    status, found = instar_in(home, "run", *words, *NO_REFEREES)
    assert status in (0, 1)
    assert found["failed"] == 0
    assert found["relations"]["mirrored"]["cases"] == len(PHOTOGRAPHS)
    assert found["relations"]["defocused"]["cases"] == 10 * len(PHOTOGRAPHS)
    assert found["false_alarms"]["n"] == len(PHOTOGRAPHS)
    for finding in found["findings"]:
        status, again = instar_in(home, "replay", "run", finding["case"])
        assert (status, again["same"], (home / again["picture"]).is_file()) == (1, True, True)


def test_the_system_of_the_tutorial_can_be_judged_on_photographs(home):
    relations = "mine:mirrored,mine:defocused"
    words = (
        "--system",
        "mine:BrightThings",
        "--relation",
        relations,
        "--scenes",
        "photos",
        "--out",
        "bright",
        *NO_REFEREES,
    )
    _, found = instar_in(home, "run", *words)
    assert found["held"] + found["violated"] + found["unstable"] > len(PHOTOGRAPHS)
    assert found["failed"] == 0


def test_the_task_of_the_tutorial_runs_from_the_command_line(home):
    words = (
        "--system",
        "segment:Bright",
        "--relation",
        "segment:mirrored",
        "--scenes",
        "photos",
        "--out",
        "segment",
    )
    status, found = instar_in(home, "run", *words)
    assert (status, found["task"], found["held"]) == (0, "segmentation", len(PHOTOGRAPHS))
