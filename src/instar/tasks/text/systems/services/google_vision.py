"""Google Cloud Vision's text detection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.adapters.google import GoogleAnnotate
from instar.adapters.service import Service
from instar.core.recipe import recorded
from instar.tasks.text.systems.services.text_api import Piece, TextApi


@recorded
def google_vision(
    *,
    recorded: str = "",
    encoding: str = "png",
    endpoint: str = "https://vision.googleapis.com",
    credentials: str = "environment",
) -> Service:
    """Google Cloud Vision's TEXT_DETECTION: words; asked with your key, or played back from `recorded`.

    The key is GOOGLE_API_KEY of the environment; with `credentials` "sdk" google-auth finds one.
    """
    return Service(Annotate(endpoint, credentials=credentials), recorded=recorded, encoding=encoding)


class Annotate(GoogleAnnotate, TextApi):
    """The feature TEXT_DETECTION."""

    name = "google-vision"
    feature = "TEXT_DETECTION"

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
