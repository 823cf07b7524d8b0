"""Makes docs/finding.png, the plainest failure on frames of a video, and docs/findings.png, three of them.

The video is that of pedestrians in Debian's opencv-doc:

apt-get install opencv-doc
.venv/bin/python docs/make_finding_pictures.py /usr/share/doc/opencv-doc/examples/data/vtest.avi

With a second argument the pictures go to that folder, to be looked at first.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from instar.campaigns.plan import make_plan
from instar.campaigns.reader import open_run
from instar.campaigns.result import read_result
from instar.campaigns.run import execute
from instar.report.files import write_picture
from instar.report.groups import in_turns

EVERY = 22  # frames: a new picture about every two seconds
SHOWN = 3
WIDTH = 960  # of a finding on the sheet, in pixels


def save_frames(video: str, folder: Path) -> None:
    capture = cv2.VideoCapture(video)
    for i in range(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), EVERY):
        capture.set(cv2.CAP_PROP_POS_FRAMES, i)
        read, frame = capture.read()
        if read:
            cv2.imwrite(str(folder / f"frame-{i:03d}.png"), frame)


def sheet(pictures: list[np.ndarray]) -> np.ndarray:
    """One below the other."""
    scaled = [
        cv2.resize(one, (WIDTH, round(one.shape[0] * WIDTH / one.shape[1])), interpolation=cv2.INTER_AREA)
        for one in pictures
    ]
    return np.vstack(
        [cv2.copyMakeBorder(one, 0, 10, 0, 0, cv2.BORDER_CONSTANT, value=(255,) * 3) for one in scaled]
    )


def main(video: str, folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        frames, run = Path(temporary) / "frames", str(Path(temporary) / "run")
        frames.mkdir()
        save_frames(video, frames)
        plan = {
            "scenes": str(frames),
            "system": [{"use": "yolox-nano"}],
            "out": run,
            "limits": {"queries": 900},
        }
        execute(make_plan(plan))
        with open_run(run, quiet=True) as there:
            found = [one for one in read_result(there.store).summary.findings if one.headline]
            chosen = in_turns(found, lambda finding: finding.scene)[:SHOWN]
            pictures = [there.picture(finding.case) for finding in chosen]
    write_picture(folder / "finding.png", pictures[0])
    write_picture(folder / "findings.png", sheet(pictures))
    print(f"{len(found)} failing cases")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent)
