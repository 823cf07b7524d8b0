"""Exported follow-ups whose frame moved: labels lie on the objects, also in a mirror and in a crop."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

import drawn
import instar
from instar.core.errors import BadInput
from instar.core.frame import Moved
from instar.core.referees import Referee
from instar.core.replay import Replay, replay
from instar.core.system import ask
from instar.imaging.geometry import iou
from instar.scenes import load_scenes
from instar.tasks.detection.export import export_coco, export_yolo
from instar.tasks.detection.task import TASK
from instar.worlds.street import scenes


def mirror(picture, _):
    return Moved(picture[:, ::-1], [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]])


def crop(picture, _):
    """The lower right three quarters of each side."""
    height, width = picture.shape[:2]
    top, left = height // 4, width // 4
    return Moved(picture[top:, left:], [[1, 0, -left], [0, 1, -top], [0, 0, 1]])


def double(picture, _):
    larger = cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    return Moved(larger, [[2, 0, 0], [0, 2, 0], [0, 0, 1]])


def loses_when_moved(sources, image):
    """Right about the pictures as they were; in any other it misses the first object."""
    found = drawn.exact(image)
    known = any(np.array_equal(image, source) for source in sources)
    return found if known else found.select(np.arange(len(found)) > 0)


def cases(apply, street, *, annotated: bool = True) -> list[Replay]:
    if not annotated:
        street = [instar.Scene.of(scene.id, scene.image) for scene in street]
    pictures = [scene.image for scene in street]
    # Null changes are other pictures too: without them, what is missed is believed.
    relation = instar.Relation("moved", replace(TASK, nulls=None), apply=apply)
    system = drawn.Drawn("loses when moved", partial(loses_when_moved, pictures))
    by_id = {scene.id: scene for scene in street}

    def asking(queries):
        return ask(system, [query.input for query in queries])

    records = [r for r in instar.run(street, relation, system) if r.verdict.findings]
    return [replay(record, by_id[record.scene], relation, asking, known_as=None) for record in records]


@pytest.mark.parametrize("apply", [mirror, crop, double], ids=lambda f: f.__name__)
@pytest.mark.parametrize("annotated", [True, False])
def test_coco_boxes_lie_on_the_objects_of_the_moved_picture(apply, annotated, tmp_path: Path) -> None:
    street = scenes(4, size=(240, 320))
    found = cases(apply, street, annotated=annotated)
    assert len(found) >= 3
    referees = [Referee(drawn.Drawn(name, drawn.exact)) for name in ("first", "second")]
    assert export_coco(found, tmp_path, run="R", system="S", referees=referees) == len(found)
    document = json.loads((tmp_path / "annotations.json").read_text())
    assert {one["instar"]["origin"] for one in document["annotations"]} == {
        "annotated" if annotated else "agreed"
    }
    for scene in load_scenes(str(tmp_path / "annotations.json")):
        height, width = scene.image.shape[:2]
        there = drawn.exact(scene.image)
        assert len(scene.objects) >= len(there) > 0
        for box, label in zip(there.boxes, there.labels):
            same = np.array([one.box for one in scene.objects if one.label == label], np.float32)
            assert iou(box[None], same).max() > 0.7
        for one in scene.objects:
            x1, y1, x2, y2 = one.box
            assert 0 <= x1 < x2 <= width
            assert 0 <= y1 < y2 <= height


def test_what_nobody_can_tell_is_not_labelled_by_the_system_itself(tmp_path: Path) -> None:
    found = cases(mirror, scenes(2, size=(240, 320)), annotated=False)
    with pytest.raises(BadInput, match="has no annotations, and 0 referees answered"):
        export_coco(found, tmp_path, run="R", system="S")


def test_yolo_boxes_are_those_of_coco(tmp_path: Path) -> None:
    found = cases(mirror, scenes(4, size=(240, 320)))
    export_coco(found, tmp_path / "coco", run="R", system="S")
    export_yolo(found, tmp_path / "yolo", run="R", system="S")
    coco = {Path(s.id).name: s.objects for s in load_scenes(str(tmp_path / "coco" / "annotations.json"))}
    for scene in load_scenes(str(tmp_path / "yolo")):
        boxes = [one.box for one in coco[Path(scene.id).name]]
        np.testing.assert_allclose([one.box for one in scene.objects], boxes, atol=0.02)


def test_what_a_crop_cuts_off_is_not_labelled(tmp_path: Path) -> None:
    street = scenes(4, size=(240, 320))
    found = cases(crop, street)
    export_coco(found, tmp_path, run="R", system="S")
    document = json.loads((tmp_path / "annotations.json").read_text())
    truth = {scene.id: scene.objects for scene in street}
    shown = [one for case in found for one in truth[case.record.scene] if one.box[2] > 80 and one.box[3] > 60]
    everything = [one for case in found for one in truth[case.record.scene]]
    assert len(document["annotations"]) == len(shown) < len(everything)
