"""Every family gives its cases as panels: what was found in both, lost, new, moved, and what was changed."""

from __future__ import annotations

import numpy as np
from instar.tasks.detection.panels import panels as detection_panels

import instar
from instar.core.verdict import Verdict
from instar.tasks.detection.answers import Detections
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.compare import same_objects
from instar.tasks.driving.answers import Control
from instar.tasks.driving.panels import panels as driving_panels
from instar.tasks.interpretation.answers import Asked, Explanation
from instar.tasks.interpretation.changes import Unchanged
from instar.tasks.interpretation.panels import panels as interpretation_panels
from instar.tasks.text.answers import Quads
from instar.tasks.text.changes import Light
from instar.tasks.text.compare import same_text
from instar.tasks.text.panels import panels as text_panels

IMAGE = np.full((60, 80, 3), 120, np.uint8)


def seen(*things):
    boxes = np.array([box for _, box in things], np.float32).reshape(-1, 4)
    return Detections(boxes, tuple(name for name, _ in things), np.full(len(things), 0.9, np.float32))


def fates(panel):
    return sorted((mark.fate, mark.label) for mark in panel.marks)


def test_detection_shows_the_fate_of_every_box():
    car, dog, cat, cow = (
        ("car", (0, 0, 10, 10)),
        ("dog", (20, 0, 30, 10)),
        ("cat", (40, 0, 50, 10)),
        ("cow", (0, 30, 20, 40)),
    )
    before = seen(car, dog, cat, cow)
    after = seen(car, ("truck", cat[1]), ("cow", (0, 34, 20, 44)), ("bus", (60, 30, 75, 50)))
    verdict = same_objects(before, after)
    change = Insertion("0" * 32, "bird", 60, 0, 8, 8, "hard", 1.0, 0.0)
    first, second = detection_panels(
        instar.Observation.of(IMAGE, before), [instar.Observation.of(IMAGE, after)], change, verdict
    )
    assert fates(first) == [
        ("lost", "dog 0.90"), ("matched", "car 0.90"), ("moved", "cow 0.90"), ("renamed", "cat 0.90"),
    ]  # fmt: skip
    assert fates(second) == [
        ("change", "pasted bird"), ("lost", "dog lost"), ("matched", "car 0.90"), ("moved", "moved cow 0.90"),
        ("new", "new bus 0.90"), ("renamed", "now truck 0.90"),
    ]  # fmt: skip


def test_text_shows_lost_and_new_quads():
    quads = np.array([[[x, 5], [x + 15, 5], [x + 15, 15], [x, 15]] for x in (2, 30, 55)], np.float32)
    before, after = Quads(quads[:2]), Quads(quads[[0, 2]])
    first, second = text_panels(
        instar.Observation.of(IMAGE, before), [instar.Observation.of(IMAGE, after)], Light(9.0),
        same_text(before, after),
    )  # fmt: skip
    assert fates(first) == [("lost", ""), ("matched", "")]
    assert fates(second) == [("lost", "lost"), ("matched", ""), ("new", "new")]


def test_driving_shows_speed_and_steering_on_one_scale():
    source = instar.Observation.of(IMAGE, Control(80.0, -5.0))
    after = [instar.Observation.of(IMAGE, Control(speed, 2.0)) for speed in (70.0, 60.0)]
    shown = driving_panels(source, after, None, Verdict.held(1.0))
    assert [panel.title for panel in shown] == ["before", "after block 1", "after block 2"]
    assert [(dial.name, dial.value) for dial in shown[0].dials] == [
        ("speed", 80.0),
        ("steering, + is left", -5.0),
    ]
    assert {dial.high for panel in shown for dial in panel.dials if dial.name == "speed"} == {80.0}


def test_interpretation_lays_its_heat_map_over_the_picture():
    heat = np.zeros((6, 8), np.float32)
    heat[1:3, 1:4] = 1.0
    asked = Asked(IMAGE, "dog")
    one = instar.Observation.of(asked, Explanation(0.9, heat))
    verdict = Verdict.violated([instar.Finding("moved", "", -0.1)])
    first, second = interpretation_panels(one, [one], Unchanged(), verdict, kept=0.2)
    assert (first.title, second.title) == ("dog, before: sure by 0.90", "dog, after: sure by 0.90")
    np.testing.assert_array_equal(first.heat, heat)
    assert [mark.fate for mark in first.marks] == ["matched"]
    assert [mark.fate for mark in second.marks] == ["matched", "moved"]


def test_an_explanation_that_is_held_against_the_truth_shows_it():
    asked = Asked(IMAGE, "dog")
    one = instar.Observation.of(asked, Explanation(0.9, np.ones((6, 8), np.float32)))
    missed = Verdict.violated([instar.Finding("beside the object", "", -0.1)])
    for verdict, fate in ((missed, "lost"), (Verdict.held(0.2), "matched")):
        _, second = interpretation_panels(
            one, [one], Unchanged(), verdict, kept=0.2, truth=lambda scene, asked: [(1, 1, 5, 4)]
        )
        assert [mark.fate for mark in second.marks if mark.label == "dog"] == [fate]
