"""What the suite's search finds beside an even spread, with equally many questions.

.venv/bin/python benchmarks/searches.py --scenes ../shared/data/voc/objects --out runs/searches

Each cell (detector, search, seed) is a campaign of so many questions, checks included, over the relations of
detection that need nothing but the picture. It is kept in OUT as soon as it is done, so that a benchmark that
was stopped goes on where it was. Counted are different real failures (scene, object), by the annotations.
Intervals are 95 %, by bootstrap over scenes.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np

import instar
from instar.campaigns.adaptive_search import adaptive
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.scenes import load_scenes
from instar.tasks.detection.catalogue import WHOLE_PICTURE
from instar.tasks.detection.relations.whole_picture import RELATIONS

SEARCHES = {"even": lambda: instar.draws(40), "adaptive": adaptive}


def run_cell(scenes: list[instar.Scene], system: str, search: str, seed: int, queries: int) -> dict[str, int]:
    """Different real failures by scene; 0 for a scene without any."""
    found: dict[str, set[str]] = {scene.id: set() for scene in scenes}
    suite = [getattr(RELATIONS, name) for name in WHOLE_PICTURE]
    limits = instar.Limits(queries=queries)
    tested = build_system(Use(system))
    for record in instar.run(
        scenes, suite, tested, search=SEARCHES[search](), seed=seed, limits=limits, workers=2
    ):
        if record.role == "case":
            found[record.scene] |= {f.subject for f in record.verdict.findings if f.known == "real"}
    return {scene: len(subjects) for scene, subjects in found.items()}


def ratio_interval(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Of the totals of two columns over the same scenes."""
    picks = np.random.default_rng(0).integers(0, len(first), (10_000, len(first)))
    low, high = np.quantile(
        first[picks].sum(axis=1) / np.maximum(second[picks].sum(axis=1), 1), [0.025, 0.975]
    )
    return float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default="yolox-nano,yolov4-tiny,efficientdet-lite0,ssd-mobilenet-v2")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("runs/searches"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    scenes = load_scenes(args.scenes, limit=args.limit)
    print("| detector | seeds | even | adaptive | ratio | 95 % interval |\n|---|--:|--:|--:|--:|--:|")
    for system in args.systems.split(","):
        totals: dict[str, Counter[str]] = {search: Counter() for search in SEARCHES}
        for seed in range(args.seeds):
            for search in SEARCHES:
                cell = args.out / f"{system}-{search}-{seed}-{args.queries}-{len(scenes)}.json"
                if not cell.is_file():
                    cell.write_text(json.dumps(run_cell(scenes, system, search, seed, args.queries)))
                totals[search].update(json.loads(cell.read_text()))
        even, ours = (np.array([totals[name][scene.id] for scene in scenes]) for name in SEARCHES)
        low, high = ratio_interval(ours, even)
        means = [f"{column.sum() / args.seeds:.1f}" for column in (even, ours)]
        ratio = ours.sum() / max(1, even.sum())
        print(
            f"| {system} | {args.seeds} | {' | '.join(means)} | {ratio:.2f} | {low:.2f} to {high:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
