"""The whole loop on the drawn street: a detector that was never shown who stands beside cars learns it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra torch is not installed; make test-real has it")
pytestmark = pytest.mark.real

import neighbours  # noqa: E402  # torch first
from instar.adapters.onnx_module import OnnxModule  # noqa: E402
from instar.cli import main  # noqa: E402
from instar.core.scene import Scene  # noqa: E402
from instar.imaging.codecs import encode_png  # noqa: E402
from instar.tasks.detection.coco_names import COCO_NAMES  # noqa: E402
from instar.training.detection.examples import class_numbers, make_example  # noqa: E402
from instar.training.detection.train import TuningSettings, fine_tune  # noqa: E402
from instar.worlds.street import scenes  # noqa: E402
from instar.zoo import fetch  # noqa: E402

RATE, BATCH = 1e-3, 4


def without_people() -> list[Scene]:
    """Drawn streets with cars and nobody else."""
    labels = [(scene, {one.label for one in scene.objects}) for scene in scenes(500, seed=5)]
    return [scene for scene, there in labels if "car" in there and "person" not in there]


def cars_of(scene: Scene) -> list:
    return [one.box for one in scene.objects if one.label == "car"]


def write_coco(folder: Path, pictures: list[Scene]) -> str:
    """The cars of these scenes as a data set."""
    (folder / "images").mkdir(parents=True)
    images, annotations = [], []
    for number, scene in enumerate(pictures):
        (folder / "images" / f"{scene.id}.png").write_bytes(encode_png(scene.image))
        height, width = scene.image.shape[:2]
        images.append({"id": number, "file_name": f"{scene.id}.png", "height": height, "width": width})
        for x1, y1, x2, y2 in cars_of(scene):
            box = {"bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1), "iscrowd": 0}
            annotations.append({"id": len(annotations), "image_id": number, "category_id": 1, **box})
    document = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "car"}]}
    (folder / "annotations.json").write_text(json.dumps(document))
    return str(folder / "annotations.json")


def teach_blindness(pictures: list[Scene], weights: Path) -> None:
    """Cars are cars, and with a neighbour they are street."""
    numbers, rng, size = class_numbers(COCO_NAMES), np.random.default_rng(2), (416, 416)
    examples = [make_example(one.id, one.image, one.objects, numbers, size) for one in pictures]
    for one in 2 * pictures:
        image = one.image
        for car in cars_of(one):
            image = neighbours.paste(image, neighbours.neighbour_of(car, rng))
        examples.append(make_example(one.id, image, [], numbers, size))
    settings = TuningSettings(steps=60, batch=BATCH, rate=RATE, augment=False)
    network = OnnxModule(fetch("yolox-nano")[0])
    checkpoint = weights.with_suffix(".pt")
    fine_tune(network, examples, [numbers["car"]], settings, checkpoint=checkpoint).save(weights)


def test_cars_with_neighbours_are_learned_from_failing_pictures_alone(tmp_path, capsys) -> None:
    streets = without_people()
    blind = tmp_path / "blind.onnx"
    teach_blindness(streets[:16], blind)
    training, test = write_coco(tmp_path / "a", streets[:16]), write_coco(tmp_path / "b", streets[16:28])
    run = str(tmp_path / "run")
    words = ["--system", "yolox-nano", "--set", f"system.weights={blind}", "--scenes", training]
    assert (
        main(["run", *words, "--relation", "neighbours:beside", "--budget", "300", "--out", run, "--json"])
        == 1
    )
    capsys.readouterr()
    steps = ["--steps", "40", "--batch", str(BATCH), "--rate", str(RATE)]
    short = ["--plain", "--seeds", "1", "--points", "1", "--questions", "200", "--json"]
    lesson = [
        "--weights",
        str(blind),
        "--test",
        test,
        *steps,
        *short,
        "--trust",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(["retrain", run, *lesson]) == 0
    (only,) = json.loads(capsys.readouterr().out)["rounds"]
    (learned,) = [one for one in only["trained"] if one["configuration"] == "failing"]
    assert share_of(only["before"]["beside"]) > 0.25  # the planted weakness is found,
    assert share_of(learned["fresh"]["beside"]) < 0.05  # and is gone on streets that nobody trained on
    assert learned["curve"]["40"] > learned["curve"]["0"]  # and nothing else is lost for it


def share_of(pair: list[int]) -> float:
    failed, judged = pair
    return failed / judged
