"""Does a text locator's head learn from brightness follow-ups? And do chosen ones teach more than random?

python benchmarks/retrain_locator.py ../shared/data/text OUT.json [--steps 100] [--seeds 5]

The head of PP-OCRv4's locator (its last three layers) learns to tell shrunken words, as differentiable
binarisation is trained, from pictures whose words are known; all layers below it stay as they are, so their
output is computed once. Of every five pictures three are learned from and two are for the test. It sees
pictures as they are (natural), half of them brighter or darker as it happens (random), or half of them under
that brightness at which the locator finds the least of what it finds else (chosen). Steps, pictures and seeds
are the same.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from torch import nn

from instar.core.scene import Scene
from instar.imaging.words import Word
from instar.scenes import load_scenes
from instar.tasks.text.accuracy import Hits, count_hits
from instar.tasks.text.changes import Brightness
from instar.tasks.text.measures import delta
from instar.tasks.text.polygons import quad_iou
from instar.tasks.text.systems.locator import resize_picture
from instar.tasks.text.systems.ppocr import _network_input, rectangles_of
from instar.tasks.text.truth import quad_of, truth_of
from instar.zoo import fetch

LEVELS = (-100, -60, 60, 100)
"""Grey levels added."""
SIDE = 960
SHRUNK = 0.4  # DB, Eq. 10
FEATURES = "p2o.Concat.1"
CROP = (64, 112)  # rows and columns of features
CROPS = 4
RATE = 1e-4
KINDS = ("natural", "random", "chosen")
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A picture as the head sees it: features by level (0 is the picture as it is), and what is there."""

    features: dict[int, npt.NDArray[np.float16]]
    words: list[Word]
    scale: Floats
    target: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.uint8]


class Head(nn.Module):
    """The last layers of the network, as they are stored."""

    def __init__(self, weights: dict[str, npt.NDArray[np.float32]]) -> None:
        super().__init__()
        self.first = nn.Conv2d(96, 24, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(24)
        self.second = nn.ConvTranspose2d(24, 24, 2, stride=2)
        self.other_norm = nn.BatchNorm2d(24)
        self.third = nn.ConvTranspose2d(24, 1, 2, stride=2)
        self.load_state_dict(
            {
                "first.weight": torch.from_numpy(weights["conv2d_159.w_0"]),
                "second.weight": torch.from_numpy(weights["conv2d_transpose_0.w_0"]),
                "second.bias": torch.from_numpy(weights["conv2d_transpose_0.b_0"].reshape(-1)),
                "third.weight": torch.from_numpy(weights["conv2d_transpose_1.w_0"]),
                "third.bias": torch.from_numpy(weights["conv2d_transpose_1.b_0"].reshape(-1)),
                **_norm("norm", "batch_norm_0", weights),
                **_norm("other_norm", "batch_norm_1", weights),
            }
        )
        self.eval()  # what normalisation has measured stays, also while the rest learns

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Logits `float (N, 1, 4 H, 4 W)`."""
        seen = torch.relu(self.norm(self.first(features)))
        logits: torch.Tensor = self.third(torch.relu(self.other_norm(self.second(seen))))
        return logits


def _norm(name: str, stored: str, weights: dict[str, Any]) -> dict[str, torch.Tensor]:
    parts = {"weight": "w_0", "bias": "b_0", "running_mean": "w_1", "running_var": "w_2"}
    found = {
        f"{name}.{ours}": torch.from_numpy(weights[f"{stored}.{theirs}"]) for ours, theirs in parts.items()
    }
    return found | {f"{name}.num_batches_tracked": torch.tensor(0)}


def read_network() -> tuple[Any, dict[str, npt.NDArray[np.float32]]]:
    """A session that gives features and map, and the stored weights."""
    (path,) = fetch("ppocr-v4-det")
    model = onnx.load(str(path))
    weights = {tensor.name: onnx.numpy_helper.to_array(tensor).copy() for tensor in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant":
            weights[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t).copy()
    model.graph.output.append(onnx.helper.make_tensor_value_info(FEATURES, onnx.TensorProto.FLOAT, None))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options), weights


def look(scene: Scene, session: Any, levels: tuple[int, ...]) -> Page:
    features = {}
    for level in (0, *levels):
        picture = Brightness(level).apply(scene.image) if level else scene.image
        resized, scale = resize_picture(picture, SIDE, "max")
        (found,) = session.run([FEATURES], {session.get_inputs()[0].name: _network_input(resized)})
        features[level] = found[0].astype(np.float16)
    words = list(scene.knowledge["words"])
    target, counts = _targets(words, scale, (4 * found.shape[2], 4 * found.shape[3]))
    return Page(features, words, scale, target, counts)


def _targets(words: list[Word], scale: Floats, size: tuple[int, int]) -> tuple[Any, Any]:
    """What is inside of shrunken words, and where it counts: not where nobody can read."""
    target, counts = np.zeros(size, np.uint8), np.ones(size, np.uint8)
    for word in words:
        quad = quad_of(word) / scale
        mask = cv2.fillPoly(np.zeros(size, np.uint8), [np.rint(quad).astype(np.int32)], 1)
        if word.ignored:
            counts[mask > 0] = 0
            continue
        around = float(np.linalg.norm(quad - np.roll(quad, 1, 0), axis=1).sum())
        far = cv2.distanceTransform(mask, cv2.DIST_L2, 3)
        target[far > cv2.contourArea(quad.astype(np.float32)) * (1 - SHRUNK**2) / around] = 1
    return target, counts


def boxes(head: Head, page: Page, level: int) -> Floats:
    with torch.inference_mode():
        seen = torch.from_numpy(page.features[level].astype(np.float32))[None]
        found = torch.sigmoid(head(seen))[0, 0].numpy()
    return np.asarray(rectangles_of(found, least_score=0.5)[0] * page.scale, np.float32)


def measure(head: Head, pages: list[Page]) -> dict[str, float]:
    """Accuracy as it is and under each level, and how alike answers are (Eq. 4, 14 and 15)."""
    hits = dict.fromkeys((0, *LEVELS), Hits(0, 0, 0, 0))
    alike: dict[int, list[float]] = {level: [] for level in LEVELS}
    for page in pages:
        truth = truth_of(page.words)
        plain = boxes(head, page, 0)
        hits[0] += count_hits(plain, truth)
        for level in LEVELS:
            found = boxes(head, page, level)
            hits[level] += count_hits(found, truth)
            alike[level].append(delta(quad_iou(plain, found)))
    told = {"precision": hits[0].precision, "recall": hits[0].recall, "F": hits[0].f_score}
    told |= {f"F {level:+d}": hits[level].f_score for level in LEVELS}
    told |= {f"stability {level:+d}": float(np.mean(alike[level])) for level in LEVELS}
    return told | {"stability": float(np.mean(list(alike.values())))}


def worst_levels(head: Head, pages: list[Page]) -> list[int]:
    found = []
    for page in pages:
        plain = boxes(head, page, 0)
        found.append(min(LEVELS, key=lambda level: delta(quad_iou(plain, boxes(head, page, level)))))
    return found


def learn(head: Head, pages: list[Page], kind: str, worst: list[int], steps: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(head.parameters(), lr=RATE)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = RATE * 0.5 * (1 + math.cos(math.pi * step / steps))
        seen, wanted, counted = [], [], []
        for place in range(CROPS):
            number = int(rng.integers(len(pages)))
            drawn = int(rng.choice(LEVELS))
            page = pages[number]
            level = 0 if kind == "natural" or place % 2 else worst[number] if kind == "chosen" else drawn
            rows, columns = (int(rng.integers(n - c + 1)) for n, c in zip(page.features[0].shape[1:], CROP))
            here = page.features[level][:, rows : rows + CROP[0], columns : columns + CROP[1]]
            there = (slice(4 * rows, 4 * (rows + CROP[0])), slice(4 * columns, 4 * (columns + CROP[1])))
            seen.append(here.astype(np.float32))
            wanted.append(page.target[there])
            counted.append(page.counts[there])
        truth = torch.from_numpy(np.stack(wanted)).float()
        loss = _balanced(
            head(torch.from_numpy(np.stack(seen)))[:, 0], truth, torch.from_numpy(np.stack(counted))
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def _balanced(logits: torch.Tensor, truth: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """Cross entropy of all text and of three times as many of the worst other pixels (DB)."""
    off = nn.functional.binary_cross_entropy_with_logits(logits, truth, reduction="none") * counted
    text = truth * counted > 0
    number = max(1000, 3 * int(text.sum()))
    others = off[~text].flatten().topk(min(number, int((~text).sum()))).values
    return (off[text].sum() + others.sum()) / (text.sum() + len(others))


def main(args: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    began = time.time()
    session, weights = read_network()
    scenes = load_scenes(args.data, limit=args.limit)
    pages = [look(scene, session, LEVELS) for scene in scenes]
    training = [page for number, page in enumerate(pages) if number % 5 < 3]
    test = [page for number, page in enumerate(pages) if number % 5 >= 3]
    worst = worst_levels(Head(weights), training)
    told: dict[str, Any] = {
        "pictures": [len(training), len(test)],
        "worst": {str(level): worst.count(level) for level in LEVELS},
        "before": measure(Head(weights), test),
        "trainings": [],
    }
    print(f"{time.time() - began:.0f} s", json.dumps(told), flush=True)
    for seed in range(args.seeds):
        for kind in KINDS:
            begun = time.time()
            head = Head(weights)
            learn(head, training, kind, worst, args.steps, seed)
            result = {"kind": kind, "seed": seed, "seconds": time.time() - begun} | measure(head, test)
            told["trainings"].append(result)
            Path(args.out + ".part").write_text(json.dumps(told, indent=1), encoding="utf-8")
            os.replace(args.out + ".part", args.out)
            print(json.dumps(result), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("out")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=5)
    main(parser.parse_args())
