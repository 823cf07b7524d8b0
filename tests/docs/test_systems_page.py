"""Every way of bringing a detector that the page shows is run, as it is written."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import servers
from instar.cli import main
from instar.imaging.codecs import encode_png, read_picture
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.street import street_blobs
from instar.worlds import street
from onnx_answers import save_network

PAGE = (Path(__file__).parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (\d+) \| .*? \| `(--system .*?)` \| ", PAGE, re.MULTILINE))
REAL = ("24", "1", *map(str, range(4, 12)), "13")  # they need torch, other libraries, or seconds
AGPL = ("6", "7")  # which is no part of our environment
CAMPAIGN = ["--relation", "detection.mirrored", "--referees", "none", "--scenes", "photos/"]
MAKE = """
import torch, warnings
warnings.simplefilter("ignore")
import nets
net = nets.Net().eval()
torch.jit.trace(net, torch.zeros(1, 3, 640, 640)).save("script.pt")
torch.save(net.state_dict(), "state.pth")
"""
NETS = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        rows = torch.zeros(1, 84, 200)
        rows[0, :4, 0] = torch.tensor([40.0, 230.0, 40.0, 40.0])
        rows[0, 20, 0] = 0.9
        self.register_buffer("rows", rows)
    def forward(self, pictures):
        return self.rows + 0 * pictures.sum()
"""
MAKE_FACE = """
import transformers
config = transformers.YolosConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
    intermediate_size=64, image_size=[64, 96], num_detection_tokens=8,
    id2label={0: "dog"}, label2id={"dog": 0})
transformers.YolosForObjectDetection(config).save_pretrained("detector")
transformers.YolosImageProcessor(size={"shortest_edge": 64, "longest_edge": 96}).save_pretrained("detector")
"""
COMMAND = """#!/bin/sh
for picture in "$@"; do
  echo '{"boxes": [[12, 40, 88, 120]], "labels": ["dog"], "scores": [0.9]}'
done
"""


class OneDog:
    def predict(self, images: Any) -> list[Detections]:
        return [Detections(np.float32([[4, 4, 40, 40]]), ("dog",), np.float32([0.9])) for _ in images]


def made(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ways")
    (home / "photos").mkdir()
    (home / "photos" / "a.png").write_bytes(encode_png(street.scenes(1)[0].image))
    (home / "labels.txt").write_text("cat\ndog\n")
    for name, content in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        (home / name).write_text(content)
    (home / "nets.py").write_text(NETS)
    rows = np.zeros((1, 84, 200), np.float32)
    rows[0, :4, 0], rows[0, 20, 0] = (40, 30, 40, 40), 0.9
    save_network(home / "mine.onnx", {"output0": rows})
    save_network(home / "bare.onnx", {"output0": rows[:, [0, 1, 2, 3, 20, 21]]})
    (home / "predict.sh").write_text(COMMAND)
    (home / "predict.sh").chmod(stat.S_IRWXU)
    return home


@pytest.fixture(autouse=True)
def _there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_the_page_has_twenty_ways() -> None:
    assert len(re.findall(r"^\| \d+ \| ", PAGE, re.MULTILINE)) >= 20
    assert set(ROWS) == {*map(str, range(1, 20)), "21", "24"}
    for block in re.findall(r"^```python\n# \w+\.py\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        assert len([line for line in block.splitlines() if line.strip()]) <= 5


def answered(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()  # what libraries print when they are imported for the first time
    main(["run", *words, *CAMPAIGN, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.real] if row in REAL else []) for row in ROWS if row != "21"],
)
def test_a_way_leads_to_verdicts(row: str, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    if row in AGPL:
        pytest.importorskip("ultralytics", reason="AGPL: no part of our environment")
    if row in ("10", "11"):
        pytest.importorskip("torchvision", reason="its wheels do not fit a torch for the CPU")
    if row in ("4", "5"):
        made(MAKE)
    if row == "24":
        made("import openvino as ov; ov.save_model(ov.convert_model('bare.onnx'), 'mine.xml')")
    if row in ("6", "7"):
        made("from ultralytics import YOLO; YOLO('yolo11n.yaml').save('yolo.pt')")
    if row in ("8", "9"):
        made(MAKE_FACE)
    words = shlex.split(ROWS[row])
    if row == "19":
        Path("answers.jsonl").write_text(_answer_everything(capsys))
    with servers.detector_server(OneDog()) as server:
        monkeypatch.setattr(servers, "CLASSES", ["cat", "dog"])
        words = [word.replace("localhost:8080", server.host) for word in words]
        words += ["--set", "system.size=640"] if row in ("4", "5") else []
        document = answered([*words, "--out", f"run-{row}"], capsys)
    assert "error" not in document, document
    assert (document["failed"], document["task"]) == (0, "detection")
    assert document["cases"] > 0


def _answer_everything(capsys: pytest.CaptureFixture[str]) -> str:
    """Row 20: rounds until the campaign ends; all lines that were written."""
    main(["questions", *CAMPAIGN, "--out", "run-20"])
    lines = []
    while (folder := Path("run-20/questions")).exists():
        own = []
        for path in sorted(folder.glob("*.png")):
            (found,) = street_blobs().predict([read_picture(path)])
            answer = {"boxes": found.boxes.tolist(), "labels": found.labels, "scores": found.scores.tolist()}
            own.append(json.dumps({"file": path.name, **answer}))
        Path("round.jsonl").write_text("\n".join(own))
        assert main(["answers", "run-20", "round.jsonl"]) in (0, 1, 2)
        lines += own
    capsys.readouterr()
    return "\n".join(lines)


def test_the_service_of_the_page_sends_nothing_without_its_yes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its format is tested in `tests/quality/test_stormy_services.py`."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-secret")
    words = [word for word in shlex.split(ROWS["21"]) if word != "--yes"]
    document = answered([*words, "--out", "run-21"], capsys)
    assert "asked at most 500 calls" in document["error"]
    assert "rekognition.us-east-1.amazonaws.com; nothing was sent" in document["error"]
    assert not os.path.exists("run-21")


@pytest.mark.real
def test_targets_of_maite_are_answers() -> None:
    import maite.protocols.object_detection as maite

    from instar.store.answers import decode_answer, encode_answer
    from instar.tasks.detection.answers import read

    class Target:
        boxes, labels, scores = np.array([[4, 4, 40, 40]]), np.array([1]), np.array([0.9])

    target = Target()
    assert isinstance(target, get_args(maite.ObjectDetectionTarget)[0])
    assert read(np.zeros((50, 50, 3), np.uint8), decode_answer(encode_answer(target))).labels == ("1",)
