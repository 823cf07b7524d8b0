"""One detector brought in many ways gets the same verdicts, case by case."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import servers
from instar.adapters.kserve import KserveSystem
from instar.cli import main
from instar.imaging.codecs import read_picture
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.onnx import yolox
from instar.zoo import fetch

pytestmark = pytest.mark.real

CAMPAIGN = ["--relation", "detection.mirrored,brightened,noisy", "--referees", "none", "--scenes", "photos"]
CONFIDENCE = ["--set", "system.confidence=0.3"]
MAPPING = (
    "{confidence: `0.3`, objects: result.objects[].{label: class, score: confidence, "
    "box: [rect.a, rect.b, rect.c, rect.d]}}"
)
COMMAND = """
import json, sys
from instar.imaging.codecs import read_picture
from instar.tasks.detection.systems.onnx import yolox
for found in yolox().predict([read_picture(path) for path in sys.argv[1:]]):
    answer = {"boxes": found.boxes.tolist(), "labels": found.labels, "scores": found.scores.tolist()}
    print(json.dumps({**answer, "confidence": 0.3}))
"""
MLSERVER_MODEL = """
import json
import numpy as np
from mlserver import MLModel
from mlserver.types import InferenceResponse, ResponseOutput
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.onnx import yolox

class Detector(MLModel):
    async def load(self):
        self._system = yolox()
        return True

    async def predict(self, payload):
        tensor = payload.inputs[0]
        data = getattr(tensor.data, "root", getattr(tensor.data, "__root__", tensor.data))
        picture = np.array(data, np.uint8).reshape(tensor.shape)[0]
        (found,) = self._system.predict([picture])
        n, numbers = len(found), [COCO_NAMES.index(label) for label in found.labels]
        parts = [("boxes", "FP32", [n, 4], found.boxes.ravel().tolist()),
                 ("labels", "INT64", [n], numbers), ("scores", "FP32", [n], found.scores.tolist())]
        outputs = [ResponseOutput(name=a, datatype=b, shape=c, data=d) for a, b, c, d in parts]
        return InferenceResponse(model_name=self.name, outputs=outputs)
"""


TRITON_MODEL = """
import os, sys
sys.path[:0] = os.environ["MODEL_PATH"].split(os.pathsep)
import numpy as np
import triton_python_backend_utils as triton
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.systems.onnx import yolox

class TritonPythonModel:
    def initialize(self, args):
        self._system = yolox()

    def execute(self, requests):
        return [self._answer(request) for request in requests]

    def _answer(self, request):
        # By DLPack: what this server gives as an array of numpy it gives as one of numpy 1.
        picture = np.from_dlpack(triton.get_input_tensor_by_name(request, "image"))[0]
        (found,) = self._system.predict([picture.copy()])
        numbers = np.array([COCO_NAMES.index(label) for label in found.labels], np.int64)
        parts = {"boxes": found.boxes.copy(), "labels": numbers, "scores": found.scores.copy()}
        return triton.InferenceResponse([triton.Tensor.from_dlpack(*part) for part in parts.items()])
"""
TRITON_CONFIG = """
name: "detector"
backend: "python"
max_batch_size: 0
input [{ name: "image" data_type: TYPE_UINT8 dims: [1, -1, -1, 3] }]
output [
  { name: "boxes" data_type: TYPE_FP32 dims: [-1, 4] },
  { name: "labels" data_type: TYPE_INT64 dims: [-1] },
  { name: "scores" data_type: TYPE_FP32 dims: [-1] }
]
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("ways")
    (home / "photos").mkdir()
    for name in ("street", "person", "bus"):
        (path,) = fetch(name)
        (home / "photos" / path.name).symlink_to(path)
    (weights,) = fetch("yolox-nano")
    (home / "mine.onnx").symlink_to(weights)
    (home / "predict.py").write_text(COMMAND)
    return home


@pytest.fixture(autouse=True)
def _there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)


def cases(run: str) -> dict[tuple[Any, ...], tuple[str, list[str]]]:
    """Status and findings of each case; a margin may differ in its last digits."""
    with closing(sqlite3.connect(Path(run) / "run.sqlite")) as file:
        columns = "source, relation, role, ordinal, change, status, findings"
        return {
            row[:5]: (row[5], [f"{one[0]} {one[1]}" for one in json.loads(row[6] or "[]")])
            for row in file.execute(f"SELECT {columns} FROM records")
        }


@pytest.fixture(scope="module")
def direct(home: Path) -> dict[tuple[Any, ...], tuple[str, list[str]]]:
    before = os.getcwd()
    os.chdir(home)
    try:
        assert main(["run", "--system", "yolox-nano", *CAMPAIGN, "--out", "direct"]) in (0, 1, 2)
        found = cases("direct")
    finally:
        os.chdir(before)
    assert {"held", "violated"} <= {status for status, _ in found.values()}
    return found


def run(out: str, *words: str) -> dict[tuple[Any, ...], tuple[str, list[str]]]:
    assert main(["run", *words, *CAMPAIGN, "--out", out, "--yes"]) in (0, 1, 2)
    return cases(out)


def test_through_an_onnx_file(direct: Any) -> None:
    assert run("onnx", "--system", "mine.onnx", *CONFIDENCE) == direct


def test_through_torch(direct: Any) -> None:
    # onnx2torch imports torchvision for operators that this network has none of.
    script = (
        "import sys, warnings, unittest.mock as mock; warnings.simplefilter('ignore'); "
        "sys.modules |= dict.fromkeys(['torchvision', 'torchvision.ops'], mock.MagicMock()); "
        "import torch, onnx2torch; net = onnx2torch.convert('mine.onnx').eval(); "
        "torch.jit.trace(net, torch.zeros(1, 3, 416, 416)).save('mine.pt')"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert run("torch", "--system", "mine.pt", "--set", "system.size=416", *CONFIDENCE) == direct


def test_through_openvino(direct: Any) -> None:
    import openvino

    openvino.save_model(openvino.convert_model("mine.onnx"), "mine.xml", compress_to_fp16=False)
    assert run("openvino", "--system", "mine.xml", *CONFIDENCE, "--set", "system.labels=coco") == direct


def test_through_a_json_server(direct: Any) -> None:
    with servers.detector_server(yolox()) as server:
        words = ["--system", f"http://{server.host}/find", "--set", f"system.answer={MAPPING}"]
        assert run("http", *words) == direct


def test_through_the_open_inference_protocol(direct: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "CLASSES", list(COCO_NAMES))
    with servers.detector_server(yolox()) as server:
        words = ["--system", f"kserve://{server.host}/detector", "--set", "system.labels=coco", *CONFIDENCE]
        assert run("kserve", *words) == direct


@contextmanager
def mlserver(python: str) -> Iterator[str]:
    """MLServer with the detector, in a process of its own."""
    folder = Path("served")
    folder.mkdir(exist_ok=True)
    http, grpc, metrics = (_free_port() for _ in range(3))
    (folder / "runtime.py").write_text(MLSERVER_MODEL)
    inputs = [{"name": "image", "datatype": "UINT8", "shape": [1, -1, -1, 3]}]
    settings = {"name": "detector", "implementation": "runtime.Detector", "inputs": inputs}
    (folder / "model-settings.json").write_text(json.dumps(settings))
    options = {"http_port": http, "grpc_port": grpc, "metrics_port": metrics, "parallel_workers": 0}
    options |= {"host": "127.0.0.1", "debug": False}
    (folder / "settings.json").write_text(json.dumps(options))
    source = str(Path(servers.__file__).parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, str(folder.resolve())])}
    command = [python, "-m", "mlserver.cli.main", "start", "."]
    with _started(command, folder, environment, http):
        yield f"127.0.0.1:{http}"


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def _started(command: list[str], folder: Path, environment: dict[str, str], port: int) -> Iterator[None]:
    """A server of the detector in a process of its own, once it is ready."""
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 300
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/models/detector/ready", timeout=5).close()
                break
            except OSError:
                assert server.poll() is None, (folder / "log").read_text(errors="replace")[-2000:]
                assert time.monotonic() < until, "it does not get ready"
                time.sleep(0.5)
        yield
    finally:
        server.terminate()
        server.wait(120)


@contextmanager
def triton(package: Path) -> Iterator[str]:
    """The Triton Inference Server that is in the wheel of nvidia-pytriton, with the detector."""
    folder, server = Path("triton").resolve(), package / "tritonserver"
    (folder / "models" / "detector" / "1").mkdir(parents=True)
    (folder / "models" / "detector" / "config.pbtxt").write_text(TRITON_CONFIG)
    (folder / "models" / "detector" / "1" / "model.py").write_text(TRITON_MODEL)
    backend = folder / "backends" / "python"
    shutil.copytree(server / "backends" / "python", backend)
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    shutil.copy(server / "python_backend_stubs" / version / "triton_python_backend_stub", backend)
    libraries = str(package.parent / "nvidia_pytriton.libs")
    source = [
        str(Path(servers.__file__).parents[1] / "src"),
        *(path for path in sys.path if path.endswith("-packages")),
    ]
    more = {"LD_LIBRARY_PATH": libraries, "MODEL_PATH": os.pathsep.join(source)}
    http = _free_port()
    command = [str(server / "bin" / "tritonserver"), "--model-repository", str(folder / "models")]
    command += ["--backend-directory", str(folder / "backends"), "--http-address", "127.0.0.1"]
    command += ["--http-port", str(http), "--allow-grpc", "0", "--allow-metrics", "0"]
    with _started(command, folder, {**os.environ, **more}, http):
        yield f"127.0.0.1:{http}"


def test_through_triton_and_its_own_client_sees_the_same(direct: Any) -> None:
    found = importlib.util.find_spec("pytriton")
    if found is None or found.origin is None:
        pytest.skip("nvidia-pytriton, whose wheel has the server, is not made for this platform")
    import tritonclient.http

    with triton(Path(found.origin).parent) as host:
        words = ["--system", f"kserve://{host}/detector", "--set", "system.labels=coco", *CONFIDENCE]
        assert run("by-triton", *words) == direct
        picture = read_picture(next(Path("photos").iterdir()))
        tensor = tritonclient.http.InferInput("image", [1, *picture.shape], "UINT8")
        tensor.set_data_from_numpy(picture[None])
        client = tritonclient.http.InferenceServerClient(host)
        boxes = client.infer("detector", [tensor]).as_numpy("boxes")
        client.close()
        (ours,) = KserveSystem(url=f"kserve://{host}/detector", labels="coco").predict([picture])
    assert len(boxes) > 2
    np.testing.assert_array_equal(ours["boxes"], boxes)


def test_through_mlserver(direct: Any) -> None:
    """INSTAR_MLSERVER names a Python that has mlserver, which fits in no environment with our other tools."""
    python = os.environ.get("INSTAR_MLSERVER")
    if not python:
        pytest.skip("INSTAR_MLSERVER is not set")
    with mlserver(python) as host:
        words = ["--system", f"kserve://{host}/detector", "--set", "system.labels=coco", *CONFIDENCE]
        assert run("mlserver", *words) == direct


def test_through_a_command(direct: Any) -> None:
    assert run("cmd", "--system", f"cmd:{sys.executable} predict.py") == direct


def test_through_predictions_made_elsewhere(direct: Any, capsys: pytest.CaptureFixture[str]) -> None:
    system = yolox()
    main(["questions", *CAMPAIGN, "--out", "far"])
    while (folder := Path("far/questions")).exists():
        with Path("answers.jsonl").open("w") as out:
            for path in sorted(folder.glob("*.png")):
                (found,) = system.predict([read_picture(path)])
                answer = {"boxes": found.boxes.tolist(), "labels": found.labels, "confidence": 0.3}
                line = {"file": path.name, **answer, "scores": found.scores.tolist()}
                print(json.dumps(line), file=out)
        main(["answers", "far", "answers.jsonl"])
    assert cases("far") == direct
