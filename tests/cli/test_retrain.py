"""`instar retrain`, small but whole: three trainings of each seed, measured on scenes held out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra torch is not installed; make test-real has it")
pytestmark = pytest.mark.real

from instar.cli import main  # noqa: E402  # torch first

QUICK = ["--steps", "4", "--batch", "2", "--points", "2", "--seeds", "2"]
QUICK += ["--questions", "24", "--also", "mirrored"]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """The street as photographs that instar did not draw: a folder with annotations."""
    folder = tmp_path_factory.mktemp("retrain") / "run"
    words = ["run", "--system", "yolox-nano", "--relation", "cropped,defocused", "--scenes", "street:10"]
    main([*words, "--budget", "200", "--out", str(folder), "--json"])
    return folder


def told(capsys, *words: str) -> dict:
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_three_configurations_are_trained_and_measured_and_kept(run, tmp_path, capsys) -> None:
    out = tmp_path / "out"
    document = told(capsys, "retrain", str(run), "--out", str(out), *QUICK)
    (only,) = document["rounds"]
    assert len(only["cases"]["failing"]) == len(only["cases"]["passing"]) > 0
    assert [(one["configuration"], one["seed"]) for one in only["trained"]] == [
        (name, seed) for seed in (0, 1) for name in ("natural", "failing", "passing")
    ]
    for one in only["trained"]:
        assert list(one["curve"]) == ["0", "2", "4"]
        assert set(one["fresh"]) == {"cropped", "defocused", "mirrored"}
    failures = document["tables"]["failures"]["rows"]
    assert [row[:2] for row in failures[1:]] == [
        ["cropped", "yes"],
        ["defocused", "yes"],
        ["mirrored", "no"],
        ["all", ""],
    ]
    starts = {tuple(one["curve"]["0"]) for one in only["trained"]}
    assert len(starts) == 1
    rows = document["tables"]["accuracy"]["rows"]
    assert [row[0] for row in rows[1:]] == [
        "(before)",
        "natural pictures",
        "and failing ones",
        "and passing ones",
    ]

    # What is there is not done again, and says the same.
    weights = Path(document["weights"])
    stamp = weights.stat().st_mtime_ns
    checkpoint = (weights.parent / "checkpoint.pt").read_bytes()
    assert told(capsys, "retrain", str(run), "--out", str(out), *QUICK)["rounds"] == document["rounds"]
    assert (weights.parent / "checkpoint.pt").read_bytes() == checkpoint
    assert weights.stat().st_mtime_ns >= stamp

    pairs = [row[1:] for row in document["tables"]["compared"]["rows"][1:]]
    assert all(int(row[0]) >= sum(map(int, row[1:])) for row in pairs)
    assert int(pairs[0][0]) > 0

    # Another lesson does not go on with it, and what the weights have seen is not tested on.
    other = [*QUICK[:5], "3", *QUICK[6:]]
    assert (
        "was trained with other points"
        in told(capsys, "retrain", str(run), "--out", str(out), *other)["error"]
    )
    words = ["--weights", str(weights), "--out", str(tmp_path / "more"), *QUICK]
    for seed in ("1", "2"):
        error = told(capsys, "retrain", str(run), "--seed", seed, *words)["error"]
        assert f"was trained on by {weights}" in error

    # It is a detector like any other.
    words = ["look", "yolox-nano", "street:2", "--set", f"system.weights={weights}"]
    assert "error" not in told(capsys, *words, "--out", str(tmp_path / "looked"))


def test_a_picture_on_both_sides_is_refused(run, tmp_path, capsys) -> None:
    out = ["--out", str(tmp_path / "out"), *QUICK]
    error = told(capsys, "retrain", str(run), "--test", "street:1", *out)["error"]
    assert "street-0000, to be tested on, and street-0000, to be trained on, are the same picture" in error
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_trained_is_refused(run, tmp_path, capsys) -> None:
    out = ["--out", str(tmp_path / "out")]
    assert "yolox-nano-torch" in told(capsys, "retrain", str(run), "--system", "yolox-nano", *out)["error"]
    assert "--held-out is 1.5" in told(capsys, "retrain", str(run), "--held-out", "1.5", *out)["error"]
    assert "seeds" in told(capsys, "retrain", str(run), "--seeds", "0", *out)["error"]
