from __future__ import annotations

import cv2
import numpy as np
import pytest

from instar.cutouts.extraction import (
    cut_by_mask,
    grab_mask,
    hidden_by,
    why_box_unfit,
    why_mask_unfit,
)

NOTHING = np.zeros((0, 4), np.float32)
SHAPE = (200, 200)


def ellipse(centre: tuple[int, int] = (100, 100), axes: tuple[int, int] = (30, 50)) -> np.ndarray:
    canvas = np.zeros(SHAPE, np.uint8)
    return cv2.ellipse(canvas, (centre, (2 * axes[0], 2 * axes[1]), 0), 1, -1) > 0


def box_of(mask: np.ndarray) -> tuple[float, float, float, float]:
    y, x = np.nonzero(mask)
    return float(x.min()), float(y.min()), float(x.max() + 1), float(y.max() + 1)


def figure() -> np.ndarray:
    """A head, shoulders and two legs."""
    mask = ellipse((100, 50), (12, 16))
    mask[60:120, 75:125] = True
    mask[120:180, 80:95] = mask[120:180, 105:120] = True
    return mask


def test_a_cut_out_is_cropped_to_its_mask_and_white_stays_opaque() -> None:
    image = np.full((*SHAPE, 3), 255, np.uint8)
    mask = np.zeros(SHAPE, bool)
    mask[10:14, 20:23] = True
    mask[11, 21] = False
    cutout = cut_by_mask(image, mask)
    assert cutout is not None
    assert cutout.shape == (4, 3, 4)
    np.testing.assert_array_equal(cutout[..., 3], mask[10:14, 20:23] * 255)
    assert (cutout[..., :3] == 255).all()


def test_scraps_beside_an_object_are_not_cut_out() -> None:
    mask = ellipse()
    mask[10:14, 10:14] = True
    cutout = cut_by_mask(np.zeros((*SHAPE, 3), np.uint8), mask)
    assert cutout is not None
    assert cutout.shape[:2] == (101, 61)


def test_an_empty_mask_gives_nothing() -> None:
    assert cut_by_mask(np.zeros((*SHAPE, 3), np.uint8), np.zeros(SHAPE, bool)) is None


@pytest.mark.parametrize(
    ("box", "others", "why"),
    [
        ((50, 50, 120, 150), NOTHING, None),
        ((50, 50, 58, 150), NOTHING, "too small"),
        ((50, 50, 70, 75), NOTHING, "too small"),
        ((50, 50, 70, 150), NOTHING, None),
        ((1, 50, 120, 150), NOTHING, "cut off by the picture's edge"),
        ((50, 50, 120, 199), NOTHING, "cut off by the picture's edge"),
        ((50, 50, 120, 150), np.float32([[100, 50, 160, 150]]), "overlaps another object"),
        ((50, 50, 120, 150), np.float32([[110, 50, 160, 150]]), None),
    ],
)
def test_boxes_are_refused_with_the_reason(box, others, why: str | None) -> None:
    assert why_box_unfit(box, SHAPE, others) == why


def test_a_whole_figure_is_fit() -> None:
    assert why_mask_unfit(figure(), box_of(figure())) is None
    assert why_mask_unfit(ellipse(), box_of(ellipse())) is None


def test_half_a_figure_is_not() -> None:
    half = figure()
    half[110:] = False
    assert why_mask_unfit(half, box_of(figure())) == "only a part of its box"
    # Annotated as if it ended there: a table edge gives it away.
    assert why_mask_unfit(half, box_of(half)) == "cut off in a straight line"


def test_a_thing_with_straight_sides_is_fit() -> None:
    screen = np.zeros(SHAPE, bool)
    screen[60:120, 50:150] = True
    assert why_mask_unfit(screen, box_of(screen)) is None


def test_masks_are_refused_with_the_reason() -> None:
    assert why_mask_unfit(np.zeros(SHAPE, bool), (50, 50, 90, 90)) == "empty"
    assert why_mask_unfit(ellipse((30, 100)), (0, 50, 61, 151)) == "cut off by the picture's edge"
    diagonal = cv2.line(np.zeros(SHAPE, np.uint8), (50, 50), (150, 150), 1, 8) > 0
    assert why_mask_unfit(diagonal, box_of(diagonal)) == "fills too little of its box"
    pieces = ellipse((70, 100), (25, 50)) | ellipse((130, 100), (25, 50))
    assert why_mask_unfit(pieces, box_of(pieces)) == "in pieces"
    hole = ellipse() & ~ellipse((100, 100), (12, 20))
    assert why_mask_unfit(hole, box_of(hole)) == "something is in front of it"


def test_grabcut_finds_a_disc_within_its_box_and_always_the_same() -> None:
    rng = np.random.default_rng(0)
    truth = ellipse((100, 100), (40, 40))
    image = np.where(truth[..., None], (200, 40, 40), (40, 90, 60)) + rng.integers(0, 20, (*SHAPE, 3))
    image = image.astype(np.uint8)
    masks = [grab_mask(image, (58, 58, 142, 142)) for _ in range(2)]
    assert masks[0] is not None
    assert masks[1] is not None
    np.testing.assert_array_equal(masks[0], masks[1])
    assert (masks[0] & truth).sum() / (masks[0] | truth).sum() > 0.97
    assert not masks[0][:58].any()
    assert not masks[0][142:].any()


def test_grabcut_gives_up_on_a_box_without_surroundings() -> None:
    assert grab_mask(np.zeros((*SHAPE, 3), np.uint8), (0, 0, 200, 200)) is None


def test_outlines_tell_what_is_hidden() -> None:
    body = np.zeros((200, 200), bool)
    body[50:150, 80:120] = True
    beside = np.zeros_like(body)
    beside[50:150, 130:170] = True
    assert not hidden_by(body, beside)
    in_front = np.zeros_like(body)
    in_front[120:150, 100:140] = True
    assert hidden_by(body & ~in_front, in_front)
    leaning = np.zeros_like(body)
    leaning[50:150, 120:160] = True  # shares a whole side of the outline
    assert hidden_by(body, leaning)
    assert not hidden_by(body, np.zeros_like(body))


def test_what_is_left_of_a_mask_in_pieces_must_reach_as_far_as_its_box() -> None:
    mask = np.zeros((200, 200), bool)
    mask[20:120, 80:120] = True
    mask[150:180, 80:90] = True  # a foot below what is in front of the rest
    assert why_mask_unfit(mask, (80, 20, 120, 180)) == "only a part of its box"
