"""Driving logs: pictures from behind a windscreen with what the driver did, in a `labels.csv`.

Each source has its own units and its own sign. Here all become km/h and degrees of the steering wheel, + to
the left.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.scenes.folder import check_limit, read_file
from instar.user_file import read_text

__all__ = ["SOURCES", "STEERING_RATIO", "Units", "driving_log", "looks_like_driving_log"]

STEERING_RATIO = 14.4
"""Degrees of the steering wheel per degree of the road wheels, as the paper assumes."""
COLUMNS = ("file", "source", "segment", "steering", "speed")
MPH, METRES_PER_SECOND = 1.609344, 3.6
MOST_HEADING = 4096  # characters


@dataclass(frozen=True, slots=True)
class Units:
    """What one logged unit is: in degrees of the steering wheel to the left, and in km/h."""

    steering: float
    speed: float = 1.0


SOURCES: Mapping[str, Units] = MappingProxyType(
    {
        "ch2": Units(math.degrees(1)),  # rad of the steering wheel, + is left
        "th552019": Units(-math.degrees(1), METRES_PER_SECOND),  # rad of the steering wheel, + is right
        "th979919": Units(-math.degrees(1), METRES_PER_SECOND),
        "sim": Units(-25.0 * STEERING_RATIO, MPH),  # a share of 25 degrees of the road wheels, + is right
    }
)


def looks_like_driving_log(folder: Path) -> bool:
    """Whether there is a `labels.csv` with these columns."""
    path = folder / "labels.csv"
    if not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return set(COLUMNS) <= set(file.readline(MOST_HEADING).strip().split(","))


def driving_log(folder: Path, *, limit: int | None = None) -> list[Scene]:
    """The frames of a log, in its order.

    `knowledge` has `speed` and `steering` (None where it was not logged), `segment` (a stretch of the drive:
    frames of one are nearly alike and never belong on both sides of a split), `source` and, where a file
    `SOURCE_model_predictions.csv` lies beside, `published`: what other networks steered.
    """
    check_limit(limit)
    path = folder / "labels.csv"
    rows = _rows(path, COLUMNS)
    if not rows:
        raise BadInput(f"{path} has no frames")
    names = [row["file"] for row in rows]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"{path} lists {twice!r} twice")
    published = {source: _published(folder, source) for source in {row["source"] for row in rows}}
    return [
        _scene(folder, path, number, row, published[row["source"]].get(row["file"], {}))
        for number, row in enumerate(rows[:limit], start=2)
    ]


def _scene(
    folder: Path, path: Path, line: int, row: Mapping[str, str], published: Mapping[str, float]
) -> Scene:
    units = SOURCES.get(row["source"])
    if units is None:
        known = ", ".join(SOURCES)
        raise BadInput(f"{path}, line {line}: units of source {row['source']!r} are unknown; known: {known}")
    knowledge = {
        "speed": _number(path, line, row["speed"], units.speed),
        "steering": _number(path, line, row["steering"], units.steering),
        "segment": row["segment"],
        "source": row["source"],
    }
    return Scene(
        row["file"],
        partial(read_file, folder / "images" / row["file"]),
        knowledge=knowledge | ({"published": published} if published else {}),
    )


def _published(folder: Path, source: str) -> dict[str, dict[str, float]]:
    """By file, what each published network steered, in degrees to the left."""
    path = folder / f"{source}_model_predictions.csv"
    if source not in SOURCES or not path.is_file():
        return {}
    unit = SOURCES[source].steering
    return {
        row["file"]: {
            name: number
            for name, value in row.items()
            if name not in ("file", "truth")
            if (number := _number(path, line, value, unit)) is not None
        }
        for line, row in enumerate(_rows(path, ["file"]), start=2)
    }


def _rows(path: Path, columns: Collection[str]) -> list[dict[str, str]]:
    """The lines of a table that has these columns, each with as many values as the heading."""
    try:
        rows: list[dict[str, Any]] = list(csv.DictReader(read_text(path).splitlines()))
    except csv.Error as error:
        raise BadInput(f"cannot read {path}: {error}") from None
    if rows and not set(columns) <= set(rows[0]):
        raise BadInput(f"{path} is no driving log; it needs the columns {', '.join(columns)}")
    for line, row in enumerate(rows, start=2):
        if None in row or None in row.values():
            raise BadInput(f"{path}, line {line}: it has not as many values as the heading")
    return rows


def _number(path: Path, line: int, text: str, unit: float) -> float | None:
    if not text:
        return None
    try:
        number = float(text) * unit
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadInput(f"{path}, line {line}: {text!r} is no number")
    return number
