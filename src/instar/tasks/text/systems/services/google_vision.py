"""Google Cloud Vision's text detection."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping
from typing import Any

from instar.core.recipe import recorded
from instar.tasks.text.systems.services.exchange import HttpRequest
from instar.tasks.text.systems.services.service import Api, Piece, Service, Trouble

__all__ = ["google_vision"]


@recorded
def google_vision(
    *, recorded: str = "", encoding: str = "png", endpoint: str = "https://vision.googleapis.com"
) -> Service:
    """Google Cloud Vision's TEXT_DETECTION: words; asked with your key, or played back from `recorded`.

    The key is GOOGLE_API_KEY of the environment.
    """
    api = Annotate(f"{endpoint.rstrip('/')}/v1/images:annotate")
    return Service(api, recorded=recorded, encoding=encoding)


class Annotate(Api):
    """The method images:annotate, with one picture and one feature."""

    name = "google-vision"
    settings = "v1 TEXT_DETECTION"
    most_bytes = 7_500_000  # a request may have 10 MB, and base64 makes four bytes of three
    keys = ("GOOGLE_API_KEY",)

    def request(self, picture: bytes) -> HttpRequest:
        image = {"content": base64.b64encode(picture).decode()}
        body = {"requests": [{"image": image, "features": [{"type": "TEXT_DETECTION"}]}]}
        headers = {"Content-Type": "application/json", "X-Goog-Api-Key": os.environ[self.keys[0]]}
        return HttpRequest(self.url, headers, json.dumps(body).encode())

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        """Of the request as a whole, or of the one picture in it."""
        error = answer.get("error") or (answer.get("responses") or [{}])[0].get("error")
        if status == 200 and not error:
            return None
        error = error or {}
        message = str(error.get("message", ""))
        code = str(error.get("status") or error.get("code") or status)
        # A wrong key comes as status 400, like a wrong picture; only the message tells them apart.
        credentials = "API key" in message or code in ("PERMISSION_DENIED", "UNAUTHENTICATED", "7", "16")
        return Trouble(code, message, credentials=credentials, busy=code in BUSY)

    def pieces(self, answer: Mapping[str, Any], size: tuple[int, int]) -> list[Piece]:
        """Words, from the full text or, where it is missing, from the list whose first entry is all text."""
        found = answer["responses"][0]
        if "fullTextAnnotation" not in found:
            rest = found.get("textAnnotations", [])[1:]
            return [(_corners(word["boundingPoly"]), word["description"], None) for word in rest]
        return [
            (
                _corners(word["boundingBox"]),
                "".join(symbol["text"] for symbol in word["symbols"]),
                word.get("confidence"),
            )
            for page in found["fullTextAnnotation"]["pages"]
            for block in page["blocks"]
            for paragraph in block["paragraphs"]
            for word in paragraph["words"]
        ]


def _corners(outline: Mapping[str, Any]) -> list[tuple[float, float]]:
    """A coordinate of 0 is left out."""
    return [(corner.get("x", 0), corner.get("y", 0)) for corner in outline["vertices"]]


BUSY = frozenset({"RESOURCE_EXHAUSTED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "4", "8", "13", "14"})
