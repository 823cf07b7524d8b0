from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

import instar.tasks.classification.systems
import instar.tasks.detection.systems.onnx  # noqa: F401 - takes `fetch` by name: before a test replaces it
from instar import zoo
from instar.cli import main
from instar.cli.demo import choose
from instar.core.errors import FetchFailed
from instar.user_file import parse_toml

SLOWER = "Then: the speed should decrease by at least 30%."


PLANS = parse_toml(files("instar.cli").joinpath("demo_plans.toml").read_text("utf-8"))


def unreachable(name: str) -> tuple[Path, ...]:
    raise FetchFailed(f"cannot fetch {name}: no network")


def test_with_everything_fetched_the_demo_is_about_photographs(tmp_path: Path) -> None:
    kept = tmp_path / "cache"
    kept.mkdir()

    def fetch(name: str) -> tuple[Path, ...]:
        (kept / f"{name}.png").write_bytes(name.encode())
        return (kept / f"{name}.png",)

    missing: dict[str, str] = {}
    plan = choose(PLANS["detection"], tmp_path / "demo", fetch, missing)["plan"]
    assert (plan["system"], plan["scenes"], missing) == (
        [{"use": "yolox-nano"}],
        str(tmp_path / "demo/photographs"),
        {},
    )
    copied = sorted(path.stem for path in Path(plan["scenes"]).iterdir())
    assert copied == sorted(entry.name for entry in zoo.photographs())


@pytest.mark.parametrize(
    ("task", "system"),
    [("detection", "street-blobs"), ("classification", "street-classifier"), ("text", "page-glare")],
)
def test_without_a_network_it_is_about_what_is_drawn_here(tmp_path: Path, task: str, system: str) -> None:
    missing: dict[str, str] = {}
    plan = choose(PLANS[task], tmp_path, unreachable, missing)["plan"]
    assert plan["system"][0]["use"] == system
    assert next(iter(missing.values())).endswith("no network")
    assert list(tmp_path.iterdir()) == []


def test_a_photograph_that_cannot_be_had_is_named_and_the_rest_is_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    def fetch(name: str) -> tuple[Path, ...]:
        return unreachable(name) if name == "cat" else (tmp_path / "file",)

    missing: dict[str, str] = {}
    plan = choose(PLANS["detection"], tmp_path / "demo", fetch, missing)["plan"]
    assert missing == {"cat": "cannot fetch cat: no network"}
    assert plan["scenes"] == str(tmp_path / "demo/photographs")


def test_without_a_network_the_demo_says_so_and_still_shows_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(zoo, "fetch", unreachable)
    out = str(tmp_path / "demo")
    assert main(["demo", "--out", out, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["not_fetched"]["yolox-nano"] == "cannot fetch yolox-nano: no network"
    detection, text, driving = (first[task] for task in ("detection", "text", "driving"))
    assert (detection["system"], len(detection["pictures"])) == ("street-blobs", 3)
    assert (text["system"], text["scenes"]) == ("page-glare", 6)
    assert {name for name, one in text["relations"].items() if one["violated"]} == {"brightness-up"}
    assert (driving["system"], driving["scenes"]) == ("vgg16-blind", 10)
    people = driving["relations"][f"If: a pedestrian is added in front of the ego-vehicle, {SLOWER}"]
    assert people["violated"] >= 5
    for picture in [*detection["pictures"], *text["pictures"], *driving["pictures"]]:
        assert Path(picture).read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "demo/first.png").is_file()

    assert main(["demo", "--out", out]) == 0
    told = capsys.readouterr().out
    assert "does not slow down enough: " in told
    assert "instar init " in told


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
    assert (document["detection"]["system"], document["not_fetched"]) == ("yolox-nano", {})
    assert document["detection"]["scenes"] == len(zoo.photographs())
    for task in ("detection", "classification", "text", "driving", "interpretation"):
        assert document[task]["headline"] > 0
        assert all(Path(picture).is_file() for picture in document[task]["pictures"])
