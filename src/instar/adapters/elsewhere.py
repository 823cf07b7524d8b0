"""A system that is not here: its questions are written to a folder, and answered wherever it lives."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from instar.adapters.answer_file import number_of
from instar.adapters.labels import read_labels
from instar.core.errors import BadInput
from instar.core.follow_up import Query
from instar.imaging.codecs import encode_png

QUESTIONS_FOLDER = "questions"
QUESTIONS_FILE = "questions.json"


class Elsewhere:
    """A system that is asked by others: it only writes down the questions that the run has no answers to.

    `labels` are the names of its numbered classes.
    """

    def __init__(self, *, called: str = "elsewhere", labels: Any = None) -> None:
        self.name, self.labels = called, read_labels(labels)
        self.fingerprint = f"elsewhere {called} labels={self.labels}"
        self._folder: Path | None = None
        self._images: dict[str, dict[str, Any]] = {}

    def predict(self, inputs: Sequence[Any], /) -> Sequence[Any]:
        raise BadInput(f"{self.name} is not here: `instar questions` writes what to ask it")

    def open(self, folder: Path) -> None:
        """Write questions into that folder from now on, without the answered ones of the round before."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._folder, self._images = folder, {}

    def ask_later(self, query: Query) -> None:
        picture = query.input
        if query.variant or not (isinstance(picture, np.ndarray) and picture.ndim == 3):
            raise BadInput(f"{self.name} is asked by pictures alone; this relation or task asks for more")
        assert self._folder is not None, "nobody has said where questions are written"
        name = query.digest if not query.repeat else f"{query.digest}-{query.repeat}"
        if name not in self._images:
            (self._folder / f"{name}.png").write_bytes(encode_png(picture))
            height, width = picture.shape[:2]
            id = number_of(query.digest) + (query.repeat << 48)
            self._images[name] = {"id": id, "file_name": f"{name}.png", "width": width, "height": height}

    def finish(self) -> int:
        """Write the list of the round's pictures, in COCO's form; how many they are."""
        assert self._folder is not None
        if self._images:
            images = [self._images[name] for name in sorted(self._images)]
            text = json.dumps({"images": images, "annotations": [], "categories": []}, indent=1)
            (self._folder / QUESTIONS_FILE).write_text(text + "\n", encoding="utf-8")
        else:
            shutil.rmtree(self._folder)
        return len(self._images)


def read_manifest(folder: Path) -> dict[str, int]:
    """The pictures of the round that waits for answers: their names, and their numbers in COCO results."""
    path = folder / QUESTIONS_FILE
    if not path.is_file():
        raise BadInput(f"{folder.parent} waits for no answers: {path} is not there")
    images = json.loads(path.read_text(encoding="utf-8"))["images"]
    return {Path(image["file_name"]).stem: int(image["id"]) for image in images}
