"""`instar study detection` on the drawn street: a fault is planted in one detector and none in the other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from instar.cli import main

TABLES = {
    "random-guided", "overview", "relocation", "distances", "naturalness", "kept", "believed", "false-alarms",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> tuple[dict, Path]:
    out = tmp_path_factory.mktemp("study") / "s"
    words = ["study", "detection", "--systems", "street-blobs,street-exact", "--scenes", "street:4"]
    words += ["--queries", "90", "--price-per-query", "0.01", "--plots", "--out", str(out), "--json"]
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(words) == 0
    return json.loads(said.getvalue()), out


def rows(study: tuple[dict, Path], name: str) -> list[dict[str, str]]:
    heading, *body = study[0]["tables"][name]["rows"]
    return [dict(zip(heading, row)) for row in body]


def test_every_table_is_told_and_written(study):
    document, out = study
    assert set(document["tables"]) == TABLES
    for name in TABLES:
        with (out / f"{name}.csv").open() as file:
            assert list(csv.reader(file)) == document["tables"][name]["rows"]
    assert [Path(path).name for path in document["figures"]] == [
        "random-guided.png", "distances.png", "kept.png"
    ]  # fmt: skip
    assert all(Path(path).stat().st_size > 5000 for path in document["figures"])


def test_the_fault_is_found_and_the_right_detector_is_not_accused(study):
    by = {(row["system"], row["search"]): row for row in rows(study, "random-guided")}
    assert int(by["street-blobs", "guided"]["errors"]) > 3
    assert int(by["street-exact", "guided"]["errors"]) == int(by["street-exact", "random"]["errors"]) == 0
    believed = {(row["system"], row["search"]): row for row in rows(study, "believed")}
    real = believed["street-blobs", "guided"]["lose a real object"]
    assert real == f"{by['street-blobs', 'guided']['errors']} of {by['street-blobs', 'guided']['errors']}"
    for row in rows(study, "false-alarms"):
        assert (row["photometric"].split()[0], row["shift"].split()[0]) == ("0", "0")


def test_questions_time_and_money_are_accounted_for(study):
    blobs = rows(study, "overview")[0]
    assert int(blobs["queries"]) <= 3 * 90
    assert float(blobs["price"]) == pytest.approx(int(blobs["queries"]) * 0.01, abs=0.01)


def test_each_stage_of_belief_is_a_part_of_the_one_before(study):
    def share(text: str) -> float:
        return float(text.split()[0])

    for row in rows(study, "believed"):
        stages = [share(row[name]) for name in ("no hysteresis", "hysteresis", "stable", "confirmed")]
        assert stages == sorted(stages, reverse=True)
