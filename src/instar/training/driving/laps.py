"""Where on its course a car was that drove lap after lap.

A stretch of time that is held out shows the same bends as the laps before it. So what is held out of such a
log must be places. They are not logged, but every lap has the same bends: each segment is laid where
its steering and speed fit those of all others best.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Scene

PLACES = 12
MARGIN = 0.01
"""The share of a lap that is left out at both ends of a place, so that no two places show the same."""
UNFIT = 0.5
"""Spreads of steering and speed; a segment off by more on average is of no lap: the car was in the pits."""
BINS = 100
PACES = np.linspace(0.93, 1.08, 7)
ROUNDS = 10
ALONE = 3
"""Rounds in which the first source is laid alone."""
Floats = npt.NDArray[np.float64]


def split_by_place(scenes: Sequence[Scene], lap: float) -> list[Scene]:
    """The scenes of known place, with the place as their `segment`; a lap takes about `lap` seconds."""
    phases = _phases(scenes, lap)
    at = phases * PLACES
    inside = np.abs(at % 1 - 0.5) < 0.5 - MARGIN * PLACES  # false where it is not known
    return [
        dataclasses.replace(scene, knowledge={**scene.knowledge, "segment": f"place {int(place):02d}"})
        for scene, place, kept in zip(scenes, at, inside)
        if kept
    ]


def _phases(scenes: Sequence[Scene], lap: float) -> Floats:
    """Of each scene the share of the lap that is behind it, in [0, 1); NaN where nothing fits."""
    times = np.array([_number(scene, "time") for scene in scenes])
    driven = np.stack([[_number(scene, name) for scene in scenes] for name in ("steering", "speed")], 1)
    driven = (driven - driven.mean(0)) / np.maximum(driven.std(0), 1e-9)
    segments = _members([str(scene.knowledge.get("segment")) for scene in scenes])
    first = np.array([scene.knowledge.get("source") == scenes[0].knowledge.get("source") for scene in scenes])
    begins = _first_guess(times[first], driven[first], lap)
    phases = (times - times[0]) / begins % 1
    misfit = np.zeros(len(scenes))
    for turn in range(ROUNDS):
        used = (first if turn < ALONE else misfit < UNFIT) & np.isfinite(phases)
        course = _course(phases[used], driven[used])
        for members in segments:
            passed = times[members] - times[members[0]]
            tried = [
                (_misfit(course, place + passed / (lap * pace), driven[members]), place, pace)
                for place in np.arange(0, 1, 1 / BINS)
                for pace in PACES
            ]
            misfit[members], place, pace = min(tried)
            phases[members] = (place + passed / (lap * pace)) % 1
    return np.where(misfit < UNFIT, phases, np.nan)


def _first_guess(times: Floats, driven: Floats, lap: float) -> float:
    """The lap's time by which one source fits itself best."""

    def misfit(guess: float) -> float:
        phases = (times - times[0]) / guess % 1
        return _misfit(_course(phases, driven, width=1.5), phases, driven)

    return float(min(lap * np.linspace(0.97, 1.03, 25), key=misfit))


def _course(phases: Floats, driven: Floats, *, width: float = 1.0) -> Floats:
    """Steering and speed all around the course, `(BINS, 2)`."""
    off = (phases[None] * BINS - np.arange(BINS)[:, None] + BINS / 2) % BINS - BINS / 2
    near = np.exp(-0.5 * (off / width) ** 2) + 1e-12
    course: Floats = near @ driven / near.sum(axis=1, keepdims=True)
    return course


def _misfit(course: Floats, phases: Floats, driven: Floats) -> float:
    at = phases % 1 * BINS
    before, share = at.astype(int) % BINS, (at % 1)[:, None]
    there = course[before] * (1 - share) + course[(before + 1) % BINS] * share
    return float(np.abs(there - driven).mean())


def _members(names: Sequence[str]) -> list[npt.NDArray[np.intp]]:
    return [np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)]


def _number(scene: Scene, name: str) -> float:
    value: Any = scene.knowledge.get(name)
    if value is None:
        raise BadInput(f"{scene.id}: its {name} is not known; laps are told by time, steering and speed")
    return float(value)
