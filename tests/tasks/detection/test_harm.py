"""A lost person is not a lost vase, and the table that says so can be changed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from instar.cli import main
from instar.core.errors import BadInput
from instar.tasks.detection import Detections, map_equal, same_objects
from instar.tasks.detection.harm import USUAL_TABLE, load_harm, with_harm


def answer(*labels: str) -> Detections:
    boxes = np.float32([[60 * i, 0, 60 * i + 40, 40] for i in range(len(labels))]).reshape(-1, 4)
    return Detections(boxes, labels, np.full(len(labels), 0.9, np.float32))


def harms(verdict) -> list[str]:
    return [finding.evidence["harm"] for finding in with_harm(verdict, load_harm()).findings]


def test_it_is_told_by_the_class_and_the_worse_of_two_names_counts():
    assert harms(same_objects(answer("person", "vase"), answer())) == ["critical", "minor"]
    assert harms(same_objects(answer("vase"), answer("person"))) == ["critical"]
    assert harms(same_objects(answer(), answer("dog"))) == ["serious"]
    assert harms(map_equal(answer("car"), answer())) == ["critical"]


def test_the_table_is_a_file_that_can_be_changed(tmp_path: Path, capsys):
    mine = tmp_path / "mine.toml"
    mine.write_text('levels = ["dire", "dull"]\ndefault = "dull"\n[classes]\ncar = "dire"\n')
    run = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:6"]
    run += ["--budget", "150", "--out", str(tmp_path / "run"), "--set", f"insertion.harm={mine}"]
    assert main([*run, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert set(told["harms"]) <= {"dire", "dull"}
    assert sum(told["harms"].values()) == told["distinct_real"]
    main(["report", str(tmp_path / "run")])
    assert "harm" in capsys.readouterr().out


def test_a_wrong_table_is_refused_in_one_line(tmp_path: Path):
    path = tmp_path / "s.toml"
    for text, why in [
        ('levels = []\ndefault = "a"', "levels is"),
        ('levels = ["a"]\ndefault = "b"', "default is 'b'; it is one of a"),
        ('levels = ["a"]\ndefault = "a"\n[classes]\ncar = "x"', "car is 'x'; it is one of a"),
        ("levels = [", "is not TOML"),
    ]:
        path.write_text(text)
        with pytest.raises(BadInput, match=why):
            load_harm(path)
    with pytest.raises(BadInput, match="cannot read the table of harms"):
        load_harm(tmp_path / "none.toml")
    assert load_harm().levels == ("critical", "serious", "minor")
    assert USUAL_TABLE.is_file()
