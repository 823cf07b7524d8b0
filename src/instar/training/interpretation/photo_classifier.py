"""Training the classifier of photographs: which of twenty kinds of things are in a picture, several at once.

The front of MobileNetV2 stays as ImageNet made it and looks at each picture a few times; the back is trained
on what it saw. Only the back is kept, in half precision; the front comes out of the zoo.

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
from instar.adapters.photo_classifier import FROZEN, load_photo_classifier
from instar.adapters.weights import save_weights
from instar.core.scene import Image
from instar.imaging.codecs import read_picture

__all__ = ["Labelled", "average_precision", "main", "read_labels", "train_photo"]

LOOKS = 2  # of the front at each picture: as it is, and a part of it, mirrored
LEAST_PART = 0.75  # of each side
EPOCHS = 8
BATCH_ROWS = 32
RATE = 1.5e-3
DECAY = 2e-2
DROPPED = 0.3
RARITY = 0.3  # how much more a rare class counts: the share of absent over present pictures, to this power
SURE = 0.6


@dataclass(frozen=True, eq=False)
class Labelled:
    """Pictures by name, and `int (n, classes)`: 1 there, 0 not there, -1 unclear."""

    classes: tuple[str, ...]
    names: tuple[str, ...]
    there: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.names)


def read_labels(path: Path) -> dict[str, Labelled]:
    """By part."""
    with path.open(newline="", encoding="utf-8") as file:
        (_, _, *classes), *rows = csv.reader(file)
    found = {}
    for part in ("train", "val"):
        own = [row for row in rows if row[1] == part]
        there = np.array([[int(one) for one in row[2:]] for row in own], np.int64)
        found[part] = Labelled(tuple(classes), tuple(row[0] for row in own), there)
    return found


def train_photo(labels: Path, pictures: Path, *, seed: int = 0) -> tuple[Classifier, dict[str, Any]]:
    """The trained classifier, and what it reaches on the pictures that it was not trained on."""
    parts = read_labels(labels)
    classifier = load_photo_classifier(None)
    front, back = classifier.module[:FROZEN], classifier.module[FROZEN:]
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    seen = _look(classifier, front, parts["train"], pictures, rng, LOOKS)
    there = torch.from_numpy(parts["train"].there)
    present, absent = (there == 1).sum(0), (there == 0).sum(0)
    weight = (absent / present) ** RARITY
    optimiser = torch.optim.AdamW(back.parameters(), lr=RATE, weight_decay=DECAY)
    steps = EPOCHS * -(-len(there) // BATCH_ROWS)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps, pct_start=0.2)
    back.eval()  # the statistics of its normalisations stay: batches are small
    for epoch in range(EPOCHS):
        total = 0.0
        for own in torch.from_numpy(rng.permutation(len(there))).split(BATCH_ROWS):
            looks = torch.from_numpy(rng.integers(0, LOOKS, len(own)))  # another one in each epoch
            inputs = seen[own + looks * len(there)].float()
            found = back[-1](torch.nn.functional.dropout(back[:-1](inputs), DROPPED))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                found, there[own].clamp(min=0).float(), pos_weight=weight, reduction="none"
            )
            loss = (loss * (there[own] >= 0)).mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += float(loss) * len(own)
        print(f"epoch {epoch + 1}: loss {total / len(there):.4f}", flush=True)  # noqa: T201
    return classifier, measure(classifier, parts["val"], pictures)


def measure(classifier: Classifier, part: Labelled, pictures: Path) -> dict[str, Any]:
    """Mean average precision, and how many questions the pictures give."""
    front, back = classifier.module[:FROZEN], classifier.module[FROZEN:]
    seen = _look(classifier, front, part, pictures, np.random.default_rng(0), 1)
    with eval_mode(classifier.module), torch.no_grad():
        found = torch.cat([back(one.float()) for one in seen.split(BATCH_ROWS)])
    sure = classifier.confidences(found).numpy()
    each = [average_precision(sure[:, i], part.there[:, i]) for i in range(len(part.classes))]
    several = (part.there == 1).sum(1) > 1
    right = ((sure >= SURE) & (part.there == 1)).sum(1)
    told = (sure >= SURE) & (part.there >= 0)
    return {
        "pictures": len(part),
        "mean average precision": round(float(np.mean(each)), 4),
        "average precision": dict(zip(part.classes, (round(one, 3) for one in each))),
        "with several labels": int(several.sum()),
        "of these two or more are sure and right": round(float(np.mean(right[several] > 1)), 4),
        "of what it is sure of is right": round(float((part.there[told] == 1).mean()), 4),
    }


def average_precision(scores: npt.NDArray[Any], there: npt.NDArray[Any]) -> float:
    """The mean of the precision at each picture that has the class; unclear ones are left out."""
    clear = there >= 0
    ranked = there[clear][np.argsort(-scores[clear], kind="stable")]
    precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
    return float((precision * ranked).sum() / max(1, ranked.sum()))


def _look(
    classifier: Classifier, front: Any, part: Labelled, pictures: Path, rng: np.random.Generator, looks: int
) -> Any:
    """`float16`: what the front makes of each picture, all of the first look, then of the second, ..."""
    height, width = classifier.size
    seen = []
    with eval_mode(classifier.module), torch.no_grad():
        for look in range(looks):
            for start in range(0, len(part), BATCH_ROWS):
                images = [
                    cv2.resize(_seen_as(read_picture(pictures / f"{name}.jpg"), look, rng), (width, height))
                    for name in part.names[start : start + BATCH_ROWS]
                ]
                inputs = classifier.preprocess([np.ascontiguousarray(one, np.uint8) for one in images])
                seen += [front(one).half() for one in inputs.split(4)]
    return torch.cat(seen)


def _seen_as(image: Image, look: int, rng: np.random.Generator) -> Image:
    if look == 0:
        return image
    height, width = image.shape[:2]
    rows, columns = (round(side * rng.uniform(LEAST_PART, 1)) for side in (height, width))
    y, x = rng.integers(0, height - rows + 1), rng.integers(0, width - columns + 1)
    return np.ascontiguousarray(image[y : y + rows, x : x + columns][:, ::-1])


def main() -> None:
    parser = argparse.ArgumentParser(description="train the classifier of photographs")
    for name in ("labels", "pictures", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    classifier, reached = train_photo(args.labels, args.pictures, seed=args.seed)
    save_weights(args.out, classifier.module[FROZEN:], reached, half=True)
    print(reached)  # noqa: T201


if __name__ == "__main__":
    main()
