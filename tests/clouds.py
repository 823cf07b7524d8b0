"""The clouds on this machine: one server that answers as each vendor's service does, in its documented form.

It finds objects of drawn streets and words of drawn pages. A share of the questions meets bad weather, keys
are checked, signatures too. `tests/quality/test_vendor_libraries.py` asks it with the vendors' own libraries.
"""

from __future__ import annotations

import base64
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from instar.adapters.exchange import authorization
from instar.imaging.codecs import decode_picture
from instar.tasks.detection.systems.street import street_blobs
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
TOKEN = "ya29.a-t0ken-that-nobody-may-see"
"""What the servers of tokens give to the libraries of Google and Azure."""
MOODS = ("throttled", "500", "502", "retry-after", "cut", "stall")
STALL = 2.5  # seconds
Row = tuple[str, float, list[float], list[float]]


class Clouds(ThreadingHTTPServer):
    """`asked` has (path, headers, body) of every question, `told` counts the moods that they met; `bad` is
    the share of them that meets one. `secrets` are the keys that sign, by their ids.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, bad: float) -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.bad, self.rng, self.lock = bad, random.Random(0), threading.Lock()
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        self.told: Counter[str] = Counter()
        self.tokens = 0
        self.streets, self.pages = street_blobs(), page_exact()
        self.secrets = {
            KEYS["AWS_ACCESS_KEY_ID"]: KEYS["AWS_SECRET_ACCESS_KEY"],
            KEYS["TENCENTCLOUD_SECRET_ID"]: KEYS["TENCENTCLOUD_SECRET_KEY"],
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def clouds(*, bad: float = 0.0) -> Iterator[Clouds]:
    with serving(Clouds(bad)) as server:
        yield server


class _Desk(BaseHTTPRequestHandler):
    server: Clouds

    def do_GET(self) -> None:
        """The token of a machine's own identity, as Azure's App Service gives it."""
        self.server.tokens += 1
        self._say(200, {"access_token": TOKEN, "expires_on": str(int(time.time()) + 3600)})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/token":  # of Google's
            self.server.tokens += 1
            return self._say(200, {"access_token": TOKEN, "expires_in": 3600, "token_type": "Bearer"})
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            mood = self.server.rng.choice(MOODS) if self.server.rng.random() < self.server.bad else "fine"
            self.server.told[mood] += 1
            self.server.asked.append((self.path, headers, body))
        vendor = _vendor(self.path, headers)
        wrong = self._wrong_key(vendor, headers, body)
        if wrong:
            return self._say(*_refusal(vendor, wrong))
        if mood in ("500", "502"):
            return self._say(int(mood), b"<html>Bad Gateway</html>")
        if mood == "retry-after":
            return self._say(429, {}, {"Retry-After": "1"})
        if mood == "throttled":
            return self._say(*THROTTLED[vendor])
        if mood == "stall":
            time.sleep(STALL)
        answer = {"amazon": self._amazon, "google": self._google, "azure": self._azure}
        found = answer.get(vendor, self._tencent)(headers, body)
        return self._say(200, found, cut=mood == "cut")

    def _wrong_key(self, vendor: str, headers: dict[str, str], body: bytes) -> str:
        """What the request tried to get in with; nothing where that is right."""
        sent = headers.get("authorization", "")
        if sent == f"Bearer {TOKEN}":
            return ""
        if vendor in ("amazon", "tencent"):
            return "" if _is_signed(headers, body, self.server.secrets) else sent
        name, key = {"google": ("x-goog-api-key", "GOOGLE_API_KEY"), "azure": (AZURE_KEY, "VISION_KEY")}[
            vendor
        ]
        return "" if headers.get(name) == KEYS[key] else headers.get(name, sent or "nothing")

    def _objects(self, data: bytes) -> list[Row]:
        """Label, score, corners in pixels, and as shares of the sides."""
        image = decode_picture(data)
        with self.server.lock:
            (found,) = self.server.streets.predict([image])
        sides = np.array([image.shape[1], image.shape[0]] * 2, np.float32)
        shares = found.boxes / sides
        return list(zip(found.labels, found.scores.tolist(), found.boxes.tolist(), shares.tolist()))

    def _words(self, data: bytes) -> tuple[list[list[list[float]]], tuple[int, int]]:
        image = decode_picture(data)
        with self.server.lock:
            (found,) = self.server.pages.predict([image])
        return found.quads.tolist(), image.shape[:2]

    def _amazon(self, headers: dict[str, str], body: bytes) -> dict[str, Any]:
        picture = base64.b64decode(json.loads(body)["Image"]["Bytes"])
        if headers["x-amz-target"] == "RekognitionService.DetectText":
            quads, size = self._words(picture)
            return {"TextDetections": [_amazon_word(q, size) for q in quads], "TextModelVersion": "3.0"}
        labels = [_amazon_label(*row) for row in self._objects(picture)]
        return {"Labels": labels, "LabelModelVersion": "3.0"}

    def _google(self, headers: dict[str, str], body: bytes) -> dict[str, Any]:
        (request,) = json.loads(body)["requests"]
        picture = base64.b64decode(request["image"]["content"])
        if request["features"][0]["type"] in ("OBJECT_LOCALIZATION", 19):
            found = [_google_object(*row) for row in self._objects(picture)]
            return {"responses": [{"localizedObjectAnnotations": found}]}
        words = [_google_word(quad) for quad in self._words(picture)[0]]
        page = {"blocks": [{"paragraphs": [{"words": words}]}]}
        return {"responses": [{"fullTextAnnotation": {"pages": [page], "text": "..."}} if words else {}]}

    def _azure(self, headers: dict[str, str], body: bytes) -> dict[str, Any]:
        if "features=objects" in self.path:
            values = [_azure_object(*row) for row in self._objects(body)]
            return {"modelVersion": "2023-10-01", "metadata": SIDES, "objectsResult": {"values": values}}
        words = [_azure_word(quad) for quad in self._words(body)[0]]
        line = {"text": "w", "boundingPolygon": [], "words": words}
        return {
            "modelVersion": "2023-10-01",
            "metadata": SIDES,
            "readResult": {"blocks": [{"lines": [line]}]},
        }

    def _tencent(self, headers: dict[str, str], body: bytes) -> dict[str, Any]:
        quads, _ = self._words(base64.b64decode(json.loads(body)["ImageBase64"]))
        if not quads:
            return _tencent_error("FailedOperation.ImageNoText", "no text")
        lines = [_tencent_line(quad) for quad in quads]
        return {"Response": {"TextDetections": lines, "Angle": 0.0, "RequestId": "of-a-test"}}

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
        with suppress(OSError):  # whoever stalled was not waited for
            self.wfile.write(data[: len(data) // 2] if cut else data)

    def log_message(self, format: str, *args: Any) -> None:
        pass


AZURE_KEY = "ocp-apim-subscription-key"
SIDES = {"width": 1, "height": 1}


def _vendor(path: str, headers: dict[str, str]) -> str:
    if path.startswith("/computervision"):
        return "azure"
    if path.startswith("/v1/images:annotate"):
        return "google"
    return "amazon" if "x-amz-target" in headers else "tencent"


def _is_signed(headers: dict[str, str], body: bytes, secrets: dict[str, str]) -> bool:
    """Whether the signature is that of the secret to the id that it names."""
    parts = re.match(
        r"(AWS4|TC3)-HMAC-SHA256 Credential=([^/]+)/([^,]+), ?SignedHeaders=([^,]+), ?Signature=",
        headers.get("authorization", ""),
    )
    if parts is None:
        return False
    prefix, id, scope, signed = parts.groups()
    again = authorization(
        "AWS4" if prefix == "AWS4" else "TC3",
        (id, secrets.get(id, "")),
        scope=scope.split("/"),
        moment=headers["x-amz-date" if prefix == "AWS4" else "x-tc-timestamp"],
        headers={name: headers[name] for name in signed.split(";")},
        body=body,
    )
    return again.rpartition("=")[2] == headers["authorization"].rpartition("=")[2]


def _refusal(vendor: str, key: str) -> tuple[int, dict[str, Any]]:
    """Each in the vendor's words; all of them quote the key."""
    wrong = {"code": 400, "status": "INVALID_ARGUMENT", "message": f"API key not valid: {key}"}
    return {
        "amazon": (400, {"__type": "UnrecognizedClientException", "message": f"invalid: {key}"}),
        "google": (400, {"error": wrong}),
        "azure": (401, {"error": {"code": "401", "message": f"Access denied due to {key}"}}),
        "tencent": (200, _tencent_error("AuthFailure.SignatureFailure", f"not signed: {key}")),
    }[vendor]


def _tencent_error(code: str, message: str) -> dict[str, Any]:
    return {"Response": {"Error": {"Code": code, "Message": message}, "RequestId": "of-a-test"}}


THROTTLED: dict[str, tuple[int, dict[str, Any]]] = {
    "amazon": (400, {"__type": "ThrottlingException", "message": "Rate exceeded"}),
    "google": (200, {"responses": [{"error": {"code": 8, "message": "Quota exceeded"}}]}),
    "azure": (429, {"error": {"code": "429", "message": "rate limit"}}),
    "tencent": (200, _tencent_error("RequestLimitExceeded", "slower")),
}


def _amazon_label(label: str, score: float, box: list[float], share: list[float]) -> dict[str, Any]:
    x1, y1, x2, y2 = share
    place = {"Left": x1, "Top": y1, "Width": x2 - x1, "Height": y2 - y1}
    instance = {"BoundingBox": place, "Confidence": 100 * score}
    return {"Name": label, "Confidence": 100 * score, "Instances": [instance], "Parents": []}


def _google_object(label: str, score: float, box: list[float], share: list[float]) -> dict[str, Any]:
    x1, y1, x2, y2 = share
    corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
    vertices = [{name: value for name, value in zip("xy", corner) if value} for corner in corners]
    return {"name": label, "score": score, "boundingPoly": {"normalizedVertices": vertices}}


def _azure_object(label: str, score: float, box: list[float], share: list[float]) -> dict[str, Any]:
    x1, y1, x2, y2 = map(round, box)
    place = {"x": x1, "y": y1, "w": x2 - x1, "h": y2 - y1}
    return {"boundingBox": place, "tags": [{"name": label, "confidence": score}]}


def _azure_word(quad: list[list[float]]) -> dict[str, Any]:
    corners = [{"x": round(x), "y": round(y)} for x, y in quad]
    return {"text": "w", "boundingPolygon": corners, "confidence": 0.9}


def _google_word(quad: list[list[float]]) -> dict[str, Any]:
    vertices = [{name: round(value) for name, value in (("x", x), ("y", y)) if value} for x, y in quad]
    return {"boundingBox": {"vertices": vertices}, "symbols": [{"text": "w"}], "confidence": 0.9}


def _amazon_word(quad: list[list[float]], size: tuple[int, int]) -> dict[str, Any]:
    polygon = [{"X": x / size[1], "Y": y / size[0]} for x, y in quad]
    return {"DetectedText": "w", "Type": "WORD", "Confidence": 90, "Geometry": {"Polygon": polygon}}


def _tencent_line(quad: list[list[float]]) -> dict[str, Any]:
    corners = [{"X": round(x), "Y": round(y)} for x, y in quad]
    return {"DetectedText": "w", "Confidence": 90, "Polygon": corners}
