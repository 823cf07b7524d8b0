"""A helper that makes label maps of street photographs that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.imaging.labels import LabelMap
from instar.imaging.street_segmentation import segment

__all__ = ["StreetMaps", "street_maps"]


@dataclass(frozen=True, slots=True)
class StreetMaps:
    name: str = "street-maps"
    fingerprint: str = "street-maps-1"

    def predict(self, inputs: Sequence[Image], /) -> list[LabelMap]:
        return [segment(image) for image in inputs]


@recorded
def street_maps() -> StreetMaps:
    """Label maps for --maps, by a network trained on CamVid (research and personal use only)."""
    return StreetMaps()
