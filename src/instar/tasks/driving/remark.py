"""What must be known of a driver before its run is read: what it was trained on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from instar.core.scene import Scene

RESEARCH = "for research only"
"""What a card's licence says of weights that are not for every use."""


def trained_on(system: Any) -> str:
    """What the card of a network says it was trained on; "" where it has none."""
    return str(_card(system).get("data", ""))


def remark(system: Any, scenes: Sequence[Scene]) -> str:
    """What its card says of its use, and whether it is asked about other pictures than it was trained on."""
    said = [_licence(system), _other_pictures(system, scenes)]
    return "; ".join(part for part in said if part)


def _card(system: Any) -> dict[str, Any]:
    try:
        card = json.loads(getattr(system, "card", "") or "{}")
    except (TypeError, ValueError):
        return {}
    return card if isinstance(card, dict) else {}


def _licence(system: Any) -> str:
    licence = str(_card(system).get("licence", ""))
    return f"{system.name} learned from {licence}" if RESEARCH in licence else ""


def _other_pictures(system: Any, scenes: Sequence[Scene]) -> str:
    data = trained_on(system)
    if not data:
        return ""
    was_drawn = data.startswith("drive:")
    are_drawn = bool(scenes) and all(scene.knowledge.get("drive") is not None for scene in scenes)
    if was_drawn == are_drawn:
        return "" if was_drawn else _other_roads(system.name, data, scenes)
    learned, shown = ("drawn drives", "photographs") if was_drawn else ("photographs", "drawn drives")
    return (
        f"{system.name} was trained on {learned} ({data}) and has never seen {shown}, which these scenes "
        "are: what it does on them says little about it"
    )


def _other_roads(name: str, data: str, scenes: Sequence[Scene]) -> str:
    """Photographs of roads whose source the card does not name, where it names any."""
    _, named, sources = data.partition("source ")
    if not named or all(scene.knowledge.get("source") in sources.split(",") for scene in scenes):
        return ""
    return f"{name} has seen one kind of road only ({data}); on other photographs expect it to drive badly"
