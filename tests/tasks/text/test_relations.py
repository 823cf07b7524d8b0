"""What the six relations do to a picture, and what they demand."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import instar
from instar import Inapplicable, Observation, Status
from instar.core.errors import BadInput
from instar.core.follow_up import Seen, judge
from instar.core.frame import transform
from instar.imaging.nulls import Brighten
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
from instar.tasks.text.changes import Brightness, Masks, Permutation, Perspective, Watermark
from instar.tasks.text.polygons import quad_iou
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
    assert (Brightness(float(levels)).apply(image) == expected).all()


def test_gain_is_a_parameter():
    image = np.full((4, 4, 3), 100, np.uint8)
    change = brightness_up(gain=1.5).severity.at(seen(image), 20)
    assert change.apply(image).max() == 170


def test_a_severity_out_of_range_is_refused():
    with pytest.raises(BadInput, match="brightness-up: 300 grey levels are out of range"):
        brightness_up().severity.at(page(), 300)


def test_channels_are_switched_as_their_order_says():
    image = np.array([[[1, 2, 3]]], np.uint8)
    assert Permutation("gbr").apply(image).tolist() == [[[2, 3, 1]]]
    assert Permutation("brg").apply(image).tolist() == [[[3, 1, 2]]]
    assert [change.order for change in changes_of(channel_switch(), page())] == ["gbr", "brg"]


def test_perspective_enlarges_the_canvas_and_carries_quads_with_the_pixels():
    source = page()
    for seed in range(5):
        change = perspective().draw(source, np.random.default_rng(seed))
        follow_up = change.apply(source.input)
        assert follow_up.picture.shape == (460, 580, 3)
        (found,) = page_exact().predict([follow_up.picture])
        carried = transform(follow_up.matrix, source.answer.quads)
        assert (quad_iou(carried, found.quads).max(axis=1) > 0.6).all()


def test_perspective_pushes_corners_outward_and_leaves_the_rest_black():
    change = Perspective(100, 60, 10, ((10, 10), (0, 0), (0, 0), (0, 0)))
    follow_up = change.apply(np.full((60, 100, 3), 255, np.uint8))
    picture = follow_up.picture
    assert picture.shape == (80, 120, 3)
    assert picture[1, 1].tolist() == [255, 255, 255]
    assert picture[5, 115].tolist() == picture[75, 5].tolist() == [0, 0, 0]
    corners = transform(follow_up.matrix, np.float32([[0, 0], [100, 0], [100, 60], [0, 60]]))
    assert corners == pytest.approx(np.array([[0, 0], [110, 10], [110, 70], [10, 70]]), abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_a_watermark_keeps_clear_of_every_found_box_and_stands_out(seed):
    source = page(seed % 4)
    relation = watermark(contrast=90, clearance=0.5)
    change = relation.draw(source, np.random.default_rng(seed))
    assert isinstance(change, Watermark)
    assert quad_iou(change.quad(air=0.5), source.answer.quads).max() == 0
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
    same = Seen(source, [source], [source.answer])
    assert judge(relation, same, Brighten(1)).status is Status.HELD
    verdict = judge(relation, same, relation.draw(source, RNG))
    assert (verdict.status, verdict.kind) == (Status.VIOLATED, "watermark missed")


def test_masks_fill_rotated_quads_with_the_colour_of_their_first_corner():
    image = np.random.default_rng(0).integers(0, 256, (60, 60, 3), np.uint8)
    diamond = ((30.0, 10.0), (50.0, 30.0), (30.0, 50.0), (10.0, 30.0))
    masked = Masks((diamond,)).apply(image)
    rows, columns = np.mgrid[:60, :60] + 0.5
    inside = abs(columns - 30) + abs(rows - 30) <= 19
    outside = abs(columns - 30) + abs(rows - 30) >= 23
    assert (masked[inside] == image[10, 30]).all()
    assert (masked[outside] == image[outside]).all()


def test_masks_that_overshoot_take_the_nearest_colour():
    image = np.zeros((20, 30, 3), np.uint8)
    image[0, 0] = (9, 8, 7)
    masked = Masks((((-5.0, -5.0), (40.0, -5.0), (40.0, 30.0), (-5.0, 30.0)),)).apply(image)
    assert (masked == (9, 8, 7)).all()


def test_a_source_without_text_cannot_be_masked():
    source = seen(np.zeros((20, 30, 3), np.uint8))
    assert masking().draw(source, RNG) == Inapplicable("no text found in the source")


def test_the_evidence_can_be_stored_and_has_what_the_study_counts():
    source, other = page(0), page(1)
    seen = Seen(source, [Observation.of(source.input, other.answer, source.scene)], [source.answer])
    verdict = judge(brightness_up(), seen, Brightness(5.0))
    assert dump_json(dict(verdict.evidence))
    assert verdict.evidence.keys() == {
        "stability", "before", "after", "accuracy", "word_accuracy", "word_stability", "level",
    }  # fmt: skip
    assert verdict.evidence["level"] == 5.0


def test_a_word_that_was_written_counts_among_the_words_and_masked_ones_do_not():
    source = page()
    words = len(source.scene.knowledge["words"])
    for relation, expected in ((watermark(), [words, words, words + 1]), (masking(), [0, words, 0])):
        change = relation.draw(source, np.random.default_rng(0))
        verdict = relation.expect(source, [source], change)  # the locator answers as if nothing had changed
        assert verdict.status is Status.VIOLATED
        accuracy = verdict.evidence["accuracy"]
        assert (accuracy[0], accuracy[2]) == (expected[0], expected[2])


def test_what_was_drawn_for_another_system_may_be_unfair():
    image = np.full((200, 300, 3), 230, np.uint8)
    here, there = [[20, 20], [90, 20], [90, 50], [20, 50]], [[150, 100], [250, 100], [250, 130], [150, 130]]
    word = Watermark("WORD", 160, 105, 60, 20, 20, 0, "duplex")
    assert watermark().fair(seen(image, here), word) is None
    assert watermark().fair(seen(image, there), word) == Inapplicable("it would cover what this system finds")
    masks = masking().draw(seen(image, here), RNG)
    assert masking().fair(seen(image, here), masks) is None
    assert masking().fair(seen(image, here, there), masks) == Inapplicable(
        "it leaves text that this system finds"
    )
    assert masking().fair(seen(image), masks) == Inapplicable("no text found in the source")


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
