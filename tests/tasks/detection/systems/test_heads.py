"""Heads of networks that answer with finished tables: what was planted in their outputs is what is found."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import pytest

from instar.campaigns.plan import Use, code_named_by, make_plan, plan_to_toml
from instar.campaigns.resolve import resolve_system
from instar.core.errors import BadInput
from instar.core.system import is_isolated
from instar.tasks.detection.systems.onnx import onnx_detector
from instar.user_file import parse_toml
from onnx_answers import SIZE, save_network

LABELS = ["cat", "dog", "cup"]
BOXES = np.float32([[10, 13, 30, 53], [40, 21, 104, 77], [44, 23, 108, 78]])
CLASSES = np.array([1, 2, 2])
SCORES = np.float32([0.9, 0.8, 0.7])
SHARES = BOXES / np.float32([SIZE[1], SIZE[0]] * 2)
GREY = np.full((*SIZE, 3), 90, np.uint8)


def around(boxes):
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], axis=1)


def found_by(folder: Path, answers, head, *, labels=LABELS, further=None, **options):
    model = save_network(folder / "planted.onnx", answers, further=further)
    detector = onnx_detector(model=model, head=head, labels=labels, **options)
    (answer,) = detector.predict([GREY])
    return answer


def assert_planted(answer, labels=("dog", "cup", "cup")):
    """Two of them overlap, as two things may: a network that has dropped duplicates keeps them apart."""
    assert answer.labels == labels
    np.testing.assert_allclose(answer.boxes, BOXES, atol=1e-3)
    np.testing.assert_allclose(answer.scores, SCORES, atol=1e-5)


def table_of(boxes, first=0):
    return np.column_stack([boxes, SCORES, CLASSES + first]).astype(np.float32)


def test_a_table_of_finished_detections(tmp_path):
    unused = np.zeros((2, 6), np.float32)  # such tables have a fixed number of rows, the rest is zero
    answers = {"output0": np.concatenate([table_of(BOXES), unused])[None]}
    assert_planted(found_by(tmp_path, answers, "table"))


def test_columns_unit_and_numbers_can_be_declared(tmp_path):
    rows = np.column_stack([np.zeros(3), CLASSES + 1, SCORES, SHARES]).astype(np.float32)
    columns = ["-", "class", "score", "x1", "y1", "x2", "y2"]
    head = {"kind": "table", "columns": columns, "unit": "shares", "first": 1}
    assert_planted(found_by(tmp_path, {"detections": rows[None, None]}, head))
    head = {"kind": "table", "columns": ["cx", "cy", "w", "h", "score", "class"]}
    assert_planted(found_by(tmp_path, {"detections": table_of(around(BOXES))}, head))


def test_duplicates_of_finished_detections_go_only_on_demand(tmp_path):
    answer = found_by(tmp_path, {"output0": table_of(BOXES)}, "table", same_object=0.5)
    assert answer.labels == ("dog", "cup")


def test_torchvisions_three_outputs_in_any_order(tmp_path):
    answers = {"labels": CLASSES + 1, "boxes": BOXES, "scores": SCORES}
    assert_planted(found_by(tmp_path, answers, "torchvision"))
    assert_planted(found_by(tmp_path, dict(reversed(answers.items())), "torchvision"))
    batched = {"labels": CLASSES[None], "boxes": SHARES[None], "scores": SCORES[None]}
    head = {"kind": "torchvision", "unit": "shares", "first": 0}
    assert_planted(found_by(tmp_path, batched, head))


def test_scores_may_stand_beside_the_boxes_as_in_mmdetection(tmp_path):
    answers = {"dets": np.column_stack([BOXES, SCORES])[None], "labels": CLASSES[None]}
    assert_planted(found_by(tmp_path, answers, {"kind": "torchvision", "first": 0}))


def test_one_or_no_detection_of_torchvision_is_read_too(tmp_path):
    for n in (0, 1):
        answers = {"boxes": BOXES[:n], "labels": CLASSES[:n] + 1, "scores": SCORES[:n]}
        assert found_by(tmp_path, answers, "torchvision").labels == ("dog",) * n


def logits_for(columns: int, first: int = 0, *, softmax: bool) -> np.ndarray:
    """Three queries that see something and one that does not, scored as planted."""
    if not softmax:
        logits = np.full((4, columns), -9.0)
        logits[np.arange(3), CLASSES + first] = np.log(SCORES / (1 - SCORES))
    else:
        shares = np.full((4, columns), 1e-9)
        shares[np.arange(3), CLASSES + first] = SCORES
        shares[:, -1] = [*(1 - SCORES), 1]
        logits = np.log(shares) + 3
    return logits.astype(np.float32)[None]


QUERIES = np.concatenate([around(SHARES), np.float32([[0.5, 0.5, 1, 1]])])[None]


def test_a_detr_with_a_column_for_no_object(tmp_path):
    answers = {"logits": logits_for(4, softmax=True), "pred_boxes": QUERIES}
    assert_planted(found_by(tmp_path, answers, "detr"))
    assert_planted(found_by(tmp_path, dict(reversed(answers.items())), "detr"))


def test_a_detr_with_sigmoids(tmp_path):
    answers = {"pred_boxes": QUERIES, "logits": logits_for(3, softmax=False)}
    assert_planted(found_by(tmp_path, answers, {"kind": "detr", "scores": "sigmoid"}))


def test_cocos_own_numbers_are_labels_of_their_own(tmp_path):
    """As the published DETR has them: 91 numbers from 0 on, and no object."""
    answers = {"logits": logits_for(92, first=16, softmax=True), "pred_boxes": QUERIES}
    answer = found_by(tmp_path, answers, {"kind": "detr", "first": 1}, labels="coco-ids")
    assert_planted(answer, ("cat", "dog", "dog"))  # COCO's 17 and 18


def test_further_inputs_get_what_was_declared(tmp_path):
    answers = {"labels": CLASSES, "boxes": BOXES, "scores": SCORES}
    head = {"kind": "torchvision", "first": 0}
    found = found_by(tmp_path, answers, head, further={"sizes": 2}, also={"sizes": [128, 96]})
    assert_planted(found)
    with pytest.raises(BadInput, match=r"wants 2 inputs \(picture \[1, 3, 96, 128\], sizes \[1, 2\]\)"):
        found_by(tmp_path, answers, head, further={"sizes": 2})
    with pytest.raises(BadInput, match="also: unknown input 'size'; did you mean 'sizes'"):
        found_by(tmp_path, answers, head, further={"sizes": 2}, also={"size": [128, 96]})
    with pytest.raises(BadInput, match=r"also: sizes is 'large'; it must be tensor\(int64\)"):
        found_by(tmp_path, answers, head, further={"sizes": 2}, also={"sizes": "large"})


@pytest.mark.parametrize(
    ("head", "answers", "said"),
    [
        ("table", {"dets": BOXES}, r"one table of 6 columns \(x1, .*, class\); .* dets \(3, 4\)$"),
        ("torchvision", {"a": BOXES, "b": SCORES}, r"expected boxes .*, labels .*; .* a \(3, 4\), b \(3,\)$"),
        ("detr", {"l": logits_for(7, softmax=True), "b": QUERIES}, r"class logits \(n, 4\) and boxes"),
        ("ssd", {"b": SHARES}, r"expected boxes \(rows, 4\) and scores \(rows, 4\), background first"),
        ("tensorflow", {"b": SHARES}, "expected boxes .1, rows, 4., then classes and scores"),
        ("yolov5", {"o": table_of(BOXES)[None]}, r"one table \(rows, 8\) or \(8, rows\); .* o \(1, 3, 6\)$"),
        ("yolov8", {"o": table_of(BOXES)[None]}, r"one table \(rows, 7\) or \(7, rows\); .* o \(1, 3, 6\)$"),
        ("table", {"d": table_of(BOXES, first=9)}, "class 11 has no label; there are 3, counted from 0"),
        ("table", {"d": table_of(BOXES) + np.float32([0, 0, 0, 0, 5, 0])}, "scores go from 5.7 to 5.9"),
        ("table", {"d": table_of(BOXES) + np.float32([0, 0, 0, 0, 0, 0.5])}, "whole numbers; here is 1.5"),
        ("table", {"d": table_of(BOXES + 900)}, "no box lies in the picture of 128x96"),
        ("table", {"d": table_of(SHARES)}, "they are shares of the picture"),
    ],
)  # fmt: skip
def test_a_wrong_declaration_is_refused_in_one_line(head, answers, said, tmp_path):
    with pytest.raises(BadInput, match=said) as raised:
        found_by(tmp_path, answers, head)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("tabel", "unknown head 'tabel'; did you mean 'table'"),
        ({"kind": "table", "columns": ["x1", "y1", "x2", "score", "class"]}, "there is no y2"),
        ({"kind": "table", "columns": ["x1", "colour"]}, "unknown columns 'colour'"),
        ({"kind": "table", "unit": "cm"}, "unknown unit 'cm'"),
        ({"kind": "detr", "scores": "linear"}, "unknown scores 'linear'"),
        ({"kind": "torchvision", "first": -1}, "first is -1; it must be a whole number of at least 0"),
        ("nowhere:decode", "head 'nowhere:decode' cannot be imported"),
    ],
)
def test_what_cannot_be_declared_is_refused(head, said, tmp_path):
    with pytest.raises(BadInput, match=said):
        found_by(tmp_path, {"output": table_of(BOXES)}, head)


def strengths(columns: int, first: int = 0) -> np.ndarray:
    scores = np.zeros((3, columns), np.float32)
    scores[np.arange(3), CLASSES + first] = SCORES
    return scores


def test_a_transformers_table_may_have_shares_and_rows_that_lie(tmp_path):
    """As RT-DETR is exported: (queries, 4 + classes), in shares of the picture."""
    answers = {"output0": np.concatenate([around(SHARES), strengths(3)], axis=1)[None]}
    head = {"kind": "yolov8", "unit": "shares"}
    assert_planted(found_by(tmp_path, answers, head, same_object=1.0))
    objectness = np.ones((3, 1), np.float32)
    answers = {"output": np.concatenate([around(SHARES), objectness, strengths(3)], axis=1)[None]}
    assert_planted(found_by(tmp_path, answers, {"kind": "yolov5", "unit": "shares"}, same_object=1.0))


def test_boxes_and_scores_without_a_background_are_those_of_yolo_nas_and_pp_yoloe(tmp_path):
    head = {"kind": "ssd", "unit": "pixels", "background": False}
    answers = {"boxes": BOXES[None], "scores": strengths(3)[None]}
    assert_planted(found_by(tmp_path, answers, head, same_object=1.0))
    boxes, scores = (np.concatenate([part, np.zeros_like(part)]) for part in (BOXES, strengths(3)))
    answers = {"boxes": boxes[None], "scores": scores.T[None].copy()}
    assert_planted(found_by(tmp_path, answers, head, same_object=1.0))


def test_halves_are_read_like_floats(tmp_path):
    answer = found_by(tmp_path, {"output0": table_of(BOXES).astype(np.float16)}, "table")
    assert answer.scores.dtype == np.float32
    np.testing.assert_allclose(answer.scores, SCORES, atol=1e-3)


def test_a_network_of_whole_numbers_is_not_shown_shares(tmp_path):
    model = onnx.load(save_network(tmp_path / "planted.onnx", {"output0": table_of(BOXES)}))
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.UINT8
    onnx.save(model, str(tmp_path / "whole.onnx"))
    settings = {"model": str(tmp_path / "whole.onnx"), "head": "table", "labels": LABELS}
    with pytest.raises(BadInput, match=r"whole numbers \(uint8\), and 0.447 would be shown .* divide = 1"):
        onnx_detector(**settings)
    assert_planted(onnx_detector(**settings, divide=1).predict([GREY])[0])


def test_weights_may_lie_in_a_file_beside_the_network(tmp_path):
    """Their content counts: it is part of the fingerprint."""
    prints = []
    for score in (0.9, 0.8):
        rows = np.tile(np.float32([10, 13, 30, 53, score, 1]), (300, 1))
        table = onnx.numpy_helper.from_array(rows, "table")
        node = onnx.helper.make_node("Identity", ["table"], ["output0"])
        ends = [
            onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
            for name, shape in (("picture", [1, 3, *SIZE]), ("output0", [300, 6]))
        ]
        graph = onnx.helper.make_graph([node], "beside", ends[:1], ends[1:], initializer=[table])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
        path = tmp_path / "beside.onnx"
        (tmp_path / "beside.onnx.data").unlink(missing_ok=True)
        onnx.save(model, str(path), save_as_external_data=True, location="beside.onnx.data", size_threshold=0)
        detector = onnx_detector(model=str(path), head="table", labels=LABELS)
        assert detector.predict([GREY])[0].scores[0] == np.float32(score)
        prints.append(detector.fingerprint)
    assert prints[0] != prints[1]


OWN = """
import os

def decode(outputs, size):
    assert size == (96, 128)
    with open("process", "w") as file:
        file.write(str(os.getpid()))
    return outputs["boxes"] + 1, outputs["classes"], outputs["scores"]

def decode_wrongly(outputs, size):
    return outputs["boxes"][:2], outputs["classes"], outputs["scores"]
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """A folder with a user's network and head."""
    (tmp_path / "own_head.py").write_text(OWN)
    answers = {"boxes": BOXES - 1, "classes": CLASSES, "scores": SCORES}
    model = save_network(tmp_path / "own.onnx", answers)
    monkeypatch.chdir(tmp_path)
    return {"model": model, "head": "own_head:decode", "labels": LABELS, "same_object": 1.0}


def test_a_users_function_decodes_in_a_process_of_its_own(own):
    system = resolve_system(Use("onnx", own))
    assert_planted(system.predict([GREY])[0])
    assert is_isolated(system)
    assert Path("process").read_text() != str(os.getpid())
    assert code_named_by(Use("onnx", own)) == ["own_head:decode"]  # so a run's plan needs --trust
    before = system.fingerprint
    Path("own_head.py").write_text(OWN + "# another version\n")
    assert resolve_system(Use("onnx", own)).fingerprint != before


def test_what_a_users_function_gives_is_checked(own):
    with pytest.raises(BadInput, match=r"decode_wrongly must give .* it gave \(2, 4\), \(3,\), \(3,\)"):
        resolve_system(Use("onnx", own | {"head": "own_head:decode_wrongly"}))


def test_a_plan_keeps_a_head_with_options():
    head = {"kind": "grid", "boxes": "distributions", "bins": 8, "fields": ["classes", "box"]}
    system = {"use": "onnx", "model": "nanodet.onnx", "head": head}
    plan = make_plan({"scenes": "street:1", "system": [system], "relation": [{"use": "insertion"}]})
    assert make_plan(parse_toml(plan_to_toml(plan))).systems == plan.systems
    assert code_named_by(plan.systems[0]) == []


def test_onnxruntime_says_nothing(tmp_path, capfd):
    """These networks have weights that nothing uses, of which a session warns unless it is told not to."""
    found_by(tmp_path, {"output0": table_of(BOXES)}, "table")
    assert capfd.readouterr().err == ""
