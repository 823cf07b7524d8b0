"""The part that a finding is about: in the picture, around the thing, and the same part in each panel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.core.frame import Frame
from instar.core.marks import Mark, Panel
from instar.core.record import Record
from instar.core.verdict import Finding, Verdict
from instar.report.case_picture import THUMBNAIL, draw_thumbnail
from instar.report.close_up import close_ups, cut_out, finding_box, outline_change

SIZE = (480, 640)


def record(**evidence: object) -> Record:
    return Record("0", "a", "a", "r", 0, None, Verdict.violated([Finding("lost", "a", -0.5, evidence)]))


def panel(*marks: Mark, frame: Frame | None = None) -> Panel:
    height, width = SIZE
    picture = np.zeros((height, width, 3), np.uint8)
    picture[..., 0], picture[..., 1] = np.arange(width) // 4, np.arange(height)[:, None] // 4
    return Panel("before", picture, marks, frame=frame)


def moved(matrix: list[list[float]]) -> Frame:
    return Frame(np.array(matrix, np.float64), SIZE, SIZE)


@given(
    st.tuples(*[st.floats(-100, 700)] * 4),
    st.tuples(st.floats(-2, 2), st.floats(-600, 600), st.floats(-600, 600)),
)
def test_a_part_lies_in_its_picture_whatever_the_box_and_the_frame(box, frame):
    scale, right, down = frame
    turned = moved([[scale or 1, 0, right], [0, scale or 1, down], [0, 0, 1]])
    for part in close_ups(record(was={"box": box}), [panel(), panel(frame=turned)]):
        x, y, width, height = part
        assert 0 <= x < x + width <= SIZE[1]
        assert 0 <= y < y + height <= SIZE[0]


def test_the_thing_is_in_the_middle_and_so_it_is_once_mirrored():
    mirrored = moved([[-1, 0, SIZE[1]], [0, 1, 0], [0, 0, 1]])
    first, second = close_ups(record(was={"box": [100, 200, 160, 260]}), [panel(), panel(frame=mirrored)])
    assert first == (21, 148, 218, 163)
    assert second == (SIZE[1] - first[0] - first[2], *first[1:])


def test_what_was_changed_nearby_is_shown_too_and_what_is_far_away_is_not():
    near, far = (Mark.box(box, "change") for box in ([170, 200, 230, 260], [560, 20, 620, 80]))
    about = record(was={"box": [100, 200, 160, 260]})
    assert (
        close_ups(about, [panel(), panel(near)])[0][0]
        < 100
        < 230
        < sum(close_ups(about, [panel(), panel(near)])[0][::2])
    )
    assert close_ups(about, [panel(), panel(far)]) == close_ups(about, [panel(), panel()])


def test_a_finding_without_a_place_is_shown_where_the_change_is_or_else_whole():
    speed = record(was=30.0)
    assert close_ups(speed, [panel(), panel()]) == []
    x, y, width, height = close_ups(speed, [panel(), panel(Mark.box([300, 200, 340, 280], "change"))])[1]
    assert x < 300 < 340 < x + width
    assert y < 200 < 280 < y + height


@pytest.mark.parametrize("box", [[0, 0, 640, 480], [50, 50, 500, 330]])
def test_a_large_thing_is_shown_in_the_whole_picture(box):
    assert close_ups(record(was={"box": box}), [panel(), panel()]) == []


def test_a_part_is_cut_out_with_its_marks_and_its_heat():
    heat = np.zeros((12, 16), np.float32)
    heat[5:8, 4:6] = 1
    inside, outside = Mark.box([110, 210, 130, 230], "lost"), Mark.box([500, 10, 520, 30])
    whole = Panel("after", panel().picture, (inside, outside), heat=heat)
    part = cut_out(whole, (100, 200, 80, 60))
    np.testing.assert_array_equal(part.picture, whole.picture[200:260, 100:180])
    assert [mark.outline[0] for mark in part.marks] == [(10, 10)]
    assert part.heat.shape == (60, 80)
    assert part.heat[20:30, 65:75].min() > part.heat[:, :20].max()


def test_a_thumbnail_is_before_and_after_beside_each_other():
    lost = Mark.box([100, 200, 160, 260], "lost")
    drawn = draw_thumbnail(record(was={"box": [100, 200, 160, 260]}), [panel(), panel(lost)])
    assert drawn.shape[:2] == THUMBNAIL
    half = THUMBNAIL[1] // 2
    assert (drawn[:, half - 2 : half + 2] == 255).all()
    red = (drawn[..., 0] > 150) & (drawn[..., 1] < 90) & (drawn[..., 2] < 90)
    assert red[:, half:].sum() > 500
    assert not red[:, :half].any()


def test_what_was_changed_is_outlined_where_nothing_else_is():
    before = panel()
    after = panel()
    after.picture[100:180, 200:240] = 255
    first, second = outline_change([before, after])
    assert first is before
    (mark,) = second.marks
    assert mark.fate == "change"
    assert np.allclose(mark.outline[0], (200, 100), atol=3)
    assert np.allclose(mark.outline[2], (240, 180), atol=3)


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (np.full((*SIZE, 3), 200, np.uint8), "it is everywhere"),
        (panel().picture + np.uint8(3), "it cannot be seen"),
        (np.zeros((100, 100, 3), np.uint8), "the picture has another size"),
    ],
)
def test_a_change_without_a_place_is_not_outlined(after, why):
    assert outline_change([panel(), Panel("after", after)])[1].marks == (), why


def test_what_is_outlined_by_a_task_is_left_as_it_is():
    panels = [panel(Mark.box([1, 2, 3, 4])), Panel("after", np.zeros((*SIZE, 3), np.uint8))]
    assert outline_change(panels) is panels


def test_another_place_than_that_of_the_finding_can_be_looked_at():
    about, box = record(was={"box": [100, 200, 160, 260]}), (400.0, 100.0, 460.0, 160.0)
    assert close_ups(about, [panel()], place=box) == close_ups(record(was={"box": box}), [panel()])
    assert finding_box(Finding("lost", "a", -0.5, {"was": {"box": box}})) == box
    assert finding_box(Finding("speed", "", -0.5, {"was": 3.0})) == ()
