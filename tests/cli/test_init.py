from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.campaigns.plan import make_plan, read_tables
from instar.cli import main


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "photos").mkdir()
    for n in range(3):
        cv2.imwrite(str(tmp_path / f"photos/{n}.png"), np.full((80, 100, 3), 40 * n, np.uint8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_names_the_pictures_of_the_folder_and_can_be_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init"]) == 0
    told = capsys.readouterr().out
    assert "photos: 3 pictures without annotations" in told
    plan = make_plan(read_tables(Path("instar.toml")))
    assert (plan.scenes, plan.systems[0].name) == ("photos", "yolox-nano")
    assert main(["init"]) == 2
    assert "instar.toml is there already" in capsys.readouterr().err


def test_annotations_are_preferred_and_runs_are_passed_over(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = [{"id": n, "file_name": f"photos/{n}.png", "height": 80, "width": 100} for n in range(3)]
    box = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40], "area": 1200, "iscrowd": 0}
    coco = {"images": images, "annotations": [box], "categories": [{"id": 1, "name": "dog"}]}
    (folder / "instances.json").write_text(json.dumps(coco))
    (folder / "old").mkdir()
    (folder / "old/run.sqlite").write_bytes(b"")
    for n in range(9):
        (folder / f"old/{n}.png").write_bytes(b"")
    assert main(["init", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenes"] == "instances.json"


def test_a_network_that_cannot_be_read_is_named_with_the_reason(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.onnx").write_bytes(b"no network")
    assert main(["init"]) == 0
    assert "broken.onnx was not taken: " in capsys.readouterr().out
    assert '# use = "broken.onnx"' in (folder / "instar.toml").read_text()
