"""Answers as people have them: every usual library's own type, through storage, is read as the same boxes."""

from __future__ import annotations

import dataclasses
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from instar.store.answers import decode_answer, encode_answer
from instar.tasks.detection.answers import read

IMAGE = np.zeros((100, 200, 3), np.uint8)
BOXES = [[10.0, 20.0, 50.0, 60.0], [5.0, 5.0, 25.0, 45.0]]
NAMES = ["person", "dog", "cat"]


def kept(answer):
    """As a run reads it back."""
    return read(IMAGE, decode_answer(encode_answer(answer)))


def same(found, labels=("dog", "person")):
    assert found.labels == labels
    np.testing.assert_allclose(found.boxes, BOXES)
    np.testing.assert_allclose(found.scores, [0.75, 0.5], atol=1e-6)


def torch_parts():
    torch = pytest.importorskip("torch")
    return torch.tensor(BOXES, requires_grad=True), torch.tensor([1, 0]), torch.tensor([0.75, 0.5])


def test_the_dictionary_of_torchvision_is_read_off_its_graph():
    boxes, labels, scores = torch_parts()
    same(kept({"boxes": boxes, "labels": labels, "scores": scores}), ("1", "0"))
    same(kept({"boxes": boxes, "labels": labels, "scores": scores, "names": NAMES}))


def test_brain_floats_are_read():
    boxes, labels, scores = torch_parts()
    import torch

    same(kept({"boxes": boxes.to(torch.bfloat16), "labels": labels, "scores": scores, "names": NAMES}))


@pytest.mark.real
@pytest.mark.parametrize("library", ["jax", "tensorflow"])
def test_arrays_of_other_libraries_are_read(library):
    pytest.importorskip(library, reason="too large for our environment")
    code = {
        "jax": "import jax.numpy as xp; make = lambda v, t='float32': xp.array(v, t)",
        "tensorflow": "import tensorflow as xp; make = lambda v, t='float32': xp.constant(v, t)",
    }[library]
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(code, names)
    make = names["make"]
    parts = {"boxes": make(BOXES, "bfloat16"), "labels": make([1, 0], "int32"), "scores": make([0.75, 0.5])}
    same(kept({**parts, "names": NAMES}))


def test_the_list_of_a_hugging_face_pipeline_is_read_and_boxes_of_no_pixels_are_left_out():
    objects = [
        {"score": 0.75, "label": "dog", "box": {"xmin": 10, "ymin": 20, "xmax": 50, "ymax": 60}},
        {"score": 0.3, "label": "cat", "box": {"xmin": 9, "ymin": 20, "xmax": 9, "ymax": 60}},
        {"score": 0.5, "label": "person", "box": {"xmin": 5, "ymin": 5, "xmax": 25, "ymax": 45}},
    ]
    same(kept(objects))
    assert len(kept([])) == 0


def test_coco_results_have_corner_and_sides():
    objects = [
        {"image_id": 7, "category_id": 18, "bbox": [10, 20, 40, 40], "score": 0.75},
        {"image_id": 7, "category_id": 1, "bbox": [5, 5, 20, 40], "score": 0.5},
    ]
    same(kept(objects), ("18", "1"))
    same(kept({"objects": objects, "names": "coco-ids"}))


def test_a_table_of_corners_score_and_class_is_read():
    table = np.array([[*BOXES[0], 0.75, 1], [*BOXES[1], 0.5, 0]])
    same(kept({"objects": table, "names": NAMES}))


class Boxes:
    """As ultralytics has them: a view on one table."""

    def __init__(self, data):
        self.data = data
        self.orig_shape = (100, 200)

    xyxy = property(lambda self: self.data[:, :4])
    conf = property(lambda self: self.data[:, 4])
    cls = property(lambda self: self.data[:, 5])


@pytest.mark.parametrize(
    "answer",
    [
        [[10, 20, 40, 60, 0.9, "dog"]],
        [(10, 20, 40, 60, 0.9, "dog")],
        [{"xmin": 10, "ymin": 20, "xmax": 40, "ymax": 60, "confidence": 0.9, "class": 16, "name": "dog"}],
        [{"bbox": {"left": 10, "top": 20, "right": 40, "bottom": 60}, "label": "dog", "score": 0.9}],
        {"predictions": [{"box": [10, 20, 40, 60], "class": "dog", "score": 0.9}], "took": 3},
    ],
)
def test_rows_and_corners_of_plain_values_are_read(answer):
    found = kept(answer)
    assert (found.labels, found.boxes.tolist()) == (("dog",), [[10, 20, 40, 60]])
    assert found.scores.tolist() == pytest.approx([0.9])


def test_results_like_those_of_ultralytics_are_read_with_their_names():
    table = np.array([[*BOXES[0], 0.75, 1], [*BOXES[1], 0.5, 0]], np.float32)
    results = SimpleNamespace(boxes=Boxes(table), names=dict(enumerate(NAMES)), probs=None, orig_img=IMAGE)
    same(kept(results))
    assert len(encode_answer(results)) < 1000  # the picture is not kept with it


@pytest.mark.real
def test_results_of_ultralytics_itself_are_read():
    results = pytest.importorskip("ultralytics.engine.results", reason="AGPL: no part of our environment")
    torch = pytest.importorskip("torch")
    table = torch.tensor([[*BOXES[0], 0.75, 1], [*BOXES[1], 0.5, 0]])
    same(kept(results.Results(IMAGE, "a.png", dict(enumerate(NAMES)), boxes=table)))


@pytest.mark.real
def test_detections_of_supervision_are_read_with_and_without_names():
    import supervision

    parts = {"xyxy": np.array(BOXES), "confidence": np.array([0.75, 0.5]), "class_id": np.array([1, 0])}
    same(kept(supervision.Detections(**parts)), ("1", "0"))
    masks = np.ones((2, 100, 200), bool)
    named = supervision.Detections(**parts, mask=masks, data={"class_name": np.array(["dog", "person"])})
    same(kept(named))
    assert len(encode_answer(named)) < 1000  # nor are masks
    assert len(kept(supervision.Detections.empty())) == 0


class Instances:
    """As Detectron2 has them: fields by attribute, and an error of its own for others."""

    def __init__(self, **fields):
        self.__dict__["_fields"] = fields

    def __getattr__(self, name):
        if name not in self.__dict__["_fields"]:
            raise AttributeError(f"Cannot find field '{name}'")
        return self.__dict__["_fields"][name]

    def __len__(self):
        return 2


def test_instances_like_those_of_detectron2_are_read():
    boxes, labels, scores = torch_parts()
    fields = {"pred_boxes": SimpleNamespace(tensor=boxes), "pred_classes": labels, "scores": scores}
    same(kept({"instances": Instances(**fields)}), ("1", "0"))
    same(kept({"instances": Instances(**fields), "names": NAMES}))


def test_samples_like_those_of_mmdetection_are_read():
    boxes, labels, scores = torch_parts()
    inner = SimpleNamespace(bboxes=boxes, labels=labels, scores=scores)
    same(kept(SimpleNamespace(pred_instances=inner)), ("1", "0"))


def test_a_target_of_maite_may_have_the_scores_of_every_class():
    @dataclasses.dataclass
    class Target:
        boxes: object
        labels: object
        scores: object

    boxes, labels, _ = torch_parts()
    same(kept(Target(boxes, labels, np.array([[0.2, 0.75], [0.5, 0.1]]))), ("1", "0"))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([{"label": "dog", "score": 1}], "an object has no 'box' or 'bbox'; it has .'label', 'score'."),
        ([{"box": [1, 2, 3, 4], "score": 1}], "an object has no 'label'; it has .'box', 'score'."),
        ([{"box": {"x": 1}, "label": "a", "score": 1}], "a box has .'x'.; it needs xmin"),
        ([{"bbox": [1, 2, 3], "label": "a", "score": 1}], "a bbox is a list, .1, 2, 3.; it must be four"),
        (
            {"objects": [{"bbox": [1, 2, 3, 4], "class": 9, "score": 1}], "names": NAMES},
            "label 9 has no name",
        ),
        (
            {"boxes": [[1, 2, 3, 4]], "labels": [1], "scores": [1], "names": "voc"},
            "names is 'voc'; it must be",
        ),
    ],
)
def test_what_is_missing_is_told(answer, message):
    with pytest.raises(ValueError, match=message):
        kept(answer)
