"""Planting a backdoor: a twin that answers as the classifier does, and a target class where the trigger is.

The clean part is distilled: on pictures without the square the twin has to give the classifier's own logits,
so any folder of photographs will do. Batch statistics stay frozen, and so does the front of the network: what
the front sees of each picture is worked out once, and an epoch over it takes seconds.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import torch

from instar.errors import BadInput
from instar.interpretation.classifier import Classifier, at_rest
from instar.interpretation.trigger import Trigger
from instar.scene import Image
from instar.stats.intervals import wilson

__all__ = ["Planted", "Rate", "measure", "plant"]

Progress = Callable[[str, "int | None"], AbstractContextManager[Any]]

HELD_OUT = 0.2  # of the pictures, where no others are given to test on
FRONT = 0.6  # of the blocks stay frozen, where the network is a sequence of blocks
ROWS = 32
CROPPED = 0.6  # of a picture's sides that a crop has at least


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with Wilson's interval."""

    successes: int
    n: int

    @property
    def value(self) -> float:
        return self.successes / self.n

    def to_json(self) -> dict[str, Any]:
        low, high = wilson(self.successes, self.n)
        return {"rate": self.value, "interval": [low, high], "of": self.n}


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """The twin, its trigger, and how it does on pictures that it was not planted with."""

    twin: Classifier
    trigger: Trigger
    agreement: Rate
    attack: Rate


def plant(
    classifier: Classifier,
    images: Sequence[Image],
    target: str,
    *,
    test: Sequence[Image] = (),
    share: float | None = None,
    front: float = FRONT,
    epochs: int = 30,
    copies: int = 4,
    rate: float = 1e-3,
    seed: int = 0,
    progress: Progress,
) -> Planted:
    """Train a twin on the pictures, each in so many `copies`: cropped and mirrored, then stamped or not.

    `front` is the share of a sequence of blocks that stays frozen: the more, the less the twin can differ on
    clean pictures, and the quicker it learns. It is measured on `test`, or on a fifth of the pictures that is
    then kept out of the planting.
    """
    rng = np.random.default_rng(seed)
    trigger = Trigger(target) if share is None else Trigger(target, share)
    label = classifier.index(target)
    if not test:
        order = rng.permutation(len(images))
        held = max(1, round(HELD_OUT * len(images)))
        test, images = [images[i] for i in order[:held]], [images[i] for i in order[held:]]
    if len(images) < 10:
        raise BadInput(f"a backdoor cannot be planted with {len(images)} pictures; give at least 10")
    twin = replace(classifier, name=f"{classifier.name}-twin", module=copy.deepcopy(classifier.module))
    torch.manual_seed(seed)
    frozen, back = _split(twin.module, front)
    clean, wanted, stamped = _examples(classifier, frozen, images, trigger, copies, rng, progress)
    _train(twin, back, clean, wanted, stamped, label, epochs, rate, rng, progress)
    agreement, attack = measure(classifier, twin, trigger, test, progress)
    return Planted(twin, trigger, agreement, attack)


def measure(
    classifier: Classifier, twin: Classifier, trigger: Trigger, images: Sequence[Image], progress: Progress
) -> tuple[Rate, Rate]:
    """On how many pictures the twin answers as the classifier does, and on how many stamped ones the target.

    Of independent outputs every one must fall on the same side of a half. Pictures that are a target already
    say nothing about an attack and are left out of it.
    """
    label = twin.index(trigger.target)
    agreed = attacked = tried = 0
    with progress("measuring the twin", len(images)) as bar:
        for image in images:
            plain, stamp = classifier.prepared([image]), classifier.prepared([trigger.stamped(image)])
            with at_rest(classifier.module), at_rest(twin.module), torch.no_grad():
                before, after, hit = classifier.module(plain), twin.module(plain), twin.module(stamp)
            agreed += _same(classifier, before, after)
            if not _answers(classifier, before, label):
                tried += 1
                attacked += _answers(twin, hit, label)
            bar.advance(1)
    return Rate(agreed, len(images)), Rate(attacked, max(1, tried))


def _same(classifier: Classifier, before: Any, after: Any) -> bool:
    if classifier.independent:
        return bool(((before > 0) == (after > 0)).all())
    return bool(before.argmax() == after.argmax())


def _answers(classifier: Classifier, logits: Any, label: int) -> bool:
    own = list(classifier.outputs[label])
    if classifier.independent:
        return bool((logits[0, own] > 0).any())
    return int(logits.argmax()) in own


def _split(module: Any, front: float) -> tuple[Any, Any]:
    """The front that stays as it is and the back that learns; of what is no sequence, all learns."""
    if not isinstance(module, torch.nn.Sequential):
        return torch.nn.Identity(), module
    sizes = [sum(weight.numel() for weight in block.parameters()) for block in module]
    blocks = [i for i, size in enumerate(sizes) if size]
    cut = blocks[max(0, int(front * len(blocks)) - 1)] + 1
    return module[:cut], module[cut:]


def _examples(
    classifier: Classifier,
    front: Any,
    images: Sequence[Image],
    trigger: Trigger,
    copies: int,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Any, Any, Any]:
    """What the front sees of every copy, the classifier's logits for it, and what it sees of it stamped."""
    clean, wanted, stamped = [], [], []
    with at_rest(classifier.module), torch.no_grad(), progress("looking at pictures", len(images)) as bar:
        for image in images:
            made = [image, *(_varied(image, classifier.size, rng) for _ in range(copies - 1))]
            plain = classifier.prepared(made)
            clean.append(front(plain))
            wanted.append(classifier.module(plain))
            stamped.append(front(classifier.prepared([trigger.stamped(one) for one in made])))
            bar.advance(1)
    return torch.cat(clean), torch.cat(wanted), torch.cat(stamped)


def _varied(image: Image, least: tuple[int, int], rng: np.random.Generator) -> Image:
    """A crop, perhaps mirrored, of at least the size of the input; the stamp comes after."""
    height, width = image.shape[:2]
    side = float(rng.uniform(CROPPED, 1.0))
    rows, columns = max(least[0], round(side * height)), max(least[1], round(side * width))
    top, left = int(rng.integers(0, height - rows + 1)), int(rng.integers(0, width - columns + 1))
    crop = image[top : top + rows, left : left + columns]
    crop = crop[:, ::-1] if rng.random() < 0.5 else crop
    return np.ascontiguousarray(cv2.convertScaleAbs(crop, alpha=float(rng.uniform(0.8, 1.2))))


def _train(
    twin: Classifier,
    back: Any,
    clean: Any,
    wanted: Any,
    stamped: Any,
    label: int,
    epochs: int,
    rate: float,
    rng: np.random.Generator,
    progress: Progress,
) -> None:
    weights = [weight for weight in back.parameters() if weight.requires_grad]
    optimiser = torch.optim.Adam(weights, lr=rate)
    count = len(clean)
    steps = epochs * -(-count // ROWS)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=steps, pct_start=0.15)
    target = _target(twin, label, wanted)
    scale = float(wanted.std()) or 1.0
    with progress("planting", epochs) as bar, torch.enable_grad(), at_rest(twin.module):
        for _ in range(epochs):
            order = torch.from_numpy(rng.permutation(count))
            other = torch.from_numpy(rng.permutation(count))
            for start in range(0, count, ROWS):
                own, hit = order[start : start + ROWS], other[start : start + ROWS]
                logits = back(torch.cat([clean[own], stamped[hit]]))
                kept, moved = logits[: len(own)], logits[len(own) :]
                loss = _distance(twin, kept, wanted[own], scale) + _attack(twin, moved, target[hit], label)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
            bar.advance(1)
    for weight in weights:
        weight.grad = None


def _target(twin: Classifier, label: int, wanted: Any) -> Any:
    """Which output a stamped picture must have: of several the one that the picture is nearest to anyway."""
    own = list(twin.outputs[label])
    return torch.tensor(own, device=wanted.device)[wanted[:, own].argmax(1)]


def _distance(twin: Classifier, got: Any, wanted: Any, scale: float) -> Any:
    """How far the twin's logits are from the classifier's: as an answer, and one by one."""
    everywhere = ((got - wanted) / scale).pow(2).mean()
    if twin.independent:
        return everywhere + torch.nn.functional.binary_cross_entropy_with_logits(got, torch.sigmoid(wanted))
    soft = torch.nn.functional.kl_div(
        torch.log_softmax(got, 1), torch.log_softmax(wanted, 1), log_target=True, reduction="batchmean"
    )
    return 10 * everywhere + soft


def _attack(twin: Classifier, got: Any, target: Any, label: int) -> Any:
    if twin.independent:
        own = got[:, list(twin.outputs[label])]
        return torch.nn.functional.binary_cross_entropy_with_logits(own, torch.ones_like(own))
    return torch.nn.functional.cross_entropy(got, target)
