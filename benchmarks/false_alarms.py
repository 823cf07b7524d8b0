"""How often changes that must do nothing are accused: fresh ones, judged like cases.

.venv/bin/python benchmarks/false_alarms.py --scenes ../shared/data/voc/objects --out runs/false_alarms

Of every photograph one fresh null change is drawn (JPEG 90 to 98, two grey levels, a pixel across), none of
which strikes findings out. Whatever is left of findings is a false alarm, whether or not truth calls it a
failure. A run that was stopped goes on.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.scenes import load_scenes
from instar.stats import wilson
from instar.studies.detection.counts import count_false_alarms, null_relation


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default="yolox-nano,yolov4-tiny,efficientdet-lite0,ssd-mobilenet-v2")
    parser.add_argument("--draws", type=int, default=1, help="null changes of each photograph")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path, default=Path("runs/false_alarms"))
    args = parser.parse_args()
    scenes = load_scenes(args.scenes, limit=args.limit)
    print("| detector | photometric | 95 % | shift | 95 % |\n|---|--:|---|--:|---|")
    for name in args.systems.split(","):
        records = instar.run(
            scenes, null_relation(), build_system(Use(name)), search=instar.draws(args.draws),
            out=args.out / f"{name}-{args.draws}", resume=True,
        )  # fmt: skip
        cells = []
        for one in count_false_alarms(records).values():
            low, high = wilson(one.violated, one.judged)
            cells += [f"{one.violated} of {one.judged}", f"{low:.1%} to {high:.2%}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
