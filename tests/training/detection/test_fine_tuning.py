"""A detector in a file of ONNX, trained in torch: it answers as before, learns, resumes, is written back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

torch = pytest.importorskip("torch", reason="the extra torch is not installed; make test-real has it")
pytestmark = pytest.mark.real

from instar.adapters.onnx_module import OnnxModule  # noqa: E402  # torch first
from instar.core.errors import BadInput  # noqa: E402
from instar.core.scene import SceneObject  # noqa: E402
from instar.imaging.codecs import decode_picture  # noqa: E402
from instar.imaging.onnx_session import open_onnx  # noqa: E402
from instar.tasks.detection.coco_names import COCO_NAMES  # noqa: E402
from instar.tasks.detection.systems.onnx import yolox, yolox_torch  # noqa: E402
from instar.training.detection.examples import augment, class_numbers, make_example  # noqa: E402
from instar.training.detection.loss import CellGrid, KnownBoxes, detection_loss  # noqa: E402
from instar.training.detection.train import TuningSettings, fine_tune  # noqa: E402
from instar.worlds.street import scenes  # noqa: E402
from instar.zoo import fetch, photographs  # noqa: E402

SIZE = (96, 128)
NUMBERS = class_numbers(COCO_NAMES)


def examples(count=6):
    street = scenes(count, size=(240, 320))
    return [make_example(one.id, one.image, one.objects, NUMBERS, SIZE) for one in street]


def network() -> OnnxModule:
    return OnnxModule(fetch("yolox-nano")[0])


def test_torch_answers_as_onnx_runtime_does() -> None:
    pictures = [decode_picture(fetch(one.name)[0].read_bytes()) for one in photographs()]
    for ours, theirs in zip(yolox_torch().predict(pictures), yolox().predict(pictures)):
        assert ours.labels == theirs.labels
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-3)
        np.testing.assert_allclose(ours.boxes, theirs.boxes, atol=5e-3)  # of pictures up to 1,000 pixels wide


def test_what_was_learned_is_written_back_and_nothing_else_is(tmp_path: Path) -> None:
    module, path = network(), tmp_path / "new.onnx"
    seen = np.random.default_rng(0).uniform(0, 255, (1, 3, 416, 416)).astype(np.float32)
    module.save(path)
    before = open_onnx(str(fetch("yolox-nano")[0]), 1).run(None, {"images": seen})[0]
    np.testing.assert_array_equal(open_onnx(str(path), 1).run(None, {"images": seen})[0], before)
    with torch.no_grad():
        for weight in module.parameters():
            weight.mul_(1.02)
    module.save(path)
    after = open_onnx(str(path), 1).run(None, {"images": seen})[0]
    with torch.no_grad():
        np.testing.assert_allclose(after, module(torch.from_numpy(seen)).numpy(), rtol=1e-3, atol=5e-3)
    assert np.abs(after - before).max() > 0.1


def test_a_network_of_other_operations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3]) for name in "ab"]
    graph = helper.make_graph([helper.make_node("Erf", ["a"], ["b"])], "g", value[:1], value[1:])
    onnx.save(helper.make_model(graph), path)
    with pytest.raises(BadInput, match="cannot be trained: Erf of ONNX is not known here"):
        OnnxModule(path)


def test_a_training_learns_its_pictures_and_resumes_to_the_same_end(tmp_path: Path) -> None:
    shown, settings = examples(), TuningSettings(steps=24, batch=3, rate=1e-3, seed=3, augment=False)
    known = sorted({number for one in shown for number in one.classes.tolist()})
    losses: list[float] = []

    def train(name: str, stop: int = 99) -> OnnxModule:
        def told(step: int, loss: float) -> None:
            losses.append(loss)
            if step == stop:
                raise KeyboardInterrupt

        return fine_tune(network(), shown, known, settings, checkpoint=tmp_path / name, told=told)

    whole = train("whole")
    assert np.mean(losses[-6:]) < 0.7 * np.mean(losses[:6])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("instar.training.detection.train.EVERY", 10)
        with pytest.raises(KeyboardInterrupt):
            train("killed", stop=15)
        again = train("killed")
    for ours, theirs in zip(again.parameters(), whole.parameters()):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=0)
    other = TuningSettings(steps=24, batch=3, rate=1e-3, augment=False)
    with pytest.raises(BadInput, match="was trained with other seed"):
        fine_tune(network(), shown, known, other, checkpoint=tmp_path / "whole")


def test_what_annotations_do_not_speak_of_costs_nothing() -> None:
    """A strong box of a class that is not annotated is no mistake, nor is one in a crowd."""
    grid = CellGrid.of(SIZE, "cpu")
    rows = torch.full((1, len(grid.stride), 85), 1e-6)
    rows[..., :4] = 0.0
    known = torch.zeros(80, dtype=torch.bool)
    known[[0, 2]] = True

    def loss(number: int, crowd=None) -> float:
        shown = rows.clone()
        shown[0, 60, 4], shown[0, 60, 5 + number] = 0.9, 0.9
        crowds = torch.tensor([crowd] if crowd else []).reshape(-1, 4)
        nothing = KnownBoxes(torch.zeros(0, 4), torch.zeros(0, dtype=torch.long), crowds)
        return float(detection_loss(shown, grid, [nothing], known))

    assert loss(0) > 2
    assert loss(1) < 0.1
    assert loss(0, crowd=(0.0, 0.0, 128.0, 96.0)) < 0.1


def test_an_object_is_learned_by_cells_inside_of_it() -> None:
    """Rows that show the object exactly cost next to nothing, and any other box costs more."""
    grid = CellGrid.of(SIZE, "cpu")
    box = torch.tensor([[40.0, 24.0, 72.0, 56.0]])
    truth = KnownBoxes(box, torch.tensor([2]), torch.zeros(0, 4))
    known = torch.ones(80, dtype=torch.bool)

    def loss(shift: float) -> float:
        rows = torch.full((1, len(grid.stride), 85), 1e-6)
        middle = (box[0, :2] + box[0, 2:]) / 2
        rows[0, :, :2] = (middle + shift - grid.corner) / grid.stride
        rows[0, :, 2:4] = (32 / grid.stride).log()
        inside = ((grid.corner + grid.stride / 2 - middle).abs() < 1.5 * grid.stride).all(-1)
        rows[0, inside, 4] = rows[0, inside, 7] = 1 - 1e-6
        return float(detection_loss(rows, grid, [truth], known))

    assert loss(0) < loss(2) < loss(6)


def test_augmented_boxes_stay_on_their_objects() -> None:
    picture = np.zeros((96, 128, 3), np.uint8)
    picture[30:60, 40:90] = 255
    example = make_example("a", picture, [SceneObject("car", (40, 30, 90, 60))], NUMBERS, SIZE)
    for seed in range(40):
        changed = augment(example, np.random.default_rng(seed))
        rows, columns = np.nonzero(changed.image.max(axis=2) > 160)
        if not len(changed.boxes):
            assert len(rows) < 0.5 * 30 * 50
            continue
        seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
        np.testing.assert_allclose(changed.boxes[0], seen, atol=2)
