"""What the six relations do to a picture, and what they demand."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import instar
from instar import Inapplicable, Observation, Status
from instar.core.errors import BadInput
from instar.imaging.nulls import Shift
from instar.store.rows import dump_json
from instar.tasks.text import (
    Quads,
    brightness_down,
    brightness_up,
    channel_switch,
    listed,
    masking,
    perspective,
    watermark,
)
from instar.tasks.text.changes import Light, Masks, Permutation, Perspective, Watermark, carried_along, made
from instar.tasks.text.polygons import iou
from instar.tasks.text.systems.page import page_exact
from instar.testing import check_relation, check_search
from instar.worlds.page import scenes

RELATIONS = [brightness_up, brightness_down, channel_switch, perspective, watermark, masking]
RNG = np.random.default_rng(0)


def quads(*corners):
    return np.array(corners, np.float32).reshape(-1, 4, 2)


def seen(image, *corners):
    return Observation.of(image, Quads(quads(*corners)))


def page(index=0):
    scene = scenes(index + 1)[index]
    return Observation.of(scene.image, page_exact().predict([scene.image])[0], scene)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda factory: factory.__name__)
def test_a_relation_keeps_the_contract(relation):
    check_relation(relation(), page_exact(), scenes(1), seeds=3)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda factory: factory.__name__)
def test_the_search_keeps_the_contract(relation):
    check_search(listed(perspectives=4), relation(), page())


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda factory: factory.__name__)
def test_a_picture_of_a_case_can_be_drawn(relation):
    relation, source = relation(), page(2)
    change = relation.draw(source, np.random.default_rng(1))
    (follow_up,) = relation.apply(source.input, change)
    # Of what is found in the follow-up one is missing and one is where nothing is.
    found = page_exact().predict([follow_up])[0].quads
    extra = quads([[5, 5], [60, 5], [60, 20], [5, 20]])
    after = Observation.of(follow_up, Quads(np.concatenate([found[1:], extra])))
    verdict = relation.check(source, [after], change)
    assert verdict.status is Status.VIOLATED
    drawn = relation.picture(source, [after], change, verdict)
    assert drawn.dtype == np.uint8
    assert drawn.ndim == 3
    assert (drawn == (240, 136, 8)).all(axis=2).any()  # what is new


def changes_of(relation, source):
    generator = listed()(relation, source, np.random.default_rng(0))
    changes = []
    batch = next(generator)
    try:
        while True:
            changes += batch
            batch = generator.send([instar.Verdict.held()] * len(batch))
    except StopIteration:
        return changes


@pytest.mark.parametrize(
    ("relation", "count"),
    [
        (brightness_up(), 20),
        (brightness_down(), 20),
        (channel_switch(), 2),
        (perspective(), 100),
        (watermark(), 20),
        (masking(), 1),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_there_are_as_many_follow_ups_as_in_the_paper(relation, count):
    changes = changes_of(relation, page())
    assert len(changes) == len({str(change) for change in changes}) == count


def test_brightness_goes_in_steps_of_five_to_a_hundred():
    assert [c.levels for c in changes_of(brightness_up(), page())] == list(range(5, 101, 5))
    assert [c.levels for c in changes_of(brightness_down(), page())] == list(range(-5, -101, -5))


@pytest.mark.parametrize("levels", range(-255, 256, 15))
def test_brightness_ends_at_black_and_white(levels):
    image = np.arange(256, dtype=np.uint8).reshape(16, 16, 1).repeat(3, axis=2)
    expected = np.clip(image.astype(int) + levels, 0, 255)
    assert (made(image, Light(float(levels))) == expected).all()


def test_gain_is_a_parameter():
    image = np.full((4, 4, 3), 100, np.uint8)
    change = brightness_up(gain=1.5).at(seen(image), 20)
    assert made(image, change).max() == 170


def test_a_severity_out_of_range_is_refused():
    with pytest.raises(BadInput, match="brightness-up: 300 grey levels are out of range"):
        brightness_up().at(page(), 300)


def test_channels_are_switched_as_their_order_says():
    image = np.array([[[1, 2, 3]]], np.uint8)
    assert made(image, Permutation("gbr")).tolist() == [[[2, 3, 1]]]
    assert made(image, Permutation("brg")).tolist() == [[[3, 1, 2]]]
    assert [change.order for change in changes_of(channel_switch(), page())] == ["gbr", "brg"]


def test_perspective_enlarges_the_canvas_and_carries_quads_with_the_pixels():
    source = page()
    for seed in range(5):
        change = perspective().draw(source, np.random.default_rng(seed))
        follow_up = made(source.input, change)
        assert follow_up.shape == (460, 580, 3)
        (found,) = page_exact().predict([follow_up])
        carried = carried_along(source.answer.quads, change)
        assert (iou(carried, found.quads).max(axis=1) > 0.6).all()


def test_perspective_pushes_corners_outward_and_leaves_the_rest_black():
    change = Perspective(100, 60, 10, ((10, 10), (0, 0), (0, 0), (0, 0)))
    follow_up = made(np.full((60, 100, 3), 255, np.uint8), change)
    assert follow_up.shape == (80, 120, 3)
    assert follow_up[1, 1].tolist() == [255, 255, 255]
    assert follow_up[5, 115].tolist() == follow_up[75, 5].tolist() == [0, 0, 0]
    corner = carried_along(quads([[0, 0], [1, 0], [1, 1], [0, 1]]), change)[0, 0]
    assert corner == pytest.approx([0, 0], abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_a_watermark_keeps_clear_of_every_found_box_and_stands_out(seed):
    source = page(seed % 4)
    relation = watermark(contrast=90, clearance=0.5)
    change = relation.draw(source, np.random.default_rng(seed))
    assert isinstance(change, Watermark)
    assert iou(change.quad(air=0.5), source.answer.quads).max() == 0
    assert " " not in change.text
    assert 4 <= len(change.text) <= 8
    under = source.input[change.y : change.y + change.height, change.x : change.x + change.width]
    grey = cv2.cvtColor(under, cv2.COLOR_RGB2GRAY).astype(int)
    assert np.abs(grey - change.ink).min() >= 90
    assert under.shape[:2] == (change.height, change.width)


def test_a_watermark_fits_into_the_one_free_place():
    # Everything is taken but one strip of 24 pixels at the bottom: a thousand guesses would miss it.
    image = np.full((400, 600, 3), 230, np.uint8)
    source = seen(image, [[0, 0], [600, 0], [600, 376], [0, 376]])
    change = watermark(words=["EXIT"], height=(20, 20), clearance=0.0).draw(source, RNG)
    assert (change.text, change.ink) == ("EXIT", 0)
    assert change.y >= 376


@pytest.mark.parametrize(
    "source",
    [
        seen(np.full((100, 200, 3), 230, np.uint8), [[0, 0], [200, 0], [200, 100], [0, 100]]),
        seen(np.full((20, 20, 3), 230, np.uint8)),
        seen(np.full((100, 200, 3), 128, np.uint8)),  # neither black nor white differs by 150 from grey
    ],
)
def test_a_watermark_that_fits_nowhere_is_inapplicable(source):
    assert watermark(contrast=150).draw(source, RNG) == Inapplicable("no free place for a watermark")


def test_only_a_watermark_must_be_found_and_null_changes_ask_for_the_old_boxes_alone():
    relation, source = watermark(), page()
    same = Observation.of(source.input, source.answer)
    assert relation.check(source, [same], Light(1.0)).status is Status.HELD
    change = relation.draw(source, RNG)
    verdict = relation.check(source, [same], change)
    assert (verdict.status, verdict.kind) == (Status.VIOLATED, "watermark missed")


def test_masks_fill_rotated_quads_with_the_colour_of_their_first_corner():
    image = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    diamond = ((30.0, 10.0), (50.0, 30.0), (30.0, 50.0), (10.0, 30.0))
    masked = made(image, Masks((diamond,)))
    rows, columns = np.mgrid[:60, :60] + 0.5
    inside = abs(columns - 30) + abs(rows - 30) <= 19
    outside = abs(columns - 30) + abs(rows - 30) >= 23
    assert (masked[inside] == image[10, 30]).all()
    assert (masked[outside] == image[outside]).all()


def test_masks_that_overshoot_take_the_nearest_colour():
    image = np.zeros((20, 30, 3), np.uint8)
    image[0, 0] = (9, 8, 7)
    masked = made(image, Masks((((-5.0, -5.0), (40.0, -5.0), (40.0, 30.0), (-5.0, 30.0)),)))
    assert (masked == (9, 8, 7)).all()


def test_a_source_without_text_cannot_be_masked():
    source = seen(np.zeros((20, 30, 3), np.uint8))
    assert masking().draw(source, RNG) == Inapplicable("no text found in the source")


def test_shifts_are_carried():
    assert carried_along(quads([[0, 0], [4, 0], [4, 2], [0, 2]]), Shift(1, -1))[0, 0].tolist() == [1, -1]
    moved = carried_along(quads([[0, 0], [4, 0], [4, 2], [0, 2]]), Shift(1, -1, condition="shift"))
    assert moved[0, 0].tolist() == [2, -1]


def test_findings_must_recur_under_jpeg_and_a_shift():
    change = Light(5.0)
    assert [c.condition for c in brightness_up().again(page(), change)] == ["jpeg", "shift"]


def test_the_evidence_can_be_stored():
    verdict = brightness_up().check(page(0), [Observation.of(page(0).input, page(1).answer)], Light(5.0))
    assert dump_json(dict(verdict.evidence))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: brightness_up(step=0), "step is 0; it must be a whole number between 1 and 100"),
        (lambda: brightness_down(most=300), "most is 300; it must be a whole number between 1 and 255"),
        (lambda: brightness_up(gain=0.0), "gain is 0.0"),
        (lambda: brightness_up(matching="loose"), "brightness-up: matching is 'loose'; it is one of"),
        (lambda: channel_switch(orders=["rgb"]), "order 'rgb' is none of rbg, grb, gbr, brg, bgr"),
        (lambda: channel_switch(orders=[]), "orders is empty"),
        (lambda: perspective(reach=0), "reach is 0"),
        (lambda: perspective(eps=0), "perspective: eps is 0"),
        (lambda: watermark(words=["naïve"]), "the font 'duplex' cannot draw 'ï'"),
        (lambda: watermark(font="arial"), "font is 'arial'"),
        (lambda: watermark(letters=(5, 4)), r"letters is \(5, 4\); give \[least, most\], whole"),
        (lambda: watermark(height=(4, 9)), r"height is \(4, 9\); give \[least, most\], whole numbers from 8"),
        (lambda: watermark(letters=5), "letters is 5; give"),
        (lambda: watermark(words=5), "words is 5; give a list of strings"),
        (lambda: watermark(contrast=0), "contrast is 0"),
        (lambda: watermark(clearance="x"), "clearance is 'x'; it must be a number of at least 0"),
        (lambda: perspective(reach="far"), "reach is 'far'; it must be a whole number of at least 1"),
        (lambda: perspective(eps="x"), "eps is 'x'; it must be a number above 0"),
        (lambda: watermark(clearance=-1), "clearance is -1"),
        (lambda: listed(perspectives=0), "perspectives is 0"),
    ],
)
def test_senseless_options_are_refused(make, reason):
    with pytest.raises(BadInput, match=reason):
        make()


def test_bisection_finds_where_brightness_breaks_a_locator():
    class Dims:
        name = "dims"

        def predict(self, images):
            return [
                Quads(quads([[0, 0], [9, 0], [9, 9], [0, 9]])[: int(image.max() < 190)]) for image in images
            ]

    scene = instar.Scene.of("grey", np.full((20, 20, 3), 100, np.uint8))
    records = list(instar.run([scene], brightness_up(), Dims(), search=instar.bisect(0, 200, within=1)))
    broken = [r.change.levels for r in records if r.verdict.status is Status.VIOLATED]
    held = [r.change.levels for r in records if r.role == "case" and r.verdict.status is Status.HELD]
    assert (min(broken), max(held)) == (90, 89)
