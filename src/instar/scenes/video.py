"""Scenes from videos: every so many frames one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Scene
from instar.scenes.folder import check_limit

if TYPE_CHECKING:
    import cv2

VIDEOS = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm")
SECONDS = 1.0  # between two frames where no stride is given: neighbours show the same


def video(path: str | Path, *, stride: int | None = None, limit: int | None = None) -> list[Scene]:
    """Frames of a video, or of each video in a folder: every `stride`-th, or about one a second.

    The scenes of one video are no independent samples. They have its name before a `#`, by which
    statistics know them as one cluster.
    """
    check_limit(limit)
    if stride is not None and stride < 1:
        raise BadInput(f"stride {stride} leaves no frame; give 1 or more")
    root = Path(path)
    files = sorted(filter(is_video, root.iterdir())) if root.is_dir() else [root]
    if not files:
        raise BadInput(f"no video in {root}; expected {', '.join(VIDEOS)}")
    scenes = [scene for file in files for scene in _frames(file, stride)]
    return scenes[:limit]


def is_video(path: Path) -> bool:
    return path.suffix.lower() in VIDEOS and not path.name.startswith(".")


def _frames(file: Path, stride: int | None) -> Iterator[Scene]:
    import cv2

    with _opened(file) as capture:
        count = int(capture.get(cv2.CAP_PROP_FRAME_COUNT))
        rate = capture.get(cv2.CAP_PROP_FPS)
    if count < 1:
        raise BadInput(f"{file} says nothing of its frames; is it a video?")
    step = stride or max(1, round(SECONDS * rate) if np.isfinite(rate) else 1)
    for number in range(0, count, step):
        yield Scene(f"{file.name}#{number:06d}", partial(_frame, file, number))


def _frame(file: Path, number: int) -> Image:
    import cv2

    with _opened(file) as capture:
        capture.set(cv2.CAP_PROP_POS_FRAMES, number)
        is_there, frame = capture.read()
    if not is_there or frame is None:
        raise UnreadablePicture(f"frame {number} cannot be decoded")
    return np.ascontiguousarray(cv2.cvtColor(frame, cv2.COLOR_BGR2RGB))


@contextmanager
def _opened(file: Path) -> Iterator[cv2.VideoCapture]:
    import cv2

    capture = cv2.VideoCapture(str(file))
    try:
        if not capture.isOpened():
            raise UnreadablePicture(f"{file} cannot be opened as a video")
        yield capture
    finally:
        capture.release()
