"""Driving as a task: what is read, when answers are the same, and what a mirror does to them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from instar import Observation, Relation, Status, run
from instar.core.errors import BadInput
from instar.core.frame import Frame, Moved
from instar.core.marks import make_panels
from instar.core.search import draws
from instar.core.verdict import Finding, Verdict
from instar.tasks.driving import Control, rule
from instar.tasks.driving.systems.bundled_networks import vgg16_street
from instar.tasks.driving.systems.street import street_driver
from instar.tasks.driving.task import TASK, driving
from instar.worlds.drive import drive_of, scenes

LINES = "If: lane lines are removed from the road, Then: the steering angle should keep the same."


def mirror(picture, _):
    matrix = [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]]
    return Moved(np.ascontiguousarray(picture[:, ::-1]), matrix)


mirrored = Relation("mirrored", "driving", mirror)


class Network:
    """Drives by the pixels; `how` gives the steering of a picture."""

    def __init__(self, name, how):
        self.name, self._how = name, how

    def predict(self, images):
        return [{"speed": 40.0, "steering": float(self._how(np.asarray(image)))} for image in images]


def lean(image):
    """How much lighter the left half is: exactly the opposite in a mirror."""
    half = image.shape[1] // 2
    return (image[:, :half].sum(dtype=np.int64) - image[:, half:].sum(dtype=np.int64)) / image.size


def records_of(relation, system, drives, **options):
    return [r for r in run(drives, relation, system, search=draws(1), **options) if r.role == "case"]


def outcome(record):
    """All that a reader learns of a case."""
    verdict = record.verdict
    found = [(*finding.key, round(finding.margin, 6)) for finding in verdict.findings]
    struck = [(one["kind"], one["by"]) for one in verdict.evidence.get("struck", ())]
    return record.scene, verdict.status, record.queries, found, struck


def statuses(relation, system, drives):
    return {record.verdict.status for record in records_of(relation, system, drives)}


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"speed": 41.5}, Control(41.5, None)),
        ({"speed": np.float32(3), "steering": -2}, Control(3.0, -2.0)),
        (Control(None, 4.0), Control(None, 4.0)),
    ],
)
def test_usual_answers_are_read(answer, wanted):
    assert TASK.read(None, answer) == wanted


@pytest.mark.parametrize("answer", [3.0, {"speed": np.nan}, {"brake": 1.0}, {"steering": "left"}])
def test_other_answers_are_refused(answer):
    with pytest.raises((TypeError, ValueError)):
        TASK.read(None, answer)


def findings(before, after, task=TASK):
    seen = [Observation.of(None, control) for control in (before, after)]
    return [(f.kind, f.subject, round(f.margin, 3)) for f in task.compare(*seen).findings]


def test_answers_are_the_same_within_a_tenth_and_what_fits_the_wheel():
    assert findings(Control(50, 0), Control(45, 20)) == []
    assert findings(Control(50, 0), Control(44, 20.01)) == [
        ("speed", "speed", -0.02), ("steering", "steering", -0.01),
    ]  # fmt: skip
    road = [Control(50, 0, "road"), Control(50, 1.39, "road"), Control(50, 1.4, "road")]
    assert findings(*road[:2]) == []
    assert findings(road[0], road[2]) == [("steering", "steering", -0.01)]
    assert findings(Control(50, 0), Control(44, 1.9), driving(speed=20, steering=2)) == []
    assert findings(Control(50, 0), Control(44, 2.1), driving(speed=20, steering=2)) != []
    assert TASK.read(None, {"steering": 1.0, "wheel": "road"}) == Control(None, 1.0, "road")
    with pytest.raises(ValueError, match="the wheel is steering or road, not 'rear'"):
        TASK.read(None, {"steering": 1.0, "wheel": "rear"})
    assert findings(Control(50), Control(30)) == [("speed", "speed", -0.3)]
    with pytest.raises(BadInput, match="driving: speed is -1"):
        driving(speed=-1)


def test_nothing_can_be_said_of_a_share_of_nothing_but_of_the_steering():
    still = [Observation.of(None, Control(0.0, steering)) for steering in (None, 1.0)]
    assert TASK.compare(still[0], still[0]).status is Status.INAPPLICABLE
    assert TASK.compare(still[1], still[1]).status is Status.HELD


def test_only_a_mirror_changes_the_sign_of_the_steering():
    size = (20, 30)
    for matrix, sign in (([[-1, 0, 30], [0, 1, 0], [0, 0, 1]], -1), ([[2, 0, 3], [0, 2, 0], [0, 0, 1]], 1)):
        frame = Frame(np.array(matrix, float), size, size)
        assert TASK.carry(Control(50, 3), Control(40, 5), frame) == (Control(50, 3), Control(40, 5 * sign))
        assert TASK.carry(Control(50), Control(40), frame) == (Control(50), Control(40))


def test_dials_show_what_was_said_of_the_picture_beside_them():
    image = np.zeros((20, 30, 3), np.uint8)
    frame = Frame(np.array([[-1, 0, 30], [0, 1, 0], [0, 0, 1]], float), (20, 30), (20, 30))
    source = Observation.of(image, Control(80.0, 5.0))
    after = dataclasses.replace(Observation.of(image, Control(40.0, 7.0)), frame=frame)
    before, then = make_panels(TASK, source, [after], None, Verdict.violated([Finding("speed", "speed", -1)]))
    assert [(d.name, d.value, d.low, d.high) for d in before.dials] == [
        ("speed", 80.0, 0.0, 80.0), ("steering, + is left", 5.0, 30.0, -30.0),
    ]  # fmt: skip
    assert [(d.value, d.high) for d in then.dials] == [(40.0, 80.0), (-7.0, -30.0)]
    assert [d.name for d in TASK.marks(Observation.of(image, Control(40.0))).dials] == ["speed"]


def test_a_changed_picture_shows_the_drive_it_showed_and_a_mirrored_one_its_mirror():
    (scene,) = scenes(1, seed=4, size=(80, 160))
    picture, drive = scene.image, scene.knowledge["drive"]
    kept = TASK.with_picture(picture, np.asarray(picture) // 2)
    assert drive_of(kept) == drive
    moved = mirror(picture, None)
    frame = Frame(moved.matrix, (80, 160), (80, 160))
    other = TASK.move(TASK.with_picture(picture, moved.picture), frame)
    assert drive_of(other) == dataclasses.replace(drive, mirrored=True)
    assert drive_of(TASK.move(other, frame)) == drive
    assert drive_of(TASK.with_picture(np.asarray(picture), moved.picture)) is None


def test_a_driver_that_ignores_mirroring_is_accused_and_an_antisymmetric_one_passes():
    drives = scenes(4, seed=4, size=(80, 160))
    assert statuses(mirrored, Network("leans", lean), drives) == {Status.HELD}
    accused = records_of(mirrored, Network("always left", lambda image: 29.0), drives)
    assert [f.key for r in accused for f in r.verdict.findings] == [("steering", "steering")] * 4
    assert {round(f.margin, 2) for r in accused for f in r.verdict.findings} == {20 - 58}


def test_a_careful_driver_passes_the_mirror_and_one_who_steers_by_lines_does_not():
    drives = [s for s in scenes(8, seed=4, size=(80, 160)) if s.knowledge["drive"].road.centre]
    assert statuses(mirrored, street_driver(), drives) == {Status.HELD}
    assert statuses(mirrored, street_driver(fault="steers by lines"), drives) == {Status.VIOLATED}


def test_the_mirror_in_ten_lines_judges_a_network_as_one_written_by_hand_does():
    """The hand-written one knows nothing of frames: it negates the steering itself."""

    def flip(picture, _):
        return np.ascontiguousarray(np.asarray(picture)[:, ::-1])

    def expect(source, follow_ups, _):
        before, after = source.answer, follow_ups[0].answer
        wrong = []
        if abs(before.speed - after.speed) / before.speed > 0.1:
            wrong.append(Finding("speed", "speed", 0.1 - abs(before.speed - after.speed) / before.speed))
        if abs(before.steering + after.steering) > 20:
            wrong.append(Finding("steering", "steering", 20 - abs(before.steering + after.steering)))
        return Verdict.violated(wrong) if wrong else Verdict.held()

    by_hand = Relation("mirrored", "driving", flip, expect=expect)
    drives = scenes(12, seed=4)
    for system in (vgg16_street(), Network("leans", lean)):
        outcomes = [records_of(one, system, drives) for one in (mirrored, by_hand)]
        told = [list(map(outcome, records)) for records in outcomes]
        assert told[0] == told[1]
    assert {record.verdict.status for record in outcomes[0]} == {Status.HELD}


def test_a_wavering_finding_of_sameness_is_struck_and_a_missing_reaction_is_not():
    """The steering of this driver depends on the last bit of the picture, and it never slows down."""

    def wavers(image):
        return 9.0 * (int(image.sum()) % 2)

    drives = [s for s in scenes(8, seed=4) if s.knowledge["drive"].time == "day"][:4]
    same, slow = rule(LINES), rule("If: a pedestrian appears on the roadside, Then: slow down.")
    system = Network("wavers", wavers)
    for record in records_of(same, system, drives):
        assert record.verdict.status is not Status.VIOLATED
    accused = records_of(slow, system, drives)
    judged = [r for r in accused if r.verdict.status in (Status.HELD, Status.VIOLATED)]
    assert len(judged) >= 2
    assert {r.verdict.status for r in judged} == {Status.VIOLATED}
    assert {f.key for r in judged for f in r.verdict.findings} == {("speed", "speed")}
    assert {r.queries for r in judged} == {1 + 3 * 2}  # the follow-up, and with its source under conditions
    nulls = [r for r in run(drives, slow, system, search=draws(1)) if r.role == "null"]
    assert nulls == []
