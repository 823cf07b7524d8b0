"""Engines on street photographs that no network was trained on: pictures to judge, and what can be measured.

    python benchmarks/street_engines.py make FOLDER... --palette camvid-12 --engines camvid --out DIR
    python benchmarks/street_engines.py measure DIR --real FOLDER... --out numbers.json
    python benchmarks/street_engines.py react DIR/LABEL FOLDER... --palette camvid-12 --systems vgg16-ch2
    python benchmarks/street_engines.py sheets DIR --out SHEETS
    python benchmarks/street_engines.py count judgements.csv

`make` takes the frames that `instar train engine` holds out, and writes one picture for each rule and frame.
`sheets` mixes the pictures of all engines, rule by rule, so that a judge does not know which is whose; the
key is written beside. The pictures are the data's and stay out of the repository. Where an engine paints
whole pictures, the source that it painted is one more rule, `source`, and `react` tells how much drivers do
otherwise for the paint alone, and for the change.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import mkdtemp

import cv2
import numpy as np

from instar import Observation
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.scenes import load_scenes
from instar.tasks.driving import Control, rule
from instar.tasks.driving.answers import read
from instar.tasks.driving.maps import labels_of

SAME = "Then: the steering angle should keep the same."
SLOWER = "Then: the ego-vehicle should slow down."
RULES = {
    "lines": f"If: lane lines are removed from the road, {SAME}",
    "vehicles": f"If: the vehicles are removed, {SAME}",
    "trees": f"If: the buildings are replaced with trees, {SAME}",
    "trucks": f"If: the cars are replaced with trucks, {SAME}",
    "night": f"If: the driving time changes into night, {SLOWER}",
    "dusk": f"If: the driving time changes into dusk, {SLOWER}",
    "rain": f"If: the weather changes to a rainy day, {SAME}",
    "snow": f"If: it snows, {SLOWER}",
    "fog": f"If: it is foggy, {SLOWER}",
    "pedestrian": f"If: a pedestrian appears on the roadside, {SLOWER}",
}
SOURCE = "source"  # painted from its own map
PICTURES = 20
LEAST = 0.006  # of the picture: what is removed can be seen
DARK = 75.0  # grey levels: darker frames show no day
COLUMNS, ROWS, TILE = 5, 4, (384, 288)


def held_out(folders: list[str], palette: str | None) -> list:
    """The frames that were held out in training, by day."""
    from instar.training.engines.streets import split_videos

    scenes = [scene for folder in folders for scene in load_scenes(folder, palette=palette)]
    _, held = split_videos([Path(scene.id).stem for scene in scenes], 0.15)
    return [scenes[row] for row in held if scenes[row].image.mean() > DARK]


def make(args: argparse.Namespace) -> None:
    scenes = held_out(args.folders, args.palette)
    out = Path(args.out)
    numbers = []
    workspace = Folder(Path(mkdtemp()))
    for name in args.rules.split(","):
        relation = rule(RULES[name], engines=args.engines, least_objects=LEAST, least_lines=0.004)
        relation = relation.prepare(scenes, workspace)
        folder = out / args.label / name
        folder.mkdir(parents=True, exist_ok=True)
        done = 0
        for number, scene in enumerate(_spread(scenes)):
            if done == PICTURES:
                break
            source = Observation.of(scene.image, Control(40.0, 0.0), scene)
            start = time.process_time()
            change = relation.draw(source, np.random.default_rng(number))
            if isinstance(change, Inapplicable):
                continue
            made = relation.apply(source.input, change)
            if isinstance(made, Inapplicable):
                continue
            seconds = time.process_time() - start
            cv2.imwrite(str(folder / f"{Path(scene.id).stem}.png"), made[-1][..., ::-1])
            (edit,) = change.edits[-1][:1]
            told = {"scene": Path(scene.id).stem, "seconds": seconds}
            before = source.input
            if change.paints_source:
                before = made[0]
                own = out / args.label / SOURCE / f"{Path(scene.id).stem}.png"
                if not own.exists():
                    own.parent.mkdir(exist_ok=True)
                    cv2.imwrite(str(own), before[..., ::-1])
                    numbers.append({"rule": SOURCE} | told | _measured(source.input, before, {}, scene))
            numbers.append({"rule": name} | told | _measured(before, made[-1], edit, scene))
            done += 1
        print(name, done, flush=True)
        (out / args.label / "numbers.json").write_text(json.dumps(numbers), encoding="utf-8")


def _spread(scenes: list) -> list:
    """The scenes in an order whose beginning is spread over all of them."""
    return sorted(scenes, key=lambda scene: hash_of(Path(scene.id).stem))


def hash_of(name: str) -> int:
    import zlib

    return zlib.crc32(name.encode())


def _measured(before: np.ndarray, after: np.ndarray, edit: dict, scene: object) -> dict[str, float]:
    """What changed outside of what was meant to, and what a segmenter sees in the picture."""
    from instar.imaging.mask_text import ids_from_text
    from instar.imaging.street_classes import STREET, street_ids
    from instar.imaging.street_segmentation import segment

    labels = labels_of(scene)
    changed = (before != after).any(axis=2)
    found: dict[str, float] = {"changed": float(changed.mean())}
    seen = segment(after).ids
    if "map" in edit:
        wanted = ids_from_text(edit["map"])
        inside = wanted != 255
        found["outside"] = int((changed & ~inside).sum())
        known = inside & (wanted < len(STREET))
        found["agreement"] = float((_merged(seen) == _merged(wanted))[known].mean())
        found["off_outside"] = float(np.abs(before.astype(float) - after)[~inside].mean())
    else:
        true, plain = street_ids(labels), segment(before).ids
        found["iou"], found["iou_before"] = _mean_iou(seen, true), _mean_iou(plain, true)
    return found


def _merged(ids: np.ndarray) -> np.ndarray:
    """Lines are part of the road."""
    return np.where(ids == 4, 3, ids)


def _mean_iou(seen: np.ndarray, true: np.ndarray) -> float:
    seen, true = _merged(seen), _merged(true)
    classes = [c for c in range(12) if (true == c).mean() > 0.005]
    known = true < 12
    return float(
        np.mean(
            [((seen == c) & (true == c)).sum() / ((seen == c) & known | (true == c)).sum() for c in classes]
        )
    )


def measure(args: argparse.Namespace) -> None:
    """Medians of the numbers, and the kernel distance to real pictures."""
    real = _features([str(path) for folder in args.real for path in sorted(Path(folder).glob("*.jpg"))])
    table = {}
    for file in sorted(Path(args.folder).glob("*/numbers.json")):
        groups = defaultdict(list)
        for row in json.loads(file.read_text()):
            groups[row["rule"]].append(row)
        for name, rows in groups.items():
            found = {
                key: _middle([row[key] for row in rows if key in row])
                for key in rows[0]
                if key not in ("rule", "scene")
            }
            found["kernel_distance"] = _kernel_distance(
                _features([str(path) for path in sorted((file.parent / name).glob("*.png"))]), real
            )
            if "iou" in found:
                found["iou_kept"] = found["iou"] / found["iou_before"]
            table[f"{file.parent.name} {name}"] = {"pictures": len(rows)} | {
                k: round(v, 4) for k, v in found.items()
            }
    Path(args.out).write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    for name, found in table.items():
        print(name, found)


def _middle(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _features(paths: list[str]) -> np.ndarray:
    """What MobileNetV2 of the zoo says of each picture, before it decides."""
    import onnxruntime

    from instar import zoo

    (file,) = zoo.fetch("mobilenet-v2")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    network = onnxruntime.InferenceSession(str(file), options)
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    found = []
    for path in paths:
        picture = cv2.resize(cv2.imread(path)[..., ::-1], (224, 224), interpolation=cv2.INTER_AREA) / 255
        shown = ((picture - mean) / deviation).transpose(2, 0, 1)[None].astype(np.float32)
        found.append(network.run(None, {network.get_inputs()[0].name: shown})[0][0])
    return np.array(found, np.float64)


def _kernel_distance(one: np.ndarray, other: np.ndarray) -> float:
    """The unbiased squared distance of two sets under the cubic kernel (KID)."""

    def kernel(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a @ b.T / a.shape[1] + 1) ** 3

    own, theirs, cross = kernel(one, one), kernel(other, other), kernel(one, other)
    n, m = len(one), len(other)
    inner = (own.sum() - np.trace(own)) / (n * (n - 1)) + (theirs.sum() - np.trace(theirs)) / (m * (m - 1))
    return float(inner - 2 * cross.mean())


def react(args: argparse.Namespace) -> None:
    """Means of how far a driver's answers are apart: to photograph, painted source and painted change."""
    photographs = {Path(scene.id).stem: scene.image for scene in held_out(args.folders, args.palette)}
    for name in args.systems.split(","):
        system = build_system(Use(name))
        for told in args.rules.split(","):
            paths = sorted((Path(args.folder) / told).glob("*.png"))
            answers = [
                [
                    read(image, system.predict([image])[0])
                    for image in (
                        photographs[path.stem],
                        *(
                            cv2.imread(str(own))[..., ::-1]
                            for own in (path.parents[1] / SOURCE / path.name, path)
                        ),
                    )
                ]
                for path in paths
            ]
            for quantity in ("steering", "speed"):
                values = [[getattr(answer, quantity) for answer in three] for three in answers]
                if None in values[0]:
                    continue
                photograph, painted, changed = np.array(values, np.float64).T
                paint, change = np.abs(photograph - painted).mean(), np.abs(painted - changed).mean()
                both = np.abs(photograph - changed).mean()
                print(
                    f"{name:14}{told:10}{quantity:9} paint {paint:.2f}, change {change:.2f}, both {both:.2f}"
                )


def sheets(args: argparse.Namespace) -> None:
    """Pictures of one rule and all engines in random order, with numbers, and the key."""
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    with open(out / "key.csv", "w", newline="", encoding="utf-8") as file:
        key = csv.writer(file)
        key.writerow(["rule", "number", "engine", "scene"])
        for name in (*RULES, SOURCE):
            found = sorted(Path(args.folder).glob(f"*/{name}/*.png"))
            order = [found[i] for i in rng.permutation(len(found))]
            tiles = []
            for number, path in enumerate(order):
                key.writerow([name, number, path.parent.parent.name, path.stem])
                tile = cv2.resize(cv2.imread(str(path)), TILE, interpolation=cv2.INTER_AREA)
                cv2.rectangle(tile, (0, 0), (46, 20), (0, 0, 0), -1)
                cv2.putText(
                    tile,
                    str(number),
                    (3, 16),
                    cv2.FONT_HERSHEY_SIMPLEX,
                    0.55,
                    (255, 255, 255),
                    1,
                    cv2.LINE_AA,
                )
                tiles.append(tile)
            for first in range(0, len(tiles), COLUMNS * ROWS):
                page = tiles[first : first + COLUMNS * ROWS]
                page += [np.zeros_like(page[0])] * (-len(page) % COLUMNS)
                rows = [np.hstack(page[at : at + COLUMNS]) for at in range(0, len(page), COLUMNS)]
                cv2.imwrite(str(out / f"{name}-{first // (COLUMNS * ROWS)}.png"), np.vstack(rows))


def count(args: argparse.Namespace) -> None:
    """Natural, doubtful and fake, by rule and engine."""
    table: dict[tuple[str, str], Counter] = defaultdict(Counter)
    with open(args.file, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            table[row["rule"], row["engine"]][row["judgement"]] += 1
    for (name, engine), counted in sorted(table.items()):
        print(
            f"{name:12}{engine:16}"
            + " / ".join(str(counted[kind]) for kind in ("natural", "doubtful", "fake"))
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = parser.add_subparsers(required=True)
    one = parts.add_parser("make")
    one.add_argument("folders", nargs="+")
    one.add_argument("--palette")
    one.add_argument("--engines", default="pasted")
    one.add_argument("--label", required=True)
    one.add_argument("--rules", default=",".join(RULES))
    one.set_defaults(do=make)
    two = parts.add_parser("measure")
    two.add_argument("folder")
    two.add_argument("--real", nargs="+", required=True)
    two.set_defaults(do=measure)
    five = parts.add_parser("react")
    five.add_argument("folder")
    five.add_argument("folders", nargs="+")
    five.add_argument("--palette")
    five.add_argument("--systems", required=True)
    five.add_argument("--rules", default="lines,vehicles,trees")
    five.set_defaults(do=react)
    three = parts.add_parser("sheets")
    three.add_argument("folder")
    three.add_argument("--seed", type=int, default=0)
    three.set_defaults(do=sheets)
    for part in (one, two, three):
        part.add_argument("--out", required=True)
    four = parts.add_parser("count")
    four.add_argument("file")
    four.set_defaults(do=count)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
