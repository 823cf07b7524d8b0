"""Azure AI Vision's Read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.azure import AzureAnalysis
from instar.adapters.service import Service
from instar.core.recipe import recorded
from instar.tasks.text.systems.services.text_api import Piece, TextApi


@recorded
def azure_read(
    *, recorded: str = "", encoding: str = "png", endpoint: str = "", credentials: str = "environment"
) -> Service:
    """Azure AI Vision's Read: words; asked with your key, or played back from `recorded`.

    The key is VISION_KEY of the environment, or with `credentials` "sdk" what azure-identity finds; the
    endpoint of your resource is VISION_ENDPOINT or `endpoint`. Recorded answers may also be those of the
    older Read 3.2.
    """
    return Service(Read(endpoint, credentials=credentials), recorded=recorded, encoding=encoding)


class Read(AzureAnalysis, TextApi):
    """The feature "read"."""

    name = "azure-read"
    feature = "read"

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
