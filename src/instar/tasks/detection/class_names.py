"""One name for a class that several sources name differently: VOC, COCO, street data, everyday words."""

from __future__ import annotations

from types import MappingProxyType

from instar.tasks.detection.coco_names import COCO_NAMES

ALIASES = MappingProxyType(
    {
        "pedestrian": "person",
        "people": "person",
        "human": "person",
        "man": "person",
        "woman": "person",
        "child": "person",
        "bike": "bicycle",
        "cycle": "bicycle",
        "automobile": "car",
        "motorbike": "motorcycle",
        "aeroplane": "airplane",
        "plane": "airplane",
        "aircraft": "airplane",
        "coach": "bus",
        "lorry": "truck",
        "ship": "boat",
        "trafficlight": "traffic light",
        "traffic signal": "traffic light",
        "hydrant": "fire hydrant",
        "rucksack": "backpack",
        "purse": "handbag",
        "necktie": "tie",
        "sofa": "couch",
        "settee": "couch",
        "plant": "potted plant",
        "houseplant": "potted plant",
        "table": "dining table",
        "tv monitor": "tv",
        "television": "tv",
        "television set": "tv",
        "monitor": "tv",
        "screen": "tv",
        "notebook computer": "laptop",
        "computer mouse": "mouse",
        "remote control": "remote",
        "mobile phone": "cell phone",
        "cellular telephone": "cell phone",
        "smartphone": "cell phone",
        "fridge": "refrigerator",
        "microwave oven": "microwave",
        "doughnut": "donut",
        "mug": "cup",
        "wineglass": "wine glass",
        "ball": "sports ball",
        "hair dryer": "hair drier",
    }
)
"""What COCO calls it."""


def canonical_class(label: str) -> str:
    """COCO's name of a class where the name is known there, in whatever spelling; else the label itself.

    Case, underscores, hyphens and missing spaces make no difference. A class that COCO does not have
    keeps its name exactly, so that a user's own classes never merge.

    >>> [canonical_class(label) for label in ("tvmonitor", "Traffic_Light", "pottedplant", "weld seam")]
    ['tv', 'traffic light', 'potted plant', 'weld seam']
    """
    return _KNOWN.get(_squeezed(label), label)


def _squeezed(label: str) -> str:
    """Only letters and digits, in lower case."""
    return "".join(character for character in label.casefold() if character.isalnum())


_KNOWN = MappingProxyType(
    {_squeezed(name): name for name in COCO_NAMES}
    | {_squeezed(other): name for other, name in ALIASES.items()}
)
