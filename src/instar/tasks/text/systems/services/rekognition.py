"""Amazon Rekognition's DetectText."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.aws import AwsJson
from instar.adapters.service import Service
from instar.core.recipe import recorded
from instar.tasks.text.systems.services.text_api import Piece, TextApi


@recorded
def rekognition(
    *,
    region: str = "us-east-1",
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "",
    credentials: str = "environment",
) -> Service:
    """Amazon Rekognition's DetectText: words; asked with your AWS keys, or played back from `recorded`.

    The keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN) of the environment, or
    with `credentials` "sdk" what boto3 finds.
    """
    return Service(
        DetectText(region, endpoint, credentials=credentials), recorded=recorded, encoding=encoding
    )


class DetectText(AwsJson, TextApi):
    """The action DetectText of the service's JSON protocol."""

    name = "rekognition"
    action = "DetectText"

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
