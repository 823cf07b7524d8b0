"""RISE and LIME: hide parts of the picture, look at the confidence, and ask which parts mattered.

What is hidden comes from the seed in the question, so that a question has one answer. It is drawn in blocks
in which all parts are balanced. Each block makes a map of its own; how these agree tells when it is enough.
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
STABLE = 0.9  # correlation with the map of as many other lots, from which on no more are drawn
SPREAD = ((0.0, 0.0), (0.5, 0.5), (0.5, 0.0), (0.0, 0.5))
"""Of a cell: how far the grids of following blocks of masks lie from each other."""


def rise(
    classifier: Classifier,
    net: Any,
    inputs: Any,
    labels: Sequence[int],
    seeds: Sequence[int],
    *,
    masks: int,
    grid: int,
    rows: int,
) -> tuple[Any, Any]:
    """Each place by how sure the classifier is when it is seen: random masks with half of the cells open.

    At most so many `masks`, until the maps of their blocks agree. `net` is the classifier's network, as it
    is asked without gradients.
    """
    maps = []
    with eval_mode(classifier.module), torch.no_grad():
        logits = classifier.module(inputs)
        for x, label, seed in zip(inputs, labels, seeds):
            found: list[Any] = []
            counts: list[int] = []
            for block in rise_masks(seed, masks, classifier.size, grid=grid):
                hidden = torch.from_numpy(block).to(x.device)
                sure = [
                    classifier.confidence(net(x[None] * some[:, None]), label) for some in hidden.split(rows)
                ]
                found.append(rise_map(torch.cat(sure), hidden))
                counts.append(len(block))
                if are_stable(found):
                    break
            maps.append(sum(one * count for one, count in zip(found, counts)) / sum(counts))
    return logits, torch.stack(maps)


def rise_map(confidences: Any, masks: Any) -> Any:
    """The covariance of the confidences with what the masks show at each place.

    Centred: a classifier that is always about as sure says nothing of any place.
    """
    return torch.tensordot(confidences - confidences.mean(), masks, dims=([0], [0])) / len(masks)


def are_stable(maps: Sequence[Any]) -> bool:
    """Whether the mean of these maps, each by other lots, would hardly be another one by others still.

    By the formula of Spearman and Brown: what the correlation of parts says about that of wholes.
    """
    if len(maps) < 2:
        return False
    flat = torch.stack([one.flatten() for one in maps]).double()
    flat = flat - flat.mean(1, keepdim=True)
    flat = flat / flat.norm(dim=1, keepdim=True).clamp(min=1e-12)
    count = len(maps)
    alike = (float((flat.sum(0) ** 2).sum()) - count) / (count * (count - 1))  # the mean of all pairs
    return count * alike >= STABLE * (1 + (count - 1) * alike)


def draw_balanced(rng: np.random.Generator, count: int) -> npt.NDArray[np.bool_]:
    """`bool (rows, count)`: which of so many parts are seen, in pairs of opposites.

    Over all rows each part is seen in half of them, and with any other part in a quarter (columns of a
    Hadamard matrix), so that what one part does says nothing of another. By the pairs, neither does what two
    parts do together. It takes half the rows that independent lots would.
    """
    matrix = np.ones((1, 1), np.int8)
    while len(matrix) <= count:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    columns = 1 + rng.permutation(len(matrix) - 1)[:count]  # the first one is constant
    signs = rng.integers(0, 2, count, np.int8) * 2 - 1
    seen = matrix[rng.permutation(len(matrix))][:, columns] * signs > 0
    return np.stack([seen, ~seen], axis=1).reshape(-1, count)


def rise_masks(
    seed: int, count: int, size: tuple[int, int], *, grid: int
) -> Iterator[npt.NDArray[np.float32]]:
    """Blocks of `float32 (n, height, width)` from 0 hidden to 1 seen, until there are `count`.

    A coarse random grid, enlarged smoothly and cut out at an offset, as in the RISE paper. A block has one
    offset; the next ones lie half a cell away from it.
    """
    rng = np.random.default_rng([seed, 1])
    first, left = rng.random(2), count
    for number in range(count):
        shares = (first + SPREAD[number % len(SPREAD)]) % 1
        down, across = (_enlarging(side, grid, float(share)) for side, share in zip(size, shares))
        cells = draw_balanced(rng, grid * grid)[:left].reshape(-1, grid, grid).astype(np.float32)
        yield np.matmul(np.matmul(down, cells), across.T)
        left -= len(cells)
        if not left:
            return


def _enlarging(side: int, grid: int, share: float) -> npt.NDArray[np.float32]:
    """`float32 (side, grid)`: how much each cell of a grid along a side says of each pixel."""
    cell = -(-side // grid)
    each = np.eye(grid, dtype=np.float32)
    large = cv2.resize(each, (grid, (grid + 1) * cell), interpolation=cv2.INTER_LINEAR)
    start = int(share * cell)
    return np.asarray(large[start : start + side], np.float32)


def lime(
    classifier: Classifier,
    net: Any,
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

    At most so many `samples`, until the maps by blocks of them agree.
    """
    maps = []
    with eval_mode(classifier.module), torch.no_grad():
        logits = classifier.module(inputs)
        for i, seed in enumerate(seeds):
            own = segment_picture(images[i], classifier.size, pieces)
            where = torch.from_numpy(own).to(inputs.device)
            used: list[Any] = []
            found: list[Any] = []
            parts: list[Any] = []
            for block in draw_segments(seed, samples, int(own.max()) + 1):
                chosen = torch.from_numpy(block).to(inputs.device)
                sure = [
                    classifier.confidence(net(inputs[i][None] * some[:, where][:, None]), labels[i])
                    for some in chosen.split(rows)
                ]
                used.append(block)
                found.append(torch.cat(sure).cpu().numpy())
                parts.append(torch.from_numpy(fit_ridge(block, found[-1])[own]))
                if are_stable(parts):
                    break
            weights = fit_ridge(np.concatenate(used), np.concatenate(found))
            maps.append(torch.from_numpy(weights.astype(np.float32)[own]))
    return logits, torch.stack(maps)


def draw_segments(seed: int, samples: int, count: int) -> Iterator[npt.NDArray[np.float32]]:
    """Blocks of `float32 (n, count)` of 0 and 1: which segments are seen. The first sample sees all."""
    rng, left = np.random.default_rng([seed, 2]), samples
    while left:
        block = draw_balanced(rng, count)[:left].astype(np.float32)
        if left == samples:
            block[0] = 1
        left -= len(block)
        yield block


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
