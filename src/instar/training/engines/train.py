"""The two trainings: a painter against two critics, and a segmenter."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.core.errors import BadInput
from instar.imaging.street_classes import UNKNOWN
from instar.training.engines.crops import Crops, draw_holes, forget, one_hot, relight, show_cells
from instar.training.engines.exported import take_painter, take_weights
from instar.training.engines.networks import CLASS_COUNT, Critic, Painter, Segmenter
from instar.training.engines.steps import (
    EngineSettings,
    Told,
    descend,
    fast,
    follow,
    resume_from,
    save_training,
    steps_of,
)

if TYPE_CHECKING:
    from instar.training.engines.streets import Streets

NOISE = 0.3  # how strong the noise in a hole is; what is painted differs with it
FEATURES, LEVELS, SEEN = 12.0, 5.0, 0.5  # weights: the critics' features, grey levels in holes and outside
OFTEN = 200  # steps from one word to the next
RARE = 0.35  # the power of how rare a class is that it counts: by 0.5 poles grow into the sky
SIZES = (0.6, 1.6)  # how large things are shown to the segmenter
STREETS = (1.0, 1.15)  # and to a painter of whole pictures, which has to learn how a street is laid out
CELLS = (8, 16)  # pixels: it is told the mean colours of such cells
LOST = 0.6  # of whole pictures: something in them is painted without being told its colours
DARK = {"painter": 0.1, "segmenter": 0.35}  # how many crops are shown at night, in haze or in grey


def train_painter(
    streets: Streets, settings: EngineSettings, folder: Path, told: Told, resume: bool
) -> Painter:
    """The painter, after `settings.steps` steps or as far as the time went; `checkpoint.saved` then."""
    torch.manual_seed(settings.seed)
    where = settings.device
    painter = Painter(settings.width).to(where)
    critics = nn.ModuleList([Critic(2 * settings.width), Critic(2 * settings.width)]).to(where)
    average = copy.deepcopy(painter)
    done = resume_from(folder, settings, resume, painter=painter, critics=critics, average=average)
    if not done and settings.start is not None:
        for one in (painter, average):
            take_painter(one, settings.start)
    torch.manual_seed(settings.seed + done)  # a later piece must not see the crops of the first again
    own = torch.optim.Adam(painter.parameters(), settings.rate, (0.0, 0.99))
    theirs = torch.optim.Adam(critics.parameters(), 2 * settings.rate, (0.0, 0.99))
    pixels = _on_device([streets], settings)
    crops = Crops(*pixels, (settings.side, settings.side))
    rows, columns = (16 * (side // 16) for side in crops.ids.shape[1:])
    frames = Crops(*pixels, (rows, columns), zoom=STREETS)
    few = max(1, round(settings.batch * settings.side**2 / (rows * columns)))  # that are as many pixels
    for step in steps_of(done, settings, (own, theirs), (settings.rate, 2 * settings.rate)):
        if torch.rand(()) < settings.whole:
            pictures, known, hole, labels = _whole_pictures(frames, few)
        else:
            pictures, known, hole, labels = _pictures_with_holes(crops, settings.batch)
        area = (hole > 0).float()
        noise = torch.randn_like(hole) * NOISE
        with fast(where):
            painted = painter(known + noise * area, hole, labels)
            composed = pictures * (1 - area) + painted * area
            real, false = (_judge(critics, one, hole, labels) for one in (pictures, composed.detach()))
            blame = sum(
                _inside(F.relu(1 - a), area) + _inside(F.relu(1 + b), area)
                for (a, _), (b, _) in zip(real, false)
            )
        descend(theirs, blame)
        with fast(where):
            judged = _judge(critics, composed, hole, labels)
            fooled = -sum(_inside(score, area) for score, _ in judged)
            alike = sum(
                (p.detach().float() - q.float()).abs().mean()
                for (_, features), (_, others) in zip(real, judged)
                for p, q in zip(features, others)
            )
            off = ((painted.float() - pictures).abs() * (4 * area + SEEN)).mean()
            loss = fooled + FEATURES * alike + LEVELS * off
        descend(own, loss)
        follow(average, painter, step)
        if step % OFTEN == 0:
            told(f"step {step}: critics {float(blame):.2f}, off by {float(off):.3f}")
        done = step
    state = {"painter": painter, "critics": critics, "average": average}
    save_training(folder, settings, done, state)
    return average.eval()


def _pictures_with_holes(crops: Crops, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Pictures, what is known of them, their holes and the labels that are told."""
    pictures, ids = crops.draw(count)
    pictures, hole = relight(pictures, dark=DARK["painter"]), draw_holes(ids)
    return pictures, pictures * (1 - hole), hole, forget(one_hot(ids), hole)


def _whole_pictures(frames: Crops, count: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The same, where but the colours of cells are known of the pictures, and nothing of some places."""
    pictures, ids = frames.draw(count)
    pictures, labels = relight(pictures, dark=DARK["painter"]), one_hot(ids)
    lost = draw_holes(ids) * (torch.rand(count, 1, 1, 1, device=ids.device) < LOST)
    cell = CELLS[int(torch.randint(len(CELLS), ()))]
    return pictures, *show_cells(pictures, lost, cell), labels


def train_segmenter(
    streets: Streets,
    settings: EngineSettings,
    folder: Path,
    told: Told,
    resume: bool,
    *,
    changed: Streets | None = None,
) -> Segmenter:
    """The segmenter; rare classes count more, and pixels of no known class not at all.

    `changed` are the pictures in weather, a share `settings.weather` of what it is shown.
    """
    torch.manual_seed(settings.seed)
    where = settings.device
    model = Segmenter(settings.width).to(where)
    average = copy.deepcopy(model)
    crops = _segmenter_crops(streets, changed, settings)
    done = resume_from(folder, settings, resume, model=model, average=average)
    if not done and settings.start is not None:
        pictures, _ = crops.draw(settings.batch)
        for one in (model, average):
            take_weights(one, settings.start, pictures)
    torch.manual_seed(settings.seed + done)
    optimiser = torch.optim.AdamW(model.parameters(), settings.rate, weight_decay=1e-2)
    counts = torch.bincount(crops.ids.flatten().long(), minlength=CLASS_COUNT)[:UNKNOWN].float()
    weights = (counts.sum() / counts.clamp(min=1)) ** RARE
    for step in steps_of(done, settings, (optimiser,), (settings.rate,)):
        pictures, ids = crops.draw(settings.batch)
        with fast(where):
            scores = model(relight(pictures, dark=DARK["segmenter"])).float()
            loss = F.cross_entropy(scores, ids, weights, ignore_index=UNKNOWN) + _apart(scores, ids)
        descend(optimiser, loss)
        follow(average, model, step)
        if step % OFTEN == 0:
            told(f"step {step}: loss {float(loss):.3f}")
        done = step
    save_training(folder, settings, done, {"model": model, "average": average})
    return average.eval()


def _apart(scores: Tensor, ids: Tensor) -> Tensor:
    """How little the shares of each class overlap what is there, on average over classes (soft Dice)."""
    known = (ids != UNKNOWN)[:, None].float()
    shares = scores.softmax(1) * known
    true = one_hot(ids)[:, :UNKNOWN] * known
    both, total = (shares * true).sum((0, 2, 3)), (shares + true).sum((0, 2, 3))
    there = true.sum((0, 2, 3)) > 0
    return 1 - (2 * both / total.clamp(min=1))[there].mean()


def _segmenter_crops(streets: Streets, changed: Streets | None, settings: EngineSettings) -> Crops:
    """Crops of the pictures, and of the same in weather as often as the settings say."""
    often = torch.full((len(streets),), (1 - settings.weather) / len(streets))
    both = [streets]
    if changed is not None:
        both.append(changed)
        often = torch.cat([often, torch.full((len(changed),), settings.weather / len(changed))])
    shape = (settings.side, settings.side)
    return Crops(*_on_device(both, settings), shape, zoom=SIZES, often=often)


def _on_device(all_streets: Sequence[Streets], settings: EngineSettings) -> tuple[Tensor, Tensor]:
    shape = all_streets[0].ids.shape[1:]
    if min(shape) < settings.side:
        raise BadInput(f"crops of {settings.side} pixels do not fit into {shape}")
    pictures = [torch.from_numpy(streets.pictures).to(settings.device) for streets in all_streets]
    ids = [torch.from_numpy(streets.ids).to(settings.device) for streets in all_streets]
    return torch.cat(pictures), torch.cat(ids)


def _judge(
    critics: nn.ModuleList, pictures: Tensor, hole: Tensor, labels: Tensor
) -> list[tuple[Tensor, list[Tensor]]]:
    """Each critic's scores and features, the second's of the picture at half its size."""
    shown = torch.cat([pictures, hole, labels], 1)
    return [critic(shown if number == 0 else F.avg_pool2d(shown, 2)) for number, critic in enumerate(critics)]


def _inside(values: Tensor, hole: Tensor) -> Tensor:
    """Their mean where the hole is."""
    weight = F.interpolate(hole, values.shape[2:], mode="area")
    return (values.float() * weight).sum() / weight.sum().clamp(min=1e-6)
