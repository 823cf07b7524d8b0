"""Azure AI Vision's Read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from instar.core.recipe import recorded
from instar.tasks.text.systems.services.exchange import HttpRequest
from instar.tasks.text.systems.services.service import Api, Piece, Service, Trouble

__all__ = ["azure_read"]

PATH = "/computervision/imageanalysis:analyze?api-version=2024-02-01&features=read"


@recorded
def azure_read(*, recorded: str = "", encoding: str = "png", endpoint: str = "") -> Service:
    """Azure AI Vision's Read: words; asked with your key, or played back from `recorded`.

    The key is VISION_KEY of the environment, the endpoint of your resource VISION_ENDPOINT or `endpoint`.
    Recorded answers may also be those of the older Read 3.2.
    """
    return Service(Read(endpoint), recorded=recorded, encoding=encoding)


class Read(Api):
    """The feature "read" of image analysis 4.0, which answers at once."""

    name = "azure-read"
    settings = "4.0 read"
    most_bytes = 20 * 2**20
    keys = ("VISION_KEY", "VISION_ENDPOINT")

    def __init__(self, endpoint: str) -> None:
        endpoint = endpoint or os.environ.get("VISION_ENDPOINT", "")
        super().__init__(endpoint.rstrip("/") + PATH, {**os.environ, "VISION_ENDPOINT": endpoint})

    def request(self, picture: bytes) -> HttpRequest:
        headers = {
            "Content-Type": "application/octet-stream",
            "Ocp-Apim-Subscription-Key": os.environ["VISION_KEY"],
        }
        return HttpRequest(self.url, headers, picture)

    def trouble(self, status: int, answer: Mapping[str, Any]) -> Trouble | None:
        if status == 200 and "error" not in answer:
            return None
        error = answer.get("error") or answer
        code = str(error.get("code") or status)
        # A refused key has the code "401", or that of the gateway before the service.
        return Trouble(code, str(error.get("message", "")), credentials=code in ("401", "403"))

    def pieces(self, answer: Mapping[str, Any], size: tuple[int, int]) -> list[Piece]:
        if "analyzeResult" in answer:
            return _of_read_3_2(answer["analyzeResult"])
        return [
            (
                [(corner["x"], corner["y"]) for corner in word["boundingPolygon"]],
                word["text"],
                word.get("confidence"),
            )
            for block in answer["readResult"]["blocks"]
            for line in block["lines"]
            for word in line["words"]
        ]


def _of_read_3_2(result: Mapping[str, Any]) -> list[Piece]:
    """Corners are x1, y1, ... x4, y4."""
    return [
        (list(zip(word["boundingBox"][::2], word["boundingBox"][1::2])), word["text"], word.get("confidence"))
        for page in result["readResults"]
        for line in page["lines"]
        for word in line["words"]
    ]
