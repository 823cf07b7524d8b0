"""PP-OCR whole: lines are found and read, and what is read is what was written."""

from __future__ import annotations

import numpy as np
import pytest

from instar.campaigns.plan import Plan, Use
from instar.campaigns.referees import find_referees
from instar.campaigns.resolve import build_system
from instar.tasks.text.systems.reader import _cut_out, _decode
from text_pictures import drawn_page


def test_repeats_are_one_letter_and_the_first_class_is_none():
    characters = ["", "a", "b", " "]
    steps = [1, 1, 0, 1, 2, 0, 0, 3]
    chances = np.full((len(steps), 4), 0.1, np.float32)
    chances[np.arange(len(steps)), steps] = [0.9, 0.8, 1, 0.7, 0.8, 1, 1, 0.6]
    text, sure = _decode(chances, characters)
    assert text == "aab "
    assert sure == pytest.approx((0.9 + 0.7 + 0.8 + 0.6) / 4)
    assert _decode(chances[[2, 5]], characters) == ("", 0.0)


def test_a_line_is_cut_out_upright_and_a_standing_one_is_turned():
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[10:20, 10:30], picture[10:20, 30:50] = (255, 0, 0), (0, 0, 255)  # red, then blue
    lying = _cut_out(picture, np.float32([[10, 10], [50, 10], [50, 20], [10, 20]]))
    assert lying.shape == (48, 192, 3)
    assert lying[24, [10, 180]].tolist() == [[255, 0, 0], [0, 0, 255]]
    turned = np.ascontiguousarray(np.rot90(picture, -1))  # now read from top to bottom
    standing = _cut_out(turned, np.float32([[80, 10], [90, 10], [90, 50], [80, 50]]))
    assert standing.shape == (48, 192, 3)
    assert {tuple(standing[24, 10].tolist()), tuple(standing[24, 180].tolist())} == {(255, 0, 0), (0, 0, 255)}


@pytest.mark.real
@pytest.mark.parametrize("name", ["ppocr-v4", "ppocr-v6"])
def test_the_words_of_a_page_are_read(name):
    (found,) = build_system(Use(name)).predict([drawn_page()])
    read = {text.replace(" ", "").lower() for text in found.texts}
    assert {"harbour", "station", "exit42", "market"} <= read
    assert (found.scores > 0.6).all()


@pytest.mark.real
def test_a_reader_is_no_referee_of_its_own_locator():
    plan = Plan(systems=(), relations=(), scenes="")
    referees = find_referees(plan, ["text"], build_system(Use("ppocr-v4-det")))
    assert [referee.name for referee in referees] == ["ppocr-v6", "ppocr-v4"]
    assert len(referees[0].system.predict([drawn_page()])) == 1
    with pytest.raises(Exception, match="weights of the system under test"):
        referees[1].system.predict([drawn_page()])
