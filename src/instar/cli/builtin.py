"""What can be named without a module: plain tables of where each thing is, so that naming imports nothing."""

from __future__ import annotations

__all__ = ["RELATIONS", "SEARCHES", "SYSTEMS", "usual_search"]

SYSTEMS = {
    "yolox-nano": "instar.detection.systems:yolox",
    "street-exact": "instar.detection.systems.street:street_exact",
    "street-blobs": "instar.detection.systems.street:street_blobs",
    "street-driver": "instar.driving.systems.street:street_driver",
}
RELATIONS = {
    "insertion": "instar.detection:insertion",
    "rule": "instar.driving.relation:rule",
}
SEARCHES = {
    "guided": "instar.detection:guided",
    "random": "instar.detection:random",
    "draws": "instar.search:draws",
    "sweep": "instar.search:sweep",
    "bisect": "instar.search:bisect",
}


def usual_search(relation: str) -> str:
    """The search of a relation for which none was given."""
    return {"insertion": "guided"}.get(relation, "draws")
