"""Azure AI Vision's object detection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.azure import AzureAnalysis
from instar.adapters.service import Service
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.services.objects import objects_to_detections


@recorded
def azure_objects(
    *,
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "",
    confidence: float = 0.5,
    credentials: str = "environment",
) -> Service:
    """Azure AI Vision's objects; asked with your key, or played back from `recorded`."""
    require_fraction("azure-objects", "confidence", confidence)
    return Service(Objects(endpoint, confidence, credentials), recorded=recorded, encoding=encoding)


class Objects(AzureAnalysis):
    """The feature "objects" of image analysis 4.0."""

    name = "azure-objects"
    feature = "objects"

    def __init__(self, endpoint: str, confidence: float, credentials: str) -> None:
        super().__init__(endpoint, credentials=credentials)
        self._confidence = confidence
        self.settings += f" confidence={confidence:g}"

    def answer(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Detections:
        """Boxes are corner and sides in pixels; the first tag is the best."""
        found = []
        for one in answer["objectsResult"]["values"]:
            box, tag = one["boundingBox"], one["tags"][0]
            corners = (box["x"], box["y"], box["x"] + box["w"], box["y"] + box["h"])
            found.append((corners, tag["name"], tag["confidence"]))
        return objects_to_detections(found, size, self._confidence)
