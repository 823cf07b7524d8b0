"""Palettes of label maps: which class a grey value or a colour stands for."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput, UnknownName
from instar.imaging.labels import LabelMap
from instar.user_file import load_resource, parse_json, parse_toml, read_text

__all__ = ["BUILT_IN", "Palette", "pack_colours", "palette_named", "read_palette"]

BUILT_IN = ("a2d2", "camvid", "camvid-12", "cityscapes", "cityscapes-train")
KEYS = ("name", "is", "id", "colour")
UNKNOWN = "unlabelled"
MOST_CLASSES = 255  # a label map is of 8 bits, and what is unknown has a number too
MOST_UNKNOWN = 0.5  # of a map; more, and the palette is another's

_NAMES = load_resource("instar.scenes.palettes", "names.toml")
OURS: tuple[str, ...] = tuple(_NAMES["ours"])
COMMON: Mapping[str, str] = _NAMES["common"]


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """`names` are our classes; `ids` and `colours` (as 0xRRGGBB) say where in `names` each is."""

    names: tuple[str, ...]
    ids: Mapping[int, int]
    colours: Mapping[int, int]

    def __post_init__(self) -> None:
        if len(self.names) > MOST_CLASSES:
            raise BadInput(f"{len(self.names)} classes; a palette has at most {MOST_CLASSES}")

    def read(self, values: npt.NDArray[np.uint8]) -> LabelMap:
        """The label map in a grey `uint8 (H, W)` or coloured `uint8 (H, W, 3)` RGB picture."""
        known = self.ids if values.ndim == 2 else self.colours
        if not known:
            sort = "grey values" if values.ndim == 2 else "colours"
            raise BadInput(f"the map has {sort}, of which the palette knows none")
        packed = values.astype(np.int64) if values.ndim == 2 else pack_colours(values)
        found, where = np.unique(packed, return_inverse=True)
        unknown = len(self.names)
        table = np.array([known.get(int(value), unknown) for value in found], np.uint8)
        ids = table[where.reshape(packed.shape)]
        missing = float((ids == unknown).mean())
        if missing > MOST_UNKNOWN:
            raise BadInput(f"{missing:.0%} of the map is of no class in the palette; name another palette")
        return LabelMap(ids, (*self.names, UNKNOWN))


def pack_colours(colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Colours `(..., 3)` as numbers 0xRRGGBB."""
    red, green, blue = np.moveaxis(colours.astype(np.int64), -1, 0)
    return np.asarray(red << 16 | green << 8 | blue)


@cache
def palette_named(name: str) -> Palette:
    """A palette that comes with instar, or one in a file."""
    if name in BUILT_IN:
        return _palette(load_resource("instar.scenes.palettes", f"{name}.toml"))
    path = Path(name)
    if not os.path.isfile(path):  # False also for what no file can be called
        raise BadInput(str(UnknownName("palette", name, BUILT_IN)) + ", or a file")
    return read_palette(path)


def read_palette(path: Path) -> Palette:
    """The palette in a user's file: TOML like those of instar, or JSON with `classes` and `colours`."""
    text = read_text(path, "palette")
    try:
        return _listed(parse_json(text, "this")) if path.suffix == ".json" else _palette(parse_toml(text))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def _palette(tables: Mapping[str, Any]) -> Palette:
    for key in tables:
        if key != "class":
            raise BadInput(str(UnknownName("key", key, ["class"])))
    entries = tables.get("class", [])
    if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
        raise BadInput("a palette is a list of classes: class = [{name = ..., id = ...}, ...]")
    names, ids, colours = [], {}, {}
    for number, entry in enumerate(entries):
        for key in entry:
            if key not in KEYS:
                raise BadInput(str(UnknownName("key", key, KEYS)))
        if not isinstance(entry.get("name"), str) or not ("id" in entry or "colour" in entry):
            raise BadInput(f"class {number} needs a name and an id or a colour")
        names.append(_checked(entry["is"]) if "is" in entry else _ours(entry["name"]))
        if "id" in entry:
            ids[_number(entry["id"], entry["name"])] = number
        if "colour" in entry:
            colours[_packed(entry["colour"], entry["name"])] = number
    return Palette(tuple(names), ids, colours)


def _listed(document: Any) -> Palette:
    """Classes in the order of their ids, as `{"classes": ["Sky"], "colours": [[128, 128, 128]]}`."""
    classes = document.get("classes") if isinstance(document, Mapping) else None
    if not isinstance(classes, list) or not all(isinstance(name, str) for name in classes):
        raise BadInput("a palette in JSON has a list of names under 'classes'")
    colours = document.get("colours", document.get("colors", []))
    if not isinstance(colours, list):
        raise BadInput("a palette in JSON has a list of colours under 'colours', or none")
    packed = {_packed(colour, name): i for i, (colour, name) in enumerate(zip(colours, classes))}
    return Palette(tuple(map(_ours, classes)), {i: i for i in range(len(classes))}, packed)


def _checked(name: Any) -> str:
    """A class of ours, or one of the user's own; what is nearly one of ours is misspelt."""
    if not isinstance(name, str) or not name.strip():
        raise BadInput(f"'is' must name a class, not {name!r}")
    if name not in OURS and difflib.get_close_matches(name, OURS, n=1, cutoff=0.7):
        raise BadInput(str(UnknownName("class", name, OURS)))
    return name


def _ours(name: str) -> str:
    plain = name.strip().lower().replace("_", " ").replace("-", " ")
    return COMMON.get(plain, plain)


def _number(value: Any, name: str) -> int:
    if not isinstance(value, int) or not 0 <= value <= 255:
        raise BadInput(f"{name}: the id is {value!r}; it must be a whole number from 0 to 255")
    return value


def _packed(colour: Any, name: str) -> int:
    three = isinstance(colour, list) and len(colour) == 3
    if not (three and all(isinstance(c, int) and 0 <= c <= 255 for c in colour)):
        raise BadInput(f"{name}: the colour is {colour!r}; it must be three numbers from 0 to 255")
    red, green, blue = colour
    return int(red << 16 | green << 8 | blue)
