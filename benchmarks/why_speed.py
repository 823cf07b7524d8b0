"""What the careful driver's speed hangs on: the error of somebody who knows all of a drive but one thing.

python benchmarks/why_speed.py [DRIVES]

Whoever cannot see people answers what would be right without any, times the factor that is best on the whole.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from instar.worlds.drive import Drive, careful_speed, sample_drive
from instar.worlds.drive.plan import VEHICLES


def without(*kinds: str) -> Callable[[Drive], Drive]:
    return lambda drive: replace(drive, things=tuple(t for t in drive.things if t.kind not in kinds))


UNSEEN: dict[str, Callable[[Drive], Drive]] = {
    "people, on foot or bicycle": without("pedestrian", "bicyclist"),
    "vehicles": without(*VEHICLES),
    "signs and lights": without("traffic sign", "traffic light"),
    "weather": lambda drive: replace(drive, weather="clear"),
    "time of day": lambda drive: replace(drive, time="day"),
    "crosswalks": lambda drive: replace(drive, road=replace(drive.road, crosswalk=None)),
    "the bend": lambda drive: replace(drive, bend=0.0),
}


def main(number: int) -> None:
    drives = [sample_drive(1_000_003 + index) for index in range(number)]  # those of drive:N:1
    truth = np.array([careful_speed(drive) for drive in drives])
    print(f"{'a constant answer':36} {np.abs(truth - np.median(truth)).mean():5.2f} km/h")
    for what, hide in UNSEEN.items():
        seen = np.array([careful_speed(hide(drive)) for drive in drives])
        factors = np.linspace(0.2, 1, 401)
        error = min(float(np.abs(truth - factor * seen).mean()) for factor in factors)
        print(f"{'all but ' + what:36} {error:5.2f} km/h")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
