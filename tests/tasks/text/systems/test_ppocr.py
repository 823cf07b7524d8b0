"""PP-OCR's locators: their boxes are those of the package that their weights come from.

The reference was made by the packages' own detectors at their own settings, on the same pixels, with
onnxruntime 1.31.1 and OpenCV 5.0.0:

    rapidocr-onnxruntime 1.4.4: RapidOCR().text_det(bgr)[0]
    rapidocr 3.10.0: RapidOCR().text_det(bgr).boxes, after a first call that loads the detector
"""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.tasks.text.polygons import quad_iou
from instar.tasks.text.systems.ppocr import ppocr_v4, ppocr_v6
from onnx_answers import save_network
from text_pictures import drawn_page, photograph

LOCATORS = {"v4": ppocr_v4, "v6": ppocr_v6}
REFERENCE = {
    ("v4", "drawn"): [
        [(96, 199), (231, 228), (223, 266), (87, 238)],
        [(346, 232), (471, 177), (487, 212), (362, 268)],
        [(330, 61), (457, 62), (457, 97), (330, 96)],
        [(62, 52), (236, 52), (236, 84), (62, 84)],
    ],
    ("v4", "page"): [
        [(5, 114), (172, 123), (171, 140), (4, 132)],
        [(3, 81), (378, 83), (378, 104), (3, 102)],
        [(3, 63), (379, 64), (379, 86), (3, 85)],
        [(4, 47), (379, 48), (378, 66), (4, 65)],
        [(7, 12), (292, 14), (292, 33), (7, 32)],
    ],
    ("v4", "bus"): [
        [(554, 586), (678, 571), (683, 606), (559, 621)],
        [(357, 529), (498, 525), (502, 671), (360, 675)],
        [(547, 550), (618, 545), (620, 581), (549, 585)],
        [(631, 429), (745, 429), (745, 460), (631, 460)],
        [(561, 329), (730, 335), (730, 355), (561, 349)],
        [(38, 336), (144, 324), (148, 360), (42, 372)],
        [(424, 323), (502, 323), (502, 353), (424, 353)],
    ],
    ("v6", "drawn"): [
        [(51, 38), (245, 38), (245, 95), (51, 95)],
        [(325, 55), (463, 55), (463, 102), (325, 102)],
        [(87, 186), (241, 213), (231, 274), (76, 248)],
        [(332, 224), (471, 161), (496, 216), (357, 279)],
    ],
    ("v6", "page"): [
        [(3, 9), (296, 10), (295, 36), (3, 35)],
        [(2, 45), (379, 47), (379, 68), (2, 66)],
        [(1, 62), (380, 63), (380, 87), (1, 86)],
        [(1, 79), (380, 81), (380, 105), (1, 104)],
        [(1, 95), (381, 97), (381, 124), (1, 122)],
        [(4, 114), (173, 120), (173, 140), (3, 133)],
        [(38, 167), (243, 175), (242, 190), (37, 186)],
    ],
    ("v6", "bus"): [
        [(81, 270), (113, 265), (115, 280), (83, 285)],
        [(38, 335), (148, 323), (152, 362), (42, 373)],
        [(559, 328), (729, 334), (729, 354), (559, 348)],
        [(628, 429), (747, 426), (748, 455), (629, 459)],
        [(409, 440), (477, 437), (478, 462), (410, 465)],
        [(550, 545), (619, 543), (621, 583), (552, 586)],
        [(550, 584), (680, 567), (685, 605), (555, 622)],
    ],
}


@pytest.fixture(scope="module", params=LOCATORS)
def version(request):
    return request.param


@pytest.fixture(scope="module")
def locator(version):
    return LOCATORS[version]()


def require_same_boxes(found, reference):
    """Each box has its partner and corners agree to two pixels: the reference has whole numbers."""
    reference = np.float32(reference)
    assert len(found) == len(reference)
    overlap = quad_iou(found.quads, reference)
    partners = overlap.argmax(axis=1)
    assert sorted(partners) == list(range(len(reference)))
    assert overlap.max(axis=1).min() > 0.85
    np.testing.assert_allclose(found.quads, reference[partners], atol=2)


def test_it_finds_the_boxes_that_rapidocr_finds_on_a_drawn_page(locator, version):
    require_same_boxes(locator.predict([drawn_page()])[0], REFERENCE[version, "drawn"])


def test_it_finds_the_boxes_that_rapidocr_finds_on_a_photographed_page(locator, version):
    require_same_boxes(locator.predict([photograph("page")])[0], REFERENCE[version, "page"])


@pytest.mark.real
def test_it_finds_the_boxes_that_rapidocr_finds_on_a_bus(locator, version):
    require_same_boxes(locator.predict([photograph("bus")])[0], REFERENCE[version, "bus"])


def test_a_picture_without_text_has_no_boxes(locator):
    (found,) = locator.predict([photograph("astronaut")])
    assert (found.quads.shape, found.texts, found.scores.shape) == ((0, 4, 2), None, (0,))


def test_words_of_a_few_pixels_are_found_when_the_picture_is_enlarged():
    small = cv2.resize(drawn_page(), None, fx=1 / 8, fy=1 / 8, interpolation=cv2.INTER_AREA)
    counts = {side: len(ppocr_v4(limit_side=side).predict([small])[0]) for side in (32, 320)}
    assert counts == {32: 0, 320: 4}


def test_a_large_picture_is_reduced_when_asked_for():
    locator = ppocr_v4(limit_side=320, limit_type="max")
    large, small = locator.predict([np.kron(drawn_page(), np.ones((2, 2, 1), np.uint8)), drawn_page()])
    assert len(large) == len(small) == 4
    assert quad_iou(large.quads, small.quads * 2).max(axis=1).min() > 0.85


def test_the_fingerprint_tells_weights_and_settings_apart(locator, version):
    weights = {"v4": "d2a7720d45a54257", "v6": "090f04abcd9d9a74"}[version]
    assert locator.name == f"ppocr-{version}-det"
    assert locator.fingerprint.startswith(
        f"{locator.name} weights={weights} limit=min 736 least_score=0.5 threads=1 decoder=1 onnxruntime="
    )
    make = LOCATORS[version]
    others = [make(limit_side=960), make(limit_type="max"), make(least_score=0.6), make(threads=2)]
    assert len({locator.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_bad_settings_are_named():
    with pytest.raises(
        BadInput, match="ppocr-v4-det: limit_side is 31; it must be a whole number of at least 32"
    ):
        ppocr_v4(limit_side=31)
    with pytest.raises(BadInput, match="ppocr-v4-det: unknown limit_type 'mix'; did you mean 'min' or 'max'"):
        ppocr_v4(limit_type="mix")
    with pytest.raises(
        BadInput, match="ppocr-v6-det: least_score is 50; it must be a number between 0 and 1"
    ):
        ppocr_v6(least_score=50)
    with pytest.raises(BadInput, match="ppocr-v6-det: threads is 0; it must be a whole number of at least 1"):
        ppocr_v6(threads=0)


def test_a_network_of_ones_own_that_is_none_or_for_one_size_is_refused(tmp_path):
    fixed = save_network(tmp_path / "fixed.onnx", {"map": np.zeros((1, 1, 96, 128), np.float32)})
    with pytest.raises(BadInput, match=r"takes picture \[1, 3, 96, 128\]; .* any height and width"):
        ppocr_v4(weights=fixed)
    (tmp_path / "page.onnx").write_text("<html>")
    with pytest.raises(BadInput, match=r"page\.onnx is no network that onnxruntime can run"):
        ppocr_v4(weights=str(tmp_path / "page.onnx"))
