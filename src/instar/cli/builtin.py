"""What can be named without a module: plain tables of where each thing is, so that naming imports nothing."""

from __future__ import annotations

__all__ = ["RELATIONS", "SEARCHES", "SYSTEMS", "USUAL_SEARCH"]

SYSTEMS = {
    "yolox-nano": "instar.detection.systems:yolox",
    "street-exact": "instar.detection.systems.street:street_exact",
    "street-blobs": "instar.detection.systems.street:street_blobs",
    "ppocr-v4-det": "instar.text.systems:ppocr_v4",
    "ppocr-v6-det": "instar.text.systems:ppocr_v6",
    "tesseract": "instar.text.systems:tesseract",
}
RELATIONS = {
    "insertion": "instar.detection:insertion",
}
SEARCHES = {
    "guided": "instar.detection:guided",
    "random": "instar.detection:random",
    "draws": "instar.search:draws",
    "sweep": "instar.search:sweep",
    "bisect": "instar.search:bisect",
}
USUAL_SEARCH = {"insertion": "guided"}
"""The search of a relation for which none was given, where that is not `draws`."""
