"""How well naturalness tells pasted objects that pass at a glance from those that do not.

    python benchmarks/naturalness.py make DATA         # insertions of many kinds -> naturalness.csv, unjudged
    python benchmarks/naturalness.py sheets DATA OUT   # contact sheets to judge, without any number on them
    python benchmarks/naturalness.py measure DATA      # features, coefficients, AUC on the held-out half
    python benchmarks/naturalness.py fresh DATA OUT    # 50 usual insertions into other photographs, to judge

DATA has `voc/objects` (VOC with masks) and `detection/images`. The judgements in `naturalness.csv` (pass,
doubtful or fail) were made by looking at the sheets, blind to kind and measure, before the measure existed.
Photographs are split by their name: what tunes the coefficients and what the AUC is of share none.
"""

from __future__ import annotations

import csv
import json
import sys
import zlib
from contextlib import nullcontext
from dataclasses import fields, replace
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np

from instar.core.change import Inapplicable
from instar.core.scene import Observation, Scene
from instar.cutouts import Pool
from instar.cutouts.pool import bundled_pool, join_pools, load_pool
from instar.imaging.codecs import read_picture
from instar.scenes import load_scenes
from instar.tasks.detection.answers import read
from instar.tasks.detection.changes import Insertion, paste
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.naturalness import Naturalness, measure_naturalness
from instar.tasks.detection.pool import pool_from_scenes
from instar.tasks.detection.relations.insertion import insertion
from instar.tasks.detection.systems.onnx import yolox

TABLE = Path(__file__).with_suffix(".csv")
FRESH_TABLE = TABLE.with_name("pasted.csv")
LEFT_OUT = TABLE.with_name("left_out")  # CC-BY 3.0 and CC0; its index names the creators
CACHE = Path("runs/naturalness-pool")
NUMBER, COLUMNS, ROWS, TILE = 336, 6, 4, 300
FRESH, FRESH_SEED = 50, 2027
RIDGE, DOUBTFUL = 10.0, 0.5  # how much weights cost; what a doubtful case counts, as one that failed
KINDS = ("guided",) * 7 + ("close",) * 3 + ("random",) * 2 + ("paper",) * 2 + ("plain",) * 2
KINDS += ("large", "small", "hovering", "hovering")


def pictures(data: Path, first: int) -> list[Path]:
    """Every second one of VOC, and with the first also those of COCO."""
    voc = sorted((data / "voc/objects/JPEGImages").glob("*.jpg"))[first::2]
    return voc if first else [*voc, *sorted((data / "detection/images").glob("*.jpg"))]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def the_pool(data: Path) -> Pool:
    """Cut-outs by VOC's own masks, and what comes along of all other classes."""
    if not (CACHE / "index.json").is_file():
        CACHE.parent.mkdir(parents=True, exist_ok=True)

        def silent(*_: object) -> nullcontext[SimpleNamespace]:
            return nullcontext(SimpleNamespace(advance=lambda _: None))

        scenes = load_scenes(data / "voc/objects")
        pool_from_scenes(scenes, CACHE, objects="yolox-nano", outline="grabcut", progress=silent)
    return join_pools(load_pool(CACHE), bundled_pool(), canonical_class)


class AllCutOuts:
    """The pixels of every cut-out judged: of the scenes, of those that come along, and of three that did."""

    def __init__(self, data: Path) -> None:
        pools = (the_pool(data), bundled_pool(), load_pool(LEFT_OUT))
        self._pools = {cutout.digest: pool for pool in pools for cutout in pool.cutouts}

    def pixels(self, name: str) -> np.ndarray:
        return self._pools[name].pixels(name)

    def among(self, rows: list[dict[str, str]]) -> list[dict[str, str]]:
        """Those whose cut-out is still made: which ones are has changed since these were judged."""
        left = [row for row in rows if change_of(row).cutout in self._pools]
        if len(left) < len(rows):
            print(f"{len(rows) - len(left)} of {len(rows)} are left out: their cut-outs are no longer made")
        return left


class Sources:
    """Photographs with what yolox-nano answers."""

    def __init__(self, data: Path, first: int = 0) -> None:
        self.paths = {name_of(path): path for path in pictures(data, first)}
        self._system = yolox()

    def __call__(self, name: str) -> Observation:
        image = read_picture(self.paths[name])
        return Observation.of(image, read(image, self._system.predict([image])[0]), Scene.of(name, image))


def make(data: Path) -> None:
    pool, sources = the_pool(data), Sources(data)
    both, rendered = insertion(pool=pool), insertion(pool=bundled_pool())
    papers = insertion(pool=pool, scale="paper")
    rng = np.random.default_rng(16)
    names = [str(name) for name in rng.permutation(sorted(sources.paths))]
    rows: list[list[str]] = []
    for name in cycle(names):
        if len(rows) == NUMBER:
            break
        kind = KINDS[int(rng.integers(len(KINDS)))]
        source = sources(name)
        relation = papers if kind == "paper" else both if rng.random() < 0.6 else rendered
        draw = relation.ways[kind if kind in relation.ways else "guided"]
        change = draw(source, rng)
        if not isinstance(change, Inapplicable):
            changed = vary(change, kind, source, rng)
            if changed is not None:
                rows.append([str(len(rows)), name, kind, json.dumps(recipe(changed)), ""])
    with TABLE.open("w", newline="") as file:
        csv.writer(file).writerows([["case", "picture", "kind", "recipe", "verdict"], *rows])


def vary(change: Insertion, kind: str, source: Observation, rng: np.random.Generator) -> Insertion | None:
    """The same insertion spoilt as its kind says; None where it no longer fits."""
    rows, columns = source.input.shape[:2]
    if kind in ("plain", "random", "paper"):
        change = replace(
            change, gain=1.0, offset=0.0, cast=(1.0, 1.0, 1.0), blur=0.0, grain=0.0, shadow=0.0, blend="hard"
        )
    if kind in ("large", "small"):
        factor = float(rng.uniform(1.5, 2.2) if kind == "large" else rng.uniform(0.35, 0.6))
        width, height = round(change.width * factor), round(change.height * factor)
        x, y = change.x + (change.width - width) // 2, change.y + change.height - height
        change = replace(change, x=x, y=y, width=width, height=height)
    if kind == "hovering":
        change = replace(change, y=change.y - round(change.height * float(rng.uniform(0.3, 1.3))))
    x1, y1, x2, y2 = change.box
    return change if x1 >= 0 and y1 >= 0 and x2 <= columns and y2 <= rows and change.width > 5 else None


def recipe(change: Insertion) -> dict[str, object]:
    return {f.name: getattr(change, f.name) for f in fields(change) if getattr(change, f.name) != f.default}


def read_rows(table: Path = TABLE) -> list[dict[str, str]]:
    with table.open(newline="") as file:
        return list(csv.DictReader(file))


def change_of(row: dict[str, str]) -> Insertion:
    values = json.loads(row["recipe"])
    return Insertion(**{key: tuple(v) if isinstance(v, list) else v for key, v in values.items()})


def sheets(data: Path, out: Path) -> None:
    cutouts = AllCutOuts(data)
    draw_sheets(cutouts.among(read_rows()), cutouts, Sources(data), out)


def draw_sheets(rows: list[dict[str, str]], pool: AllCutOuts, sources: Sources, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    per_sheet = COLUMNS * ROWS
    for start in range(0, len(rows), per_sheet):
        tiles = [tile(row, pool, sources) for row in rows[start : start + per_sheet]]
        tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % COLUMNS)
        lines = [np.hstack(tiles[i : i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]
        cv2.imwrite(str(out / f"sheet-{start // per_sheet:02}.png"), np.vstack(lines)[..., ::-1])


def tile(row: dict[str, str], pool: AllCutOuts, sources: Sources) -> np.ndarray:
    """The follow-up, with marks below and beside it that show where the object is."""
    change = change_of(row)
    picture = paste(read_picture(sources.paths[row["picture"]]), change, pool)
    scale = TILE / max(picture.shape[:2])
    small = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    canvas = np.full((TILE + 14, TILE + 14, 3), 255, np.uint8)
    canvas[: small.shape[0], : small.shape[1]] = small[:TILE, :TILE]
    x, y = (round(scale * value) for value in (change.x + change.width / 2, change.y + change.height / 2))
    red = (220, 0, 0)
    cv2.drawMarker(canvas, (x, small.shape[0] + 6), red, cv2.MARKER_TRIANGLE_UP, 8, 2)
    cv2.drawMarker(canvas, (small.shape[1] + 6, y), red, cv2.MARKER_SQUARE, 6, 2)
    cv2.putText(
        canvas, row["case"], (2, TILE + 11), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 160), 1, cv2.LINE_AA
    )
    return canvas


def fresh(data: Path, out: Path) -> None:
    """The first 50 photographs of the other half of VOC, shuffled, that offer a place."""
    relation, sources = insertion(pool=the_pool(data)), Sources(data, first=1)
    rng = np.random.default_rng(FRESH_SEED)
    rows: list[list[str]] = []
    without = 0
    for name in rng.permutation(sorted(sources.paths)).tolist():
        source = sources(name)
        change = relation.ways["guided"](source, rng)
        if isinstance(change, Inapplicable):
            without += change.reason != "nothing found in the source"
        else:
            rows.append([str(len(rows)), name, "guided", json.dumps(recipe(change)), ""])
        if len(rows) == FRESH:
            break
    print(f"{FRESH} of {FRESH + without} photographs with something found offer a place")
    with FRESH_TABLE.open("w", newline="") as file:
        csv.writer(file).writerows([["case", "picture", "kind", "recipe", "verdict"], *rows])
    draw_sheets(read_rows(FRESH_TABLE), AllCutOuts(data), sources, out)


def measure(data: Path) -> None:
    """Fit on the photographs of one half, and say how well the fit does on the other."""
    cutouts, sources = AllCutOuts(data), Sources(data)
    names = [field.name for field in fields(Naturalness)]
    rows = cutouts.among(read_rows())
    values, held_out = [], []
    for row in rows:
        source, change = sources(row["picture"]), change_of(row)
        seen = measure_naturalness(source, paste(source.input, change, cutouts), change)
        values.append([getattr(seen, name) for name in names])
        held_out.append(zlib.crc32(row["picture"].encode()) % 2 == 1)
    features, test = np.array(values), np.array(held_out)
    verdicts = np.array([row["verdict"] for row in rows])
    good = verdicts == "pass"
    clear = verdicts != "doubtful"
    constant, weights = fit(features[~test], good[~test], np.where(clear, 1.0, DOUBTFUL)[~test])
    print(json.dumps({"": round(constant, 3)} | dict(zip(names, np.round(weights, 3).tolist())), indent=1))
    scores = constant + features @ weights
    pictures = np.array([row["picture"] for row in rows])
    for what, among in (("pass against fail", clear), ("pass against the rest", np.ones_like(clear))):
        for part, chosen in (("tuned on", ~test & among), ("held out", test & among)):
            low, high = interval(scores[chosen], good[chosen], pictures[chosen])
            value = auc(scores[chosen], good[chosen])
            print(f"{what}, {part}: AUC {value:.3f} [{low:.3f}, {high:.3f}], n {chosen.sum()}")


def fit(features: np.ndarray, good: np.ndarray, counts: np.ndarray) -> tuple[float, np.ndarray]:
    """Ridge logistic regression by Newton's method, on standardised measures: (constant, weights)."""
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    x = np.column_stack([np.ones(len(features)), (features - mean) / spread])
    penalty = np.diag([0.0, *[RIDGE] * features.shape[1]])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        gradient = x.T @ (counts * (good - p)) - penalty @ beta
        beta += np.linalg.solve((x * (counts * p * (1 - p))[:, None]).T @ x + penalty, gradient)
    weights = beta[1:] / spread
    return float(beta[0] - weights @ mean), weights


def auc(scores: np.ndarray, good: np.ndarray) -> float:
    """The share of (passing, other) pairs in the right order."""
    better = scores[good][:, None] - scores[~good][None]
    return float(((better > 0) + 0.5 * (better == 0)).mean())


def interval(scores: np.ndarray, good: np.ndarray, pictures: np.ndarray) -> tuple[float, float]:
    """95 %, by drawing photographs again."""
    rng, groups = np.random.default_rng(0), [np.flatnonzero(pictures == one) for one in np.unique(pictures)]
    values = []
    for _ in range(1000):
        drawn = np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])
        if 0 < good[drawn].sum() < len(drawn):
            values.append(auc(scores[drawn], good[drawn]))
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    command, data, *rest = sys.argv[1:]
    if command == "make":
        make(Path(data))
    elif command == "sheets":
        sheets(Path(data), Path(rest[0]))
    elif command == "fresh":
        fresh(Path(data), Path(rest[0]))
    elif command == "measure":
        measure(Path(data))
