"""How good an engine is on pictures that it was not trained on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from instar.imaging.painter import CELL
from instar.imaging.street_classes import STREET, UNKNOWN
from instar.training.engines.crops import draw_holes, one_hot, show_cells
from instar.training.engines.networks import Painter
from instar.training.engines.streets import Streets
from instar.training.engines.train import NOISE

ROAD, LINE = STREET.index("road"), STREET.index("line")


@torch.no_grad()
def score(model: nn.Module, streets: Streets) -> dict[str, float]:
    """Of a painter how far it is off in grey levels, in random holes and in whole pictures, told the colours
    of cells; of a segmenter its mean IoU.
    """
    model = model.eval().cpu()
    torch.manual_seed(0)
    confusion = np.zeros((UNKNOWN + 1, UNKNOWN), np.int64)
    off, whole_off = [], []
    for picture, ids in zip(streets.pictures, streets.ids):
        rows, columns = (16 * (side // 16) for side in ids.shape)
        shown = torch.from_numpy(picture[:rows, :columns].copy()).permute(2, 0, 1)[None].float() / 127.5 - 1
        true = torch.from_numpy(ids[:rows, :columns].copy())[None].long()
        if isinstance(model, Painter):
            hole = draw_holes(true)
            noise = torch.randn_like(hole) * NOISE
            painted = model(shown * (1 - hole) + noise * hole, hole, one_hot(true))
            off.append(float(((painted - shown).abs() * hole).sum() / (3 * hole.sum())) * 127.5)
            cells, half = show_cells(shown, torch.zeros_like(hole), CELL)
            painted = model(cells + noise, half, one_hot(true))
            whole_off.append(float((painted - shown).abs().mean()) * 127.5)
        else:
            guessed = model(shown)[0].argmax(0).numpy()
            cells = true[0].numpy() * UNKNOWN + guessed
            confusion += np.bincount(cells.ravel(), minlength=confusion.size).reshape(confusion.shape)
    if isinstance(model, Painter):
        return {"grey_levels_off": float(np.mean(off)), "whole_grey_levels_off": float(np.mean(whole_off))}
    known = intersections_over_unions(confusion)
    return {"mean_iou": float(np.mean(list(known.values()))), **known}


def intersections_over_unions(confusion: npt.NDArray[np.int64]) -> dict[str, float]:
    """By class, of counts by true and by guessed class; lines count as road, absent classes not at all."""
    merged = confusion.copy()
    merged[ROAD] += merged[LINE]
    merged[:, ROAD] += merged[:, LINE]
    merged[LINE], merged[:, LINE] = 0, 0
    found = {}
    for number, name in enumerate(STREET[:UNKNOWN]):
        union = merged[number].sum() + merged[:UNKNOWN, number].sum() - merged[number, number]
        if merged[number].sum():
            found[name] = float(merged[number, number] / union)
    return found
