"""Keep the renderings that two detectors take for what they are, as the pool that comes along.

The second of two steps (see `render_furniture.py`):

    python tools/select_cutouts.py RENDERED src/instar/cutouts/objects

Each rendering stands on a drawn street and in a drawn room, at two sizes. It stays when yolox-nano and
efficientdet-lite0 both find it as its class at least once, is in one piece and not lying down.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np

from instar.core.digest import digest
from instar.cutouts.extraction import is_part_of_a_body, largest_piece
from instar.cutouts.pool import CutOut, load_pool, save_pool
from instar.imaging.average_hash import average_hash
from instar.imaging.codecs import decode_exact
from instar.imaging.paste import RGBA
from instar.tasks.detection.recognition import recognition
from instar.tasks.detection.systems.efficientdet import efficientdet_lite0
from instar.tasks.detection.systems.onnx import yolox

HEADING = """# Where these objects come from

Renderings of 3D models in Debian's package `sweethome3d-furniture` 1.8-1, made by
`tools/render_furniture.py` and chosen by `tools/select_cutouts.py`. The models were turned, lit, drawn as
pictures and made smaller; nothing else was changed.

- CC-BY 3.0: https://creativecommons.org/licenses/by/3.0/ (US: https://creativecommons.org/licenses/by/3.0/us/)
- CC0 1.0: https://creativecommons.org/publicdomain/zero/1.0/

Catalogues: Kator Legaz, © 2003-2008 Andrew Kator & Jennifer Legaz; Reallusion, © 2008-2011 Reallusion;
Scopia, © 2010-2012 Scopia Visual Interfaces Systems, s.l., and eTeks; Blend Swap, its contributors.
"""
LEAST_SCORE = 0.4
MOST = 20  # of a class, the surest first
VIEWS = {"person": 3, "car": 3}
QUALITY = 88  # of WebP, whose alpha is kept without loss
ONE_PIECE = 0.97
LEFT_OUT = {"Blend Swap CC-BY#bulldog", "Blend Swap CC-0#briefcase"}  # found, but they look drawn to people
LEFT_OUT |= {"Blend Swap CC-BY#bike"}  # a child's, which people take for a toy
LEFT_OUT |= {"Blend Swap CC-BY#spider_plant"}  # hangs: it has no pot to stand on


def main(rendered: Path, out: Path) -> None:
    entries = json.loads((rendered / "renderings.json").read_text())
    detectors = (yolox(), efficientdet_lite0())
    sure: dict[str, list[tuple[float, dict, bytes]]] = defaultdict(list)
    for entry in entries:
        if entry["model"] in LEFT_OUT:
            continue
        pixels = decode_exact((rendered / entry["file"]).read_bytes())
        solid = pixels[..., 3] > 127
        if largest_piece(solid).sum() < ONE_PIECE * solid.sum() or is_part_of_a_body(solid, entry["label"]):
            continue
        data = as_webp(pixels)
        least = min(recognition(one, decode_exact(data), entry["label"]) for one in detectors)
        if least >= LEAST_SCORE:
            sure[entry["label"]].append((least, entry, data))
    out.mkdir(parents=True, exist_ok=True)
    kept: list[CutOut] = []
    for label, found in sorted(sure.items()):
        views: dict[str, int] = defaultdict(int)
        number = 0
        for _, entry, data in sorted(found, key=lambda one: -one[0]):
            views[entry["model"]] += 1
            if number < MOST * VIEWS.get(label, 1) and views[entry["model"]] <= VIEWS.get(label, 2):
                kept.append(write(out, entry, data))
                number += 1
        print(f"{label}: {number} of {sum(entry['label'] == label for entry in entries)}")
    save_pool(out, kept)
    (out / "ATTRIBUTION.md").write_text(attribution(kept))
    size = sum(path.stat().st_size for path in out.iterdir())
    print(f"{len(load_pool(out))} cut-outs, {size / 1e6:.1f} MB")


def write(out: Path, entry: dict, data: bytes) -> CutOut:
    pixels = decode_exact(data)
    name = digest(pixels)
    (out / f"{name}.webp").write_bytes(data)
    height, width = pixels.shape[:2]
    return CutOut(
        name,
        entry["label"],
        entry["model"],
        width,
        height,
        int(np.count_nonzero(pixels[..., 3])),
        average_hash(pixels),
        metres=round(entry["metres"], 2),
        licence=entry["licence"],
        creator=entry["creator"],
    )


def attribution(kept: list[CutOut]) -> str:
    """Who made the models, under which licence, as CC-BY asks."""
    lines = [HEADING, "| creator | licence | models |", "|---|---|---|"]
    by_creator: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cutout in kept:
        by_creator[cutout.creator, cutout.licence].add(cutout.scene)
    for (creator, licence), models in sorted(by_creator.items()):
        lines.append(f"| {creator} | {licence} | {', '.join(sorted(models))} |")
    return "\n".join(lines) + "\n"


def as_webp(pixels: RGBA) -> bytes:
    bgra = cv2.cvtColor(pixels, cv2.COLOR_RGBA2BGRA)
    return cv2.imencode(".webp", bgra, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])[1].tobytes()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
