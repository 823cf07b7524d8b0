"""An edit of a rule in words, for reports: "a pedestrian 28 m ahead, 6.9 m to the left"."""

from __future__ import annotations

from collections import Counter

from instar.tasks.driving.engines import Edit

__all__ = ["format_edit"]

LEFT_OUT = ("engine", "mask", "cutout", "seed", "look", "marks", "things")


def format_edit(edit: Edit) -> str:
    """What an edit does, as a person would say it; an engine of one's own is told by what it noted.

    >>> format_edit({"engine": "rendered", "do": "weather", "weather": "rain", "level": 0.5})
    'rain of strength 0.5'
    >>> format_edit({"engine": "fill", "of": "line", "mask": ""})
    'no line (fill)'
    """
    if "do" in edit:
        return _drawn(edit)
    if edit.get("kind") and edit.get("of") in ("weather", "time"):
        return f"{edit['kind']} of strength {edit['strength']:g}"
    if "becomes" in edit:
        return f"{edit['becomes']} for {edit['of']}"
    if "label" in edit and "width" in edit:
        what = _kind(edit["label"], edit.get("variant", ""))
        return f"{what} of {edit['width']} x {edit['height']} px at ({edit['x']}, {edit['y']})"
    if edit.keys() <= {"engine", "of", "mask"} and "of" in edit:
        return f"no {edit['of']} ({edit['engine']})"
    told = [f"{name} {value}" for name, value in sorted(edit.items()) if name not in LEFT_OUT]
    return f"{edit['engine']} ({', '.join(told)})"


def _drawn(edit: Edit) -> str:
    match edit["do"]:
        case "add":
            side = "right" if edit["offset"] > 0 else "left"
            where = f"{edit['distance']:.0f} m ahead, {abs(edit['offset']):.1f} m to the {side} of the middle"
            size = "" if edit["scale"] == 1 else f", {edit['scale']:.2g} of the usual size"
            return f"{_kind(edit['kind'], edit['variant'])} {where}{size}"
        case "take":
            return f"without {_counted(edit)}"
        case "swap":
            return f"{edit['variant']} {edit['kind']} for {_counted(edit)}".lstrip()
        case "mark":
            return "marked: " + ", ".join(name.replace("_", " ") for name, _ in edit["marks"])
        case "unmark":
            return "without " + ", ".join(name.replace("_", " ") for name, _ in edit["marks"])
        case "raze":
            return "without buildings"
        case "build":
            return f"a building {edit['start']:.0f} m ahead"
        case "plant":
            return "trees for buildings"
        case "hour":
            return str(edit["time"])
    return f"{edit['weather']} of strength {edit['level']:g}"


def _kind(kind: str, variant: str) -> str:
    name = f"{variant} {kind}".strip()
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _counted(edit: Edit) -> str:
    kinds = Counter(kind for kind, _, _ in edit["things"])
    return ", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))
