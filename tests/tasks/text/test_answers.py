"""Answers of text locators are taken as given, or refused with a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from instar.store.answers import decode_answer, encode_answer
from instar.tasks.text.answers import Quads, read

IMAGE = np.zeros((60, 100, 3), np.uint8)
BOX = [[10, 10], [50, 10], [50, 20], [10, 20]]


def quads(*corners):
    return np.array(corners, np.float32).reshape(-1, 4, 2)


@pytest.mark.parametrize(
    "answer",
    [
        Quads(quads(BOX), ("EXIT",), np.float32([0.5])),
        {"quads": [BOX], "texts": ["EXIT"], "scores": [0.5]},
        {"quads": np.array([BOX]), "texts": np.array(["EXIT"]), "scores": np.array([0.5])},
    ],
)
def test_an_answer_may_come_in_several_forms(answer):
    found = read(IMAGE, answer)
    assert found.quads.tolist() == [BOX]
    assert found.quads.dtype == np.float32
    assert (found.texts, found.scores.tolist()) == (("EXIT",), [0.5])


SIDES = dict(zip(("left", "top", "width", "height"), ((0, 10), (0, 10), (100, 40), (60, 10))))


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param([(BOX, "EXIT", np.float64(0.5))], id="EasyOCR"),
        pytest.param([{"boxes": BOX, "text": "EXIT", "confident": 0.5}], id="EasyOCR, as mappings"),
        pytest.param([[BOX, ("EXIT", 0.5)]], id="PaddleOCR 2"),
        pytest.param(
            {"dt_polys": [BOX, BOX], "rec_polys": [BOX], "rec_texts": ["EXIT"], "rec_scores": [0.5]},
            id="PaddleOCR 3",
        ),
        pytest.param({"boxes": np.float32([BOX]), "txts": ("EXIT",), "scores": (0.5,)}, id="RapidOCR"),
        pytest.param([{"box": BOX, "txt": "EXIT", "score": 0.5}], id="RapidOCR, as JSON"),
        pytest.param({**SIDES, "text": ["", "EXIT"], "conf": [-1, 50], "level": [1, 5]}, id="pytesseract"),
        pytest.param([{"bbox": [10, 10, 40, 10], "text": "EXIT", "score": 0.5}], id="COCO"),
        pytest.param(
            [{"points": [10, 10, 50, 10, 50, 20, 10, 20], "transcription": "EXIT", "score": 0.5}],
            id="eight numbers",
        ),
        pytest.param({"boxes": [[10, 10, 50, 20]], "texts": ["EXIT"], "scores": [0.5]}, id="rectangles"),
    ],
)
def test_an_answer_may_be_that_of_a_library(answer):
    found = read(IMAGE, decode_answer(encode_answer(answer)))
    assert (found.quads.tolist(), found.texts, found.scores.tolist()) == ([BOX], ("EXIT",), [0.5])


@dataclass
class Output:
    """As RapidOCR has it: with the picture, and with what cannot be kept."""

    boxes: Any = None
    txts: Any = None
    scores: Any = None
    viser: Any = field(default_factory=object)


def test_a_librarys_output_is_kept_without_what_is_no_answer():
    full = Output(np.float32([BOX]), ("EXIT",), (0.5,))
    assert read(IMAGE, decode_answer(encode_answer(full))).texts == ("EXIT",)
    assert len(read(IMAGE, decode_answer(encode_answer(Output())))) == 0


@pytest.mark.parametrize("answer", [[BOX], np.array([BOX]), {"quads": [BOX]}])
def test_texts_and_scores_may_be_missing(answer):
    found = read(IMAGE, answer)
    assert (found.quads.tolist(), found.texts, found.scores) == ([BOX], None, None)


@pytest.mark.parametrize("answer", [[], {"quads": []}, Quads(quads())])
def test_nothing_found_is_an_answer(answer):
    assert read(IMAGE, answer).quads.shape == (0, 4, 2)


def test_corners_told_anticlockwise_are_turned_around():
    assert read(IMAGE, [[BOX[0], BOX[3], BOX[2], BOX[1]]]).quads.tolist() == [BOX]


def test_a_quad_that_overshoots_stays_as_it_is():
    wide = [[-5, -5], [50, -5], [50, 70], [-5, 70]]
    assert read(IMAGE, [wide]).quads.tolist() == [wide]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([BOX[:3]], r"quads has shape \(1, 3, 2\); it must be \(n, 4, 2\): four corners each"),
        ([[0, 0, 5, 5]], r"quads has shape \(1, 4\)"),
        ([BOX, BOX[:3]], "quads cannot be read as numbers"),
        ([[[0, 0], [float("nan"), 0], [5, 5], [0, 5]]], "quad 0 .* is not finite"),
        ([BOX, [[0, 0], [1e39, 0], [5, 5], [0, 5]]], "quad 1 .* is not finite"),
        ([[[3, 3], [3, 3], [3, 3], [3, 3]]], "quad 0 .* has no area"),
        ([[[0, 0], [9, 9], [5, 5], [2, 2]]], "quad 0 .* has no area"),
        ([[[100, 0], [120, 0], [120, 9], [100, 9]]], "quad 0 .* lies outside the picture of 100x60"),
        ([[[-9, 0], [0, 0], [0, 9], [-9, 9]]], "quad 0 .* lies outside the picture"),
        ({"things": [BOX]}, "the answer has no 'quads'; it has"),
        ({"quads": [BOX], "scores": [1.5]}, "score 0 is 1.5"),
        ({"quads": [BOX], "scores": [float("nan")]}, "score 0 is nan"),
        ({"quads": [BOX], "scores": [0.5, 0.5]}, r"scores has shape \(2,\)"),
        ({"quads": [BOX], "texts": ["a", "b"]}, "there are 2 texts for 1 quads"),
        ({"quads": [BOX], "texts": "a"}, "texts is a str"),
        ({"quads": [BOX], "texts": [5]}, "texts is a tuple"),
        ("nothing", "quads cannot be read as numbers"),
        (None, "quads cannot be read as numbers"),
    ],
)
def test_nonsense_is_refused_with_its_reason(answer, reason):
    with pytest.raises((TypeError, ValueError), match=reason):
        read(IMAGE, answer)


def test_what_a_system_sets_aside_itself_counts_all_the_same():
    assert read(IMAGE, Quads(quads(BOX), aside=np.array([True]))).shown.tolist() == [True]


def test_only_float32_quads_are_made():
    with pytest.raises(TypeError, match="quads is an array of float64"):
        Quads(np.array([BOX], np.float64))


@pytest.mark.parametrize("found", [Quads(quads(BOX), ("EXIT",), np.float32([0.5])), Quads(quads())])
def test_an_answer_survives_being_stored(found):
    kept = decode_answer(encode_answer(found))
    assert isinstance(kept, Quads)
    assert kept.quads.tolist() == found.quads.tolist()
    assert kept.texts == found.texts


def test_an_answer_over_the_limit_is_refused_in_one_line():
    many = np.tile(np.float32(BOX), (300_000, 1, 1))
    with pytest.raises(ValueError, match=r"^the answer has 300,000 quads, over the limit of 10,000$"):
        read(IMAGE, many)
    assert len(read(IMAGE, many[:10_000])) == 10_000
