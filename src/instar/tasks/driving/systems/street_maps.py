"""A helper that makes label maps of street photographs that have none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instar.core.recipe import recorded
from instar.core.scene import Image
from instar.imaging.labels import LabelMap
from instar.imaging.street_networks import network_card
from instar.imaging.street_segmentation import segment


@dataclass(frozen=True, slots=True)
class StreetMaps:
    name: str = "street-maps"
    fingerprint: str = "street-maps-2"

    @property
    def note(self) -> str:
        """What whoever relies on these maps must know."""
        told = network_card(self.name)
        iou, licence = told["scores"]["mean_iou"], told["licence"].partition(", and so")[0]
        return f" (mean IoU {iou:.2f} on CamVid, {licence})"

    def predict(self, inputs: Sequence[Image], /) -> list[LabelMap]:
        return [segment(image) for image in inputs]


@recorded
def street_maps() -> StreetMaps:
    """Label maps where scenes have none, by a network trained on CamVid (research and personal use only)."""
    return StreetMaps()
