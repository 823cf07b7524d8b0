"""The thousand classes of ImageNet, and which of them are what COCO calls by one name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

__all__ = ["coco_outputs", "imagenet_names"]

COCO: dict[str, tuple[int | range, ...]] = {
    "airplane": (404, 895),
    "apple": (948,),
    "backpack": (414,),
    "banana": (954,),
    "bear": (range(294, 298),),
    "bed": (564,),
    "bench": (703,),
    "bicycle": (444, 671),
    "bird": (range(7, 25), range(80, 101), range(127, 147)),
    "boat": (472, 484, 510, 554, 576, 625, 628, 780, 814, 871, 914),
    "book": (917, 921),
    "bottle": (440, 720, 737, 898, 901, 907),
    "bowl": (659, 809),
    "broccoli": (937,),
    "bus": (654, 779, 874),
    "car": (407, 436, 468, 511, 609, 627, 656, 661, 751, 817),
    "cat": (range(281, 286),),
    "cell phone": (487,),
    "chair": (423, 559, 765, 857),
    "clock": (409, 530, 892),
    "couch": (831,),
    "cow": (345,),
    "cup": (504, 968),
    "dining table": (532,),
    "dog": (range(151, 269),),
    "elephant": (101, 385, 386),
    "hair drier": (589,),
    "handbag": (748,),
    "horse": (339,),
    "hot dog": (934,),
    "keyboard": (508, 810),
    "knife": (499, 623),
    "laptop": (620, 681),
    "microwave": (651,),
    "motorcycle": (665, 670),
    "mouse": (673,),
    "orange": (950,),
    "oven": (827,),
    "parking meter": (704,),
    "pizza": (963,),
    "potted plant": (738,),
    "refrigerator": (760,),
    "remote": (761,),
    "sandwich": (933,),
    "sheep": (348,),
    "sink": (896,),
    "skis": (795,),
    "spoon": (910,),
    "sports ball": (429, 430, 522, 574, 722, 768, 805, 852, 890),
    "stop sign": (919,),
    "teddy bear": (850,),
    "tennis racket": (752,),
    "tie": (457, 906),
    "toaster": (859,),
    "toilet": (861,),
    "traffic light": (920,),
    "train": (466, 547, 565, 705, 820, 829),
    "truck": (555, 569, 675, 717, 864, 867),
    "tv": (664, 782, 851),
    "umbrella": (879,),
    "vase": (883,),
    "wine glass": (572,),
    "zebra": (340,),
}
"""ImageNet has no person, and nothing for the other names of COCO."""


@cache
def imagenet_names() -> tuple[str, ...]:
    """The classes in the order of a network's outputs; a second one of a name has a 2 behind it."""
    text = Path(__file__).with_name("imagenet_names.txt").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def coco_outputs() -> dict[str, tuple[int, ...]]:
    """The outputs of an ImageNet network that stand for each name of COCO.

    >>> coco_outputs()["elephant"]
    (101, 385, 386)
    """
    return {
        name: tuple(i for one in own for i in (one if isinstance(one, range) else (one,)))
        for name, own in COCO.items()
    }
