"""Networks that answer cell by cell: what was planted in their outputs is what is found.

Encoders here are written from what the papers say, decoders are never used to make what they are to decode.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.tasks.detection.systems.onnx import onnx_detector
from onnx_answers import SIZE, save_network

LABELS = ["cat", "dog", "cup"]
STRIDES = (8, 16, 32)
# Box, class, score and the stride at which it is planted. No centre lies on the border of a cell.
PLANTED = [
    ((10.0, 13.0, 30.0, 53.0), 1, 0.9, 8),
    ((40.0, 21.0, 104.0, 77.0), 2, 0.8, 16),
    ((60.0, 40.0, 124.0, 90.0), 0, 0.7, 32),
]
ANCHORS = {
    8: [(10.0, 13.0), (16.0, 30.0)],
    16: [(30.0, 61.0), (62.0, 45.0)],
    32: [(59.0, 119.0), (116.0, 90.0)],
}
LISTED = [[list(pair) for pair in ANCHORS[stride]] for stride in STRIDES]


def logit(share):
    share = np.asarray(share, np.float64)
    return np.log(share / (1 - share))


def offsets(box, column, row, stride, anchor):
    (cx, cy), (w, h) = centre_and_sides(box)
    return [cx / stride - column, cy / stride - row, np.log(w / stride), np.log(h / stride)]


def exponentials(box, column, row, stride, anchor):
    (cx, cy), (w, h) = centre_and_sides(box)
    inside = logit([cx / stride - column, cy / stride - row])
    return [*inside, np.log(w / anchor[0]), np.log(h / anchor[1])]


def squares(box, column, row, stride, anchor):
    (cx, cy), (w, h) = centre_and_sides(box)
    inside = (np.array([cx / stride - column, cy / stride - row]) + 0.5) / 2
    return [*logit(inside), *logit(np.sqrt([w / anchor[0], h / anchor[1]]) / 2)]


def distances(box, column, row, stride, anchor, *, centre=0.5, unit=None):
    x, y = (column + centre) * stride, (row + centre) * stride
    far = np.array([x - box[0], y - box[1], box[2] - x, box[3] - y])
    return far / (unit or stride)


def distributions(box, column, row, stride, anchor, *, bins=8, centre=0.5):
    """Two neighbouring bins share the weight, so that the mean is the distance."""
    numbers = []
    for far in distances(box, column, row, stride, anchor, centre=centre):
        low = int(np.floor(far))
        shares = np.full(bins, 1e-9)
        shares[low], shares[min(low + 1, bins - 1)] = 1 - (far - low) + 1e-9, far - low + 1e-9
        numbers += list(np.log(shares))
    return numbers


def centre_and_sides(box):
    x1, y1, x2, y2 = box
    return ((x1 + x2) / 2, (y1 + y2) / 2), (x2 - x1, y2 - y1)


def rows_with(
    encode, *, fields, width=4, anchors: Mapping[int, list] | None = None, quiet=0.0, to_scores=lambda s: s
):
    """For each stride `(anchors, rows, columns, numbers)`; every cell without an object says `quiet`."""
    levels = {}
    for stride in STRIDES:
        shapes = (anchors or {}).get(stride, [(stride, stride)])
        tall, wide = SIZE[0] // stride, SIZE[1] // stride
        parts = {
            "box": np.zeros((len(shapes), tall, wide, width), np.float32),
            "objectness": np.full((len(shapes), tall, wide, 1), quiet, np.float32),
            "classes": np.full((len(shapes), tall, wide, len(LABELS)), quiet, np.float32),
        }
        for box, label, score, at in PLANTED:
            if at != stride:
                continue
            (cx, cy), _ = centre_and_sides(box)
            column, row, k = int(cx // stride), int(cy // stride), len(shapes) - 1
            parts["box"][k, row, column] = encode(box, column, row, stride, shapes[k])
            parts["objectness"][k, row, column] = to_scores(score)
            alone = score if "objectness" not in fields else 0.999
            parts["classes"][k, row, column, label] = to_scores(alone)
        levels[stride] = np.concatenate([parts[name] for name in fields], axis=-1)
    return levels


def flat(levels):
    """(1, rows, numbers): all strides in one table."""
    return np.concatenate([one.reshape(-1, one.shape[-1]) for one in levels.values()])[None]


def channels_first(levels):
    """One (1, anchors * numbers, rows, columns) for each stride."""
    return {
        f"s{stride}": np.ascontiguousarray(
            one.transpose(0, 3, 1, 2).reshape(1, -1, one.shape[1], one.shape[2])
        )
        for stride, one in levels.items()
    }


def found_by(folder: Path, answers, head, **options):
    model = save_network(folder / "planted.onnx", answers)
    detector = onnx_detector(model=model, head=head, labels=LABELS, confidence=0.5, **options)
    (answer,) = detector.predict([np.full((*SIZE, 3), 90, np.uint8)])
    return answer


def assert_planted(answer, *, atol=0.02):
    assert answer.labels == tuple(LABELS[label] for _, label, _, _ in PLANTED)
    np.testing.assert_allclose(answer.boxes, [box for box, _, _, _ in PLANTED], atol=atol)
    np.testing.assert_allclose(answer.scores, [score for _, _, score, _ in PLANTED], atol=0.002)


BODY = ("box", "objectness", "classes")
PLAIN = ("classes", "box")
GRID = {"kind": "grid", "strides": list(STRIDES)}
STYLES = {
    "offsets": (offsets, {"fields": BODY}, {}),
    "exponentials": (
        exponentials,
        {"fields": BODY, "anchors": ANCHORS},
        {"scores": "logits", "anchors": LISTED},
    ),
    "squares": (squares, {"fields": BODY, "anchors": ANCHORS}, {"scores": "logits", "anchors": LISTED}),
    "distances": (distances, {"fields": PLAIN}, {"fields": list(PLAIN)}),
    "distributions": (distributions, {"fields": PLAIN, "width": 32}, {"fields": list(PLAIN), "bins": 8}),
}


def planted_rows(style):
    encode, settings, declared = STYLES[style]
    if declared.get("scores") == "logits":
        settings = settings | {"quiet": -9.0, "to_scores": logit}
    return rows_with(encode, **settings), GRID | {"boxes": style} | declared


@pytest.mark.parametrize("style", STYLES)
def test_boxes_come_out_as_they_were_planted_with_one_output_for_each_stride(style, tmp_path):
    levels, head = planted_rows(style)
    assert_planted(found_by(tmp_path, channels_first(levels), head))


@pytest.mark.parametrize("style", STYLES)
def test_one_table_of_all_strides_says_the_same(style, tmp_path):
    levels, head = planted_rows(style)
    assert_planted(found_by(tmp_path, {"output": flat(levels)}, head))
    assert_planted(found_by(tmp_path, {"output": flat(levels).transpose(0, 2, 1).copy()}, head))


def test_anchors_can_have_an_axis_of_their_own(tmp_path):
    levels, head = planted_rows("squares")
    assert_planted(found_by(tmp_path, {f"s{s}": one[None] for s, one in levels.items()}, head))
    last = {f"s{s}": one.transpose(1, 2, 0, 3)[None].copy() for s, one in levels.items()}
    assert_planted(found_by(tmp_path, last, head))


def test_channels_can_come_last(tmp_path):
    levels, head = planted_rows("distributions")
    assert_planted(found_by(tmp_path, {f"s{s}": one for s, one in levels.items()}, head))


def test_fields_can_have_outputs_of_their_own_as_in_picodet_and_rtmdet(tmp_path):
    levels, head = planted_rows("distributions")
    answers = {f"classes{s}": one[..., :3] for s, one in levels.items()}
    answers |= {f"boxes{s}": one[..., 3:].reshape(1, -1, 32) for s, one in levels.items()}
    assert_planted(found_by(tmp_path, {name: one.copy() for name, one in answers.items()}, head))


def test_fields_of_the_same_width_come_in_the_declared_order(tmp_path):
    """Three classes and objectness beside one class: shapes alone cannot tell which is which."""
    levels = rows_with(offsets, fields=BODY)
    answers = {}
    for stride, one in levels.items():
        label = next(label for _, label, _, at in PLANTED if at == stride)
        answers |= {
            f"box{stride}": one[..., :4],
            f"there{stride}": one[..., 4:5],
            f"class{stride}": one[..., 5 + label : 6 + label],
        }
    model = save_network(tmp_path / "one.onnx", {name: part.copy() for name, part in answers.items()})
    head = GRID | {"boxes": "offsets", "fields": list(BODY)}
    detector = onnx_detector(model=model, head=head, labels=["thing"])
    (answer,) = detector.predict([np.full((*SIZE, 3), 90, np.uint8)])
    np.testing.assert_allclose(answer.boxes, [box for box, _, _, _ in PLANTED], atol=0.02)


def test_points_of_cells_can_be_their_corners_and_distances_pixels(tmp_path):
    """As RTMDet and NanoDet-Plus have it."""

    def in_pixels(box, column, row, stride, anchor):
        return distances(box, column, row, stride, anchor, centre=0, unit=1)

    levels = rows_with(in_pixels, fields=PLAIN, quiet=-9.0, to_scores=logit)
    head = GRID | {
        "boxes": "distances",
        "fields": list(PLAIN),
        "scores": "logits",
        "unit": "pixels",
        "centre": 0,
    }
    assert_planted(found_by(tmp_path, channels_first(levels), head))


def test_a_spread_beyond_the_cell_is_that_of_yolov4(tmp_path):
    def spread(box, column, row, stride, anchor):
        (cx, cy), (w, h) = centre_and_sides(box)
        inside = (np.array([cx / stride - column, cy / stride - row]) + 0.05) / 1.1
        return [*logit(inside), np.log(w / anchor[0]), np.log(h / anchor[1])]

    levels = rows_with(spread, fields=BODY, anchors=ANCHORS, quiet=-9.0, to_scores=logit)
    head = GRID | {"boxes": "exponentials", "scores": "logits", "anchors": LISTED, "spread": 1.1}
    assert_planted(found_by(tmp_path, channels_first(levels), head))
    wrong = found_by(tmp_path, channels_first(levels), head | {"spread": 1.0})
    assert np.abs(wrong.boxes - [box for box, _, _, _ in PLANTED]).max() > 0.3


def refusal(folder, answers, head) -> str:
    with pytest.raises(BadInput) as raised:
        found_by(folder, answers, head)
    said = str(raised.value)
    assert "\n" not in said
    return said


def test_a_declaration_of_the_wrong_shape_says_what_was_seen_and_what_was_expected(tmp_path):
    levels, head = planted_rows("distributions")
    assert refusal(tmp_path, {"output": flat(levels)}, head | {"bins": 16}) == (
        f"onnx: {tmp_path}/planted.onnx: no output holds classes of stride 8; expected grids of "
        "12x16, 6x8, 3x4 cells (252 in all), each cell with 67 numbers (classes 3, box 64), or each apart; "
        "the network answers with output (1, 252, 35)"
    )
    said = refusal(tmp_path, channels_first(levels), head | {"strides": [8, 16, 32, 64]})
    assert "no output holds classes of stride 64" in said
    assert "s8 (1, 35, 12, 16), s16 (1, 35, 6, 8), s32 (1, 35, 3, 4)" in said


def test_logits_that_were_declared_probabilities_are_refused(tmp_path):
    levels, head = planted_rows("squares")
    said = refusal(tmp_path, {"output": flat(levels)}, head | {"scores": "probabilities"})
    assert "scores go from -9 to" in said
    assert "they are logits, or not the scores" in said


def test_boxes_that_are_nowhere_in_the_picture_are_refused(tmp_path):
    levels = rows_with(lambda *_: [500.0, 500.0, 0.0, 0.0], fields=BODY)
    said = refusal(tmp_path, {"output": flat(levels)}, GRID | {"boxes": "offsets"})
    assert "no box lies in the picture of 128x96 (the first of 3: " in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"boxes": "offset"}, "unknown boxes 'offset'; did you mean 'offsets'"),
        (
            {"fields": ["box", "class"]},
            "fields is ['box', 'class']; give box, classes and perhaps objectness",
        ),
        ({"strides": [8, 0]}, "strides is 0; it must be a whole number of at least 1"),
        ({"boxes": "squares"}, "anchors is (); give for each of the 3 strides a list of [width, height]"),
        ({"boxes": "squares", "anchors": [[[1, 2]], [[1]], []]}, "give for each of the 3 strides"),
        ({"stride": [8]}, "unknown option 'stride'; did you mean 'strides'"),
        ({"centre": 2}, "centre is 2; it must be a number between 0 and 1"),
        ({"scores": "softmax"}, "unknown scores 'softmax'"),
    ],
)
def test_what_cannot_be_declared_is_refused_in_one_line(wrong, said, tmp_path):
    levels, head = planted_rows("offsets")
    assert said in refusal(tmp_path, {"output": flat(levels)}, head | wrong)


def test_a_grid_needs_to_say_how_boxes_are_written(tmp_path):
    levels, _ = planted_rows("offsets")
    assert "head grid needs boxes" in refusal(tmp_path, {"output": flat(levels)}, "grid")
    assert "give a name, module:function, or a table" in refusal(tmp_path, {"output": flat(levels)}, {})
