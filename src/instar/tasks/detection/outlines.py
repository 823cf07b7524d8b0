"""What relations of outlined objects work with: an outliner, and a folder for what it gives."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from instar import zoo
from instar.core.errors import BadInput, FetchFailed
from instar.core.relation import Workspace
from instar.core.scene import Image, Scene
from instar.cutouts.kept import KeptCutOuts
from instar.cutouts.outlines import Outliner, SoftOutline, keep_outlines
from instar.imaging.geometry import Box, iou

FOLDER = "outlines"  # of the run
EXPENSE = 8.0  # questions that an outline is worth in time
SAME = 0.9  # IoU of a box with that of an annotated object


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """Finds outlines, and keeps what was cut out by them."""

    outline: Outliner
    cutouts: KeptCutOuts


def require_objects(relation: str, cutouts: object, **functions: object) -> None:
    """BadInput where an option that only Python can give is something else."""
    for option, value in functions.items():
        if value is not None and not callable(value):
            raise BadInput(f"{relation}: {option} is {value!r}; it must be a function, or be left out")
    if cutouts is not None and not hasattr(cutouts, "pixels"):
        raise BadInput(f"{relation}: cutouts is {cutouts!r}; leave it out: a replay gives those of its run")


def prepare_outlines(outline: Outliner | None, workspace: Workspace) -> Outlines:
    """Outlines by the given outliner, else by SAM 2, kept as long as the run; nothing is fetched yet."""
    folder: Path = workspace.folder / FOLDER
    return Outlines(keep_outlines(outline or sam2_outliner(), folder), KeptCutOuts(folder / "cutouts"))


def outliner_of(scene: Scene, outline: Outliner) -> Outliner:
    """By the annotated masks of the scene where it has them, else by the outliner."""
    masked = [thing for thing in scene.objects or () if thing.mask is not None]

    def find(picture: Image, box: Box) -> SoftOutline:
        for thing in masked:
            if iou(np.array([box], np.float32), np.array([thing.box], np.float32))[0, 0] >= SAME:
                assert thing.mask is not None
                soft = cv2.GaussianBlur(thing.mask().astype(np.uint8) * 255, (3, 3), 0)
                return SoftOutline(np.asarray(soft, np.uint8), 1.0)
        return outline(picture, box)

    return find


def sam2_outliner() -> Outliner:
    """SAM 2 of the zoo, fetched when the first outline is wanted.

    What cannot be fetched is tried once: then every outline raises the same FetchFailed.
    """
    lock = threading.Lock()
    opened: list[Outliner | FetchFailed] = []

    def find(picture: Image, box: Box) -> SoftOutline:
        with lock:
            if not opened:
                opened.append(_open())
        outliner = opened[0]
        if isinstance(outliner, FetchFailed):
            raise outliner
        return outliner(picture, box)

    return find


def _open() -> Outliner | FetchFailed:
    from instar.cutouts.sam2 import sam2  # the run-time of networks only where it is needed

    try:
        return sam2(*zoo.fetch("sam2-tiny"))
    except FetchFailed as error:
        return error
