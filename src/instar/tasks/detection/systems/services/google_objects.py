"""Google Cloud Vision's object localization."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.google import GoogleAnnotate
from instar.adapters.service import Service
from instar.core.options import require_fraction
from instar.core.recipe import recorded
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.systems.services.objects import objects_to_detections


@recorded
def google_objects(
    *,
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "https://vision.googleapis.com",
    confidence: float = 0.5,
    credentials: str = "environment",
) -> Service:
    """Google Cloud Vision's OBJECT_LOCALIZATION; asked with your key, or played back from `recorded`."""
    require_fraction("google-objects", "confidence", confidence)
    return Service(LocalizedObjects(endpoint, confidence, credentials), recorded=recorded, encoding=encoding)


class LocalizedObjects(GoogleAnnotate):
    """The feature OBJECT_LOCALIZATION."""

    name = "google-objects"
    feature = "OBJECT_LOCALIZATION"

    def __init__(self, endpoint: str, confidence: float, credentials: str) -> None:
        super().__init__(endpoint, credentials=credentials)
        self._confidence = confidence
        self.settings += f" confidence={confidence:g}"

    def answer(self, answer: Mapping[str, Any], size: tuple[int, int]) -> Detections:
        """Corners come as fractions of the picture's sides; a coordinate of 0 is left out."""
        height, width = size
        found = []
        for one in answer["responses"][0].get("localizedObjectAnnotations", []):
            corners = one["boundingPoly"]["normalizedVertices"]
            xs = [corner.get("x", 0) * width for corner in corners]
            ys = [corner.get("y", 0) * height for corner in corners]
            found.append(((min(xs), min(ys), max(xs), max(ys)), one["name"], one["score"]))
        return objects_to_detections(found, size, self._confidence)
