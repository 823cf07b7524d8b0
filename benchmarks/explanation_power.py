"""The power table of explanations: faults planted over an interpreter, and which relations find them.

    python benchmarks/explanation_power.py --scenes photos/ --limit 6 [--paper] [--out table.md]

Each fault is a campaign of its own. Found is a fault where a relation has a violated case; beside it stands
the share of the judged cases. The honest interpreter is in the first row: it must not be accused. What the
honest one says is asked once for all of them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system, resolve_relation
from instar.core.errors import UnreadablePicture
from instar.core.verdict import Status
from instar.scenes import load_scenes
from instar.tasks.interpretation.catalogue import SUITE
from instar.tasks.interpretation.searches import distinct
from planted_explanations import FAULTS, plant

PAPER = ("insert", "delete", "squeeze", "truth")


def judge(system, scenes, names, *, paper, pool, draws, seed):
    """How many cases of each relation were judged, and how many violated."""
    options = {name: {"paper": True} if paper and name != "truth" else {} for name in names}
    options["insert"] |= {"pool": pool} if pool else {}
    relations = [resolve_relation(Use(one, options[one]), tasks=["interpretation"]) for one in names]
    counts = {name: Counter() for name in names}
    for record in instar.run(scenes, relations, system, search=distinct(n=draws), seed=seed):
        if record.role == "case":
            verdict = record.verdict
            if verdict.status in (Status.HELD, Status.VIOLATED) or verdict.kind == "unstable":
                counts[record.relation]["judged"] += 1
                counts[record.relation]["violated"] += verdict.status is Status.VIOLATED
                counts[record.relation]["unstable"] += verdict.kind == "unstable"
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--system", default="photo-classifier")
    add("--classes", help="names of its classes")
    add("--interpreter", default="grad-cam")
    add("--scenes", required=True)
    add("--several", action="store_true", help="only scenes with objects of several classes")
    add("--limit", type=int, default=6)
    add("--pool", help="a folder of cut-outs (those of the scenes themselves)")
    add("--draws", type=int, default=1, help="of each relation on each question")
    add("--paper", action="store_true", help="by the paper's relations and IoMin alone")
    add("--faults", help="only those whose names have this text")
    add("--seed", type=int, default=0)
    args = parser.parse_args()
    scenes = [scene for scene in load_scenes(args.scenes) if is_fit(scene, several=args.several)][
        : args.limit
    ]
    options = {"interpreter": args.interpreter} | ({"classes": args.classes} if args.classes else {})
    honest = build_system(Use(args.system, options), tasks=["interpretation"])
    names = PAPER if args.paper else SUITE
    answers: dict = {}
    print(f"| fault | found | {' | '.join(names)} |\n|{'---|' * (len(names) + 2)}", flush=True)
    for fault in [None, *(one for one in FAULTS if (args.faults or "") in one)]:
        system = plant(fault, honest, scenes, answers)
        counts = judge(
            system, scenes, names, paper=args.paper, pool=args.pool, draws=args.draws, seed=args.seed
        )
        cells = [f"{counts[name]['violated']} of {counts[name]['judged']}" for name in names]
        by = sum(counts[name]["violated"] > 0 for name in names)
        print(
            f"| {fault or 'none: honest'} | {'by ' + str(by) if by else 'no'} | {' | '.join(cells)} |",
            flush=True,
        )


def is_fit(scene, *, several: bool) -> bool:
    """Whether it can be read, is large enough, and has objects of several classes where that is wanted."""
    try:
        large = min(scene.image.shape[:2]) >= 224
    except UnreadablePicture:
        return False
    return large and (not several or len({thing.label for thing in scene.objects or ()}) > 1)


if __name__ == "__main__":
    main()
