"""What a sentence takes for granted of a scene: the weather before, what is there and what is not."""

from __future__ import annotations

from collections.abc import Mapping

from instar.core.change import Inapplicable
from instar.tasks.driving.engines import SceneView
from instar.tasks.driving.engines.drive_changes import STRENGTHS
from instar.tasks.driving.engines.selection import is_shown
from instar.tasks.driving.engines.where import meant
from instar.tasks.driving.rules.model import Condition
from instar.worlds.drive.plan import Drive

DARK, LIGHT = 45.0, 70.0  # grey levels, on average: night below, day above
PAINTED = ("line", "crosswalk", "stop line", "building")  # a drive's label map shows them all


def unmet(condition: Condition, view: SceneView) -> Inapplicable | None:
    """Why a condition does not fit a scene before anything is changed, if it does not."""
    if condition.op in ("given", "unless"):
        shown = _is_there(condition, view)
        if isinstance(shown, Inapplicable):
            return shown
        if shown != (condition.op == "given"):
            return Inapplicable(f"there is {'no' if condition.op == 'given' else 'a'} {condition.element}")
        return None
    if view.ontology.elements[condition.element].is_environment and condition.properties:
        return _not_before(condition, view)
    return None


def _is_there(condition: Condition, view: SceneView) -> bool | Inapplicable:
    if view.drive is None or condition.element in PAINTED:
        return is_shown(condition, view)
    found = meant(condition, view.drive)
    return found if isinstance(found, Inapplicable) else bool(found)


def _not_before(condition: Condition, view: SceneView) -> Inapplicable | None:
    """Why the weather or the time before is not what the sentence says."""
    for name, value in condition.properties.items():
        known = _photographed(condition, view) if view.drive is None else _drawn(condition, view.drive)
        if name not in known:
            return Inapplicable(f"the picture does not tell whether it is {value!r}")
        if known[name] != value:
            return Inapplicable(f"it is not {value!r} there")
    return None


def _drawn(condition: Condition, drive: Drive) -> Mapping[str, str]:
    if condition.element == "time":
        return {"type": drive.time}
    if condition.element == "weather":
        level = min(STRENGTHS, key=lambda name: abs(STRENGTHS[name] - drive.level))
        return {"type": drive.weather, "level": level}
    return {"state": drive.road.surface}


def _photographed(condition: Condition, view: SceneView) -> Mapping[str, str]:
    """Of a photograph only night and day are known, by its light."""
    light = float(view.image.mean())
    if condition.element != "time" or DARK <= light < LIGHT:
        return {}
    return {"type": "night" if light < DARK else "day"}
