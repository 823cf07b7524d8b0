"""`instar study detection` on the drawn street: a fault is planted in one detector and none in the other."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from instar.cli import main

TABLES = {
    "random-guided", "overview", "detectors", "relocation", "distances", "naturalness", "searches", "kept",
    "believed", "false-alarms",
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
    by = {(row["system"], row["search"]): row for row in rows(study, "searches")}
    assert {search for _, search in by} == {"random", "guided", "relocation", "adaptive"}
    assert int(by["street-blobs", "adaptive"]["errors"]) > 3
    assert int(by["street-exact", "adaptive"]["errors"]) == 0
    assert int(by["street-blobs", "guided"]["errors"]) > 3
    assert int(by["street-exact", "guided"]["errors"]) == int(by["street-exact", "random"]["errors"]) == 0
    believed = {(row["system"], row["search"]): row for row in rows(study, "believed")}
    real, _, errors = believed["street-blobs", "guided"]["lose a real object"].partition(" of ")
    assert errors == by["street-blobs", "guided"]["errors"]
    assert int(real) > 0.8 * int(errors)  # the others moved a little
    for row in rows(study, "false-alarms"):
        assert (row["photometric"].split()[0], row["shift"].split()[0]) == ("0", "0")


def test_questions_time_and_money_are_accounted_for(study):
    blobs = rows(study, "overview")[0]
    assert int(blobs["queries"]) <= 90
    assert float(blobs["price"]) == pytest.approx(int(blobs["queries"]) * 0.01, abs=0.01)


def test_tables_have_the_numbers_and_the_sums_of_the_paper(study):
    titles = {name: table["title"] for name, table in study[0]["tables"].items()}
    numbers = {name: titles[name].rpartition("(")[2] for name in ("overview", "detectors", "relocation")}
    assert numbers == {"overview": "Table 1)", "detectors": "Table 2)", "relocation": "Table 3)"}
    for whole, parts in zip(rows(study, "overview"), rows(study, "relocation")):
        both = int(parts["with inserted object"]) + int(parts["unique with relocated object"])
        assert int(whole["images causing failures"]) == both
    assert [row["AP50"] for row in rows(study, "detectors")] == ["1.0", "1.0"]


def test_options_and_a_pool_are_taken(tmp_path, capsys):
    pool = tmp_path / "pool"
    assert main(["pool", "build", str(pool), "--scenes", "street:3"]) == 0
    words = ["study", "detection", "--systems", "street-blobs", "--scenes", "street:2", "--queries", "20"]
    words += ["--nulls", "1", "--pool", str(pool), "--set", "insertion.oracle=map_equal"]
    words += ["--out", str(tmp_path / "out")]
    assert main(words) == 0
    plan = (tmp_path / "out" / "street-blobs" / "guided" / "plan.toml").read_text()
    assert 'oracle = "map_equal"' in plan
    assert f'pool = "{pool}"' in plan
    assert not (tmp_path / "out" / "pool").exists()
    capsys.readouterr()
    for setting, said in [
        ("insertion.oracel=map_equal", "unknown option 'oracel'; did you mean 'oracle'"),
        ("street-blobs.colour=red", "unknown option 'colour'"),
        ("somebody.colour=red", "unknown owner 'somebody'"),
    ]:
        assert main([*words[:-4], "--set", setting, "--out", str(tmp_path / "other")]) == 2
        assert said in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_each_stage_of_belief_is_a_part_of_the_one_before(study):
    def share(text: str) -> float:
        return float(text.split()[0])

    for row in rows(study, "believed"):
        stages = [share(row[name]) for name in ("no hysteresis", "hysteresis", "stable", "confirmed")]
        assert stages == sorted(stages, reverse=True)
