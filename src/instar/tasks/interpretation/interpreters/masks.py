"""RISE and LIME: hide parts of the picture, look at the confidence, and ask which parts mattered.

The masks come from the seed in the question, so that a question has one answer. They are the same for all
pictures with that seed, and made once for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import torch

from instar.adapters.classifier import Classifier, eval_mode
from instar.core.scene import Image

COMPACTNESS = 10.0  # grey levels that a distance of one cell weighs as much as
ROUNDS = 5
KERNEL_WIDTH = 0.25  # of the cosine distance, as LIME has it
RIDGE = 1.0
LEAST_SAMPLES = 100
CHECKED = 5  # batches from one look at the halves to the next
STABLE = 0.95  # correlation with the map of as many other masks, from which on no more are drawn


def rise(
    classifier: Classifier,
    inputs: Any,
    labels: Sequence[int],
    seeds: Sequence[int],
    *,
    masks: int,
    grid: int,
    share: float,
    rows: int,
) -> tuple[Any, Any]:
    """Each place by how sure the classifier is when it is seen: random masks with a `share` of cells open.

    At most so many `masks`, until the maps of one half of them and of the other agree.
    """
    maps = []
    with eval_mode(classifier.module), torch.no_grad():
        logits = classifier.module(inputs)
        for x, label, seed in zip(inputs, labels, seeds):
            halves = (_Covariance(x), _Covariance(x))
            made = rise_masks(seed, masks, classifier.size, grid=grid, share=share, at_once=rows)
            for number, some in enumerate(made):
                hidden = torch.from_numpy(some).to(x.device)
                seen = classifier.module(x[None] * hidden[:, None])
                halves[number % 2].add(classifier.confidence(seen, label), hidden)
                drawn = halves[0].count + halves[1].count
                if drawn >= LEAST_SAMPLES and number % CHECKED == 0 and _agree(*(one.map for one in halves)):
                    break
            maps.append(halves[0].plus(halves[1]).map)
    return logits, torch.stack(maps)


class _Covariance:
    """Of confidences with what is seen at each place, over the masks so far.

    Both are centred: a classifier that is always about as sure says nothing of any place.
    """

    def __init__(self, like: Any) -> None:
        self.count = 0
        self._sure = torch.zeros((), device=like.device)
        self._seen, self._both = (torch.zeros(like.shape[1:], device=like.device) for _ in range(2))

    def add(self, sure: Any, masks: Any) -> None:
        self.count += len(sure)
        self._sure = self._sure + sure.sum()
        self._seen = self._seen + masks.sum(0)
        self._both = self._both + torch.tensordot(sure, masks, dims=([0], [0]))

    def plus(self, other: _Covariance) -> _Covariance:
        both = _Covariance(self._both[None])
        both.count = self.count + other.count
        both._sure, both._seen = self._sure + other._sure, self._seen + other._seen
        both._both = self._both + other._both
        return both

    @property
    def map(self) -> Any:
        count = max(1, self.count)
        return self._both / count - self._sure / count * self._seen / count


def rise_map(confidences: Any, masks: Any) -> Any:
    """The covariance of the confidences with what the masks show at each place."""
    found = _Covariance(masks[:1])
    found.add(confidences, masks)
    return found.map


def _agree(a: Any, b: Any) -> bool:
    """Whether two halves are so alike that together they would hardly change any more.

    By the formula of Spearman and Brown: what the correlation of halves says about that of wholes.
    """
    a, b = a - a.mean(), b - b.mean()
    norm = float(a.norm() * b.norm())
    correlation = float((a * b).sum()) / norm if norm > 0 else 0.0
    return 2 * correlation / (1 + correlation) >= STABLE if correlation > 0 else False


def rise_masks(
    seed: int, count: int, size: tuple[int, int], *, grid: int, share: float, at_once: int
) -> Iterator[npt.NDArray[np.float32]]:
    """`float32 (at_once, height, width)` from 0 hidden to 1 seen, so many until there are `count`.

    A coarse random grid, enlarged smoothly and cut out at a random offset, as in the RISE paper.
    """
    rng = np.random.default_rng([seed, 1])
    height, width = size
    cell = -(-height // grid), -(-width // grid)
    enlarged = ((grid + 1) * cell[1], (grid + 1) * cell[0])
    for start in range(0, count, at_once):
        number = min(at_once, count - start)
        open_cells = (rng.random((number, grid, grid)) < share).astype(np.float32)
        offsets = rng.integers(0, cell, (number, 2))
        made = np.empty((number, height, width), np.float32)
        for i, (y, x) in enumerate(offsets.tolist()):
            large = cv2.resize(open_cells[i], enlarged, interpolation=cv2.INTER_LINEAR)
            made[i] = large[y : y + height, x : x + width]
        yield made


def lime(
    classifier: Classifier,
    inputs: Any,
    images: Sequence[Image],
    labels: Sequence[int],
    seeds: Sequence[int],
    *,
    samples: int,
    pieces: int,
    rows: int,
) -> tuple[Any, Any]:
    """Each segment by its weight in a linear model of the confidence, fitted near the whole picture.

    At most so many `samples`, until the weights by one half of them and by the other agree.
    """
    maps = []
    with eval_mode(classifier.module), torch.no_grad():
        logits = classifier.module(inputs)
        for i, seed in enumerate(seeds):
            own = segment_picture(images[i], classifier.size, pieces)
            count = int(own.max()) + 1
            used = draw_segments(seed, samples, count)
            where = torch.from_numpy(own).to(inputs.device)
            found: list[Any] = []
            for number, start in enumerate(range(0, samples, rows)):
                chosen = torch.from_numpy(used[start : start + rows]).to(inputs.device)
                seen = classifier.module(inputs[i][None] * chosen[:, where][:, None])
                found.append(classifier.confidence(seen, labels[i]).cpu().numpy())
                drawn = min(samples, start + rows)
                if drawn >= LEAST_SAMPLES and number % CHECKED == 0 and _halves_agree(used[:drawn], found):
                    break
            weights = fit_ridge(used[:drawn], np.concatenate(found))
            maps.append(torch.from_numpy(weights.astype(np.float32)[own]))
    return logits, torch.stack(maps)


def _halves_agree(used: npt.NDArray[np.float32], found: Sequence[Any]) -> bool:
    sure = np.concatenate(found)
    even, odd = (torch.from_numpy(fit_ridge(used[i::2], sure[i::2])) for i in (0, 1))
    return _agree(even, odd)


def draw_segments(seed: int, samples: int, count: int) -> npt.NDArray[np.float32]:
    """`float32 (samples, count)` of 0 and 1: which segments are seen. The first sample sees all."""
    used = np.random.default_rng([seed, 2]).integers(0, 2, (samples, count)).astype(np.float32)
    used[0] = 1
    return used


def fit_ridge(used: npt.NDArray[np.float32], confidences: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Weights of a ridge regression with an intercept; samples count by how near they are to the whole."""
    z = used.astype(np.float64)
    near = np.sqrt(np.exp(-((1 - np.sqrt(z.mean(axis=1))) ** 2) / KERNEL_WIDTH**2))
    near /= near.sum()
    y = np.asarray(confidences, np.float64)
    centred, target = z - near @ z, y - near @ y
    # The ridge is that of samples which weigh one each, so that it does not depend on the kernel's scale.
    gram = (centred * near[:, None]).T @ centred * len(z) + RIDGE * np.eye(z.shape[1])
    return np.asarray(np.linalg.solve(gram, (centred * near[:, None]).T @ target * len(z)), np.float64)


def segment_picture(image: Image, size: tuple[int, int], pieces: int) -> npt.NDArray[np.int64]:
    """`int64 (height, width)`: about so many segments, alike in colour and compact.

    K-means over colour (Lab) and place from a regular grid on, as in SLIC, on the picture at an eighth to a
    quarter of its input size. Deterministic.
    """
    height, width = (max(8, side // 4) for side in size)
    lab = cv2.cvtColor(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), cv2.COLOR_RGB2LAB)
    rows = max(1, round((pieces * height / width) ** 0.5))
    columns = max(1, round(pieces / rows))
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    step = (height * width / (rows * columns)) ** 0.5
    points = np.dstack([lab.astype(np.float32), y * (COMPACTNESS / step), x * (COMPACTNESS / step)])
    flat = points.reshape(-1, 5)
    at_rows = ((np.arange(rows) + 0.5) * height / rows).astype(int)
    at_columns = ((np.arange(columns) + 0.5) * width / columns).astype(int)
    centres = points[at_rows][:, at_columns].reshape(-1, 5).copy()
    nearest = np.zeros(len(flat), np.int64)
    for _ in range(ROUNDS):
        distances = (flat**2).sum(1)[:, None] - 2 * flat @ centres.T + (centres**2).sum(1)
        nearest = np.argmin(distances, axis=1)
        for k in np.unique(nearest):
            centres[k] = flat[nearest == k].mean(axis=0)
    _, numbered = np.unique(nearest, return_inverse=True)
    small = numbered.reshape(height, width).astype(np.float32)
    full = cv2.resize(small, (size[1], size[0]), interpolation=cv2.INTER_NEAREST)
    return np.asarray(full, np.int64)
