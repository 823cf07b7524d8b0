"""Text localization as a task: frames, marks, and what known words say about findings."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import instar
import planted_text
from instar.core.frame import Frame, Moved
from instar.core.marks import make_panels
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene
from instar.core.task import Opinion, find_task
from instar.core.verdict import Finding, Status, Verdict
from instar.imaging.nulls import Shift
from instar.imaging.words import Word
from instar.tasks.text import Quads, brightness_up, masking, text, watermark
from instar.tasks.text.changes import Brightness, Masks, Perspective, Watermark
from instar.tasks.text.compare import same_text
from instar.tasks.text.polygons import quad_iou
from instar.tasks.text.systems.page import page_exact
from instar.tasks.text.task import TASK, carry
from instar.tasks.text.verification import verify
from instar.worlds.page import scenes

SIZE = (200, 300)
IMAGE = np.full((*SIZE, 3), 120, np.uint8)


def box(x, y, width=60, height=20):
    return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]


def found(*boxes, **more):
    return Quads(np.array(boxes, np.float32).reshape(-1, 4, 2), **more)


def seen(*boxes, words=None):
    knowledge = {} if words is None else {"words": words}
    scene = Scene("page", lambda: IMAGE, knowledge=knowledge)
    return Observation.of(IMAGE, found(*boxes), scene)


def mirror(picture, _):
    matrix = [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]]
    return Moved(np.ascontiguousarray(picture[:, ::-1]), matrix)


def crop(picture, _):
    """The right half."""
    half = picture.shape[1] // 2
    return Moved(np.ascontiguousarray(picture[:, half:]), [[1, 0, -half], [0, 1, 0], [0, 0, 1]])


A, B, C, D = box(5, 5), box(100, 5), box(5, 100), box(100, 100)
MIRROR = np.array([[-1.0, 0, 300], [0, 1, 0], [0, 0, 1]])
pushes = st.tuples(*[st.tuples(st.integers(0, 50), st.integers(0, 50))] * 4)
corners = st.tuples(st.integers(0, 200), st.integers(0, 150))


def test_the_task_is_found_by_its_name_and_shared_by_equal_settings():
    assert find_task("text") is TASK is text()
    assert text(eps=0.3) is text(eps=0.3) is not TASK
    with pytest.raises(instar.InstarError, match="text: eps is 0"):
        text(eps=0)


def test_settings_decide_what_is_the_same():
    before, after = seen(A), seen(box(35, 5))  # a third of both is common
    assert TASK.compare(before, after).status is Status.VIOLATED
    assert text(eps=0.9).compare(before, after).status is Status.HELD


def test_a_shift_is_carried_back_exactly():
    quads = np.float32([[[0.1, 0.7], [60.3, 2.2], [59.9, 21.4], [3.3, 18.6]]])
    frame = Frame(Shift(1, -1).apply(IMAGE).matrix, SIZE, SIZE)
    _, after = carry(Quads(quads), Quads(quads), frame)
    assert (after.quads == quads - np.float32([1, -1])).all()


@given(pushes, corners)
def test_quads_go_through_a_perspective_and_back(pushed, at):
    change = Perspective(300, 200, 50, pushed)
    frame = Frame(change.matrix, SIZE, (300, 400))
    before = found(box(*at))
    after = Quads(frame.to_follow_up(before.quads).astype(np.float32))
    here, there = carry(before, after, frame)
    assert there.quads == pytest.approx(before.quads, abs=1e-2)
    assert here.shown.all()
    assert there.shown.tolist() == [at[0] <= 240 + 6 and at[1] <= 180]


def test_quads_run_clockwise_from_the_top_left_also_out_of_a_mirror():
    frame = Frame(MIRROR, SIZE, SIZE)
    _, after = carry(found(A), found(box(300 - 5 - 60, 5)), frame)
    assert after.quads.tolist() == [A]


def test_what_one_of_the_frames_does_not_show_is_set_aside():
    frame = Frame(np.array([[1.0, 0, -100], [0, 1, 0], [0, 0, 1]]), SIZE, (200, 100))
    before, after = carry(found(A, B, box(180, 5), box(150, 5)), found(box(0, 5), box(-5, 100)), frame)
    assert before.shown.tolist() == [False, True, False, False]
    assert after.quads.tolist() == [B, box(95, 100)]
    assert after.shown.tolist() == [True, True]


def test_what_is_left_of_a_word_that_an_edge_cuts_is_neither_lost_nor_new():
    frame = Frame(np.array([[1.0, 0, -120], [0, 1, 0], [0, 0, 1]]), SIZE, (200, 180))
    source, left = found(B, D), found(box(0, 5, 40, 20))  # of B two thirds are left, and so are of D
    for before, after in (carry(source, left, frame), carry(left, source, _inverted(frame))[::-1]):
        assert same_text(before, after).status is Status.HELD
        assert same_text(before, after).evidence["stability"] == 1.0


def _inverted(frame):
    return Frame(frame.back, frame.size, frame.source_size)


def test_one_box_around_everything_excuses_no_lost_word_although_it_overshoots():
    change = Perspective(300, 200, 50, ((0, 0),) * 4)
    frame = Frame(change.matrix, SIZE, (300, 400))
    before, after = carry(found(A, B), found(box(0, 0, 400, 300)), frame)
    verdict = same_text(before, after)
    assert after.shown.tolist() == [False]
    assert sorted(finding.key for finding in verdict.findings) == [
        ("resized", "box 0"),
        ("resized", "box 1"),
    ]


def test_a_box_that_overshoots_its_picture_counts_with_what_is_inside():
    frame = Frame(Shift(1, 0).apply(IMAGE).matrix, SIZE, SIZE)
    wide = box(-30, 5)
    before, after = carry(found(wide), found(wide), frame)
    assert before.shown.all()
    assert after.shown.all()


def test_what_lies_beyond_the_horizon_of_a_steep_perspective_is_set_aside():
    steep = np.array([[1.0, 0, 0], [0, 1, 0], [-0.005, 0, 1]])  # at x = 200 everything is infinitely far
    before, _ = carry(found(A, box(180, 5), box(230, 5)), found(), Frame(steep, SIZE, SIZE))
    assert before.shown.tolist() == [True, False, False]
    assert before.quads[2].tolist() == box(230, 5)


@pytest.mark.parametrize(
    "relation", [Relation("mirrored", "text", mirror), Relation("cropped", "text", crop)]
)
def test_a_relation_of_one_function_passes_a_right_locator_and_catches_one_that_forgets_the_frame(relation):
    right = list(instar.run(scenes(3), relation, page_exact()))
    assert {record.verdict.status for record in right} == {Status.HELD}
    wrong = list(instar.run(scenes(3), relation, planted_text.forgets_to_scale_back()))
    cases = [record for record in wrong if record.role == "case"]
    # Of the right half of a page the fault makes another size; a mirrored page has the size of the page.
    expected = Status.VIOLATED if relation.name == "cropped" else Status.HELD
    assert {record.verdict.status for record in cases} == {expected}


def test_a_locator_that_answers_as_if_nothing_was_mirrored_is_caught():
    page = scenes(1)[0]
    answer = page_exact().predict([page.image])[0]
    system = planted_text.Locator("remembers", lambda image: answer)
    records = list(instar.run([page], Relation("mirrored", "text", mirror), system))
    assert [r.verdict.status for r in records if r.role == "case"] == [Status.VIOLATED]


def test_words_that_the_follow_up_does_not_show_need_not_be_found():
    words = [Word(np.float32(A), "a"), Word(np.float32(B), "b")]
    source = seen(A, B, words=words)
    frame = Frame(np.array([[1.0, 0, -90], [0, 1, 0], [0, 0, 1]]), SIZE, (200, 210))
    before, answer = carry(source.answer, found(box(10, 5)), frame)
    follow_up = replace(seen(words=words), answer=answer, frame=frame)
    verdict = TASK.compare(replace(source, answer=before), follow_up)
    assert (verdict.status, verdict.evidence["accuracy"]) == (Status.HELD, [1, 1, 1, 1])


def fates(panel):
    return sorted((mark.fate, mark.outline[0]) for mark in panel.marks)


def panels(before, after, change, verdict):
    return make_panels(TASK, before, [after], change, verdict)


def test_marks_have_the_text_and_the_subject_of_findings():
    source = replace(seen(A, B), answer=found(A, B, texts=("EXIT", "GATE")))
    assert [(mark.label, mark.subject) for mark in TASK.marks(source).marks] == [
        ("EXIT", "box 0"),
        ("GATE", "box 1"),
    ]
    verdict = same_text(source.answer, found(A))
    assert [finding.subject for finding in verdict.findings] == ["box 1"]


def test_lost_new_and_kept_boxes_are_told_apart():
    source, follow_up = seen(A, B), seen(A, C)
    before, after = panels(source, follow_up, Brightness(50.0), TASK.compare(source, follow_up))
    assert fates(before) == [("lost", (100, 5)), ("matched", (5, 5))]
    assert fates(after) == [("lost", (100, 5)), ("matched", (5, 5)), ("new", (5, 100))]


def test_a_difference_that_was_struck_out_is_neither_lost_nor_found_in_both():
    struck = [{"kind": "lost", "subject": "box 1", "margin": -0.5, "by": "null JPEG 95"}]
    verdict = Verdict.violated([Finding("invented", "near box 0", -0.5, {"is": C})], struck=struck)
    before, after = panels(seen(A, B), seen(A, C), Brightness(50.0), verdict)
    assert fates(before) == [("matched", (5, 5)), ("unsure", (100, 5))]
    assert fates(after) == [("matched", (5, 5)), ("new", (5, 100))]


def test_the_box_of_a_watermark_is_no_box_that_wavers():
    source, follow_up = seen(A), seen(A, box(198, 148, 64, 24))
    word = Watermark("word", 200, 150, 60, 20, 20, 255, "duplex")
    verdict = watermark().expect(source, [follow_up], word)
    before, after = panels(source, follow_up, word, verdict)
    assert verdict.status is Status.HELD
    assert fates(before) == [("matched", (5, 5))]
    assert fates(after) == [("change", (190, 140)), ("matched", (5, 5)), ("matched", (198, 148))]


def test_what_is_masked_need_not_be_found():
    source, follow_up = seen(A, B), seen(A, D)
    masks = Masks(tuple(tuple(map(tuple, quad)) for quad in (A, B)))
    verdict = masking().expect(source, [follow_up], masks)
    before, after = panels(source, follow_up, masks, verdict)
    assert sorted(f.key for f in verdict.findings) == [
        ("invented", "near box 1"),
        ("masked text found", "box 0"),
    ]
    assert fates(before) == [("matched", (5, 5)), ("matched", (100, 5))]
    assert fates(after) == [("new", (5, 5)), ("new", (100, 100))]


def test_marks_of_a_follow_up_are_where_its_picture_shows_them():
    frame = Frame(MIRROR, SIZE, SIZE)
    source = seen(A, B)
    before, answer = carry(source.answer, found(box(235, 5)), frame)
    follow_up = replace(seen(), answer=answer, frame=frame)
    verdict = TASK.compare(replace(source, answer=before), follow_up)
    _, after = panels(source, follow_up, Brightness(0.0), verdict)
    assert fates(after) == [("lost", (200, 5)), ("matched", (295, 5))]


WORDS = [Word(np.float32(A), "here"), Word(np.float32(C), "", ignored=True), Word(np.float32(D), "there")]
SMALL = box(5, 5, 15)


@pytest.mark.parametrize(
    ("kind", "evidence", "after", "known"),
    [
        ("lost", {"was": A}, [], "real"),
        ("lost", {"was": box(5, 5, 120, 22)}, [], "real"),  # a line with the word in it
        ("lost", {"was": box(0, 0, 300, 200)}, [], "was false"),  # around everything, and so about no word
        ("lost", {"was": B}, [], "was false"),
        ("lost", {"was": C}, [], "disputed"),  # nobody can read what is there
        ("resized", {"was": A, "is": SMALL}, [SMALL], "real"),
        ("resized", {"was": A, "is": box(5, 5, 40)}, [box(5, 5, 40)], "slipped"),
        ("resized", {"was": A, "is": box(0, 0, 300, 200)}, [box(0, 0, 300, 200)], "real"),
        ("drifted", {"was": A, "is": box(15, 5)}, [box(15, 5)], "slipped"),
        ("split", {"was": A, "is": SMALL}, [SMALL, box(20, 5, 45)], "real"),  # only where asked for
        ("invented", {"is": A}, [A], "slipped"),  # found twice
        ("invented", {"is": D}, [D], "now right"),
        ("invented", {"is": B}, [B], "was false"),
        ("invented", {"is": C}, [C], "disputed"),
        ("masked text found", {"is": A}, [A], "real"),  # the word is behind the mask
        ("masked text found", {"is": B}, [B], "was false"),
        ("masked text found", {"is": D}, [D], "now right"),  # was overlooked, and so not masked
        ("watermark missed", {}, [], "real"),
    ],
)
def test_known_words_say_what_a_finding_is_worth(kind, evidence, after, known):
    finding = Finding(kind, "box 0", -0.5, evidence)
    source = seen(A, B, words=WORDS)
    assert verify(source, seen(*after, words=WORDS), finding) == known


def reader(name, before, after, *, score=0.9, text="EXIT"):
    """What a referee that reads finds in a source and in a follow-up."""
    both = [
        replace(
            found(*corners, texts=(text,) * len(corners)), scores=np.full(len(corners), score, np.float32)
        )
        for corners in (before, after)
    ]
    return Opinion(name, *both)


LINE = box(0, 0, 170, 30)  # around A and B
BLURRED = reader("", [], [A], score=0.3).after


@pytest.mark.parametrize(
    ("was", "after", "opinions", "known"),
    [
        (A, [], [reader("r", [A], [A])], "real"),
        (A, [], [reader("r", [LINE], [LINE])], "real"),  # the referee finds lines
        (A, [], [reader("r", [A], [])], "unfair"),  # nobody can read it any more
        (A, [A], [reader("r", [A], [A])], "slipped"),
        (B, [], [reader("r", [A], [A])], "was false"),
        (A, [], [reader("r", [A], [A], score=0.3)], "disputed"),  # found, and not read
        (A, [], [reader("r", [A], [A], text="|")], "disputed"),
        (A, [], [reader("r", [A], [A], score=0.3), Opinion("s", found(A), found(A))], "real"),  # by two
        (A, [], [reader("r", [A], []), reader("s", [A], [A])], "real"),
        (A, [], [replace(reader("r", [A], [A]), after=BLURRED)], "unfair"),  # found, and not read any more
        (A, [], [replace(reader(name, [A], [A]), after=BLURRED) for name in "rs"], "real"),  # by two
    ],
)
def test_referees_say_what_a_finding_is_worth(was, after, opinions, known):
    finding = Finding("lost", "box 0", -0.5, {"was": was})
    assert verify(seen(A, B), seen(*after), finding, opinions) == known


@pytest.mark.parametrize(("levels", "known"), [(-60.0, "real"), (-110.0, "unfair"), (60.0, "real")])
def test_a_change_that_takes_the_contrast_of_a_word_is_to_blame_itself(levels, known):
    picture = IMAGE.copy()
    picture[10:20, 10:60:4] = 80  # dark strokes on a grey ground
    scene = Scene("page", lambda: picture, knowledge={"words": WORDS})
    source = Observation.of(picture, found(A), scene)
    follow_up = Observation.of(Brightness(levels).apply(picture), found(), scene)
    assert verify(source, follow_up, Finding("lost", "box 0", -0.5, {"was": A})) == known


def test_without_known_words_only_a_missed_watermark_is_known_to_be_real():
    source = seen(A)
    assert verify(source, source, Finding("lost", "box 0", -0.5, {"was": A})) == "unknown"
    assert verify(source, source, Finding("watermark missed", "watermark", -0.5)) == "real"


def test_findings_of_a_campaign_say_what_is_known_of_them():
    records = list(instar.run(scenes(6), brightness_up(), planted_text.loses_boxes_when_bright()))
    findings = [finding for record in records for finding in record.verdict.findings]
    assert findings
    assert {finding.known for finding in findings} == {"real"}


def test_a_mirrored_page_is_found_where_it_was():
    page = scenes(1)[0]
    moved = mirror(page.image, None)
    before, after = (page_exact().predict([picture])[0] for picture in (page.image, moved.picture))
    size = page.image.shape[:2]
    _, back = carry(before, after, Frame(moved.matrix, size, size))
    assert (quad_iou(before.quads, back.quads).max(axis=1) > 0.9).all()


@pytest.mark.parametrize("turn", [0, 30])
def test_a_low_box_beside_letters_is_about_no_text_and_a_letter_is(turn):
    matrix = cv2.getRotationMatrix2D((100, 60), turn, 1)

    def turned(*place):
        return np.array(box(*place), np.float32) @ matrix[:, :2].T.astype(np.float32) + np.float32(
            matrix[:, 2]
        )

    known = Word(turned(40, 40, 120, 40).astype(np.float32), "m")
    told = []
    for place in ((60, 74, 60, 5), (60, 42, 12, 36), (60, 50, 60, 25)):
        finding = Finding("lost", "box 0", -0.5, {"was": turned(*place).tolist()})
        told.append(verify(seen(turned(*place), words=[known]), seen(words=[known]), finding))
    assert told == ["was false", "real", "real"]
