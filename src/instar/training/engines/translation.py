"""The training of a translator: against critics of two scales, for each time of day."""

from __future__ import annotations

import copy
from importlib.resources import as_file
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from instar.imaging import street_networks
from instar.imaging.street_classes import UNKNOWN
from instar.training.engines.crops import Crops
from instar.training.engines.exported import take_weights
from instar.training.engines.networks import Segmenter
from instar.training.engines.nights import TIMES, Nights
from instar.training.engines.scores import intersections_over_unions
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
from instar.training.engines.translator import LightCritic, Translator, exposed, shown_of

SCALES = 2  # a critic of smaller pictures would see what place it is
LIKE, SEEN, ADDED, UNEVEN = 2.0, 2.0, 0.2, 1.0
"""Weights: the light of the made picture, what a segmenter sees, light that is added, and how it differs."""
SHINES = 4.0  # times as dear as light that falls
REGION = 16  # pixels over which the light is to stay like that of the made picture
OFTEN = 200  # steps from one word to the next


def train_translator(
    nights: Nights, settings: EngineSettings, folder: Path, told: Told, resume: bool
) -> Translator:
    """The translator; what is in the streets is to be seen by `street-maps` still."""
    torch.manual_seed(settings.seed)
    where = settings.device
    model = Translator(settings.width).to(where)
    critics = nn.ModuleList([LightCritic() for _ in range(SCALES * len(TIMES))]).to(where)
    average = copy.deepcopy(model)
    done = resume_from(folder, settings, resume, model=model, critics=critics, average=average)
    crops, photographs = _crops(nights, settings)
    judge = _judge(crops, settings)
    torch.manual_seed(settings.seed + done)  # a later piece must not see the crops of the first again
    own = torch.optim.Adam(model.parameters(), settings.rate, (0.0, 0.99))
    theirs = torch.optim.Adam(critics.parameters(), 2 * settings.rate, (0.0, 0.99))
    half = max(1, settings.batch // 2)
    is_night = torch.tensor([1.0] * half + [0.0] * half, device=where)[:, None, None, None]
    for step in steps_of(done, settings, (own, theirs), (settings.rate, 2 * settings.rate)):
        layers, ids = crops.draw(2 * half)
        even, night, dusk, sky = ((layers + 1) / 2).split((3, 3, 3, 1), 1)
        made = torch.where(is_night > 0, night, dusk)
        real = [(one.draw(half)[0] + 1) / 2 for one in photographs]
        with fast(where):
            maps = model(shown_of(even, made, sky, ids, is_night)).float()
        result = exposed(maps, even, made, sky, ids)
        parts = result.split(half)
        with fast(where):
            blame = sum(
                F.relu(1 - a.float()).mean() + F.relu(1 + b.float()).mean()
                for number, (true, false) in enumerate(zip(real, parts))
                for a, b in zip(_scores(critics, number, true), _scores(critics, number, false.detach()))
            )
        descend(theirs, blame)
        with fast(where):
            fooled = -sum(
                one.float().mean()
                for number, part in enumerate(parts)
                for one in _scores(critics, number, part)
            )
            seen = F.cross_entropy(judge(2 * result - 1).float(), ids, ignore_index=UNKNOWN)
        off = (_level(result) - _level(made)).abs().mean()
        added = maps[:, 6:8].mean() + SHINES * maps[:, 8:].mean()
        uneven = sum(maps[:, :8].diff(dim=side).abs().mean() for side in (2, 3))
        descend(own, fooled / SCALES + LIKE * off + SEEN * seen + ADDED * added + UNEVEN * uneven)
        follow(average, model, step)
        if step % OFTEN == 0:
            told(
                f"step {step}: critics {float(torch.as_tensor(blame).detach()):.2f}, "
                f"light off by {off.item():.3f}, seen {seen.item():.2f}"
            )
        done = step
    save_training(folder, settings, done, {"model": model, "critics": critics, "average": average})
    return average.eval()


def _crops(nights: Nights, settings: EngineSettings) -> tuple[Crops, list[Crops]]:
    """Crops of the streets, and of the photographs of each time."""

    def there(values: object) -> Tensor:
        return torch.as_tensor(values).to(settings.device)

    photographs = [
        Crops(
            there(pictures),
            there(pictures[..., 0]),  # what is where in photographs is not known, and not asked
            (settings.side, settings.side),
            often=torch.as_tensor(often),
        )
        for pictures, often in zip(nights.photographs, nights.often)
    ]
    return Crops(there(nights.layers), there(nights.ids), (settings.side, settings.side)), photographs


def _judge(crops: Crops, settings: EngineSettings) -> nn.Module:
    """`street-maps`, which is not trained here."""
    judge = Segmenter().to(settings.device)
    _take_maps(judge, crops.draw(1)[0][:, :3])
    return judge.eval().requires_grad_(False)


def _scores(critics: nn.ModuleList, number: int, pictures: Tensor) -> list[Tensor]:
    """What the critics of a time say, of the picture and of it at half its size."""
    x = 2 * pictures.clamp(1e-4, 1).sqrt() - 1
    return [critics[SCALES * number + k](x if k == 0 else F.avg_pool2d(x, 2**k)) for k in range(SCALES)]


def _level(pictures: Tensor) -> Tensor:
    return F.avg_pool2d(torch.log(pictures + 0.03), REGION)


@torch.no_grad()
def score_translator(model: Translator, nights: Nights) -> dict[str, float]:
    """For each time the mean IoU of `street-maps` over that by day, and how many squared grey levels change.

    A network that does nothing changes 0 of what was made.
    """
    model = model.eval().cpu()
    found: dict[str, float] = {}
    rows, columns = (16 * (side // 16) for side in nights.ids.shape[1:])
    layers = torch.as_tensor(nights.layers[:, :rows, :columns]).permute(0, 3, 1, 2)
    all_ids = torch.as_tensor(nights.ids[:, :rows, :columns]).long()
    judge = Segmenter()
    _take_maps(judge, layers[:1, :3].float() / 127.5 - 1)
    judge.eval()
    for number, time in enumerate(TIMES):
        day, late, changed = _confusion(), _confusion(), 0.0
        for layer, picture, ids in zip(layers, nights.pictures, all_ids):
            even, *made, sky = (layer[None].float() / 255).split((3, 3, 3, 1), 1)
            ids = ids[None]
            shown = shown_of(even, made[number], sky, ids, torch.full((1, 1, 1, 1), float(number == 0)))
            result = exposed(model(shown), even, made[number], sky, ids)
            changed += float((255 * (result - made[number])).square().mean()) / len(layers)
            before = torch.as_tensor(picture[:rows, :columns]).permute(2, 0, 1)[None].float() / 127.5 - 1
            for counts, one in ((day, before), (late, 2 * result - 1)):
                cells = ids * UNKNOWN + judge(one).argmax(1)
                counts += torch.bincount(cells.flatten(), minlength=counts.numel()).reshape(counts.shape)
        known = [np.mean(list(intersections_over_unions(counts.numpy()).values())) for counts in (late, day)]
        found |= {f"{time}_iou_kept": float(known[0] / known[1]), f"{time}_changed": changed}
    return found


def _confusion() -> Tensor:
    return torch.zeros(UNKNOWN + 1, UNKNOWN, dtype=torch.int64)


def _take_maps(judge: Segmenter, pictures: Tensor) -> None:
    """Give it the weights of `street-maps`."""
    with as_file(street_networks.require_weights(street_networks.WEIGHTS / "street-maps.onnx")) as path:
        take_weights(judge, path, pictures)
