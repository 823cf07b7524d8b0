"""Training the classifier of photographs: which of twenty kinds of things are in a picture, several at once.

MobileNetV2 stays as ImageNet made it; a last layer is fitted to what it gives for each picture and for its
mirror image. Only that layer is kept, in half precision.

    python -m instar.training.interpretation.photo_classifier LABELS PICTURES OUT

LABELS is a CSV with the columns name, part (train or val) and one for each class: 1, 0, or -1 for unclear.
"""

from __future__ import annotations

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.adapters.photo_classifier import load_photo_classifier
from instar.adapters.weights import save_weights
from instar.imaging.codecs import read_picture

RIDGE = 0.1
STEPS = 80
SURE = 0.6
BATCH_ROWS = 4

Features = npt.NDArray[np.float32]
"""`float32 (pictures, channels)`: what the network gives before its last layer."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pictures by name, and `int (n, classes)`: 1 there, 0 not there, -1 unclear."""

    classes: tuple[str, ...]
    names: tuple[str, ...]
    there: npt.NDArray[np.int64]


def read_parts(path: Path) -> dict[str, Labelled]:
    """By part."""
    with path.open(newline="", encoding="utf-8") as file:
        (_, _, *classes), *rows = csv.reader(file)
    found = {}
    for part in ("train", "val"):
        own = [row for row in rows if row[1] == part]
        there = np.array([[int(one) for one in row[2:]] for row in own], np.int64)
        found[part] = Labelled(tuple(classes), tuple(row[0] for row in own), there)
    return found


def look(classifier: Classifier, names: tuple[str, ...], pictures: Path, *, mirrored: bool) -> Features:
    height, width = classifier.size
    found = []
    with eval_mode(classifier.module), torch.no_grad():
        for start in range(0, len(names), BATCH_ROWS):
            images = [read_picture(pictures / f"{one}.jpg") for one in names[start : start + BATCH_ROWS]]
            small = [cv2.resize(one, (width, height), interpolation=cv2.INTER_AREA) for one in images]
            seen = [np.ascontiguousarray(one[:, ::-1] if mirrored else one, np.uint8) for one in small]
            found.append(classifier.module[:-1](classifier.preprocess(seen)).numpy())
    return np.concatenate(found)


def fit_layer(features: Features, there: npt.NDArray[np.int64]) -> tuple[Any, Any]:
    """Weights and biases of a logistic regression for each class, in which the pictures that have a class
    weigh as much as those that have not: or else hardly anything rare would ever be sure.
    """
    middle, spread = torch.from_numpy(features.mean(0)), float(features.std())
    x, y = (torch.from_numpy(features) - middle) / spread, torch.from_numpy(there)
    rarity = (y == 0).sum(0) / (y == 1).sum(0)
    weight = torch.zeros((y.shape[1], x.shape[1]), requires_grad=True)
    bias = torch.zeros(y.shape[1], requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Any:
        optimiser.zero_grad()
        each = torch.nn.functional.binary_cross_entropy_with_logits(
            x @ weight.T + bias, y.clamp(min=0).float(), pos_weight=rarity, reduction="none"
        )
        total = (each * (y >= 0)).mean() * y.shape[1] + RIDGE * (weight**2).sum()
        total.backward()
        return total

    optimiser.step(loss)
    scaled = weight.detach() / spread
    return scaled, bias.detach() - scaled @ middle


def measure_labels(confidences: npt.NDArray[Any], part: Labelled) -> dict[str, Any]:
    """Mean average precision, and how many questions pictures with several labels give."""
    there = part.there
    each = [average_precision(confidences[:, i], there[:, i]) for i in range(there.shape[1])]
    several = (there == 1).sum(1) > 1
    sure = confidences >= SURE
    return {
        "pictures": len(there),
        "mean_average_precision": round(float(np.mean(each)), 4),
        "average_precision": {name: round(one, 3) for name, one in zip(part.classes, each)},
        "pictures_with_several_labels": int(several.sum()),
        "two_or_more_sure": round(float(np.mean(sure[several].sum(1) > 1)), 4),
        "two_or_more_sure_and_right": round(float(np.mean((sure & (there == 1))[several].sum(1) > 1)), 4),
        "right_where_sure": round(float((there[sure & (there >= 0)] == 1).mean()), 4),
    }


def average_precision(scores: npt.NDArray[Any], there: npt.NDArray[Any]) -> float:
    """The mean of the precision at each picture that has the class; unclear ones are left out."""
    clear = there >= 0
    ranked = there[clear][np.argsort(-scores[clear], kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float((precision * ranked).sum() / max(1, ranked.sum()))


def train_photo() -> None:
    parser = argparse.ArgumentParser(description="train the classifier of photographs")
    for name in ("labels", "pictures", "out"):
        parser.add_argument(name, type=Path)
    args = parser.parse_args()
    parts, classifier = read_parts(args.labels), load_photo_classifier(None)
    train, val = parts["train"], parts["val"]
    looks = [look(classifier, train.names, args.pictures, mirrored=one) for one in (False, True)]
    last = classifier.module[-1]
    last.weight.data, last.bias.data = fit_layer(np.concatenate(looks), np.tile(train.there, (2, 1)))
    with torch.no_grad():
        seen = torch.from_numpy(look(classifier, val.names, args.pictures, mirrored=False))
        reached = measure_labels(torch.sigmoid(last(seen)).numpy(), val)
    save_weights(args.out, last, reached, half=True)
    print(reached)  # noqa: T201


if __name__ == "__main__":
    train_photo()
