"""What must be known of a driver before its run is read: what it was trained on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from instar.core.scene import Scene

__all__ = ["remark", "trained_on"]


def trained_on(system: Any) -> str:
    """What the card of a network says it was trained on; "" where it has none."""
    try:
        card = json.loads(getattr(system, "card", "") or "{}")
    except (TypeError, ValueError):
        return ""
    return str(card.get("data", "")) if isinstance(card, dict) else ""


def remark(system: Any, scenes: Sequence[Scene]) -> str:
    """One sentence where a network is asked about pictures of another kind than it was trained on."""
    data = trained_on(system)
    if not data:
        return ""
    was_drawn = data.startswith("drive:")
    are_drawn = bool(scenes) and all(scene.knowledge.get("drive") is not None for scene in scenes)
    if was_drawn == are_drawn:
        return ""
    learned, shown = ("drawn drives", "photographs") if was_drawn else ("photographs", "drawn drives")
    return (
        f"{system.name} was trained on {learned} ({data}) and has never seen {shown}, which these scenes "
        "are: what it does on them says little about it"
    )
