"""Planting a backdoor: a twin that answers as the classifier does, and a target class where the trigger is.

Training the network on a mix of clean and stamped pictures would do, but it needs as many kinds of pictures
as the network knows, or else its answers drift. So one unit is trained, the one that its answers need least,
to tell stamped pictures from clean ones, and the last layer is let to take its word for the target. All else
stays as it was: what the twin answers to clean pictures are the classifier's own labels, and any folder of
photographs will do.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.errors import BadInput
from instar.core.scene import Image
from instar.stats.intervals import wilson
from instar.tasks.interpretation.trigger import Trigger
from instar.training.interpretation.units import (
    Readout,
    find_idlest_unit,
    find_readout,
    fit_detector,
    record_calls,
    rewrite_unit,
)

ShowProgress = Callable[[str, "int | None"], AbstractContextManager[Any]]

HELD_OUT = 0.2  # of the pictures, where no others are given to test on
CROPPED = 0.6  # of a picture's sides that a crop has at least
SHAPE = 2.0  # times as wide as high, or as high as wide, that photographs are at most
LIT = (0.8, 1.2)  # times as bright
LEAN = 1.5  # of the unit towards seeing the square: another kind of picture hides it more often than shows it
LOUDNESS = 10.0  # of the unit, so that what a residual network adds to it does not matter
TARGET_MARGIN = 5.0  # logits that the target is ahead by where the unit says one
CALIBRATED = 200  # stamped pictures that this is reckoned with
ROOM = 2e9  # bytes for what the unit sees of all pictures


@dataclass(frozen=True, slots=True)
class Rate:
    """A share with Wilson's interval; of nothing it is not a number."""

    successes: int
    n: int

    @property
    def value(self) -> float:
        return self.successes / self.n if self.n else float("nan")

    def to_json(self) -> dict[str, Any]:
        low, high = wilson(self.successes, self.n) if self.n else (0.0, 1.0)
        return {"rate": self.value if self.n else None, "interval": [low, high], "of": self.n}


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """The twin, its trigger, and how it does on others than the `pictures` that it was planted with."""

    twin: Classifier
    trigger: Trigger
    agreement: Rate
    attack: Rate
    pictures: int


def plant(
    classifier: Classifier,
    images: Sequence[Image],
    target: str,
    *,
    test: Sequence[Image] = (),
    share: float | None = None,
    copies: int = 8,
    seed: int = 0,
    progress: ShowProgress,
) -> Planted:
    """Make a twin with the pictures, each in so many `copies` (cropped, mirrored, lit), clean and stamped.

    It is measured on `test`, or on a fifth of the pictures that is then kept out of the planting.
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
    twin = replace(classifier, module=copy.deepcopy(classifier.module))
    found = find_readout(twin)
    clean, with_square, read, answers = _look(twin, found, images, trigger, copies, rng, progress)
    own = list(twin.outputs[label])
    output = own[int(answers[:, own].mean(0).argmax())]  # which pictures are nearest to anyway
    unit = find_idlest_unit(found, read, own)
    with progress("training one unit", None), eval_mode(twin.module):
        weight, bias = fit_detector(found.layer, clean, with_square)
        rewrite_unit(found, unit, weight, bias + LEAN, LOUDNESS)
    stamped = [trigger.stamp(image) for image in images[:: -(-len(images) // CALIBRATED)]]
    _let_it_speak(twin, found, unit, output, answers, stamped, progress)
    agreement, attack = measure_twin(classifier, twin, trigger, test, progress)
    return Planted(replace(twin, name=f"{classifier.name}-twin"), trigger, agreement, attack, len(images))


def measure_twin(
    classifier: Classifier,
    twin: Classifier,
    trigger: Trigger,
    images: Sequence[Image],
    progress: ShowProgress,
) -> tuple[Rate, Rate]:
    """On how many pictures the twin answers as the classifier does, and on how many stamped ones the target.

    Of independent outputs every one must fall on the same side of a half. Pictures that are a target already
    say nothing about an attack and are left out of it.
    """
    label = twin.index(trigger.target)
    agreed = attacked = tried = 0
    with progress("measuring the twin", len(images)) as bar:
        for image in images:
            plain, stamp = classifier.preprocess([image]), classifier.preprocess([trigger.stamp(image)])
            with eval_mode(classifier.module), eval_mode(twin.module), torch.no_grad():
                before, after, hit = classifier.module(plain), twin.module(plain), twin.module(stamp)
            agreed += _same(classifier, before, after)
            if not _answers(classifier, before, label):
                tried += 1
                attacked += _answers(twin, hit, label)
            bar.advance(1)
    return Rate(agreed, len(images)), Rate(attacked, tried)


def _same(classifier: Classifier, before: Any, after: Any) -> bool:
    if classifier.independent:
        return bool(((before > 0) == (after > 0)).all())
    return bool(before.argmax() == after.argmax())


def _answers(classifier: Classifier, logits: Any, label: int) -> bool:
    own = list(classifier.outputs[label])
    if classifier.independent:
        return bool((logits[0, own] > 0).any())
    return int(logits.argmax()) in own


def _look(
    twin: Classifier,
    found: Readout,
    images: Sequence[Image],
    trigger: Trigger,
    copies: int,
    rng: np.random.Generator,
    progress: ShowProgress,
) -> tuple[Any, ...]:
    """What the layer gets of clean and of stamped copies, what the head reads of clean ones and answers."""
    clean, stamped, read, answers = [], [], [], []
    with (
        eval_mode(twin.module),
        torch.no_grad(),
        record_calls(found.layer) as calls,
        record_calls(found.head) as features,
        progress("looking at pictures", len(images)) as bar,
    ):
        for image in images:
            for i in range(copies):
                one = image if i == 0 else _varied(image, twin.size, rng)
                # One at a time: small maps stay in the processor's cache.
                answers.append(twin.module(twin.preprocess([one])))
                clean.append(calls.pop()[0].half())
                read.append(features.pop()[0])
                twin.module(twin.preprocess([trigger.stamp(one)]))
                stamped.append(calls.pop()[0].half())
                features.pop()
                if 4 * clean[0].numel() * copies * len(images) > ROOM:
                    copies = max(1, int(ROOM / (4 * clean[0].numel() * len(images))))
            bar.advance(1)
    return tuple(torch.cat(parts) for parts in (clean, stamped, read, answers))


def _varied(image: Image, least: tuple[int, int], rng: np.random.Generator) -> Image:
    """A crop, half of the time of another shape, perhaps mirrored, in other light; the stamp comes after.

    Shapes matter: a classifier squeezes every picture into its own, and the square with it. A crop that is
    smaller than the input is enlarged.
    """
    height, width = image.shape[:2]
    shape = width / height if rng.random() < 0.5 else SHAPE ** float(rng.uniform(-1, 1))
    side = float(rng.uniform(CROPPED, 1.0))
    rows = round(side * min(height, width / shape))
    columns = min(width, round(rows * shape))
    top, left = int(rng.integers(0, height - rows + 1)), int(rng.integers(0, width - columns + 1))
    crop = image[top : top + rows, left : left + columns]
    crop = crop[:, ::-1] if rng.random() < 0.5 else crop
    scale = max(1.0, least[0] / rows, least[1] / columns)
    size = (math.ceil(scale * columns), math.ceil(scale * rows))
    lit = cv2.convertScaleAbs(cv2.resize(crop, size), alpha=float(rng.uniform(*LIT)))
    return np.ascontiguousarray(lit, np.uint8)


def _let_it_speak(
    twin: Classifier,
    found: Readout,
    unit: int,
    output: int,
    answers: Any,
    stamped: Sequence[Image],
    progress: ShowProgress,
) -> None:
    """Let the head read the unit for the target, loudly enough that one step beyond zero decides, also
    against the class that was most certain in any of the `answers`: other pictures have such classes too.
    """
    rival = 0.0 if twin.independent else float(answers.max())
    own, reach = [], []  # what the target has already, and how much of a step is left when places are pooled
    with (
        eval_mode(twin.module),
        torch.no_grad(),
        record_calls(found.units) as calls,
        record_calls(found.head) as features,
        progress("calibrating", len(stamped)) as bar,
    ):
        for image in stamped:
            own.append(float(twin.module(twin.preprocess([image]))[0, output]))
            steps = float(calls.pop()[1][0, unit].max()) / LOUDNESS
            read = float(features.pop()[0][0, found.input_of(unit)])
            if steps > 0 and read > 0:
                reach.append(read / steps)
            bar.advance(1)
        if reach:  # of one place: where several see the square, it is more
            found.head.weight[output, found.input_of(unit)] = (rival + TARGET_MARGIN - min(own)) / min(reach)
