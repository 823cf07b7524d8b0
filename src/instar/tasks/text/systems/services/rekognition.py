"""Amazon Rekognition's DetectText."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from instar.core.recipe import recorded
from instar.tasks.text.systems.services.exchange import HttpRequest, authorization, host_of, utc_now
from instar.tasks.text.systems.services.service import Api, Piece, Service, Trouble

__all__ = ["rekognition"]


@recorded
def rekognition(
    *, region: str = "us-east-1", recorded: str = "", encoding: str = "png", endpoint: str = ""
) -> Service:
    """Amazon Rekognition's DetectText: words; asked with your AWS keys, or played back from `recorded`.

    The keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) of the environment.
    """
    api = DetectText(region, endpoint or f"https://rekognition.{region}.amazonaws.com/")
    return Service(api, recorded=recorded, encoding=encoding)


class DetectText(Api):
    """The action DetectText of the service's JSON protocol."""

    name = "rekognition"
    most_bytes = 5 * 2**20
    keys = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")

    def __init__(self, region: str, url: str, *, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__(url)
        self.settings, self._region, self._now = f"DetectText region={region}", region, now

    def request(self, picture: bytes) -> HttpRequest:
        body = json.dumps({"Image": {"Bytes": base64.b64encode(picture).decode()}}).encode()
        moment = self._now().strftime("%Y%m%dT%H%M%SZ")
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Date": moment,
            "X-Amz-Target": "RekognitionService.DetectText",
        }
        if token := os.environ.get("AWS_SESSION_TOKEN"):
            headers["X-Amz-Security-Token"] = token
        signature = authorization(
            "AWS4",
            (os.environ[self.keys[0]], os.environ[self.keys[1]]),
            scope=(moment[:8], self._region, "rekognition", "aws4_request"),
            moment=moment,
            headers=headers | {"Host": host_of(self.url)},
            body=body,
        )
        return HttpRequest(self.url, headers | {"Authorization": signature}, body)

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        if status == 200:
            return None
        # The type may come with a namespace: com.amazonaws.rekognition#AccessDeniedException.
        code = str(answer.get("__type", status)).rpartition("#")[2]
        message = str(answer.get("message") or answer.get("Message") or "")
        return Trouble(code, message, credentials=code in CREDENTIALS, busy=code in BUSY)

    def pieces(self, answer: Mapping[str, Any], size: tuple[int, int]) -> list[Piece]:
        """Words; corners come as fractions of the picture's sides."""
        height, width = size
        return [
            (
                [(corner["X"] * width, corner["Y"] * height) for corner in found["Geometry"]["Polygon"]],
                found["DetectedText"],
                found["Confidence"] / 100,
            )
            for found in answer["TextDetections"]
            if found["Type"] == "WORD"
        ]


CREDENTIALS = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "UnrecognizedClientException",
    }
)
BUSY = frozenset({"InternalServerError", "ProvisionedThroughputExceededException", "ThrottlingException"})
