"""Tencent Cloud's general OCR, accurate or basic."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from instar.adapters.exchange import HttpRequest, authorization, host_of, utc_now
from instar.adapters.service import Service, Trouble
from instar.core.errors import BadInput
from instar.core.options import require_one_of
from instar.core.recipe import recorded
from instar.core.system import describe_error
from instar.installation import import_extra
from instar.tasks.text.systems.services.text_api import Piece, TextApi

ACTIONS = ("GeneralAccurateOCR", "GeneralBasicOCR")
VERSION = "2018-11-19"


@recorded
def tencent_ocr(
    *,
    action: str = "GeneralAccurateOCR",
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "https://ocr.tencentcloudapi.com/",
    region: str = "",
    credentials: str = "environment",
) -> Service:
    """Tencent Cloud's OCR: lines; asked with your keys, or played back from `recorded`.

    The `action` is GeneralAccurateOCR, as in the paper, or GeneralBasicOCR. The keys are
    TENCENTCLOUD_SECRET_ID and TENCENTCLOUD_SECRET_KEY of the environment, or with `credentials` "sdk" what
    Tencent's own library finds.
    """
    require_one_of("tencent-ocr", "action", action, ACTIONS)
    api = GeneralOcr(endpoint, action, region, credentials=credentials)
    return Service(api, recorded=recorded, encoding=encoding)


class GeneralOcr(TextApi):
    """Both actions, whose answers have one form; errors come with status 200 as well."""

    name = "tencent-ocr"
    most_bytes = 7_500_000  # 10 MB after base64, which makes four bytes of three
    keys = ("TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY")

    def __init__(
        self,
        url: str,
        action: str = ACTIONS[0],
        region: str = "",
        *,
        credentials: str = "environment",
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        super().__init__(url, credentials=credentials)
        self.settings = f"{action} {VERSION}"
        self._action, self._region, self._now = action, region, now

    def request(self, picture: bytes) -> HttpRequest:
        body = json.dumps({"ImageBase64": base64.b64encode(picture).decode()}).encode()
        now = self._now()
        moment = str(int(now.timestamp()))
        content = "application/json; charset=utf-8"
        id, secret, token = self._credentials()
        signature = authorization(
            "TC3",
            (id, secret),
            scope=(now.strftime("%Y-%m-%d"), "ocr", "tc3_request"),
            moment=moment,
            headers={"Content-Type": content, "Host": host_of(self.url)},
            body=body,
        )
        headers = {
            "Content-Type": content,
            "Authorization": signature,
            "X-TC-Action": self._action,
            "X-TC-Version": VERSION,
            "X-TC-Timestamp": moment,
        }
        if token:
            headers["X-TC-Token"] = token
        if self._region:  # which this product can do without
            headers["X-TC-Region"] = self._region
        return HttpRequest(self.url, headers, body)

    def find_chain(self) -> Any:
        package, needed_for = "tencentcloud-sdk-python-common", f"{self.name} with credentials=sdk"
        sdk = import_extra("tencentcloud.common.credential", package, extra="tencent", needed_for=needed_for)
        try:
            return sdk.DefaultCredentialProvider().get_credential()
        except Exception as error:  # its own, which has no base but Exception
            problem = describe_error(error)
            raise BadInput(f"{self.name}: Tencent's library finds no credentials: {problem}") from None

    def _credentials(self) -> tuple[str, str, str]:
        if self.by_sdk:
            return self.chain.secret_id, self.chain.secret_key, self.chain.token or ""
        return os.environ[self.keys[0]], os.environ[self.keys[1]], ""

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
