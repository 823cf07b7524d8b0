"""What headline rates are worth to somebody without labels: do they rank detectors as their accuracy does?

.venv/bin/python benchmarks/label_free.py --scenes ../shared/data/voc/objects --out runs/label_free

For each detector: the headline rate of changes drawn evenly over the suite, verified by referees and never by
the annotations; beside it AP50 by the annotations, and the Cumulative Consensus Score (arXiv 2509.12871): the
overlap of boxes between views of a picture that differ by augmentation. Spearman's rank correlation with
AP50, with the 95 % interval by bootstrap over scenes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import instar
from instar.campaigns.plan import Plan, Use
from instar.campaigns.referees import find_referees
from instar.campaigns.resolve import build_system
from instar.core.campaign import Campaign
from instar.core.change import Value
from instar.core.follow_up import FollowUp, follow_ups_of, observe
from instar.core.scene import Observation
from instar.core.system import Reply
from instar.engines.local import run_local
from instar.imaging.geometry import iou
from instar.scenes import load_scenes
from instar.store import MemoryStore
from instar.tasks.detection.accuracy import measure_accuracy
from instar.tasks.detection.catalogue import WHOLE_PICTURE
from instar.tasks.detection.relations.whole_picture import RELATIONS
from instar.tasks.detection.task import TASK

SYSTEMS = (
    "yolox-nano,yolov4-tiny,ssd-mobilenet-v2,ssd-mobilenet-v3,efficientdet-lite0,efficientdet-lite1,"
    "efficientdet-lite2"
)
VIEWS = {"mirrored": None, "brightened": 0.5, "darkened": 0.5, "defocused": 0.8, "noisy": 6.0}


def run_suite(scenes: list[instar.Scene], system: Any, queries: int) -> dict[str, dict[str, int]]:
    """Judged and failing cases by scene."""
    plain = [replace(scene, objects=None, knowledge={}) for scene in scenes]
    plan = Plan(systems=(Use(system.name),), relations=(), scenes="")
    suite = [(getattr(RELATIONS, name), instar.draws(3)) for name in WHOLE_PICTURE]
    campaign = Campaign(
        scenes=plain, relations=suite, system=system, limits=instar.Limits(queries=queries),
        referees=find_referees(plan, ["detection"], system),
    )  # fmt: skip
    judged: dict[str, int] = {scene.id: 0 for scene in scenes}
    failing = dict(judged)
    for record in run_local(campaign, MemoryStore(), workers=2):
        verdict = record.verdict
        is_judged = (
            verdict.status in (instar.Status.HELD, instar.Status.VIOLATED) or verdict.kind == "unstable"
        )
        if record.role == "case" and is_judged:
            judged[record.scene] += 1
            failing[record.scene] += bool(verdict.failures)
    return {"judged": judged, "failing": failing}


def consensus(system: Any, scene: instar.Scene, seen: Observation) -> float:
    """The mean over pairs of views of how well each box of one overlaps one of the other."""
    views = [seen.answer.confident().boxes]
    for name, level in VIEWS.items():
        made = follow_ups_of(getattr(RELATIONS, name), scene.image, Value(level))
        told = observe(TASK, seen, made, [Reply(system.predict([made[0].input])[0])])
        views.append(told.follow_ups[0].answer.confident().boxes)
    scores = []
    for a, b in combinations(views, 2):
        most = max(len(a), len(b))
        scores.append(float(iou(a, b).max(axis=1).sum()) / most if len(a) and len(b) else float(not most))
    return float(np.mean(scores))


def measure(scenes: list[instar.Scene], name: str, queries: int) -> dict[str, Any]:
    system = build_system(Use(name))
    seen = []
    for scene in scenes:
        read = observe(TASK, Observation.of(scene.image, None, scene), [FollowUp(scene.image)],
                       [Reply(system.predict([scene.image])[0])])  # fmt: skip
        seen.append(replace(read.follow_ups[0], scene=scene))
    scores = {scene.id: consensus(system, scene, one) for scene, one in zip(scenes, seen)}
    return {"AP50": measure_accuracy(seen)["AP50"], "consensus": scores} | run_suite(scenes, system, queries)


def correlation(accuracy: list[float], judged: np.ndarray, failing: np.ndarray, sign: int) -> str:
    """Spearman's, with its interval over scenes; columns are scenes."""
    picks = np.random.default_rng(0).integers(0, judged.shape[1], (2_000, judged.shape[1]))
    rates = [failing[:, p].sum(axis=1) / np.maximum(judged[:, p].sum(axis=1), 1) for p in picks]
    found = [sign * spearmanr(accuracy, rate)[0] for rate in rates]
    whole = sign * spearmanr(accuracy, failing.sum(axis=1) / judged.sum(axis=1))[0]
    low, high = np.nanquantile(found, [0.025, 0.975])
    return f"{whole:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--queries", type=int, default=3_000)
    parser.add_argument("--out", type=Path, default=Path("runs/label_free"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    scenes, names = load_scenes(args.scenes, limit=args.limit), args.systems.split(",")
    results = {}
    for name in names:
        kept = args.out / f"{name}-{args.queries}-{len(scenes)}.json"
        if not kept.is_file():
            kept.write_text(json.dumps(measure(scenes, name, args.queries)))
        results[name] = json.loads(kept.read_text())
    print("| detector | AP50 | headline rate | judged | consensus |\n|---|--:|--:|--:|--:|")
    for name, one in results.items():
        judged, failing = sum(one["judged"].values()), sum(one["failing"].values())
        agreed = np.mean(list(one["consensus"].values()))
        print(f"| {name} | {one['AP50']:.3f} | {failing / judged:.2%} | {judged:,} | {agreed:.3f} |")
    ids = [scene.id for scene in scenes]
    table = {
        what: np.array([[one[what][i] for i in ids] for one in results.values()], float)
        for what in ("judged", "failing", "consensus")
    }
    accuracy = [one["AP50"] for one in results.values()]
    print("\nrank correlation with AP50, 1 where the order is the same")
    print(f"headline rate: {correlation(accuracy, table['judged'], table['failing'], -1)}")
    ones = np.ones_like(table["consensus"])
    print(f"consensus score: {correlation(accuracy, ones, table['consensus'], 1)}")


if __name__ == "__main__":
    main()
