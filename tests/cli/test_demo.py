from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import instar.tasks.detection.systems.onnx  # noqa: F401 - takes `fetch` by name: before a test replaces it
from instar import zoo
from instar.campaigns.reader import open_run
from instar.cli import main
from instar.cli.demo import choose
from instar.core.errors import FetchFailed

SLOWER = "Then: the speed should decrease by at least 30%."


def plainest(document: dict[str, Any]) -> str:
    """Of those findings that add a person, the one whose picture changes most."""
    with open_run(document["run"], quiet=True) as there:
        changed = {}
        for finding in document["findings"]:
            if finding["relation"].startswith("If: a pedestrian"):
                made = there.replay(there.record(finding["case"]), there.remembered)
                assert made.source is not None
                before, after = (one.input.astype(int) for one in (made.source, made.follow_ups[0]))
                changed[finding["case"]] = np.abs(before - after).max(axis=2).sum()
    return max(changed, key=lambda case: changed[case])


def test_with_everything_fetched_the_demo_is_about_photographs(tmp_path: Path) -> None:
    kept = tmp_path / "cache"
    kept.mkdir()

    def fetch(name: str) -> tuple[Path, ...]:
        (kept / f"{name}.png").write_bytes(name.encode())
        return (kept / f"{name}.png",)

    missing: list[str] = []
    plan = choose(tmp_path / "demo", fetch, missing)
    assert (plan.systems[0].name, plan.scenes, missing) == (
        "yolox-nano",
        str(tmp_path / "demo/photographs"),
        [],
    )
    copied = sorted(path.stem for path in Path(plan.scenes).iterdir())
    assert copied == sorted(entry.name for entry in zoo.photographs())


def test_without_the_detector_the_demo_draws_its_own_streets(tmp_path: Path) -> None:
    def fetch(name: str) -> tuple[Path, ...]:
        raise FetchFailed(f"cannot fetch {name}: no network")

    missing: list[str] = []
    plan = choose(tmp_path, fetch, missing)
    assert (plan.systems[0].name, plan.scenes) == ("street-blobs", "street:8")
    assert missing[0] == "cannot fetch yolox-nano: no network"
    assert list(tmp_path.iterdir()) == []


def test_a_photograph_that_cannot_be_had_is_named_and_the_rest_is_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    def fetch(name: str) -> tuple[Path, ...]:
        if name == "cat":
            raise FetchFailed("cannot fetch cat")
        return (tmp_path / "file",)

    missing: list[str] = []
    plan = choose(tmp_path / "demo", fetch, missing)
    assert (plan.systems[0].name, missing) == ("yolox-nano", ["cannot fetch cat"])
    assert plan.scenes == str(tmp_path / "demo/photographs")


def test_without_a_network_the_demo_says_so_and_still_shows_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fetch(name: str) -> tuple[Path, ...]:
        raise FetchFailed(f"cannot fetch {name}: no network")

    monkeypatch.setattr(zoo, "fetch", fetch)
    out = str(tmp_path / "demo")
    assert main(["demo", "--out", out, "--json"]) == 0
    said = capsys.readouterr()
    first = json.loads(said.out)
    assert first["system"] == "street-blobs"
    assert first["not_fetched"] == ["cannot fetch yolox-nano: no network"]
    assert said.err.splitlines()[0] == "instar: cannot fetch yolox-nano: no network"
    assert len(first["pictures"]) == 6
    text = first["text"]
    assert (text["system"], text["scenes"]) == ("page-glare", 6)
    assert {name for name, one in text["relations"].items() if one["violated"]} == {"brightness-up"}
    driving = first["driving"]
    assert (driving["system"], driving["scenes"]) == ("vgg16-blind", 10)
    people = driving["relations"]["If: a pedestrian is added on the sidewalk, " + SLOWER]
    assert people["violated"] >= 5
    assert Path(driving["pictures"][0]).stem == plainest(driving)
    for picture in [*first["pictures"], *text["pictures"], *driving["pictures"]]:
        assert Path(picture).read_bytes()[:4] == b"\x89PNG"
    assert text["pictures"]
    assert driving["pictures"]

    assert main(["demo", "--out", out, "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["findings"], again["asked"]) == (first["findings"], 0)


def test_a_rule_that_somebody_types_is_driven_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "If: it snows heavily, Then: the steering angle should not change by more than 5 degrees."
    assert main(["demo", "--rule", rule, "--out", str(tmp_path / "demo"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rule"] == rule
    assert [one["system"] for one in document["runs"]] == ["vgg16-street", "vgg16-blind"]
    assert all(one["cases"] == one["scenes"] == 6 for one in document["runs"])
    refused = "If: a dragon appears, Then: slow down."
    assert main(["demo", "--rule", refused, "--out", str(tmp_path / "no")]) == 2
    assert "'dragon'" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()


@pytest.mark.real
def test_the_demo_finds_failures_on_real_photographs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["system"], document["not_fetched"]) == ("yolox-nano", [])
    assert document["scenes"] == len(zoo.photographs())
    assert document["violated"] > 0
    assert document["interpretation"]["violated"] > 0
    assert all(Path(picture).is_file() for picture in document["pictures"])
