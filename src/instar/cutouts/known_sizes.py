"""How high things are, what they stand on, and what stands beside them: what everybody knows of a class."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal, TypeAlias

__all__ = ["COMPANY", "FLYING", "KNOWN_HEIGHTS", "PERSON_WIDTH", "Support", "is_usual_shape", "support_of"]

Support: TypeAlias = Literal["ground", "table"]

KNOWN_HEIGHTS = MappingProxyType(
    {
        **{"person": 1.7, "bicycle": 1.0, "car": 1.5, "motorcycle": 1.15, "bus": 3.1, "truck": 3.2},
        **{"train": 3.8, "fire hydrant": 0.75, "parking meter": 1.4, "bench": 0.85},
        **{"cat": 0.3, "dog": 0.55, "horse": 1.7, "sheep": 0.85, "cow": 1.45, "elephant": 2.9},
        **{"bear": 1.1, "zebra": 1.4, "giraffe": 4.6, "backpack": 0.5, "suitcase": 0.65, "handbag": 0.3},
        **{"chair": 0.9, "couch": 0.85, "potted plant": 0.6, "bed": 0.8, "dining table": 0.75},
        **{"toilet": 0.75, "refrigerator": 1.75, "sports ball": 0.23},
        **{"bottle": 0.27, "wine glass": 0.2, "cup": 0.1, "bowl": 0.08, "vase": 0.3, "tv": 0.6},
        **{"laptop": 0.24, "microwave": 0.3, "teddy bear": 0.35},
    }
)
"""Metres, of COCO's classes that have a usual height; of a whole one that stands."""

PERSON_WIDTH = 0.5  # metres: told where the feet are not seen

ON_TABLES = frozenset(
    ("bottle", "wine glass", "cup", "bowl", "vase", "tv", "laptop", "microwave", "teddy bear", "keyboard")
)
SHAPES = MappingProxyType(
    {
        **{"person": (1.8, 6.0), "car": (0.22, 1.1), "bus": (0.25, 1.5), "truck": (0.22, 1.5)},
        **{"bicycle": (0.45, 2.5), "motorcycle": (0.45, 2.2), "horse": (0.5, 2.0), "cow": (0.45, 1.6)},
        **{"sheep": (0.5, 1.7), "dog": (0.45, 2.4), "cat": (0.4, 2.4), "chair": (0.7, 3.0)},
        **{"couch": (0.25, 1.1), "bottle": (1.8, 7.0), "potted plant": (0.6, 3.5)},
    }
)
"""Heights over widths that whole ones have; others are cut off or lie."""

_STREET = ("person", "car", "bicycle", "motorcycle", "bench")
_MEADOW = ("horse", "cow", "sheep", "person")
_ROOM = ("chair", "potted plant", "person", "cat", "couch")
_TABLE = ("cup", "bottle", "vase", "laptop", "wine glass", "bowl", "teddy bear")

COMPANY = MappingProxyType(
    {
        **dict.fromkeys(("car", "bus", "truck", "motorcycle", "bicycle", "bench"), _STREET),
        **dict.fromkeys(("fire hydrant", "stop sign", "parking meter", "traffic light"), _STREET),
        **dict.fromkeys(("horse", "cow", "sheep", "elephant", "zebra", "giraffe", "bear"), _MEADOW),
        **dict.fromkeys(("chair", "couch", "potted plant", "bed", "dining table", "refrigerator"), _ROOM),
        "toilet": _ROOM,
        "train": ("person",),
        **dict.fromkeys(("cat", "dog"), ("cat", "dog")),
        "person": ("person", "dog"),
        # A screen may hang on a wall, and what is below it tells nothing.
        **dict.fromkeys(sorted(ON_TABLES - {"tv"}), _TABLE),
    }
)
"""Which classes may stand beside one of a class without making people wonder."""


FLYING = frozenset(("bird", "airplane", "kite"))
"""Classes that may be in the air, where nothing has a shadow at its feet."""


def support_of(label: str) -> Support:
    """Whether things of a class stand on the ground or, mostly, on furniture."""
    return "table" if label in ON_TABLES else "ground"


def is_usual_shape(label: str, shape: float) -> bool:
    """Whether something of that height over width may be a whole one of its class."""
    least, most = SHAPES.get(label, (0.0, float("inf")))
    return least <= shape <= most
