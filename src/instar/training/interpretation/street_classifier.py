"""Training the embedded classifier: eight classes of drawn objects, several of them in a picture."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.adapters.street_classifier import load_street_classifier
from instar.training.interpretation.backdoor import ShowProgress
from instar.worlds import street

TRAINING_SEED, TEST_SEED = 1000, 2000
"""Streets of these seeds; `street:N` shows those of seed 0."""
BATCH_ROWS = 32
RATE = 3e-3


def train_street(scenes: int, epochs: int, *, seed: int, progress: ShowProgress) -> tuple[Classifier, float]:
    """A classifier trained on drawn streets, and the share of right answers on others."""
    classifier = load_street_classifier(None)
    torch.manual_seed(seed)
    for part in classifier.module.modules():
        if hasattr(part, "reset_parameters"):
            part.reset_parameters()
    inputs, labels = _drawn(classifier, scenes, TRAINING_SEED, progress)
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(classifier.module.parameters(), lr=RATE)
    steps = epochs * -(-scenes // BATCH_ROWS)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=steps)
    classifier.module.train()
    with progress("training", epochs) as bar, torch.enable_grad():
        for _ in range(epochs):
            order = torch.from_numpy(rng.permutation(scenes))
            for start in range(0, scenes, BATCH_ROWS):
                own = order[start : start + BATCH_ROWS]
                x = inputs[own].float()
                if rng.random() < 0.5:
                    x = x.flip(3)
                logits = classifier.module((x - 127.5) / 64 * float(rng.uniform(0.85, 1.15)))
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels[own])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
            bar.advance(1)
    classifier.module.eval()
    return classifier, count_right(classifier, 200, progress)


def count_right(classifier: Classifier, scenes: int, progress: ShowProgress) -> float:
    """The share of (picture, class) answers that are right on streets that nothing was trained on."""
    inputs, labels = _drawn(classifier, scenes, TEST_SEED, progress)
    with eval_mode(classifier.module), torch.no_grad():
        logits = torch.cat([classifier.module((x.float() - 127.5) / 64) for x in inputs.split(BATCH_ROWS)])
    return float(((logits > 0) == (labels > 0.5)).float().mean())


def _drawn(classifier: Classifier, scenes: int, seed: int, progress: ShowProgress) -> tuple[Any, Any]:
    """`uint8 (n, 3, H, W)` pictures and `float32 (n, classes)` labels."""
    pictures, labels = [], []
    with progress("drawing streets", scenes) as bar:
        for scene in street.scenes(scenes, seed=seed):
            small = cv2.resize(scene.image, classifier.size[::-1], interpolation=cv2.INTER_AREA)
            pictures.append(small.transpose(2, 0, 1))
            known = {thing.label for thing in scene.objects or ()}
            labels.append([float(label in known) for label in classifier.labels])
            bar.advance(1)
    return torch.from_numpy(np.stack(pictures)), torch.tensor(labels)
