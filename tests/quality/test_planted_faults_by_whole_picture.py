"""Every change of the whole picture finds a planted fault; right and jittery detectors are not accused."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import instar
from instar.campaigns.adaptive_search import adaptive
from instar.core.digest import digest
from instar.tasks.detection import Detections
from instar.tasks.detection.catalogue import WHOLE_PICTURE
from instar.tasks.detection.relations.whole_picture import RELATIONS

SIZE = (360, 480)
NAMES = ("car", "bus", "boat")


def pictures(n: int = 3) -> list[instar.Scene]:
    """Grey fields, not quite even, with bright discs of three sizes well inside."""
    scenes = []
    for i in range(n):
        rng = np.random.default_rng(i)
        field = cv2.resize(rng.uniform(60, 80, (9, 12)).astype(np.float32), SIZE[::-1])
        image = np.repeat((field + rng.normal(0, 8, SIZE))[..., None], 3, axis=2)
        for k, radius in enumerate((22, 34, 46)):
            at = (110 + 130 * k + int(rng.integers(-15, 15)), 180 + int(rng.integers(-25, 25)))
            cv2.circle(image, at, radius, (225, 215, 205), -1, cv2.LINE_AA)
        scenes.append(instar.Scene.of(f"{i}.png", np.rint(image).astype(np.uint8)))
    return scenes


def discs(image: np.ndarray) -> Detections:
    """Finds the discs, whatever light and weather do to them, and tells them apart by their size."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    _, bright = cv2.threshold(cv2.medianBlur(grey, 5), 0, 255, cv2.THRESH_OTSU)
    _, _, stats, _ = cv2.connectedComponentsWithStats(bright)
    boxes = [(x, y, x + w, y + h) for x, y, w, h, area in stats[1:].tolist() if area > 300]
    boxes.sort(key=lambda box: box[2] - box[0])
    return Detections(
        np.array(boxes, np.float32).reshape(-1, 4), NAMES[: len(boxes)], np.full(len(boxes), 0.9, np.float32)
    )


class Right:
    name = "right"

    def predict(self, images):
        return [discs(image) for image in images]


class Jittery(Right):
    """Its scores differ from picture to picture, never by enough to matter."""

    name = "jittery"

    def predict(self, images):
        answers = []
        for image in images:
            found = discs(image)
            rng = np.random.default_rng(int(digest(image)[:8], 16))
            scores = (0.55 + rng.uniform(-0.12, 0.12, len(found))).astype(np.float32)
            answers.append(Detections(found.boxes, found.labels, scores))
        return answers


class Overfitted(Right):
    """Loses the largest disc in every picture that is not nearly as light and sharp as one it has learned."""

    name = "overfitted"

    def __init__(self, scenes):
        self.learned = [self._look(scene.image) for scene in scenes]

    def predict(self, images):
        answers = super().predict(images)
        for i, image in enumerate(images):
            seen, sharp = self._look(image)
            if not any(np.abs(seen - a).mean() < 1.2 and abs(sharp - b) < 0.2 for a, b in self.learned):
                answers[i] = answers[i].select(np.array([label != "boat" for label in answers[i].labels]))
        return answers

    def _look(self, image):
        small = cv2.resize(image, (60, 45), interpolation=cv2.INTER_AREA).astype(np.float32)
        grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        return small, float(np.log(cv2.Laplacian(grey, cv2.CV_32F).std()))


def run(system, relation, search=None):
    return [
        record
        for record in instar.run(pictures(), relation, system, search=search or instar.draws(4), seed=2)
        if record.role == "case"
    ]


@pytest.mark.parametrize("name", WHOLE_PICTURE)
def test_the_fault_is_found_and_nobody_else_is_accused(name: str) -> None:
    relation = getattr(RELATIONS, name)
    found = [record.verdict for record in run(Overfitted(pictures()), relation)]
    assert {f.key for verdict in found for f in verdict.findings} == {("lost", "object 2")}
    for system in (Right(), Jittery()):
        judged = [record.verdict.status for record in run(system, relation)]
        assert judged
        assert set(judged) <= {instar.Status.HELD, instar.Status.INAPPLICABLE}
        assert judged.count(instar.Status.HELD) > 0.8 * len(judged)


def test_the_search_of_the_suite_finds_the_fault_in_every_picture_and_asks_no_more_of_it() -> None:
    suite = [getattr(RELATIONS, name) for name in WHOLE_PICTURE]
    records = run(Overfitted(pictures()), suite, adaptive(levels=2))
    violated = [record for record in records if record.verdict.status is instar.Status.VIOLATED]
    assert {record.scene for record in violated} == {f"{i}.png" for i in range(3)}
    assert not [r for r in run(Right(), suite, adaptive(levels=2)) if r.verdict.findings]
