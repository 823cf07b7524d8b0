"""The object pool: cutting objects out of scenes, keeping them, choosing one, and finding it a place."""

from instar.cutouts.build import build_pool
from instar.cutouts.placement import Window, anywhere, close_to, free_places, one_of, ring_around
from instar.cutouts.pool import CutOut, CutOuts, Pool, load_pool

__all__ = [
    "CutOut",
    "CutOuts",
    "Pool",
    "Window",
    "anywhere",
    "build_pool",
    "close_to",
    "free_places",
    "load_pool",
    "one_of",
    "ring_around",
]
