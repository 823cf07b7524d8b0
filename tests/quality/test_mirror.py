"""A user's relation of three lines has exactly the verdicts of one that is written out by hand.

The hand-written one asks the system itself, computes with boxes itself, and makes its own null changes and
repetitions: whatever the core does for every relation is here in plain sight.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import drawn
import instar
from instar.imaging.codecs import jpeg_round_trip
from instar.imaging.photometric import moved
from instar.tasks.detection import same_objects
from instar.tasks.detection.systems.street import street_blobs, street_exact


def mirror(picture, _):
    return instar.Moved(picture[:, ::-1], [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]])


MIRRORED = instar.Relation("mirrored", "detection", apply=mirror)


def test_that_is_all_a_user_writes():
    lines = [*inspect.getsource(mirror).splitlines(), 'MIRRORED = instar.Relation("mirrored", ...)']
    assert len(lines) <= 10


def left_half(change, image):
    """The right answer, changed for whatever has its middle in the left half of the picture."""
    found = drawn.exact(image)
    left = found.boxes[:, [0, 2]].mean(axis=1) < image.shape[1] / 2
    return change(found, left)


def lose(found, left):
    return found.select(~left)


def rename(found, left):
    labels = tuple("bus" if one and label == "car" else label for one, label in zip(left, found.labels))
    return drawn._with(found, labels=labels)


def drift(found, left):
    """The box keeps its left side and ends after two fifths of its width."""
    boxes = found.boxes.copy()
    boxes[left, 2] -= np.float32(0.6) * (boxes[left, 2] - boxes[left, 0])
    return drawn._with(found, boxes=boxes)


# Each with the kinds that mirror must find, and the fewest scenes with a failure and with struck findings.
SYSTEMS = {
    "exact": (street_exact(), set(), 0, 0),
    "blobs": (street_blobs(), set(), 0, 0),  # what fuses neighbours fuses them in the mirror too
    "loses": (drawn.Drawn("loses what is left", partial(left_half, lose)), {"lost", "invented"}, 15, 0),
    "renames": (drawn.Drawn("renames what is left", partial(left_half, rename)), {"renamed"}, 10, 0),
    "drifts": (drawn.Drawn("cuts what is left", partial(left_half, drift)), {"drifted"}, 15, 0),
    "jitters": (drawn.jitters(), set(), 0, 5),
    "loses and jitters": (drawn.jitters(partial(left_half, lose)), {"lost", "invented"}, 15, 5),
}


@pytest.fixture(scope="module")
def street():
    return instar.load_scenes("street:20")


def by_core(street, system):
    records = [r for r in instar.run(street, MIRRORED, system) if r.role == "case"]
    assert len(records) == len(street)  # one change is possible, so there is one case a scene
    return {record.scene: record.verdict for record in records}


def by_hand(scene, system):
    image = scene.image
    height, width = image.shape[:2]
    (before,) = system.predict([image])

    def inside(boxes):
        """Nine tenths of a box are in the picture."""
        wide = np.minimum(boxes[:, 2], width) - np.maximum(boxes[:, 0], 0)
        high = np.minimum(boxes[:, 3], height) - np.maximum(boxes[:, 1], 0)
        whole = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        return np.maximum(wide, 0) * np.maximum(high, 0) >= np.float32(0.9) * whole

    def flipped(boxes):
        x1, y1, x2, y2 = boxes.T
        return np.stack([width - x2, y1, width - x1, y2], axis=1)

    def findings(picture, *, is_mirrored, dx=0, dy=0):
        """What differs in a picture that was mirrored first, if at all, and then moved by (dx, dy)."""
        (after,) = system.predict([np.ascontiguousarray(picture)])
        step = np.float32([dx, dy, dx, dy])
        there = (flipped(before.boxes) if is_mirrored else before.boxes) + step
        here = flipped(after.boxes - step) if is_mirrored else after.boxes - step
        verdict = same_objects(
            replace(before, aside=~inside(there)), replace(after, boxes=here, aside=~inside(here))
        )
        return {finding.key: finding.margin for finding in verdict.findings}

    def brighter(levels):
        return np.clip(image.astype(int) + levels, 0, 255).astype(np.uint8)

    turned = image[:, ::-1]
    left = findings(turned, is_mirrored=True)
    if not left:
        return "held", "", {}
    noise = [findings(picture, is_mirrored=False) for picture in (brighter(1), brighter(-1))]
    noise.append(findings(jpeg_round_trip(image, 95), is_mirrored=False))
    for dx, dy in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        noise.append(findings(moved(image, dx, dy), is_mirrored=False, dx=dx, dy=dy))
    left = {key: margin for key, margin in left.items() if not any(key in shown for shown in noise)}
    if not left:
        return "inapplicable", "unstable: null changes show it too", {}
    turned = np.ascontiguousarray(turned)
    for again in (
        findings(jpeg_round_trip(turned, 95), is_mirrored=True),
        findings(moved(turned, 1, 0), is_mirrored=True, dx=1),
    ):
        left = {key: margin for key, margin in left.items() if key in again}
    if not left:
        return "inapplicable", "unstable: it does not recur", {}
    return "violated", "", left


@pytest.mark.parametrize(("system", "kinds", "violated", "struck"), SYSTEMS.values(), ids=SYSTEMS)
def test_mirror_has_the_verdicts_of_a_relation_written_by_hand(system, kinds, violated, struck, street):
    verdicts = by_core(street, system)
    for scene in street:
        status, reason, findings = by_hand(scene, system)
        verdict = verdicts[scene.id]
        assert (verdict.status.value, verdict.reason) == (status, reason)
        assert {f.key: f.margin for f in verdict.findings} == pytest.approx(findings, abs=1e-6)
    assert {finding.kind for verdict in verdicts.values() for finding in verdict.findings} == kinds
    assert sum(verdict.status is instar.Status.VIOLATED for verdict in verdicts.values()) >= violated
    assert sum("struck" in verdict.evidence for verdict in verdicts.values()) >= struck
