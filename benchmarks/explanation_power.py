"""The power table of explanations: faults planted over an interpreter, and which relations find them.

    python benchmarks/explanation_power.py --scenes photos/ --limit 6 [--interpreter NAME] [--paper]

A cell has the violated and the judged cases. The honest interpreter is in the first row: it must not be
accused. Found is a fault by a relation that accuses it more often than the honest one. With --paper
relations and measure are those of the paper: what was found before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from explanation_power import PowerBench, count
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.core.errors import UnreadablePicture
from instar.scenes import load_scenes
from instar.tasks.interpretation import Classes
from instar.tasks.interpretation.catalogue import SUITE
from instar.tasks.interpretation.compare import BETA
from planted_explanations import FAULTS, MORE_FAULTS

PAPER = ("insert", "delete", "squeeze", "truth")


def main() -> None:
    parser = argparse.ArgumentParser(description="the power table of explanations")
    add = parser.add_argument
    add("--system", default="photo-classifier")
    add("--classes", help="names of its classes")
    add("--interpreter", default="grad-cam")
    add("--device", default="cpu")
    add("--scenes", required=True)
    add("--sure", action="store_true", help="only those in which it is sure of two classes that are there")
    add("--names", action="store_true", help="name the scenes and stop")
    add("--limit", type=int, default=6)
    add("--pool", help="a folder of cut-outs (those of the scenes themselves)")
    add("--draws", type=int, default=1, help="of each relation on each question")
    add("--paper", action="store_true", help="by the paper's relations and IoMin alone")
    add("--faults", default="", help="only those whose name has this text; none: plant nothing")
    add("--more", action="store_true", help="the faults that the relations were not made with")
    add("--seed", type=int, default=0)
    add("--relation", help="only these, with commas")
    args = parser.parse_args()
    options = {"interpreter": args.interpreter, "device": args.device}
    options |= {"classes": args.classes} if args.classes else {}
    system = build_system(Use(args.system, options), tasks=["interpretation"])
    fit = (scene for scene in load_scenes(args.scenes) if is_fit(scene))
    scenes = list(islice((one for one in fit if not args.sure or is_sure(system, one)), args.limit))
    if args.names:
        print(*(scene.id for scene in scenes), sep="\n")
        return
    names = args.relation.split(",") if args.relation else PAPER if args.paper else SUITE
    with tempfile.TemporaryDirectory() as folder:
        bench = PowerBench(system, scenes, Path(folder), draws=args.draws, seed=args.seed)
        print(f"{system.name}, {len(scenes)} scenes, {len(bench.sources)} questions\n")
        print(f"| fault | found by | {' | '.join(names)} |\n|{'---|' * (len(names) + 2)}", flush=True)
        honest: dict[str, int] = {}
        planted = MORE_FAULTS if args.more else FAULTS
        for fault in [None, *(one for one in planted if args.faults in one)]:
            cells, by = [], 0
            for name in names:
                own = {"paper": True} if args.paper and name != "truth" else {}
                own |= {"pool": args.pool} if name == "insert" and args.pool else {}
                violated, judged = count(bench.judge(name, fault, **own))
                cells.append(f"{violated} of {judged}")
                by += violated > honest.setdefault(name, violated)
            print(f"| {fault or '(honest)'} | {by or '-'} | {' | '.join(cells)} |", flush=True)


def is_fit(scene) -> bool:
    """Whether it can be read and is large enough."""
    try:
        return min(scene.image.shape[:2]) >= 224
    except UnreadablePicture:
        return False


def is_sure(system, scene) -> bool:
    """Whether the classifier is sure of two classes or more that are there."""
    (seen,) = system.predict([Classes(scene.image)])
    there = {thing.label for thing in scene.objects or ()}
    return sum(seen.confidences.get(label, 0.0) >= BETA for label in there) > 1


if __name__ == "__main__":
    main()
