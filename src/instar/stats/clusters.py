"""What is sampled together: frames of one video tell little more than one of them."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence

_FRAME = re.compile(r"(.+\.\w{2,5})#\d{6,}")


def cluster_of(scene: str) -> str:
    """The video that a scene is a frame of, or else the scene itself.

    >>> cluster_of("drive.mp4#000120"), cluster_of("a.png")
    ('drive.mp4', 'a.png')
    """
    frame = _FRAME.fullmatch(scene)
    return frame[1] if frame else scene


def counts_by_cluster(counts: Mapping[str, int]) -> Counter[str]:
    """Counts of scenes, added up for those that were sampled together."""
    clusters: Counter[str] = Counter()
    for scene, count in counts.items():
        clusters[cluster_of(scene)] += count
    return clusters


def draw_clusters(scenes: Sequence[str], share: float, seed: int) -> set[str]:
    """About that share of the scenes, at least one and never all of several; frames of one video stay
    together.

    >>> len(draw_clusters(["a.png", "b.png", "c.png", "d.png"], 0.5, 0))
    2
    """
    clusters = sorted({cluster_of(scene) for scene in scenes})
    random.Random(f"clusters {seed}").shuffle(clusters)
    most = max(1, len(clusters) - 1)
    drawn = set(clusters[: min(most, max(1, round(share * len(clusters))))])
    return {scene for scene in scenes if cluster_of(scene) in drawn}
