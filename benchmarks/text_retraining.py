"""Precision, recall and stability of a text locator while it is retrained (the paper's Fig. 14).

python benchmarks/text_retraining.py ../shared/data/text --device cuda --out runs/text-retraining

PP-OCRv4's locator is fine-tuned on half of the pictures and tested on the other half, and the other way
round. It learns from the pictures and from their brightness-up follow-ups (10, 20, ... 100 grey levels), and,
to tell what the light is worth, for as many steps from the pictures alone. Needs the extra 'torch'. Each
training has a table of its own, which is written as it goes; one that is there is not made again. At the end,
or at once with `--tell`, the means of both halves are told, and drawn where matplotlib is installed.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import defaultdict
from pathlib import Path

import cv2
import numpy as np
import torch

from instar.adapters.onnx_module import OnnxModule
from instar.core.scene import Observation, Scene
from instar.imaging.photometric import relit
from instar.report.text import table
from instar.scenes import load_scenes
from instar.tasks.text.accuracy import Hits, count_hits, count_words
from instar.tasks.text.answers import Quads
from instar.tasks.text.systems.locator import resize_picture
from instar.tasks.text.systems.ppocr import boxes_of
from instar.tasks.text.task import TASK
from instar.tasks.text.truth import truth_of
from instar.training.text.targets import TextExample
from instar.training.text.train import LocatorTuning, fine_tune_locator, network_input
from instar.zoo import fetch

LEVELS = range(10, 101, 10)
AT_ONCE = 2  # pictures to a batch
POINTS = (1, 2, 3, 5, 7, 10, 15, 20, 25, 30)  # epochs after which a network is measured, and before the first
SCORES = ("precision", "recall", "f", "word_precision", "word_recall", "word_f")
COLUMNS = ("epoch", *SCORES, "stability", "word_stability", "recall_brighter", "pictures")
LIGHT = ("grey_levels", "stability", "word_stability", "pictures")


def locate(network: OnnxModule, pictures: list[np.ndarray], device: str) -> list[Quads]:
    found = []
    for start in range(0, len(pictures), AT_ONCE):
        some = pictures[start : start + AT_ONCE]
        resized = [resize_picture(one, 736, "min") for one in some]
        with torch.inference_mode():
            batch = torch.from_numpy(np.stack([network_input(one) for one, _ in resized])).to(device)
            maps = network(batch)[:, 0].float().cpu().numpy()
        for probabilities, (_, scale), picture in zip(maps, resized, some):
            quads, scores = boxes_of(probabilities, scale, picture.shape[:2], least_score=0.5)
            found.append(Quads(quads, None, scores))
    return found


def measure(network: OnnxModule, scenes: list[Scene], device: str) -> list[float]:
    """The columns after the epoch; stability is the mean over pictures (Eqs. 14 and 15)."""
    matched, words, brighter = Hits(0, 0, 0, 0), Hits(0, 0, 0, 0), Hits(0, 0, 0, 0)
    stable: dict[str, list[float]] = defaultdict(list)
    for scene in scenes:
        image = scene.image
        pictures = [image, *(relit(image, 1.0, float(level)) for level in LEVELS)]
        answers = locate(network, pictures, device)
        truth = truth_of(scene.knowledge["words"])
        matched += count_hits(answers[0].quads, truth)
        words += count_words(answers[0].quads, truth)
        before = Observation.of(image, answers[0], scene)
        each: dict[str, list[float]] = defaultdict(list)
        for picture, answer in zip(pictures[1:], answers[1:]):
            brighter += count_hits(answer.quads, truth)
            evidence = TASK.compare(before, Observation.of(picture, answer, scene)).evidence
            for name in ("stability", "word_stability"):
                if name in evidence:
                    each[name].append(evidence[name])
        for name, values in each.items():
            stable[name].append(float(np.mean(values)))
    means = [float(np.mean(stable[name])) for name in ("stability", "word_stability")]
    scores = [one for hits in (matched, words) for one in (hits.precision, hits.recall, hits.f_score)]
    return [*scores, *means, brighter.recall, len(scenes)]


def sweep(network: OnnxModule, scenes: list[Scene], device: str, step: int) -> list[list[float]]:
    """Stability by grey levels added, of all boxes and of words, each the mean over pictures (Fig. 13)."""
    levels = [level for level in range(-200, 201, step) if level]
    stable: dict[tuple[int, str], list[float]] = defaultdict(list)
    for scene in scenes:
        image = scene.image
        pictures = [image, *(relit(image, 1.0, float(level)) for level in levels)]
        first, *others = locate(network, pictures, device)
        before = Observation.of(image, first, scene)
        for level, picture, answer in zip(levels, pictures[1:], others):
            evidence = TASK.compare(before, Observation.of(picture, answer, scene)).evidence
            for name in ("stability", "word_stability"):
                if name in evidence:
                    stable[level, name].append(evidence[name])
    return [
        [
            level,
            *(float(np.mean(stable[level, name] or [np.nan])) for name in ("stability", "word_stability")),
            len(stable[level, "word_stability"]),
        ]
        for level in levels
    ]


def examples_of(scenes: list[Scene], *, brighter: bool) -> list[TextExample]:
    """As many of either: the follow-ups beside their source, or the source once for each of them."""
    made = []
    for scene in scenes:
        image, words = scene.image, scene.knowledge["words"]
        others = [relit(image, 1.0, float(level)) if brighter else image for level in LEVELS]
        made += [TextExample(one, words) for one in (image, *others)]
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenes", help="pictures whose words are known")
    parser.add_argument("--graph", type=Path, help="the network as ONNX (ppocr-v4-det)")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--limit", type=int, help="pictures to use, at most")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--fold", type=int, choices=(0, 1), help="test on this half alone")
    parser.add_argument("--learn", choices=("brighter", "sources"), help="this training alone")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--sweep", type=int, metavar="STEP", help="also light from -200 to 200, before and after"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="end a training after so long")
    parser.add_argument("--tell", action="store_true", help="tell what is in --out, and train nothing")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if args.tell:
        return tell(args.out)
    cv2.setNumThreads(1)
    torch.backends.cudnn.allow_tf32 = False  # it rounds to ten bits
    args.out.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + args.seconds
    scenes = load_scenes(args.scenes, limit=args.limit)
    for fold in (0, 1) if args.fold is None else (args.fold,):
        for learn in ("brighter", "sources") if args.learn is None else (args.learn,):
            path = args.out / f"{learn}-{fold}-{args.seed}.csv"
            if path.exists():
                continue
            train(scenes[fold::2], scenes[1 - fold :: 2], learn, args, path, until)
    tell(args.out)


def train(
    test: list[Scene], other: list[Scene], learn: str, args: argparse.Namespace, path: Path, until: float
) -> None:
    network = OnnxModule(args.graph or fetch("ppocr-v4-det")[0]).to(args.device).eval()
    rows = [[0, *measure(network, test, args.device)]]
    if args.sweep:
        write(path.with_suffix(".before"), sweep(network, test, args.device, args.sweep), LIGHT)

    def told(epoch: int) -> None:
        if epoch in POINTS or epoch == args.epochs:
            rows.append([epoch, *measure(network, test, args.device)])
            write(path.with_suffix(".part"), rows)
            print(path.stem, json.dumps(dict(zip(COLUMNS, rows[-1]))), flush=True)
        if time.monotonic() > until:
            raise TimeoutError

    print(path.stem, json.dumps(dict(zip(COLUMNS, rows[0]))), flush=True)
    settings = LocatorTuning(epochs=args.epochs, rate=args.rate, seed=args.seed)
    try:
        fine_tune_locator(
            network, examples_of(other, brighter=learn == "brighter"), settings, device=args.device, told=told
        )
    except TimeoutError:
        print(f"{path.stem} ended early", flush=True)
        return
    network.save(path.with_suffix(".onnx"))
    write(path, rows)
    if args.sweep:
        write(path.with_suffix(".after"), sweep(network, test, args.device, args.sweep), LIGHT)


def write(path: Path, rows: list[list[float]], columns: tuple[str, ...] = COLUMNS) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def tell(folder: Path) -> None:
    """The means of what both halves were measured at."""
    curves = {}
    for learn in ("brighter", "sources"):
        halves = [path for path in sorted(folder.glob(f"{learn}-*")) if path.suffix in (".csv", ".part")]
        halves = [path for path in halves if path.suffix == ".csv" or not path.with_suffix(".csv").exists()]
        curves[learn] = mean_of(halves)
        rows = [[f"{learn}, epoch", *COLUMNS[1:-1]]]
        rows += [[f"{row[0]:.0f}", *(f"{value:.3f}" for value in row[1:-1])] for row in curves[learn]]
        print(f"{table(rows, right=range(1, len(rows[0])))}\n")
    for when in ("before", "after"):
        if light := mean_of(sorted(folder.glob(f"brighter-*.{when}"))):
            rows = [[f"grey levels, {when}", "of boxes", "of words"]]
            rows += [[f"{row[0]:+.0f}", f"{row[1]:.3f}", f"{row[2]:.3f}"] for row in light if not row[0] % 25]
            print(f"{table(rows, right=(1, 2))}\n")
            curves[when] = light
    draw(curves, folder)


def mean_of(paths: list[Path]) -> list[list[float]]:
    """Rows whose first column is in all of the tables, each of the others the mean over them."""
    tables = [np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in paths]
    shared = set.intersection(*({row[0] for row in one} for one in tables)) if tables else set()
    each = [[next(row for row in one if row[0] == first) for one in tables] for first in sorted(shared)]
    return [np.mean(rows, axis=0).tolist() for rows in each]


def draw(curves: dict[str, list[list[float]]], folder: Path) -> None:
    try:
        import matplotlib  # noqa: F401

        from instar.studies.output import make_axes, save_figures
    except ImportError:
        return
    figure, panels = make_axes(2)
    for panel, (learn, title) in zip(
        panels, (("brighter", "with brighter follow-ups"), ("sources", "pictures alone"))
    ):
        columns = np.array(curves[learn]).T
        for name in ("word_precision", "word_recall", "word_stability", "stability"):
            panel.plot(
                columns[0],
                columns[COLUMNS.index(name)],
                marker="o",
                markersize=3,
                label=name.replace("_", " "),
            )
        panel.set(title=title, xlabel="epochs", ylim=(0.5, 1))
    panels[0].legend(fontsize=7, loc="lower left")
    made = {"retraining": figure}
    if "before" in curves:
        made["light"], (panel,) = make_axes(1)
        for when in ("before", "after"):
            for column, name in ((1, "boxes"), (2, "words")) if when in curves else ():
                columns = np.array(curves[when]).T
                panel.plot(
                    columns[0], columns[column], label=name if when == "before" else f"{name}, retrained"
                )
        panel.set(xlabel="grey levels added", ylabel="stability", ylim=(0, 1.02))
        panel.legend(fontsize=7)
    save_figures(made, folder)


if __name__ == "__main__":
    main()
