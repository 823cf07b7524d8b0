"""Words are drawn tight, at the height asked for, or refused."""

from __future__ import annotations

import string

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.imaging.lettering import FONTS, STROKES, drawn_word, with_word


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("height", [8, 16, 40])
def test_capitals_are_about_as_high_as_asked(font, height):
    assert drawn_word("EXIT", height, font=font).shape[0] == pytest.approx(height, rel=0.3)


@pytest.mark.parametrize("text", ["A", "j", "(Qy)", "~!"])
def test_the_ink_touches_all_four_sides(text):
    ink = drawn_word(text, 24)
    assert all(side.any() for side in (ink[0], ink[-1], ink[:, 0], ink[:, -1]))


def test_every_capital_and_digit_has_ink_of_its_own():
    drawings = {character: drawn_word(character, 32) for character in string.ascii_uppercase + string.digits}
    unlike = {ink.tobytes() + bytes(ink.shape) for ink in drawings.values()}
    assert len(unlike) == len(drawings)


@pytest.mark.parametrize(
    ("text", "font", "reason"),
    [
        ("naïve", "duplex", "the font 'duplex' cannot draw 'ï' in 'naïve'; it knows printable ASCII only"),
        ("出口", "simplex", "cannot draw '出'"),
        ("tab\t", "duplex", r"cannot draw '\\t'"),
        ("two words", "duplex", "has a space in it"),
        ("", "duplex", "is empty"),
        ("EXIT", "arial", "font is 'arial'; it is one of simplex, duplex, complex, triplex, strokes"),
        ("EXIT", "strokes", "the font 'strokes' cannot draw 'E' in 'EXIT'; it knows 口日田"),
    ],
)
def test_what_cannot_be_drawn_is_refused(text, font, reason):
    with pytest.raises(BadInput, match=reason):
        drawn_word(text, 20, font=font)


def test_words_of_other_scripts_are_drawn_in_strokes_of_that_height():
    heights = {letter: drawn_word(letter, 32, font="strokes").shape[0] for letter in STROKES}
    assert all(24 <= height <= 36 for height in heights.values()), heights
    alone = sum(drawn_word(letter, 24, font="strokes").shape[1] for letter in "出口")
    assert drawn_word("出口", 24, font="strokes").shape[1] > alone


def test_a_height_that_cannot_be_read_is_refused():
    with pytest.raises(BadInput, match="a word of 3 pixels cannot be read"):
        drawn_word("EXIT", 3)


def test_a_word_covers_its_place_and_nothing_else():
    image = np.full((60, 120, 3), 200, np.uint8)
    ink = drawn_word("EXIT", 20)
    result = with_word(image, ink, 10, 15, (0, 0, 0))
    changed = (result != image).any(axis=2)
    assert changed[15 : 15 + ink.shape[0], 10 : 10 + ink.shape[1]].sum() == changed.sum() == (ink > 1).sum()
    assert (image == 200).all()
