"""How high things are, what they stand on, and what stands beside them: `known_sizes.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from instar.user_file import load_resource

Support: TypeAlias = Literal["ground", "table"]

PERSON_WIDTH = 0.5  # metres: told where the feet are not seen

_TABLES = load_resource("instar.cutouts", "known_sizes.toml")
KNOWN_HEIGHTS: Mapping[str, float] = MappingProxyType(_TABLES["heights"])
"""Metres, of COCO's classes that have a usual height; of a whole one that stands."""
SHAPES: Mapping[str, tuple[float, float]] = {
    label: (low, high) for label, (low, high) in _TABLES["shapes"].items()
}
"""Heights over widths that whole ones have; others are cut off or lie."""
COMPANY: Mapping[str, tuple[str, ...]] = {
    label: tuple(group["beside"]) for group in _TABLES["company"] for label in group["of"]
}
"""Which classes may stand beside one of a class without making people wonder."""
ON_TABLES = frozenset(_TABLES["on_tables"])
FLYING = frozenset(_TABLES["flying"])
"""Classes that may be in the air, where nothing has a shadow at its feet."""


def support_of(label: str) -> Support:
    """Whether things of a class stand on the ground or, mostly, on furniture."""
    return "table" if label in ON_TABLES else "ground"


def is_usual_shape(label: str, shape: float) -> bool:
    """Whether something of that height over width may be a whole one of its class."""
    least, most = SHAPES.get(label, (0.0, float("inf")))
    return least <= shape <= most
