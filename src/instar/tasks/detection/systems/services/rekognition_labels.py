"""Amazon Rekognition's DetectLabels: the labels that have boxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.aws import AwsJson
from instar.adapters.service import Service
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.services.objects import objects_to_detections


@recorded
def rekognition_labels(
    *,
    region: str = "us-east-1",
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "",
    confidence: float = 0.55,
    credentials: str = "environment",
) -> Service:
    """Amazon Rekognition's DetectLabels; asked with your AWS keys, or played back from `recorded`.

    0.55 is the confidence from which the service itself reports labels.
    """
    require_fraction("rekognition-labels", "confidence", confidence)
    return Service(
        DetectLabels(region, endpoint, confidence, credentials), recorded=recorded, encoding=encoding
    )


class DetectLabels(AwsJson):
    """The action DetectLabels; every label down to a confidence of 5 % is asked for."""

    name = "rekognition-labels"
    action = "DetectLabels"
    more: Mapping[str, Any] = {"MinConfidence": 5, "Features": ["GENERAL_LABELS"]}

    def __init__(self, region: str, url: str, confidence: float, credentials: str) -> None:
        super().__init__(region, url, credentials=credentials)
        self._confidence = confidence
        self.settings += f" confidence={confidence:g}"

    def answer(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Detections:
        """Boxes come as fractions of the picture's sides, with a confidence of their own."""
        height, width = size
        found = []
        for label in answer["Labels"]:
            for one in label.get("Instances", []):
                box = one["BoundingBox"]
                left, top = box["Left"] * width, box["Top"] * height
                corners = (left, top, left + box["Width"] * width, top + box["Height"] * height)
                found.append((corners, label["Name"], one["Confidence"] / 100))
        return objects_to_detections(found, size, self._confidence)
