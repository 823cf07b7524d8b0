"""How much faster two actors of a Ray cluster are than one, on a system that computes: ratios of one run.

    python benchmarks/actors_speed.py [--rounds 2]

A cluster with two processors is started here, and stopped. An answer takes 60 ms of CPU; the seconds are
those of the campaign, in which its driver works too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from instar.store import RunStore

PORT = 6399
SYSTEM = """
import hashlib, time

class Computing:
    name, fingerprint, batch, concurrent = "computing", "60 ms", 1, False

    def predict(self, images):
        until = time.thread_time() + 0.06 * len(images)
        while time.thread_time() < until:
            hashlib.sha256(images[0]).digest()
        return [{"boxes": [[10, 10, 60, 60]], "labels": ["car"], "scores": [0.9]} for _ in images]
"""
CAMPAIGN = (
    "--relation detection.brightened --search draws --set search.n=50 --scenes street:8 --referees none"
)


def seconds(actors: int, folder: Path) -> float:
    """Of a campaign on so many actors."""
    out = folder / f"run-{len(list(folder.iterdir()))}"
    where = f"--on ray --address 127.0.0.1:{PORT} --set ray.actors={actors} --out {out}"
    words = f"{sys.executable} -m instar run --system computing:Computing {CAMPAIGN} {where}"
    subprocess.run(words.split(), cwd=folder, check=True, capture_output=True)
    with RunStore.read(out) as store:
        return float(store.totals().seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    ray = str(Path(sys.executable).with_name("ray"))
    start = [ray, "start", "--head", f"--port={PORT}", "--num-cpus=2", "--include-dashboard=false"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "computing.py").write_text(SYSTEM)
        quiet = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        subprocess.run(start, check=True, capture_output=True, env=quiet)
        try:
            for _ in range(args.rounds):
                one, two = (seconds(actors, Path(folder)) for actors in (1, 2))
                print(f"two actors over one: {one / two:.2f} (at least 1.8)", flush=True)
        finally:
            subprocess.run([ray, "stop"], check=True, capture_output=True)


if __name__ == "__main__":
    main()
