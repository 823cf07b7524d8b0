"""What a campaign relies on, for every text locator that runs here."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from instar.core.digest import digest
from instar.core.system import System
from instar.tasks.text.answers import read
from instar.tasks.text.systems.craft import craft
from instar.tasks.text.systems.east import east
from instar.tasks.text.systems.ppocr import ppocr_v4, ppocr_v6
from instar.tasks.text.systems.tesseract import tesseract
from instar.testing import check_system
from instar.zoo import fetch
from text_pictures import drawn_page, photograph

# Small inputs, so that many questions take seconds.
LOCATORS = {
    "ppocr-v4-det": lambda: ppocr_v4(limit_side=160, limit_type="max"),
    "ppocr-v6-det": lambda: ppocr_v6(limit_side=160, limit_type="max"),
    "tesseract": tesseract,
    "craft": lambda: craft(limit_side=160),
    "east": lambda: east(limit_side=160),
}
LARGE = {"craft", "east"}
"""Their weights are too large for every run of the tests."""


NAMED = [pytest.param(name, id=name, marks=pytest.mark.real if name in LARGE else ()) for name in LOCATORS]


@pytest.fixture(scope="module", params=NAMED)
def locator(request):
    if request.param == "east":
        fetch("east", demanded=True)  # as `instar models fetch east` does; its weights are under the GPL
    return LOCATORS[request.param]()


def pictures() -> list[np.ndarray]:
    return [drawn_page(), photograph("page"), np.full((40, 50, 3), 128, np.uint8)]


def test_it_keeps_the_contract_of_a_system(locator):
    assert isinstance(locator, System)
    assert locator.batch >= 1
    check_system(locator, pictures())


@pytest.mark.parametrize("locator", [one for one in NAMED if one.id != "east"], indirect=True)
def test_it_answers_alike_from_several_threads(locator):
    assert locator.concurrent  # EAST says that it is not, and is asked by one thread at a time
    images = pictures()
    together = locator.predict(images)
    with ThreadPoolExecutor(3) as pool:
        apart = [answers[0] for answers in pool.map(locator.predict, [[image] for image in images])]
    assert [digest(answer) for answer in together] == [digest(answer) for answer in apart]


def test_it_can_be_sent_to_another_process(locator):
    received = pickle.loads(pickle.dumps(locator))
    assert (received.name, received.fingerprint) == (locator.name, locator.fingerprint)
    assert digest(received.predict([drawn_page()])[0]) == digest(locator.predict([drawn_page()])[0])


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 900, 3), (900, 1, 3), (64, 64, 3)])
def test_any_size_of_picture_gets_an_answer(locator, shape):
    image = np.full(shape, 128, np.uint8)
    (answer,) = locator.predict([image])
    assert len(read(image, answer)) == len(answer)


def test_a_view_that_is_not_contiguous_gets_the_same_answer(locator):
    mirrored = drawn_page()[:, ::-1]
    assert digest(locator.predict([mirrored])[0]) == digest(locator.predict([mirrored.copy()])[0])


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((9, 9), np.uint8),
        np.zeros((9, 9, 4), np.uint8),
        np.zeros((9, 9, 3), np.float32),
        np.zeros((0, 9, 3), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(locator, image):
    with pytest.raises(ValueError, match=r"it must be uint8 \(H, W, 3\)"):
        locator.predict([image])
