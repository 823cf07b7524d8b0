"""Clarity tells sharp text from blurred text, whatever the brightness."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest

from instar.imaging.lettering import drawn_word
from instar.tasks.text.clarity import clarity, measure_look
from instar.worlds.page import scenes

WORD = np.pad(drawn_word("Harbour", 24), 4)


@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_blur_takes_clarity(sigma):
    softer, soft = (cv2.GaussianBlur(WORD, (0, 0), s) for s in (2 * sigma, sigma))
    assert clarity(softer) < clarity(soft) < clarity(WORD)


def test_neither_brightness_nor_contrast_matters():
    faint = (WORD // 4 + 100).astype(np.uint8)
    assert clarity(faint) == pytest.approx(clarity((WORD // 4).astype(np.uint8)))
    assert clarity(faint) == pytest.approx(clarity(WORD), abs=0.02)


def test_one_colour_has_no_clarity():
    assert clarity(np.full((10, 20), 77, np.uint8)) == 0.0


def test_a_picture_is_looked_at_around_its_boxes():
    (scene,) = scenes(1)
    quads = np.stack([word.outline for word in scene.knowledge["words"]])
    sharp = measure_look(scene.image, quads)
    blurred = measure_look(cv2.GaussianBlur(scene.image, (0, 0), 3), quads)
    assert sharp.boxes == len(quads)
    assert blurred.clarity < sharp.clarity
    assert blurred.brightness == pytest.approx(sharp.brightness, abs=1)


def test_without_boxes_clarity_is_not_known():
    look = measure_look(np.full((20, 20, 3), 50, np.uint8), np.zeros((0, 4, 2), np.float32))
    assert (look.brightness, look.boxes, math.isnan(look.clarity)) == (50.0, 0, True)
