from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

import instar
import instar.testing
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.follow_up import follow_ups_of, judge, observe, under_null
from instar.core.marks import make_panels
from instar.core.scene import Image, Observation, Scene, SceneObject
from instar.core.system import Reply
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.cutouts import Pool, load_pool
from instar.imaging.nulls import STRIKERS, Brighten, Reencode, Shift
from instar.tasks.detection import Detections, guided, insertion
from instar.tasks.detection.changes import Insertion

RED, BLUE = (210, 40, 40), (40, 60, 210)
COLOURS = {"ball": RED, "box": BLUE}


class ByColour:
    """Finds every red ball and blue box: a simple detector that is right about what is drawn here."""

    name = "by-colour"

    def predict(self, images: Sequence[Image]) -> list[Detections]:
        return [self._answer(image) for image in images]

    def _answer(self, image: Image) -> Detections:
        found = []
        for label, colour in COLOURS.items():
            strongest = int(np.argmax(colour))
            rest = [channel for channel in range(3) if channel != strongest]
            pixels = image.astype(int)
            mask = pixels[..., strongest] - pixels[..., rest].max(axis=2) > 60
            _, _, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
            found += [(label, (x, y, x + w, y + h)) for x, y, w, h, area in stats[1:].tolist() if area > 60]
        boxes = np.array([box for _, box in found], np.float32).reshape(-1, 4)
        return Detections(boxes, tuple(label for label, _ in found), np.full(len(found), 0.9, np.float32))


def scene(name: str, *objects: tuple[str, int, int, int], known: bool = True) -> Scene:
    """Balls and boxes at (x, y) of a side."""
    image = np.full((200, 260, 3), 128, np.uint8)
    things = []
    for label, x, y, side in objects:
        mask = np.zeros((200, 260), np.uint8)
        if label == "ball":
            cv2.circle(mask, (x + side // 2, y + side // 2), side // 2, 1, -1)
        else:
            mask[y : y + side, x : x + side] = 1
        image[mask > 0] = COLOURS[label]
        things.append(SceneObject(label, (x, y, x + side + 1, y + side + 1), lambda mask=mask: mask > 0))
    return Scene.of(name, image, tuple(things) if known else None)


SCENES = [
    scene("a", ("ball", 40, 60, 40), ("box", 160, 70, 50)),
    scene("b", ("ball", 120, 90, 46)),
    scene("c", ("box", 60, 60, 44), ("ball", 180, 80, 36)),
]


def prepare_relation(folder: Path, scenes: Sequence[Scene] = SCENES, **options) -> instar.Relation:
    relation = insertion(**options)
    assert relation.prepare is not None
    return relation.prepare(scenes, Folder(folder))


def observed(one: Scene, system: ByColour | None = None) -> Observation:
    (answer,) = (system or ByColour()).predict([one.image])
    return Observation.of(one.image, answer, one)


@pytest.fixture
def relation(tmp_path: Path) -> instar.Relation:
    return prepare_relation(tmp_path)


def drawn(relation: instar.Relation, source: Observation, seed: int = 0) -> Insertion:
    change = relation.draw(source, np.random.default_rng(seed))
    assert isinstance(change, Insertion)
    return change


def test_the_contract_of_a_relation_is_kept(relation: instar.Relation) -> None:
    instar.testing.check_relation(relation, ByColour(), SCENES)


@pytest.mark.parametrize("blend", ["hard", "feather", "poisson"])
@pytest.mark.parametrize("scale", ["nearest", "paper"])
def test_the_contract_is_kept_under_every_option(tmp_path: Path, blend, scale) -> None:
    options = prepare_relation(tmp_path, blend=blend, scale=scale)
    instar.testing.check_relation(options, ByColour(), SCENES[:1], seeds=3)


def test_a_right_detector_is_not_accused(tmp_path: Path) -> None:
    records = list(instar.run(SCENES, insertion(), ByColour(), search=guided(per_object=5)))
    statuses = {record.verdict.status for record in records}
    assert statuses == {Status.HELD}


def test_a_cut_out_never_comes_from_the_scene_it_goes_into(relation: instar.Relation, tmp_path: Path) -> None:
    pool = load_pool(tmp_path / "pool")
    home = {cutout.digest: cutout.scene for cutout in pool.cutouts}
    for one in SCENES:
        for seed in range(20):
            assert home[drawn(relation, observed(one), seed).cutout] != one.id


def test_classes_without_cut_outs_are_named(tmp_path: Path) -> None:
    said: list[str] = []
    cut_off = scene("d", ("ball", 120, 90, 46), ("box", 0, 70, 50))
    insertion().prepare([cut_off], Folder(tmp_path / "d", say=said.append))
    assert said == ["insertion pastes no box: these pictures give no good cut-out"]
    insertion().prepare(SCENES, Folder(tmp_path / "all", say=said.append))
    assert len(said) == 1


def test_the_anchor_of_a_guided_insertion_is_an_index_into_the_answer(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    (anchor,) = {drawn(relation, source, seed).anchor for seed in range(30)}
    assert source.answer.labels[anchor] == "box"  # the ball fits no ground plane
    anywhere = relation.ways["random"](source, np.random.default_rng(0))
    assert isinstance(anywhere, Insertion)
    assert anywhere.anchor is None


def test_seven_null_changes_strike_findings_out_and_a_fresh_one_is_none_of_them(
    relation: instar.Relation,
) -> None:
    source, nulls = observed(SCENES[0]), relation.resolved_task.nulls
    assert nulls is not None
    assert nulls.strikers(source) == STRIKERS
    for seed in range(50):
        assert nulls.fresh(source, np.random.default_rng(seed)) not in STRIKERS


def judged(relation: instar.Relation, source: Observation, made, change) -> instar.Verdict:
    """The verdict on follow-ups, each answered by the detector that is right."""
    replies = [Reply(answer) for answer in ByColour().predict([one.input for one in made])]
    seen = observe(relation.resolved_task, source, made, replies)
    assert not isinstance(seen, str)
    return judge(relation, seen, change)


def test_null_changes_do_nothing_to_a_right_detector(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    for null in [Reencode(95), Brighten(-1), Shift(1, 0), Shift(0, -1), Shift(1, 1)]:
        made = follow_ups_of(relation, source.input, null)
        assert judged(relation, source, made, null).status is Status.HELD


def test_a_finding_must_recur_as_jpeg_and_shifted_with_what_was_pasted_in_its_place(
    relation: instar.Relation,
) -> None:
    source = observed(SCENES[0])
    change = drawn(relation, source)
    task = relation.resolved_task
    assert task.nulls is not None
    assert task.nulls.conditions == (Reencode(95), Shift(1, 0))
    made = follow_ups_of(relation, source.input, change)
    assert not isinstance(made, Inapplicable)
    for condition in task.nulls.conditions:
        # Held, though the detector finds the pasted object as well: it is known where that is.
        again = under_null(task, condition, made, source.input)
        assert judged(relation, source, again, change).status is Status.HELD


def test_the_placebo_is_flat_and_in_the_same_place(relation: instar.Relation) -> None:
    change = drawn(relation, observed(SCENES[0]))
    assert relation.placebo is not None
    placebo = relation.placebo(observed(SCENES[0]), change)
    assert (placebo.flat, placebo.box, placebo.cutout) == (True, change.box, change.cutout)


def test_the_pixels_of_a_change_are_named_by_their_hash(relation: instar.Relation, tmp_path: Path) -> None:
    change = drawn(relation, observed(SCENES[0]))
    assert relation.pixels is not None
    ((name, pixels),) = relation.pixels(change).items()
    np.testing.assert_array_equal(pixels, load_pool(tmp_path / "pool").pixels(name))


def test_pictures_of_a_run_are_enough_to_make_a_change_again(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    change = drawn(relation, source)
    kept = relation.pixels(change)  # type: ignore[misc]

    class Kept:
        def pixels(self, name: str) -> np.ndarray:
            return kept[name]

    again = insertion(pool=Kept())
    np.testing.assert_array_equal(again.apply(source.input, change), relation.apply(source.input, change))
    with pytest.raises(BadInput, match="a run's cut-outs can be pasted again, but none can be chosen"):
        again.draw(source, np.random.default_rng(0))


def test_a_pool_is_made_once_and_serves_other_runs(tmp_path: Path) -> None:
    one = prepare_relation(tmp_path)
    index = (tmp_path / "pool" / "index.json").stat().st_mtime_ns
    two = prepare_relation(tmp_path, scenes=[])
    assert (tmp_path / "pool" / "index.json").stat().st_mtime_ns == index
    three = insertion(pool=tmp_path / "pool")
    assert three.prepare is None
    source = observed(SCENES[0])
    assert drawn(one, source) == drawn(two, source) == drawn(three, source)


def test_without_annotations_the_helper_finds_what_is_cut_out(tmp_path: Path) -> None:
    unknown = [
        scene("a", ("ball", 40, 60, 40), known=False),
        scene("b", ("ball", 120, 90, 46), known=False),
    ]
    prepare_relation(tmp_path, scenes=unknown, objects=ByColour())
    pool = load_pool(tmp_path / "pool")
    assert {(c.scene, c.label) for c in pool.cutouts} == {("a", "ball"), ("b", "ball")}


def test_a_helper_that_fails_is_named(tmp_path: Path) -> None:
    class Broken:
        name = "broken"

        def predict(self, images: Sequence[Image]) -> list[Detections]:
            raise RuntimeError("no licence")

    with pytest.raises(BadInput, match=r"broken cannot find objects to cut out \(RuntimeError: no licence\)"):
        prepare_relation(tmp_path, scenes=[scene("a", known=False)], objects=Broken())


def test_drawing_before_a_campaign_has_begun_is_refused() -> None:
    with pytest.raises(BadInput, match="there are no cut-outs yet; they are made when a campaign begins"):
        insertion().draw(observed(SCENES[0]), np.random.default_rng(0))


def test_an_empty_pool_makes_every_draw_inapplicable(tmp_path: Path) -> None:
    empty = insertion(pool=Pool(tmp_path, []))
    nothing = Inapplicable("no cut-out of its class")
    assert empty.draw(observed(SCENES[0]), np.random.default_rng(0)) == nothing


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blend": "soft"}, "insertion: unknown blend 'soft'; known: feather, hard, poisson"),
        ({"scale": "huge"}, "insertion: unknown scale 'huge'; known: nearest, paper"),
        ({"hysteresis": 1.0}, "insertion: hysteresis is 1.0; it must be a number"),
        ({"hysteresis": -0.1}, "insertion: hysteresis is -0.1; it must be a number"),
        ({"iou": float("nan")}, "insertion: iou is nan; it must be a number"),
        ({"iou": "half"}, "insertion: iou is 'half'; it must be a number"),
        ({"pool": "no/such/folder"}, "no/such/folder is no pool of cut-outs"),
    ],
)
def test_bad_options_are_refused_in_one_line(options, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        insertion(**options)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_an_unknown_helper_is_refused_where_it_is_needed(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="objects is 'nobody'; give a system, or 'yolox-nano'"):
        prepare_relation(tmp_path, scenes=[scene("a", known=False)], objects="nobody")


def test_every_case_has_its_panels(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    change = drawn(relation, source)
    made = relation.apply(source.input, change)
    lost = Observation.of(made, source.answer.select(np.array([1])), source.scene)
    assert relation.expect is not None
    verdict = relation.expect(source, [lost], change)
    before, after = make_panels(relation.resolved_task, source, [lost], change, verdict)
    assert verdict.kind == "lost"
    assert [mark.fate for mark in before.marks] == ["lost", "matched"]
    assert [mark.label for mark in after.marks] == ["box 0.90", f"pasted {change.label}", "ball lost"]
