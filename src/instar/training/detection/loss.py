"""The loss of YOLOX (arXiv 2107.08430): cells are assigned to objects by what they would cost, and the rest
is background.

Annotations may know a few classes only. What they cannot speak about is no background: a cell that none of
their objects has counts nothing where its likeliest class is another one, or where it lies in a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from instar.tasks.detection.systems.grids import grid_cells

BOX_WEIGHT = 5.0
IOU_WEIGHT = 3.0  # of the overlap, beside the class, in what an assignment costs
REACH = 2.5  # cells from an object's centre within which a cell may take it
MOST_CELLS = 10  # whose overlaps add up to the number of cells that an object gets
FAR = 1e5  # the cost of a cell outside of the box or far from its centre


@dataclass(frozen=True, slots=True)
class KnownBoxes:
    """What is in one picture: corners `float32 (n, 4)`, classes `int64 (n,)`, and boxes of crowds."""

    boxes: Tensor
    classes: Tensor
    crowds: Tensor


@dataclass(frozen=True, slots=True)
class CellGrid:
    """Where the cells of an input stand: `float32 (cells, 2)` corners and `(cells, 1)` strides, in pixels."""

    corner: Tensor
    stride: Tensor

    @classmethod
    def of(cls, size: tuple[int, int], device: Any) -> CellGrid:
        cells = grid_cells(size)
        stride = torch.from_numpy(cells.stride).to(device)
        return cls(torch.from_numpy(cells.at).to(device) * stride, stride)

    def corners(self, rows: Tensor) -> Tensor:
        """The boxes x1, y1, x2, y2 that the network's numbers stand for."""
        centre = rows[..., :2] * self.stride + self.corner
        half = rows[..., 2:4].exp() * self.stride / 2
        return torch.cat([centre - half, centre + half], -1)


def detection_loss(rows: Tensor, grid: CellGrid, truths: Sequence[KnownBoxes], known: Tensor) -> Tensor:
    """For `rows` `float32 (pictures, cells, 5 + classes)`; `known` `bool (classes,)` are those annotated."""
    boxes = grid.corners(rows)
    objectness, classes = rows[..., 4], rows[..., 5:]
    wanted, weight = torch.zeros_like(objectness), torch.ones_like(objectness)
    of_boxes = of_classes = rows.sum() * 0
    count = 0
    for i, truth in enumerate(truths):
        with torch.no_grad():
            cells, things = _assign(boxes[i], objectness[i], classes[i], grid, truth)
            weight[i] = _has_say(boxes[i], classes[i], truth, known)
            weight[i, cells] = 1.0
            wanted[i, cells] = 1.0
        if not len(cells):
            continue
        count += len(cells)
        overlap = _iou(boxes[i, cells], truth.boxes[things])
        of_boxes = of_boxes + (1 - overlap**2).sum()
        shares = F.one_hot(truth.classes[things], classes.shape[-1]) * overlap.detach()[:, None]
        of_classes = of_classes + _cross_entropy(classes[i, cells][:, known], shares[:, known]).sum()
    of_objectness = (_cross_entropy(objectness, wanted) * weight).sum()
    return (BOX_WEIGHT * of_boxes + of_objectness + of_classes) / max(count, 1)


def _assign(
    boxes: Tensor, objectness: Tensor, classes: Tensor, grid: CellGrid, truth: KnownBoxes
) -> tuple[Tensor, Tensor]:
    """Cells, and the object that each of them is to show (SimOTA of the same paper)."""
    if not len(truth.boxes):
        nothing = torch.zeros(0, dtype=torch.long, device=boxes.device)
        return nothing, nothing
    middle = grid.corner + grid.stride / 2
    corners = truth.boxes[:, None]
    inside = ((middle > corners[..., :2]) & (middle < corners[..., 2:])).all(-1)  # (objects, cells)
    centre = (corners[..., :2] + corners[..., 2:]) / 2
    near = ((middle - centre).abs() < REACH * grid.stride).all(-1)
    may = (inside | near).any(0).nonzero()[:, 0]
    overlap = _iou(boxes[may][None], corners)
    own = (classes[may] * objectness[may, None]).sqrt()
    asked = F.one_hot(truth.classes, classes.shape[-1]).to(own)
    of_class = torch.stack([_cross_entropy(own, one.expand_as(own)).sum(-1) for one in asked])
    cost = of_class - IOU_WEIGHT * (overlap + 1e-8).log() + FAR * ~(inside & near)[:, may]
    takes = torch.zeros_like(cost, dtype=torch.bool)
    most = overlap.topk(min(MOST_CELLS, len(may)), 1).values.sum(1).long().clamp(min=1)
    for k, number in enumerate(most.tolist()):
        takes[k, cost[k].topk(min(number, len(may)), largest=False).indices] = True
    best = torch.where(takes, cost, torch.inf).argmin(0)  # a cell that several want goes to the cheapest
    taken = takes.any(0)
    return may[taken], best[taken]


def _has_say(boxes: Tensor, classes: Tensor, truth: KnownBoxes, known: Tensor) -> Tensor:
    """1 where the annotations can say that there is nothing, 0 elsewhere."""
    speaks = known[classes.argmax(-1)]
    if len(truth.crowds):
        crowds, own = truth.crowds[:, None], boxes[None]
        shared = _area(torch.cat([_low(crowds, own), _high(crowds, own)], -1))
        speaks &= (shared < 0.5 * _area(own)).all(0)
    return speaks.float()


def _iou(first: Tensor, second: Tensor) -> Tensor:
    shared = _area(torch.cat([_low(first, second), _high(first, second)], -1))
    return shared / (_area(first) + _area(second) - shared).clamp(min=1e-6)


def _low(first: Tensor, second: Tensor) -> Tensor:
    return torch.maximum(first[..., :2], second[..., :2])


def _high(first: Tensor, second: Tensor) -> Tensor:
    return torch.minimum(first[..., 2:], second[..., 2:])


def _area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1)


def _cross_entropy(shares: Tensor, wanted: Tensor) -> Tensor:
    """Of probabilities, which is what the network in the file answers with."""
    return F.binary_cross_entropy(shares.clamp(1e-6, 1 - 1e-6), wanted, reduction="none")
