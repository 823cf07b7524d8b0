"""A cut-out is recognised by a detector that knows its kind, and by no other."""

from __future__ import annotations

import numpy as np

from instar.tasks.detection.recognition import recognition

RED = np.full((60, 40, 4), (220, 10, 10, 255), np.uint8)


class FindsRed:
    """Boxes what is red."""

    name = "finds-red"

    def __init__(self, label: str, *, grown: float = 0.0) -> None:
        self.label, self.grown = label, grown

    def predict(self, images):
        return [self._find(image) for image in images]

    def _find(self, image: np.ndarray) -> dict:
        rows, columns = np.nonzero((image[..., 0] > 200) & (image[..., 1] < 60))
        grow = self.grown * (rows.max() - rows.min())
        box = [columns.min() - grow, rows.min() - grow, columns.max() + 1 + grow, rows.max() + 1 + grow]
        return {"boxes": [box], "scores": [0.8], "labels": [self.label]}


def test_what_is_found_as_its_class_is_recognised_under_any_name_of_it() -> None:
    assert recognition(FindsRed("motorbike"), RED, "motorcycle") == np.float32(0.8)


def test_another_class_or_another_place_is_no_recognition() -> None:
    assert recognition(FindsRed("dog"), RED, "motorcycle") == 0
    assert recognition(FindsRed("motorcycle", grown=0.5), RED, "motorcycle") == 0
