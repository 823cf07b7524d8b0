"""The paper's three trainings (MetaOD, section 6.4), over several seeds and with equal numbers of steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from instar.adapters.onnx_module import OnnxModule
from instar.core.scene import Scene
from instar.tasks.detection.accuracy import mean_precision
from instar.tasks.detection.known_objects import KnownObjects
from instar.tasks.detection.systems.onnx import yolox
from instar.training.detection.examples import Example
from instar.training.detection.sets import Sets
from instar.training.detection.train import TuningSettings, fine_tune
from instar.user_file import whole_file

CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    "natural": ("natural",),
    "failing": ("natural", "failing"),
    "passing": ("natural", "passing"),
}
"""What each configuration learns from, in the order of the paper."""
OVERLAPS = np.arange(0.5, 0.96, 0.05)
"""The mean over these is what COCO calls mAP."""


@dataclass(frozen=True)
class Trained:
    """A training that ended: where its network is, and (mAP, AP50) after some of its steps."""

    configuration: str
    seed: int
    weights: Path
    curve: Mapping[int, tuple[float, float]]


def retrain(
    start: Path,
    sets: Sets,
    learned_from: Collection[str],
    classes: Sequence[int],
    settings: TuningSettings,
    *,
    seeds: Sequence[int],
    points: int,
    measure: Callable[[Path], tuple[float, float]],
    folder: Path,
    device: str = "cpu",
    told: Callable[[], object] = lambda: None,
) -> list[Trained]:
    """All configurations with all seeds, each measured `points` times; what is done already is not done
    again. The networks keep the digests of the pictures that they `learned_from`. `told` is called after
    every step.
    """
    steps = sorted({round(settings.steps * k / points) for k in range(1, points + 1)} - {0})
    first = measure(start)
    done = []
    for seed in seeds:
        for name, parts in CONFIGURATIONS.items():
            examples = [one for part in parts for one in getattr(sets, part)]
            own = folder / f"{name}-{seed}"
            mine = replace(settings, seed=seed)
            network = OnnxModule(start)
            network.learned_from |= set(learned_from)
            curve = _train(network, examples, classes, mine, steps, measure, own, device, told)
            done.append(Trained(name, seed, own / "network.onnx", {0: first, **curve}))
    return done


def measure_precision(weights: Path, test: Sequence[Scene], known: KnownObjects) -> tuple[float, float]:
    """mAP and AP50 of a network on scenes."""
    system = yolox(weights=str(weights), confidence=0.3)
    seen = [(answer, known.of(scene)) for scene in test for answer in system.predict([scene.image])]
    by_overlap = [mean_precision(seen, float(overlap)) for overlap in OVERLAPS]
    return float(np.mean(by_overlap)), by_overlap[0]


def _train(
    network: OnnxModule,
    examples: Sequence[Example],
    classes: Sequence[int],
    settings: TuningSettings,
    points: Sequence[int],
    measure: Callable[[Path], tuple[float, float]],
    folder: Path,
    device: str,
    told: Callable[[], object],
) -> Mapping[int, tuple[float, float]]:
    curve: dict[int, Any] = _read_curve(folder / "curve.json")
    weights = folder / "network.onnx"

    def step(number: int, loss: float) -> None:
        told()
        if number in points and number not in curve:
            network.save(weights)
            curve[number] = measure(weights)
            with whole_file(folder / "curve.json") as unfinished:
                unfinished.write_text(json.dumps(curve, indent=1))

    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = folder / "checkpoint.pt"
    fine_tune(network, examples, classes, settings, checkpoint=checkpoint, device=device, told=step)
    network.save(weights)
    return {number: curve[number] for number in points}


def _read_curve(path: Path) -> dict[int, tuple[float, float]]:
    if not path.exists():
        return {}
    return {int(step): tuple(pair) for step, pair in json.loads(path.read_text()).items()}
