"""Makes docs/finding.png: the clearest finding on frames of the pedestrians video of Debian's opencv-doc.

apt-get install opencv-doc
.venv/bin/python docs/make_finding_picture.py /usr/share/doc/opencv-doc/examples/data/vtest.avi
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import cv2

import instar
from instar.detection import guided, insertion
from instar.detection.systems import yolox
from instar.imaging.codecs import encode_png
from instar.replay import replay
from instar.store import RunStore

EVERY = 66  # frames: a new picture about every seven seconds


def frames(video: str) -> list[instar.Scene]:
    capture = cv2.VideoCapture(video)
    scenes = []
    for i in range(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), EVERY):
        capture.set(cv2.CAP_PROP_POS_FRAMES, i)
        read, frame = capture.read()
        if read:
            scenes.append(instar.Scene.of(f"frame-{i:03d}", cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)))
    return scenes


def clarity(record: instar.Record) -> int:
    """A large pasted object is easier to see than a small one."""
    return int(record.change.width * record.change.height)


def main(video: str) -> None:
    scenes, system = frames(video), yolox()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        limits = instar.Limits(queries=2500)
        records = instar.run(
            scenes, insertion(), system, search=guided(per_object=60), limits=limits, out=run, workers=2
        )
        found = [record for record in records if record.verdict.status is instar.Status.VIOLATED]
        clearest = max(found, key=clarity)
        with RunStore.read(run) as store:
            relation = insertion(pool=store.pictures)
            (scene,) = [scene for scene in scenes if scene.id == clearest.scene]
            again = replay(clearest, scene, relation, system, known_as=store.source_digest(clearest.source))
        picture = relation.picture(again.source, again.follow_ups, clearest.change, clearest.verdict)
    Path(__file__).with_name("finding.png").write_bytes(encode_png(picture))
    print(f"{len(found)} findings on {len(scenes)} frames; docs/finding.png shows {clearest.scene}")


if __name__ == "__main__":
    main(sys.argv[1])
