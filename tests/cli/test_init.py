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


@pytest.mark.parametrize(
    ("files", "scenes"),
    [
        (("photos/day/a.png", "photos/day/b.png", "photos/night/c.png", "photos/night/d.png"), "photos"),
        (("docs/logo.png", "data/one/a.png", "data/one/b.png", "data/one/c.png"), "data/one"),
        (("images/a.jpg", "images/b.jpg", "labels/a.png", "labels/b.png"), "images"),
        (("drive/a.mp4",), "drive/a.mp4"),
        (("drive/a.mp4", "drive/b.MP4"), "drive"),
        (("notes.txt",), "street:12"),
    ],
)
def test_the_scenes_are_where_most_pictures_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], scenes: str
) -> None:
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(cv2.imencode(".png", np.zeros((20, 30, 3), np.uint8))[1].tobytes())
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--quiet"]) == 0
    assert make_plan(read_tables(Path("instar.toml"))).scenes == scenes


def test_pictures_whose_words_are_annotated_are_for_a_text_locator(folder: Path) -> None:
    (folder / "gt").mkdir()
    for n in range(3):
        (folder / f"gt/gt_{n}.txt").write_text("10,10,60,10,60,30,10,30,STOP\n")
    assert main(["init"]) == 0
    assert make_plan(read_tables(Path("instar.toml"))).systems[0].name == "ppocr-v4-det"


def test_the_command_it_tells_can_be_pasted_into_a_shell(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--out", "my plan.toml"]) == 0
    assert "Run it: instar run 'my plan.toml'" in capsys.readouterr().out
