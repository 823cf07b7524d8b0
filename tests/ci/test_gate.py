"""The gate in a scratch repository, by the script that the GitHub Action and the GitLab template run."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from instar.cli import main
from instar.imaging.codecs import encode_png
from instar.worlds.street import scenes

ROOT = Path(__file__).parents[2]
DETECTOR = """
import numpy as np
from instar.tasks.detection.systems.street import street_blobs, street_exact


class Detector:
    name = "detector"

    def __init__(self):
        self.inner = {inner}()
        self.rng = np.random.default_rng()

    def predict(self, images):
        return [self.kept(found, image.shape[1]) for image, found in zip(images, self.inner.predict(images))]

    def kept(self, found, width):
        keep = {keep}
        labels = [label for label, stays in zip(found.labels, keep) if stays]
        return {{"boxes": found.boxes[keep], "labels": labels, "scores": found.scores[keep]}}
"""
EVERY = "np.ones(len(found.labels), bool)"
CROPPED = "found.boxes[:, 0] > 0.25 * width"  # a regression: the left quarter is not looked at
FLAKY = "self.rng.random(len(found.labels)) > 0.2"


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> Path:
    """A repository with a detector, its pictures and the gate that was made of a run of it."""
    folder = tmp_path_factory.mktemp("repository")
    (folder / "bin").mkdir()
    shim = folder / "bin" / "instar"
    shim.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m instar "$@"\n')
    shim.chmod(0o755)
    (folder / "photos").mkdir()
    for scene in scenes(6, size=(240, 320)):
        (folder / "photos" / f"{scene.id}.png").write_bytes(encode_png(scene.image))
    write_detector(folder)
    words = "run --system detector:Detector --scenes photos --relation insertion,mirrored,darkened"
    assert instar(folder, f"{words} --referees street-exact --budget 600 --out runs/now").returncode == 1
    made = instar(folder, "gate runs/now --budget 250 --out instar-gate --json")
    assert made.returncode == 0
    (folder / "gate.json").write_text(made.stdout)
    git(folder, "init", "--quiet")
    git(folder, "add", "detector.py", "photos", "instar-gate")
    return folder


def write_detector(folder: Path, *, inner: str = "street_blobs", keep: str = EVERY) -> None:
    (folder / "detector.py").write_text(DETECTOR.format(inner=inner, keep=keep))


def environment(folder: Path) -> dict[str, str]:
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    source = os.pathsep.join([str(folder), str(ROOT / "src")])
    return os.environ | {"PATH": path, "PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}


def instar(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "instar", *words.split()],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


def gate(folder: Path) -> tuple[int, dict, str]:
    """The exit status of the script, the document, and the comment."""
    settings = {"INSTAR_SYSTEM": "detector:Detector", "INSTAR_SCENES": "photos"}
    done = subprocess.run(
        ["bash", str(ROOT / "ci" / "gate.sh")],
        cwd=folder, env=environment(folder) | settings, capture_output=True, text=True, check=False,
    )  # fmt: skip
    results = folder / "instar-results"
    assert (results / "report.html").is_file(), done.stderr
    document = json.loads((results / "report.json").read_text())
    return done.returncode, document, (results / "summary.md").read_text()


def test_the_gate_is_small_and_says_what_it_keeps(repository):
    made = json.loads((repository / "gate.json").read_text())
    assert made["bytes"] < 2_000_000
    assert made["queries"] <= 250
    assert 0 < made["failures"] <= made["of_failures"]
    assert 0 < made["smallest_share"] < 0.1
    assert not [path.name for path in (repository / "instar-gate").iterdir() if path.name.endswith("-wal")]


def test_the_same_version_passes_with_its_known_failures(repository):
    write_detector(repository)
    status, document, _ = gate(repository)
    known = document["known"]
    made = json.loads((repository / "gate.json").read_text())
    assert (status, known["new"], known["fixed"]) == (0, [], [])
    assert len(known["known"]) == made["failures"]
    assert document["queries"] <= 1.2 * made["queries"]


def test_a_regression_fails_and_is_named(repository):
    write_detector(repository, keep=CROPPED)
    status, document, comment = gate(repository)
    new = document["known"]["new"]
    assert status == 1
    assert "lost" in {one["kind"] for one in new}
    assert "mirrored" in {one["relation"] for one in new}
    assert f"**{len(new)} new failure" in comment
    assert "<failure" in (repository / "instar-results" / "junit.xml").read_text()
    assert list((repository / "instar-results" / "summary-pictures").iterdir())


def test_a_repair_passes_and_is_told(repository):
    write_detector(repository, inner="street_exact")
    status, document, comment = gate(repository)
    assert (status, document["known"]["new"]) == (0, [])
    assert len(document["known"]["fixed"]) >= 5
    assert f"{len(document['known']['fixed'])} fixed" in comment


def test_a_flaky_version_is_not_blamed(repository):
    write_detector(repository, keep=FLAKY)
    status, document, comment = gate(repository)
    assert (status, document["known"]["new"]) == (2, [])
    assert "too unstable to judge" in document["not_judged"]
    assert "Too unstable to judge" in comment


def test_the_hook_puts_the_file_of_known_failures_in_order(repository, tmp_path, capsys):
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    words = shlex.split(hook["entry"])[1:]
    file = tmp_path / "known-failures.json"
    whole = (repository / "instar-gate" / "known-failures.json").read_text()
    file.write_text(whole)
    assert main([*words, str(file)]) == 0
    document = json.loads(whole)
    document["failures"].reverse()
    file.write_text(json.dumps(document))
    assert main([*words, str(file)]) == 1
    assert file.read_text() == whole
    document["failures"][0] |= {"no_failure": "", "system": "s"}
    file.write_text(json.dumps(document))
    assert main([*words, str(file)]) == 2
    assert "no reason is given" in capsys.readouterr().err


def test_action_and_template_run_the_script_with_every_input():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    (ask,) = [step for step in steps if "gate.sh" in step.get("run", "")]
    template = list(yaml.safe_load_all((ROOT / "ci" / "instar.gitlab-ci.yml").read_text()))
    job = template[1]["instar-gate"]
    assert any("$[[ inputs.script ]]" in line for line in job["script"])
    script = (ROOT / "ci" / "gate.sh").read_text()
    for variable in ("INSTAR_SYSTEM", "INSTAR_GATE", "INSTAR_SCENES", "INSTAR_FLAGS"):
        assert variable in script
        assert variable in ask["env"]
        assert variable in job["variables"]
    for step in steps:
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
    given = json.dumps(steps)
    assert all(f"inputs.{name}" in given for name in action["inputs"])
