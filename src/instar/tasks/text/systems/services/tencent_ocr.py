"""Tencent Cloud's general OCR."""

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

__all__ = ["tencent_ocr"]


@recorded
def tencent_ocr(
    *, recorded: str = "", encoding: str = "png", endpoint: str = "https://ocr.tencentcloudapi.com/"
) -> Service:
    """Tencent Cloud's GeneralBasicOCR: lines; asked with your keys, or played back from `recorded`.

    The keys are TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY of the environment.
    """
    return Service(GeneralBasic(endpoint), recorded=recorded, encoding=encoding)


class GeneralBasic(Api):
    """The action GeneralBasicOCR; errors come with status 200 as well."""

    name = "tencent-ocr"
    settings = "GeneralBasicOCR 2018-11-19"
    most_bytes = 7_500_000  # 10 MB after base64, which makes four bytes of three
    keys = ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY")

    def __init__(self, url: str, *, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__(url)
        self._now = now

    def request(self, picture: bytes) -> HttpRequest:
        body = json.dumps({"ImageBase64": base64.b64encode(picture).decode()}).encode()
        now = self._now()
        moment = str(int(now.timestamp()))
        content = "application/json; charset=utf-8"
        signature = authorization(
            "TC3",
            (os.environ[self.keys[0]], os.environ[self.keys[1]]),
            scope=(now.strftime("%Y-%m-%d"), "ocr", "tc3_request"),
            moment=moment,
            headers={"Content-Type": content, "Host": host_of(self.url)},
            body=body,
        )
        headers = {
            "Content-Type": content,
            "Authorization": signature,
            "X-TC-Action": "GeneralBasicOCR",
            "X-TC-Version": "2018-11-19",
            "X-TC-Timestamp": moment,
        }
        return HttpRequest(self.url, headers, body)

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        error = answer.get("Response", {}).get("Error")
        if error is None:
            return None if status == 200 else Trouble(str(status), "")
        code = str(error.get("Code", ""))
        if code == NO_TEXT:
            return None
        credentials = code.startswith(("AuthFailure", "UnauthorizedOperation"))
        busy = code.startswith(
            ("RequestLimitExceeded", "InternalError", "FailedOperation.EngineRecognizeTimeout")
        )
        return Trouble(code, str(error.get("Message", "")), credentials=credentials, busy=busy)

    def pieces(self, answer: Mapping[str, Any], size: tuple[int, int]) -> list[Piece]:
        response = answer["Response"]
        if response.get("Error", {}).get("Code") == NO_TEXT:
            return []
        return [
            (
                [(corner["X"], corner["Y"]) for corner in found["Polygon"]],
                found["DetectedText"],
                found["Confidence"] / 100,
            )
            for found in response["TextDetections"]
        ]


NO_TEXT = "FailedOperation.ImageNoText"  # an answer, told as an error
