"""What shows an answer, what becomes of each mark, and how the two pictures of a case are drawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from instar.core.change import Change, Value
from instar.core.frame import Frame
from instar.core.marks import Panel, make_panels
from instar.core.scene import Observation
from instar.core.verdict import Verdict
from instar.imaging.nulls import Shift
from instar.imaging.sheets import BAR
from instar.report.case_picture import FATE_COLOURS, draw_case
from instar.tasks.detection import Detections, same_objects
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.task import TASK

FOUND, LOST, NEW, MOVED, RENAMED, MADE, UNSURE = (
    FATE_COLOURS[fate] for fate in ("matched", "lost", "new", "moved", "renamed", "change", "unsure")
)
GREY = np.full((300, 400, 3), 128, np.uint8)
CHANGE = Insertion("x", "person", 300, 100, 40, 120, "hard", 1.0, 0.0)
CAR = ("car", (50.0, 100.0, 150.0, 180.0), 0.9)
DOG = ("dog", (200.0, 20.0, 240.0, 60.0), 0.9)
MIRROR = Frame(np.array([[-1.0, 0, 400], [0, 1, 0], [0, 0, 1]]), (300, 400), (300, 400))


def seen(*objects, image: np.ndarray = GREY) -> Observation:
    boxes = np.array([box for _, box, _ in objects], np.float32).reshape(-1, 4)
    scores = np.array([score for _, _, score in objects], np.float32)
    return Observation.of(image, Detections(boxes, tuple(label for label, _, _ in objects), scores))


def panels(
    before: Observation, after: Observation, change: Change = CHANGE, verdict: Verdict | None = None
) -> list[Panel]:
    pasted = change.box if isinstance(change, Insertion) else None
    verdict = verdict or same_objects(before.answer, after.answer, pasted=pasted)
    return make_panels(TASK, before, [after], change, verdict)


def drawn(*case, **options) -> np.ndarray:
    sheet = draw_case(panels(*case, **options), "words")
    assert sheet is not None
    return sheet


def colours(part: np.ndarray) -> set[tuple[int, ...]]:
    present = {tuple(colour) for colour in part.reshape(-1, 3).tolist()}
    return present & set(FATE_COLOURS.values())


def halves(sheet: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    body = sheet[BAR:]
    return body[:, : body.shape[1] // 2], body[:, body.shape[1] // 2 :]


def marked(panel: Panel) -> dict[str, tuple[str, list[float]]]:
    """The fate of each mark, and its box."""
    boxes = [[*np.min(mark.outline, axis=0), *np.max(mark.outline, axis=0)] for mark in panel.marks]
    return {mark.label: (mark.fate, box) for mark, box in zip(panel.marks, boxes)}


@pytest.mark.parametrize(
    ("after", "left", "right"),
    [
        ([CAR], {FOUND}, {FOUND, MADE}),
        ([], {LOST}, {LOST, MADE}),
        ([CAR, DOG], {FOUND}, {FOUND, NEW, MADE}),
        ([("truck", CAR[1], 0.9)], {RENAMED}, {RENAMED, MADE}),
        ([("car", (110.0, 100.0, 210.0, 180.0), 0.9)], {MOVED}, {MOVED, MADE}),
    ],
    ids=["held", "lost", "invented", "renamed", "drifted"],
)
def test_each_fate_has_a_colour_of_its_own(after, left: set, right: set) -> None:
    one, other = halves(drawn(seen(CAR), seen(*after)))
    assert (colours(one), colours(other)) == (left, right)


def test_marks_are_the_boxes_that_count_named_like_the_findings() -> None:
    panel = TASK.marks(seen(("cat", (5, 6, 9, 9), 0.2), CAR))
    assert [(mark.subject, mark.label) for mark in panel.marks] == [("object 1", "car 0.90")]
    assert panel.picture is GREY


def test_what_is_lost_is_outlined_where_it_was_in_both_pictures() -> None:
    before, after = panels(seen(CAR, DOG), seen(DOG))
    assert marked(before) == {"car 0.90": ("lost", list(CAR[1])), "dog 0.90": ("matched", list(DOG[1]))}
    assert marked(after) == {
        "dog 0.90": ("matched", list(DOG[1])),
        "pasted person": ("change", [300, 100, 340, 220]),
        "car lost": ("lost", list(CAR[1])),
    }


def test_a_mirrored_follow_up_has_its_marks_in_the_mirrored_place() -> None:
    # Answers of follow-ups are in the source's frame, and their pictures are not.
    after = replace(seen(CAR, ("cat", (10, 200, 60, 260), 0.9)), frame=MIRROR)
    before, after = panels(seen(CAR, DOG), after, Value(None, "mirrored"))
    assert marked(before)["dog 0.90"] == ("lost", list(DOG[1]))
    assert marked(after) == {
        "car 0.90": ("matched", [250, 100, 350, 180]),
        "dog lost": ("lost", [160, 20, 200, 60]),
        "new cat 0.90": ("new", [340, 200, 390, 260]),
    }


def test_what_was_struck_out_is_unsure() -> None:
    struck = [{"kind": "lost", "subject": "object 1", "margin": -0.9, "by": "null JPEG 95"}]
    verdict = same_objects(seen(CAR, DOG).answer, seen(DOG).answer)
    verdict = replace(verdict, evidence={"struck": struck})
    before, _ = panels(seen(CAR, DOG), seen(DOG), verdict=verdict)
    assert {label: fate for label, (fate, _) in marked(before).items()} == {
        "car 0.90": "lost",
        "dog 0.90": "unsure",
    }
    unstable = Verdict.inapplicable("unstable", kind="unstable", struck=struck)
    assert colours(halves(drawn(seen(CAR, DOG), seen(CAR), verdict=unstable))[0]) == {FOUND, UNSURE}


def test_pictures_lie_side_by_side_and_wide_ones_above_each_other() -> None:
    assert drawn(seen(CAR), seen(CAR)).shape == (BAR + 465, 620 * 2 + 6, 3)
    wide = np.full((200, 500, 3), 128, np.uint8)
    change = Insertion("x", "person", 300, 10, 40, 120, "hard", 1.0, 0.0)
    assert drawn(seen(CAR, image=wide), seen(CAR, image=wide), change).shape == (BAR + 248 * 2 + 6, 620, 3)


def test_a_null_change_has_nothing_pasted() -> None:
    assert MADE not in colours(drawn(seen(CAR), seen(CAR), Shift(1, 0)))


def test_labels_of_objects_at_one_place_do_not_cover_each_other() -> None:
    one = drawn(seen(CAR), seen(CAR))
    two = drawn(seen(CAR, ("truck", *CAR[1:])), seen(CAR, ("truck", *CAR[1:])))
    area = [int((halves(sheet)[0] == FOUND).all(axis=2).sum()) for sheet in (one, two)]
    assert area[1] > 1.4 * area[0]


def test_objects_at_the_edge_and_large_ones_are_drawn_too() -> None:
    all_of_it = ("car", (0.0, 0.0, 400.0, 300.0), 0.9)
    sheet = drawn(seen(all_of_it), seen(all_of_it), verdict=Verdict.held(1.0))
    assert colours(sheet) == {FOUND, MADE}


def test_the_source_is_left_as_it_was() -> None:
    before = seen(CAR)
    drawn(before, seen())
    assert (before.input == 128).all()
