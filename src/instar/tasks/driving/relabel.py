"""The label map after an edit: what was added, removed or replaced is so in the map too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from instar.core.scene import Mask
from instar.cutouts import CutOuts
from instar.imaging.labels import LabelMap
from instar.imaging.mask_text import mask_from_text
from instar.imaging.paste import resized
from instar.tasks.driving.engines.sign import draw_sign

__all__ = ["relabel"]

IN_PLACE_OF = {"line": "road", "crosswalk": "road", "stop line": "road"}
"""What is left where something painted is removed; elsewhere nobody knows what was behind."""
BEHIND = "unlabelled"
OPAQUE = 128


def relabel(labels: LabelMap, edit: Mapping[str, Any], cutouts: CutOuts) -> LabelMap:
    """The label map of the edited picture."""
    if "foot" in edit:
        return labels.relabelled(_covered(labels, edit, cutouts), edit["label"])
    if "mask" not in edit:
        return labels
    name = edit.get("becomes") or IN_PLACE_OF.get(edit["of"], BEHIND)
    return labels.relabelled(mask_from_text(edit["mask"]), name)


def _covered(labels: LabelMap, edit: Mapping[str, Any], cutouts: CutOuts) -> Mask:
    """Where what was pasted hides the picture."""
    if "cutout" in edit:
        pixels = resized(cutouts.pixels(edit["cutout"]), edit["width"], edit["height"])
    else:
        pixels = draw_sign(edit)
    mask = np.zeros(labels.ids.shape, np.bool_)
    rows, columns = slice(edit["y"], edit["y"] + edit["height"]), slice(edit["x"], edit["x"] + edit["width"])
    mask[rows, columns] = pixels[..., 3] >= OPAQUE
    return mask
