"""What a driving network learns from and is tested on: pictures and what the driver did, and its errors."""

from __future__ import annotations

import functools
import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.stats import clustered_mean
from instar.tasks.driving.answers import QUANTITIES, UNIT_OF
from instar.tasks.driving.systems.network_io import SIZE, crop_slices, preprocess
from instar.user_file import whole_file

CELLS = (5, 10)
"""Rows and columns into which a picture is divided to say what is seen where."""
FEW = 500
"""Scenes; for fewer it takes as long to begin a process on every processor as to look at them."""


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """`pictures` is `uint8 (n, 160, 320, 3)`, `targets` `float32 (n, outputs)` in km/h and degrees.

    `groups` names for each picture the stretch of road that it belongs to. `published` has what other
    networks steered, `float32 (n,)` by name, where that is known. `shown` says how much of each class every
    cell of a picture shows, `uint8 (n, classes, 5, 10)`: 255 times the square root of its share of the
    pixels, because a person far away is few pixels and all the same the thing to see. It is empty where that
    was not asked for.
    """

    pictures: npt.NDArray[np.uint8]
    targets: npt.NDArray[np.float32]
    groups: tuple[str, ...]
    outputs: tuple[str, ...]
    published: Mapping[str, npt.NDArray[np.float32]] = field(default_factory=dict)
    shown: npt.NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 0, *CELLS), np.uint8))

    def __len__(self) -> int:
        return len(self.groups)

    def only(self, groups: set[str]) -> Examples:
        """Those of some groups."""
        kept = np.array([group in groups for group in self.groups], np.bool_)
        chosen = tuple(group for group in self.groups if group in groups)
        others = {name: values[kept] for name, values in self.published.items()}
        shown = self.shown[kept] if len(self.shown) else self.shown
        return Examples(self.pictures[kept], self.targets[kept], chosen, self.outputs, others, shown)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """What is learned from, what decides when to stop, and what nothing was decided by."""

    training: Examples
    validation: Examples
    test: Examples


def collect_examples(
    scenes: Sequence[Scene],
    outputs: Sequence[str],
    *,
    labels: bool = False,
    kept: Path | None = None,
    step: Callable[[], None],
) -> Examples:
    """Read every scene once, with `labels` also what it shows where.

    With `kept`, all that is there the next time, for the same scenes.
    """
    for output in outputs:
        if output not in QUANTITIES:
            raise BadInput(f"a network can give {' or '.join(QUANTITIES)}, not {output!r}")
    targets = np.array([_targets(scene, outputs) for scene in scenes], np.float32)
    groups = tuple(str(scene.knowledge.get("segment", scene.id)) for scene in scenes)
    pictures, shown = _looked_at(scenes, labels, kept, step)
    return Examples(pictures, targets, groups, tuple(outputs), _published(scenes), shown)


def hold_out(examples: Examples, *, seed: int, share: float = 0.4) -> Split:
    """Whole groups to each side, never frames of one group to two: neighbours are nearly the same picture.

    That `share` of the groups is held out, three parts of eight to decide when to stop and five to test.
    Groups are laid out by how much is steered in them (by the last output), and those held out are spread
    evenly along that order, so that no side has all the bends.
    """
    groups = sorted(set(examples.groups))
    held_out = round(len(groups) * share)
    if len(groups) < 3 or not 2 <= held_out < len(groups):
        raise BadInput(f"{len(groups)} stretches of road are too few to hold some out; three are the least")
    number = {group: i for i, group in enumerate(groups)}
    members = np.array([number[group] for group in examples.groups])
    steered = np.bincount(members, np.abs(examples.targets[:, -1])) / np.bincount(members)
    ranked = [groups[i] for i in np.argsort(steered, kind="stable")]
    at = (np.arange(held_out) + np.random.default_rng([seed, 0x5911]).random()) * len(groups) / held_out
    chosen = [ranked[int(i)] for i in at]
    tests = round(held_out * 5 / 8)
    to_test = {int(i) for i in (np.arange(tests) + 0.5) * held_out / max(1, tests)}
    parts = (
        set(groups) - set(chosen),
        {group for i, group in enumerate(chosen) if i not in to_test},
        {group for i, group in enumerate(chosen) if i in to_test},
    )
    return Split(*(examples.only(part) for part in parts))


def errors_of(parts: Split, given: npt.NDArray[np.float32]) -> dict[str, Any]:
    """For each output the errors on what was held out, beside those of the training's best constant answer.

    Intervals are for the mean absolute error, over stretches of road.
    """
    found: dict[str, Any] = {}
    for column, output in enumerate(parts.test.outputs):
        truth, learned = parts.test.targets[:, column], parts.training.targets[:, column]
        off = np.abs(given[:, column] - truth)
        constant_off = np.abs(truth - np.median(learned))
        low, high = clustered_mean(off, parts.test.groups)
        found[output] = {
            "unit": UNIT_OF[output],
            "mae": float(off.mean()),
            "interval": [low, high],
            "rmse": float(np.sqrt((off**2).mean())),
            "constant_mae": float(constant_off.mean()),
            "constant_rmse": float(np.sqrt(((truth - learned.mean()) ** 2).mean())),
            "pictures": len(truth),
            "groups": len(set(parts.test.groups)),
        }
        if output == "steering" and parts.test.published:
            found[output]["published_rmse"] = {
                name: float(np.sqrt(((values - truth) ** 2).mean()))
                for name, values in parts.test.published.items()
            }
    return found


def _targets(scene: Scene, outputs: Sequence[str]) -> list[float]:
    for output in outputs:
        if scene.knowledge.get(output) is None:
            raise BadInput(
                f"{scene.id}: the {output} that its driver chose is not known; "
                "train on a driving log or on drive:N, and for what is known there"
            )
    return [float(scene.knowledge[output]) for output in outputs]


def _published(scenes: Sequence[Scene]) -> dict[str, npt.NDArray[np.float32]]:
    """Those networks whose answer to every scene is known."""
    answers = [scene.knowledge.get("published", {}) for scene in scenes]
    names = sorted(set.intersection(*(set(one) for one in answers))) if answers else []
    return {name: np.array([one[name] for one in answers], np.float32) for name in names}


_Looks = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]


def _looked_at(scenes: Sequence[Scene], labels: bool, kept: Path | None, step: Callable[[], None]) -> _Looks:
    """The pictures of the scenes, and what they show where."""
    keys = [_key(scene) for scene in scenes]
    if kept is not None and kept.exists():
        return _among(kept, keys, labels)
    pictures = np.empty((len(scenes), *SIZE, 3), np.uint8)
    shown = []
    for i, (picture, cells_of_it) in enumerate(_each(scenes, labels)):
        pictures[i] = picture
        shown.append(cells_of_it)
        step()
    cells = np.stack(shown) if labels else np.zeros((0, 0, *CELLS), np.uint8)
    if kept is not None:
        with whole_file(kept) as unfinished, open(unfinished, "wb") as file:
            np.savez(file, pictures=pictures, shown=cells, keys=np.array(keys))
    return pictures, cells


def _each(scenes: Sequence[Scene], labels: bool) -> Iterator[_Looks]:
    """One after the other, or on all processors."""
    look = functools.partial(_look, labels)
    if len(scenes) < FEW or os.cpu_count() == 1:
        yield from map(look, scenes)
        return
    pool = ProcessPoolExecutor(
        mp_context=multiprocessing.get_context("spawn"), initializer=cv2.setNumThreads, initargs=(1,)
    )
    try:
        yield from pool.map(look, scenes, chunksize=16)
    finally:
        pool.shutdown(cancel_futures=True)


def _look(labels: bool, scene: Scene) -> _Looks:
    return preprocess(scene.image), _shown(scene) if labels else np.zeros((0, *CELLS), np.uint8)


def _shown(scene: Scene) -> npt.NDArray[np.uint8]:
    made = scene.knowledge.get("labels")
    if made is None:
        raise BadInput(f"{scene.id}: what every pixel shows is not known; train without --labels")
    found = made()
    ids = found.ids[crop_slices(found.ids.shape)]
    shares = [
        cv2.resize((ids == i).astype(np.float32), CELLS[::-1], interpolation=cv2.INTER_AREA)
        for i in range(len(found.names))
    ]
    return np.asarray(np.rint(255 * np.sqrt(np.stack(shares))), np.uint8)


def _among(kept: Path, keys: Sequence[str], labels: bool) -> _Looks:
    """What a file keeps of these scenes; it may have more."""
    with np.load(kept) as file:
        place = {str(key): i for i, key in enumerate(file["keys"])}
        if not all(key in place for key in keys) or labels > ("shown" in file and len(file["shown"]) > 0):
            raise BadInput(f"{kept} has pictures of other scenes; delete it, or name another file")
        pictures, rows = file["pictures"], [place[key] for key in keys]
        shown = file["shown"][rows] if labels else np.zeros((0, 0, *CELLS), np.uint8)
    # Taking all of them in their order would only copy gigabytes.
    return (pictures if rows == list(range(len(pictures))) else pictures[rows]), shown


def _key(scene: Scene) -> str:
    """Ids of drawn scenes are the same whatever their seed; what their driver does is not."""
    return f"{scene.id} {scene.knowledge.get('speed')} {scene.knowledge.get('steering')}"
