"""The classes that networks of street photographs know, and any label map in them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from instar.imaging.labels import LabelMap

STREET = (
    "sky", "building", "pole", "road", "line", "sidewalk", "vegetation", "traffic sign", "fence", "car",
    "person", "rider", "unlabelled",
)  # fmt: skip
UNKNOWN = STREET.index("unlabelled")
ALIKE = {
    "crosswalk": "line", "stop line": "line", "terrain": "vegetation", "traffic light": "traffic sign",
    "van": "car", "truck": "car", "bus": "car", "caravan": "car", "bicycle": "rider", "motorcycle": "rider",
    "wall": "fence", "guard rail": "fence", "bridge": "building", "parking": "sidewalk",
}  # fmt: skip
"""Classes that the networks do not tell apart from one of theirs."""


def street_ids(labels: LabelMap) -> npt.NDArray[np.uint8]:
    """`uint8 (H, W)`: for each pixel the index of its class in `STREET`.

    >>> street_ids(LabelMap(np.array([[0, 1, 2]], np.uint8), ("sky", "bus", "dragon"))).tolist()
    [[0, 9, 12]]
    """
    known = {name: index for index, name in enumerate(STREET)}
    table = [known.get(ALIKE.get(name, name), UNKNOWN) for name in labels.names]
    return np.array(table, np.uint8)[labels.ids]
