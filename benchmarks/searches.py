"""What random, guided, relocating and adaptive searches find with equally many questions.

.venv/bin/python benchmarks/searches.py --scenes ../shared/data/detection --out runs/searches --jobs 2

Every cell (detector, search, seed) is a campaign of `--queries` questions, checks included, and is kept in
DIR/cells as soon as it is done: a benchmark that was stopped goes on where it was, and several may work on
one DIR. Findings are those that are confirmed and stable. Intervals are 95 %, by bootstrap over scenes.

Objects are placed as in the paper (`--scale paper`): anywhere on the ring, in the mean size of their class,
so that every search has the places that it is defined by. `--scale nearest` is what a run does without being
told: believable places only, of which many photographs have none.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_search, resolve_system
from instar.core.campaign import Campaign
from instar.core.workspace import Folder, prepare_relation
from instar.engines.local import run_local
from instar.scenes import load_scenes
from instar.store import MemoryStore
from instar.tasks.detection import insertion
from instar.tasks.detection.placement import Scale

SYSTEMS = "yolox-nano,efficientdet-lite0,ssd-mobilenet-v3,yolov4-tiny"
SEARCHES = ("random", "guided", "relocation", "adaptive")
PER_OBJECT = 60  # more than any budget lets them do


class Cells(NamedTuple):
    """Where the results are, and what all of them have in common."""

    out: Path
    queries: int
    scale: Scale

    def of(self, system: str, search: str, seed: int) -> Path:
        return self.out / "cells" / f"{system}-{search}-{seed}-{self.queries}-{self.scale}.json"


def run_cells(scenes_from: str, cells: Cells, system_name: str, seed: int) -> None:
    """All searches of one detector with one seed; what they ask alike is asked once and counted each time."""
    cv2.setNumThreads(1)  # fixed, so that answers and costs do not depend on the machine's mood
    missing = [search for search in SEARCHES if not cells.of(system_name, search, seed).is_file()]
    if not missing:
        return
    with open(cells.of(system_name, "all", seed).with_suffix(".lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return  # another benchmark is at it
        # Held in memory: pictures are decoded once.
        scenes = [instar.Scene.of(s.id, s.image, s.objects) for s in load_scenes(scenes_from)]
        system = resolve_system(Use(system_name))
        relation = insertion(pool=cells.out / "pool", scale=cells.scale)
        store = MemoryStore()
        for search in missing:
            result = run_cell(scenes, relation, system, search, seed, cells.queries, store)
            path = cells.of(system_name, search, seed)
            path.with_suffix(".part").write_text(json.dumps(result))
            path.with_suffix(".part").rename(path)
            print(
                f"{system_name} {search} seed {seed}: {result['violated']} violated, "
                f"{len(result['distinct'])} distinct, {result['seconds']:.0f} s",
                flush=True,
            )


def run_cell(
    scenes: Sequence[instar.Scene],
    relation: instar.Relation,
    system: Any,
    search: str,
    seed: int,
    queries: int,
    store: MemoryStore,
) -> dict[str, Any]:
    began = time.process_time()
    campaign = Campaign(
        scenes=scenes,
        relations=[(relation, resolve_search(Use(search, {"per_object": PER_OBJECT})))],
        system=system,
        seed=seed,
        limits=instar.Limits(queries=queries),
    )
    statuses: Counter[str] = Counter()
    violated: Counter[str] = Counter()
    distinct: set[tuple[str, str, str]] = set()
    for record in run_local(campaign, store):
        if record.role == "null":
            statuses["null " + record.verdict.status.value] += 1
            continue
        statuses[
            record.verdict.kind if record.verdict.kind == "unstable" else record.verdict.status.value
        ] += 1
        if record.verdict.status is instar.Status.VIOLATED:
            violated[record.scene] += 1
            distinct |= {(record.scene, finding.kind, finding.subject) for finding in record.verdict.findings}
    assert store.totals is not None
    return {
        "scenes": [scene.id for scene in scenes],
        "statuses": dict(statuses),
        "violated": sum(violated.values()),
        "violated_in": dict(violated),
        "distinct": sorted(distinct),
        "queries": store.totals.queries,
        "seconds": time.process_time() - began,
    }


def table(cells: Cells, systems: Sequence[str], seeds: int) -> str:
    lines = [
        f"{'detector':20} {'search':11} {'seeds':>5} {'queries':>8} {'cases':>6} {'violated':>9} "
        f"{'unstable':>9} {'distinct':>9} {'interval':>14} {'times guided':>13} {'interval':>14}"
    ]
    ratios: dict[str, list[float]] = {search: [] for search in SEARCHES}
    for system in systems:
        per_search = {search: _read(cells, system, search, seeds) for search in SEARCHES}
        for search, by_seed in per_search.items():
            done = list(by_seed.values())
            if not done:
                lines.append(f"{system:20} {search:11} not run yet")
                continue
            own = _by_scene(done)
            low, high = _interval(own, np.full(len(own), len(done) / len(own)))
            line = (
                f"{system:20} {search:11} {len(done):5} {_mean(c['queries'] for c in done):8.0f} "
                f"{_mean(_judged(c) for c in done):6.0f} {_mean(c['violated'] for c in done):9.1f} "
                f"{_mean(c['statuses'].get('unstable', 0) for c in done):9.1f} "
                f"{own.sum() / len(done):9.1f} {f'{low:.1f} to {high:.1f}':>14}"
            )
            both = [seed for seed in by_seed if seed in per_search["guided"]]
            if both:
                own = _by_scene([by_seed[seed] for seed in both])
                theirs = _by_scene([per_search["guided"][seed] for seed in both])
                ratio = own.sum() / max(theirs.sum(), 1)
                ratios[search].append(ratio)
                low, high = _interval(own, theirs)
                line += f" {ratio:13.2f} {f'{low:.2f} to {high:.2f}':>14}"
            lines.append(line)
    means = [f"{search} {np.mean(values):.2f}" for search, values in ratios.items() if values]
    return "\n".join([*lines, f"on average, times guided: {', '.join(means)}"])


def _read(cells: Cells, system: str, search: str, seeds: int) -> dict[int, dict[str, Any]]:
    paths = {seed: cells.of(system, search, seed) for seed in range(seeds)}
    return {seed: json.loads(path.read_text()) for seed, path in paths.items() if path.is_file()}


def _by_scene(cells: Sequence[dict[str, Any]]) -> np.ndarray:
    """Distinct failures of every scene, over all seeds."""
    counts = Counter(scene for c in cells for scene, _, _ in c["distinct"])
    return np.array([counts[scene] for scene in cells[0]["scenes"]], float)


def _interval(values: np.ndarray, per: np.ndarray) -> tuple[float, float]:
    """For sum(values) / sum(per), drawing scenes again."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(values), size=(4000, len(values)))
    ratios = values[drawn].sum(axis=1) / np.maximum(per[drawn].sum(axis=1), 1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(low), float(high)


def _judged(one: dict[str, Any]) -> int:
    return int(one["statuses"].get("held", 0) + one["statuses"].get("violated", 0))


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--systems", default=SYSTEMS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=0, help="for trying things out on other seeds")
    parser.add_argument("--queries", type=int, default=1600)
    parser.add_argument("--scale", choices=["paper", "nearest"], default="paper")
    args = parser.parse_args()
    (args.out / "cells").mkdir(parents=True, exist_ok=True)
    with open(args.out / "pool.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (args.out / "pool" / "index.json").is_file():
            prepare_relation(insertion(), load_scenes(args.scenes), Folder(args.out))
    systems, cells = args.systems.split(","), Cells(args.out, args.queries, args.scale)
    groups = [(system, seed) for seed in range(args.first_seed, args.seeds) for system in systems]
    if args.jobs == 1:
        for system, seed in groups:
            run_cells(args.scenes, cells, system, seed)
    else:
        with ProcessPoolExecutor(args.jobs) as pool:
            for done in [pool.submit(run_cells, args.scenes, cells, system, seed) for system, seed in groups]:
                done.result()
    print(table(cells, systems, args.seeds))


if __name__ == "__main__":
    main()
