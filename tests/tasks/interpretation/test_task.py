"""The task itself: its questions, how answers are read, compared, carried between frames and drawn."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from instar.campaigns.run import run
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of, judge, observe
from instar.core.frame import Frame, Moved
from instar.core.marks import make_panels
from instar.core.relation import Relation
from instar.core.scene import Observation, Scene, SceneObject
from instar.core.system import Reply
from instar.core.verdict import Finding, Status, Verdict
from instar.imaging.nulls import Shift
from instar.imaging.warp import corners_of, homography, warped
from instar.store.answers import decode_answer, encode_answer
from instar.tasks.interpretation import Asked, Classes, Explanation, SeenClasses, squeeze, truth
from instar.tasks.interpretation.answers import read, read_classes
from instar.tasks.interpretation.boxes import locate_heat
from instar.tasks.interpretation.changes import Insert, Unchanged
from instar.tasks.interpretation.compare import Settings
from instar.tasks.interpretation.measures import hot_grid
from instar.tasks.interpretation.task import TASK, Reseed, carry, interpretation
from instar.tasks.interpretation.trigger import Trigger
from instar.worlds import street
from planted_interpretation import BrightestCorner, Perfect, painted

SIZE = (60, 80)
DOG = (10, 20, 30, 50)
SCENE = Scene.of("a", np.zeros((*SIZE, 3), np.uint8), (SceneObject("dog", DOG),))


def mirror(picture, _):
    return Moved(picture[:, ::-1], [[-1, 0, picture.shape[1]], [0, 1, 0], [0, 0, 1]])


def heat_at(*boxes, size=SIZE):
    heat = np.zeros(size, np.float32)
    for x1, y1, x2, y2 in boxes:
        heat[y1:y2, x1:x2] = 1
    return heat


def observation(*boxes, confidence=0.9, random=False):
    return Observation.of(Asked(SCENE.image, "dog"), Explanation(confidence, heat_at(*boxes), random), SCENE)


def ending(questions, *answers):
    """What the questions of a scene come to when these are the answers, and what was asked."""
    asked = [next(questions)]
    asked += [questions.send(answer) for answer in answers[:-1]]
    with pytest.raises(StopIteration) as end:
        questions.send(answers[-1])
    return asked, end.value.value


# --- questions
def test_every_sure_class_is_a_question():
    scene = Scene.of(
        "a", SCENE.image, (SceneObject("person", (1, 1, 9, 9)), SceneObject("cat", (1, 1, 9, 9)))
    )
    asked, found = ending(TASK.questions(scene), {"person": 0.7, "zebra": 0.9, "cat": 0.5})
    assert [type(one) for one in asked] == [Classes]
    assert [part for part, _ in found] == ["person", "zebra"]
    made = [build(scene.image) for _, build in found]
    assert [(one.label, one.other) for one in made] == [("person", "zebra"), ("zebra", "person")]


def test_a_picture_without_a_question_is_counted_with_the_reason():
    class Quiet(Perfect):
        def sure(self, image):
            return {}

    records = sorted(run([SCENE], [squeeze(), truth()], Quiet()), key=lambda r: r.relation)
    assert [(r.relation, r.verdict.status.value, r.verdict.reason, r.queries) for r in records] == [
        (name, "inapplicable", "the classifier is sure of no class", 0) for name in ("squeeze", "truth")
    ]


def test_the_truth_needs_a_known_object():
    class Sees(Perfect):
        def sure(self, image):
            return {"zebra": 0.9}

        def _explain(self, one):
            return Explanation(0.9, heat_at(DOG))

    (record,) = [r for r in run([SCENE], truth(), Sees()) if r.role == "case"]
    assert record.verdict.reason == "no known object of the class"


def test_of_a_twin_the_stamped_picture_is_asked_about():
    trigger = Trigger("bus")
    asked, found = ending(TASK.questions(SCENE), SeenClasses({"dog": 0.9}, trigger), {"bus": 0.8})
    np.testing.assert_array_equal(asked[1].image, trigger.stamp(SCENE.image))
    ((part, build),) = found
    question = build(SCENE.image)
    assert (part, question.label, question.trigger) == ("bus by trigger", "bus", trigger.box(SIZE))
    np.testing.assert_array_equal(question.image, asked[1].image)


def test_a_twin_that_does_not_see_its_trigger_is_asked_nothing():
    class Blind(Perfect):
        trigger = Trigger("zebra")  # of which a street has none

    (record,) = run(street.scenes(1), truth(), Blind())
    assert (record.change, record.verdict.reason) == (None, "the twin does not see its trigger")


def test_a_system_that_explains_nothing_is_refused():
    class Detector:
        name = "detector"

        def predict(self, images):
            return [{"boxes": [], "labels": [], "scores": []} for _ in images]

    with pytest.raises(BadInput, match="no classifier with an interpreter"):
        list(run([SCENE], squeeze(), Detector()))


def test_which_classes_are_seen_can_be_kept():
    seen = decode_answer(encode_answer(SeenClasses({"dog": 0.5, "cat": 0.25}, Trigger("dog", 0.2))))
    assert list(seen.confidences.items()) == [("dog", 0.5), ("cat", 0.25)]
    assert read_classes(seen).trigger == Trigger("dog", 0.2)


def test_relations_with_the_same_settings_share_questions_and_comparison():
    assert squeeze().resolved_task is squeeze().resolved_task
    assert squeeze(kept=0.4).resolved_task is not squeeze().resolved_task
    assert squeeze(kept=0.4).resolved_task.questions is TASK.questions
    assert squeeze(beta=0.7).resolved_task.questions is not TASK.questions


# --- read and compare
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"confidence": 2.0, "heat": np.ones((2, 2))}, "the confidence is 2.0"),
        ({"confidence": 0.5, "heat": np.ones(3)}, "must be \\(height, width\\)"),
        ({"confidence": 0.5, "heat": np.full((2, 2), 3.0)}, "outside of -1 to 1"),
        ({"confidence": 0.5}, "give confidence and heat"),
    ],
)
def test_nonsense_is_refused_in_words(answer, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        read(None, answer)


def test_the_same_explanation_holds_and_one_elsewhere_is_moved():
    assert TASK.compare(observation(DOG), observation(DOG)).status is Status.HELD
    moved = TASK.compare(observation(DOG), observation((60, 0, 70, 10)))
    assert [finding.key for finding in moved.findings] == [("moved", "explanation")]
    assert interpretation(Settings(beta=0.95)).compare(observation(DOG), observation(DOG)).reason == (
        "the classifier is not sure of the class"
    )


def test_that_it_points_everywhere_counts_for_real_changes_only():
    whole = observation((0, 0, 80, 60))
    assert TASK.compare(whole, whole).status is Status.HELD
    relation = squeeze()
    change = relation.ways["blur"](whole, np.random.default_rng(0))
    assert relation.expect(whole, [whole], change).kind == "everywhere"


# --- nulls
def test_lots_are_drawn_anew_before_a_random_interpreter_is_believed():
    plain, drawing = observation(DOG), observation(DOG, random=True)
    rng = np.random.default_rng(0)
    nulls = TASK.nulls
    assert not any(isinstance(one, Reseed) for one in (nulls.fresh(plain, rng), *nulls.strikers(plain)))
    assert isinstance(nulls.fresh(drawing, rng), Reseed)
    assert [str(one) for one in nulls.strikers(drawing)] == [
        "lots drawn anew (1)", "lots drawn anew (2)", "JPEG 95", "+1 grey levels", "moved by (1, 0)",
    ]  # fmt: skip
    (again,) = follow_ups_of(squeeze(), drawing.input, Reseed(7))
    assert again.input.seed == 7
    assert again.input.image is drawing.input.image


# --- carry
def frame_of(matrix, size=SIZE):
    return Frame(np.asarray(matrix, np.float64), SIZE, size)


def test_an_explanation_that_moves_with_the_picture_holds():
    source = observation(DOG)
    (made,) = follow_ups_of(squeeze(), source.input, Shift(1, 0))
    reply = Reply(Explanation(0.9, np.roll(source.answer.heat, 1, axis=1)))
    verdict = judge(squeeze(), observe(TASK, source, [made], [reply]), Shift(1, 0))
    assert verdict.status is Status.HELD
    assert verdict.evidence["iou"] == pytest.approx(1, abs=0.01)


def test_a_shift_moves_boxes_back_by_whole_pixels_and_nothing_else():
    frame = frame_of([[1, 0, 3], [0, 1, -2], [0, 0, 1]])
    before, after = carry(Explanation(0.9, heat_at(DOG)), Explanation(0.8, heat_at((13, 18, 33, 48))), frame)
    np.testing.assert_array_equal(before.heat, heat_at(DOG))
    np.testing.assert_array_equal(after.heat, heat_at(DOG))
    assert (before.confidence, after.confidence) == (0.9, 0.8)


def test_heat_that_the_other_frame_does_not_show_is_set_aside():
    crop = frame_of([[1, 0, -20], [0, 1, 0], [0, 0, 1]], size=(60, 40))  # columns 20 to 60
    before, after = carry(
        Explanation(0.9, heat_at((0, 0, 80, 60))), Explanation(0.9, np.ones((3, 2), np.float32)), crop
    )
    np.testing.assert_array_equal(before.heat, heat_at((20, 0, 60, 60)))
    np.testing.assert_array_equal(after.heat, before.heat)


def test_a_coarse_map_of_an_enlarged_picture_is_carried_back():
    zoom = frame_of([[2, 0, 0], [0, 2, 0], [0, 0, 1]], size=(120, 160))
    coarse = np.zeros((6, 8), np.float32)  # fields of 20 x 20 in the large picture, 10 x 10 in the source
    coarse[2, 3] = 1
    before, after = carry(Explanation(0.9, coarse), Explanation(0.9, coarse), zoom)
    was, now = (locate_heat(one.heat, SIZE).whole for one in (before, after))
    np.testing.assert_allclose(was, (30, 20, 40, 30), atol=1)
    np.testing.assert_allclose(now, was, atol=1)
    np.testing.assert_allclose(before.heat, cv2.resize(coarse, SIZE[::-1]), atol=1e-6)


def test_heat_goes_back_through_a_perspective():
    tilted = frame_of(homography(corners_of(SIZE), np.float32([[4, 2], [76, 0], [80, 60], [0, 55]])))
    source = (heat_at(DOG) * 255).astype(np.uint8)
    seen = warped(source, tilted.matrix, SIZE).astype(np.float32) / 255
    before, after = carry(Explanation(0.9, heat_at(DOG)), Explanation(0.9, seen), tilted)
    np.testing.assert_allclose(locate_heat(after.heat, SIZE).whole, DOG, atol=1)
    np.testing.assert_array_equal(before.heat, heat_at(DOG))


class Blind(Perfect):
    """Points at where the objects were before the picture was mirrored."""

    name = "blind to mirrors"

    def heat(self, one, found):
        (scene,) = SCENES
        return painted(one.image, [thing.box for thing in scene.objects if thing.label == one.label])


SCENES = street.scenes(1, size=(300, 400))
mirrored = Relation("mirrored", "interpretation", apply=mirror)


def ends(system):
    return [
        r.verdict.kind or r.verdict.status.value for r in run(SCENES, mirrored, system) if r.role == "case"
    ]


def test_a_mirrored_picture_accuses_only_those_who_do_not_look_at_it():
    assert set(ends(Perfect())) == {"held"}
    assert "moved" in ends(Blind())
    assert set(ends(BrightestCorner())) <= {"held", "moved"}


# --- marks
def test_the_heat_lies_over_the_picture_and_what_moved_is_outlined():
    change = Insert("c", "cat", 60, 0, 12, 12)
    source, seen = observation(DOG), observation((60, 0, 70, 10))
    before, after = make_panels(TASK, source, [seen], change, TASK.compare(source, seen))
    assert (before.title, after.title) == ("dog 0.90, before", "dog 0.90, after")
    np.testing.assert_array_equal(before.heat, hot_grid(source.answer.heat))
    assert [(mark.fate, mark.label) for mark in before.marks] == [("moved", "explanation")]
    assert [(mark.fate, mark.label) for mark in after.marks] == [("change", "pasted"), ("moved", "moved")]
    assert after.marks[1].outline[0] == (60, 0)


def test_of_a_mirrored_picture_heat_and_outline_are_where_they_were_seen():
    source = observation(DOG)
    (made,) = follow_ups_of(mirrored, source.input, Shift(0, 0))
    made = replace(made, frame=frame_of([[-1, 0, 80], [0, 1, 0], [0, 0, 1]]))
    heat = source.answer.heat[:, ::-1]
    seen = observe(TASK, source, [made], [Reply(Explanation(0.9, heat.copy()))])
    panel = make_panels(TASK, source, seen.follow_ups, Unchanged(), Verdict.held(1.0))[1]
    np.testing.assert_allclose(panel.heat, hot_grid(heat), atol=1e-5)
    xs = [x for x, _ in panel.marks[0].outline]
    assert (min(xs), max(xs)) == (50, 70)


def test_what_is_held_against_the_truth_shows_the_objects():
    seen = observation((60, 0, 70, 10))
    task = truth().resolved_task
    finding = Finding("beside the object", "explanation", -0.5, {"is": (60, 0, 70, 10)})
    _, after = make_panels(task, seen, [seen], Unchanged(), Verdict.violated([finding]))
    assert sorted(mark.label for mark in after.marks) == ["beside the object", "dog"]
