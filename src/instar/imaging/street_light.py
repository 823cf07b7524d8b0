"""A made night or dusk brought closer to photographs of one, by a small network.

The network paints nothing. It says how much brighter each place is, what light falls on it and what shines;
the picture is exposed to that. So what is in the street stays, and a picture of any size keeps its detail.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from instar.core.scene import Image
from instar.imaging.street_classes import STREET
from instar.imaging.street_networks import as_input, session

HEIGHT = 288  # of the pictures it was trained on
SHINING = ("building", "pole", "traffic sign", "car")
LAMPS = ((1.0, 0.72, 0.38), (1.0, 0.96, 0.86), (1.0, 0.10, 0.05))
"""Warm, white and red. Colours are not learned: a few places would give theirs to every street."""
CROWN = 0.35  # of the light that falls: no lamp reaches the crowns of trees
CROWN_EDGE = 2.0  # sigma in pixels of its outline
HALO = ((0.9, 0.9), (2.9, 0.8), (8.6, 0.6))  # sigma in pixels of the maps, which have 144 rows, and weight
MOST = 0.98  # of white, that a made picture can be: more light than that cannot be told

SPAN = 3.0  # the most that a map says
CENTRE = 128 / 255  # what is stored where nothing is to be brighter

_Light = npt.NDArray[np.float32]
Ids = npt.NDArray[np.uint8]


def light_maps(
    made: Image, even: Image, sky: _Light, ids: Ids, *, is_night: bool, network: Any = None
) -> npt.NDArray[np.uint8]:
    """What the network says of a made picture: `(rows, 3 columns, 4)`, which `apply_light` takes.

    `even` is the picture by day without shadows, `sky` `(H, W)` the share of sky, `ids` are `STREET` classes.
    """
    rows, columns = ids.shape
    size = (2 * max(8, round(columns * HEIGHT / rows / 2)), HEIGHT)
    light = [_small(one, size) / np.float32(255) for one in (even, made)]
    shown = np.dstack(
        [
            2 * light[0] - 1,
            2 * np.sqrt(light[1]) - 1,
            _small(sky, size),
            np.eye(len(STREET), dtype=np.float32)[cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST)],
            np.full((size[1], size[0]), is_night, np.float32),
        ]
    )
    running = session("translator-camvid") if network is None else network
    (answer,) = running.run(None, {"shown": as_input(shown)})
    maps = answer[0, :, : size[1] // 2, : size[0] // 2].transpose(1, 2, 0)
    maps = np.concatenate([maps, np.zeros_like(maps[..., :1])], axis=2)
    stored = np.where(np.arange(12) < 6, CENTRE + maps / (2 * SPAN), np.sqrt(np.clip(maps, 0, None) / SPAN))
    whole = np.clip(np.rint(stored * 255), 0, 255).astype(np.uint8)
    return np.ascontiguousarray(whole.reshape(len(whole), -1, 4))


def apply_light(stored: npt.NDArray[np.uint8], made: Image, even: Image, sky: _Light, ids: Ids) -> Image:
    """The made picture with the light that the maps tell."""
    values = stored.reshape(len(stored), -1, 12)[..., :11].astype(np.float32) / np.float32(255)
    maps = np.where(np.arange(11) < 6, (values - np.float32(CENTRE)) * 2, values**2) * np.float32(SPAN)
    size = (2 * maps.shape[1], 2 * maps.shape[0])
    classes = np.asarray(cv2.resize(ids, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    light = [np.asarray(one, np.float32) / np.float32(255) for one in (even, made)]
    picture = light_up(np.asarray(maps, np.float32), light[0], light[1], sky, classes)
    return np.clip(np.rint(picture * 255), 0, 255).astype(np.uint8)


def _small(values: npt.NDArray[Any], size: tuple[int, int]) -> _Light:
    return np.asarray(cv2.resize(np.asarray(values), size, interpolation=cv2.INTER_AREA), np.float32)


def light_up(maps: _Light, even: _Light, made: _Light, sky: _Light, classes: Ids) -> _Light:
    """The light of the picture that `maps` `(h, w, 11)` make; `classes` `(2 h, 2 w)` say what may shine."""
    may = np.isin(classes, [STREET.index(name) for name in SHINING]).astype(np.uint8)
    near = cv2.dilate(may, np.ones((2, 2), np.uint8), anchor=(0, 0))[::2, ::2]  # of four pixels one at least
    source = _of_lamps(maps[..., 8:]) * near[..., None]
    sources = source
    for sigma, weight in HALO:
        reach = 2 * max(1, round(3 * sigma)) + 1
        halo = cv2.GaussianBlur(source, (reach, reach), sigma, borderType=cv2.BORDER_REPLICATE)
        sources = sources + np.float32(weight) * halo
    size = (even.shape[1], even.shape[0])
    shining = cv2.resize(sources, size, interpolation=cv2.INTER_LINEAR)
    above, below, falling = (
        cv2.resize(maps[..., part], size, interpolation=cv2.INTER_LINEAR)
        for part in (slice(0, 3), slice(3, 6), slice(6, 8))
    )
    trees = cv2.GaussianBlur(
        (classes == STREET.index("vegetation")).astype(np.float32),
        (13, 13),
        CROWN_EDGE,
        borderType=cv2.BORDER_REPLICATE,
    )
    falling = falling * (1 - np.float32(1 - CROWN) * cv2.resize(trees, size))[..., None]
    sky = sky[..., None]  # squared below: sky between branches is lit by no lamp
    light = -np.log1p(-np.minimum(made, np.float32(MOST)))
    lit = light * np.exp(above * sky + below * (1 - sky)) + even * _of_lamps(falling) * (1 - sky) ** 2
    light = light + _softened(lit - light) + shining
    return np.asarray(1 - np.exp(-light), np.float32)


def _of_lamps(shares: _Light) -> _Light:
    """The colour of light of which so much is of each lamp; added one by one, the same on every machine."""
    return sum(
        (shares[..., n : n + 1] * np.array(LAMPS[n], np.float32) for n in range(shares.shape[2])),
        np.zeros((1, 1, 3), np.float32),
    )


def _softened(more: _Light) -> _Light:
    """What is added, less where it is much: only what shines outshines a white wall."""
    return np.asarray(more / (1 + np.maximum(more, 0)), np.float32)
