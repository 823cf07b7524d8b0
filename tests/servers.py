"""Servers of our own for detectors: plain JSON, the Open Inference Protocol (v2), and chat completions.

Each answers with a detector that is given; `moods` are what the next requests meet instead of an answer.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

import numpy as np

from instar.imaging.codecs import decode_picture

Server = TypeVar("Server", bound=ThreadingHTTPServer)


class DetectorServer(ThreadingHTTPServer):
    """`asked` has (path, headers, body) of every request."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, system: Any, key: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.system, self.key = system, key
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.moods: deque[str] = deque()
        self.lock = threading.Lock()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def find(self, picture: np.ndarray) -> Any:
        with self.lock:
            (found,) = self.system.predict([np.ascontiguousarray(picture)])
        return found


@contextmanager
def detector_server(system: Any, key: str = "") -> Iterator[DetectorServer]:
    with serving(DetectorServer(system, key)) as server:
        yield server


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server at work in a thread of its own."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Desk(BaseHTTPRequestHandler):
    server: DetectorServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/v2":
            self._say(200, {"name": "test", "version": "1", "extensions": ["binary_tensor_data"]})
        elif self.path == "/v2/models/detector":
            outputs = [("boxes", "FP32", [-1, 4]), ("labels", "INT64", [-1]), ("scores", "FP32", [-1])]
            described = [{"name": n, "datatype": d, "shape": s} for n, d, s in outputs]
            picture = {"name": "image", "datatype": "UINT8", "shape": [1, -1, -1, 3]}
            told = {"name": "detector", "versions": ["1"], "platform": "python"}
            self._say(200, {**told, "inputs": [picture], "outputs": described})
        else:
            self._say(200 if self.path.startswith("/v2/health") else 404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, headers, body))
        mood = self.server.moods.popleft() if self.server.moods else ""
        if self.server.key and headers.get("authorization") != f"Bearer {self.server.key}":
            return self._say(401, {"error": f"wrong key: {headers.get('authorization')}"})
        if mood.isdigit():
            return self._say(int(mood), {"error": "not now"})
        if mood.startswith("retry-after"):
            return self._say(429, {"error": "slower"}, {"Retry-After": mood.rpartition(" ")[2]})
        if mood.startswith("say "):
            return self._say(200, mood.removeprefix("say ").encode())
        if mood == "stall":
            time.sleep(3)
        answer = self._answer(headers, body)
        return self._say(200, answer, cut=mood == "cut")

    def _answer(self, headers: dict[str, str], body: bytes) -> Any:
        if self.path == "/v2/models/detector/infer":
            return self._infer(headers, body)
        if self.path.endswith("/chat/completions"):
            url = json.loads(body)["messages"][0]["content"][1]["image_url"]["url"]
            image = decode_picture(base64.b64decode(url.partition(",")[2]))
            return _chat(self.server.find(image), image.shape[:2])
        is_json = headers["content-type"] == "application/json"
        image = decode_picture(base64.b64decode(json.loads(body)["image"]) if is_json else body)
        found = self.server.find(image)
        objects = [
            {"class": label, "confidence": float(score), "rect": dict(zip("abcd", map(float, box)))}
            for label, score, box in zip(found.labels, found.scores, found.boxes)
        ]
        return {"result": {"objects": objects}, "took": 3}

    def _infer(self, headers: dict[str, str], body: bytes) -> Any:
        length = int(headers["inference-header-content-length"])
        (tensor,) = json.loads(body[:length])["inputs"]
        data = body[length : length + tensor["parameters"]["binary_data_size"]]
        found = self.server.find(np.frombuffer(data, np.uint8).reshape(tensor["shape"])[0])
        names = list(dict.fromkeys(found.labels))
        numbers = [CLASSES.index(name) if name in CLASSES else names.index(name) for name in found.labels]
        n = len(numbers)
        outputs = [
            {"name": "boxes", "datatype": "FP32", "shape": [n, 4], "data": found.boxes.ravel().tolist()},
            {"name": "labels", "datatype": "INT64", "shape": [n], "data": numbers},
            {"name": "scores", "datatype": "FP32", "shape": [n], "data": found.scores.tolist()},
        ]
        return {"model_name": "detector", "model_version": "1", "outputs": outputs}

    def _say(
        self, status: int, answer: Any, more: dict[str, str] | None = None, *, cut: bool = False
    ) -> None:
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut

    def log_message(self, format: str, *args: Any) -> None:
        pass


CLASSES: list[str] = []
"""The names of the numbers that the server of the Open Inference Protocol answers with; tests fill it."""


def _chat(found: Any, size: tuple[int, int]) -> dict[str, Any]:
    height, width = size
    scale = np.array([1000 / width, 1000 / height] * 2)
    objects = [
        {"label": label, "score": float(score), "box": (box * scale).tolist()}
        for label, score, box in zip(found.labels, found.scores, found.boxes)
    ]
    text = "```json\n" + json.dumps({"objects": objects}) + "\n```"
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
