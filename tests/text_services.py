"""The four clouds on this machine: a server that finds words of drawn pages and answers in their formats."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from instar.imaging.codecs import decode_picture
from instar.tasks.text.systems.page import page_exact
from servers import serving

KEYS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    "GOOGLE_API_KEY": "google-key",
    "VISION_KEY": "azure-key",
    "VISION_ENDPOINT": "https://example.cognitiveservices.azure.com/",
    "TENCENTCLOUD_SECRET_ID": "AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE",
    "TENCENTCLOUD_SECRET_KEY": "Gu5t9xGARNpq86cd98joQYCN3EXAMPLE",
}


class Cloud(ThreadingHTTPServer):
    """All four services at one address; `asked` has (path, headers, body) of every request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def cloud() -> Iterator[Cloud]:
    with serving(Cloud()) as server:
        yield server


class _Desk(BaseHTTPRequestHandler):
    server: Cloud

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, headers, body))
        answer = json.dumps(_answer(self.path, headers, body)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _answer(path: str, headers: dict[str, str], body: bytes) -> dict[str, Any]:
    if path.startswith("/computervision"):
        quads, _ = _words_in(body)
        words = [_azure_word(quad) for quad in quads]
        return {"modelVersion": "2023-10-01", "readResult": {"blocks": [{"lines": [{"words": words}]}]}}
    question = json.loads(body)
    if path == "/v1/images:annotate":
        quads, _ = _words_in(base64.b64decode(question["requests"][0]["image"]["content"]))
        words = [_google_word(quad) for quad in quads]
        page = {"blocks": [{"paragraphs": [{"words": words}]}]}
        return {"responses": [{"fullTextAnnotation": {"pages": [page], "text": "..."}} if words else {}]}
    if headers.get("x-amz-target") == "RekognitionService.DetectText":
        quads, size = _words_in(base64.b64decode(question["Image"]["Bytes"]))
        return {
            "TextDetections": [_amazon_word(quad, size) for quad in quads],
            "TextModelVersion": "3.0",
        }
    quads, _ = _words_in(base64.b64decode(question["ImageBase64"]))
    if not quads:
        return {"Response": {"Error": {"Code": "FailedOperation.ImageNoText", "Message": "no text"}}}
    return {"Response": {"TextDetections": [_tencent_line(quad) for quad in quads], "Language": "en"}}


def _words_in(data: bytes) -> tuple[list[list[list[float]]], tuple[int, int]]:
    image = decode_picture(data)
    (found,) = page_exact().predict([image])
    return found.quads.tolist(), image.shape[:2]


def _azure_word(quad: list[list[float]]) -> dict[str, Any]:
    return {"text": "w", "boundingPolygon": [{"x": x, "y": y} for x, y in quad], "confidence": 0.9}


def _google_word(quad: list[list[float]]) -> dict[str, Any]:
    vertices = [{name: value for name, value in (("x", x), ("y", y)) if value} for x, y in quad]
    return {"boundingBox": {"vertices": vertices}, "symbols": [{"text": "w"}], "confidence": 0.9}


def _amazon_word(quad: list[list[float]], size: tuple[int, int]) -> dict[str, Any]:
    polygon = [{"X": x / size[1], "Y": y / size[0]} for x, y in quad]
    return {"DetectedText": "w", "Type": "WORD", "Confidence": 90, "Geometry": {"Polygon": polygon}}


def _tencent_line(quad: list[list[float]]) -> dict[str, Any]:
    return {"DetectedText": "w", "Confidence": 90, "Polygon": [{"X": x, "Y": y} for x, y in quad]}
