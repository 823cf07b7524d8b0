"""Makes docs/findings.png, different findings on frames of a video, and docs/finding.png, the clearest one.

The video is that of pedestrians in Debian's opencv-doc:

apt-get install opencv-doc
.venv/bin/python docs/make_finding_pictures.py /usr/share/doc/opencv-doc/examples/data/vtest.avi

With a second argument the pictures go to that folder, to be looked at first.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image as Picture

import instar
from instar.core.marks import make_panels
from instar.core.replay import Replay, replay
from instar.core.scene import Observation
from instar.core.system import ask
from instar.core.verdict import Verdict
from instar.imaging.geometry import areas, intersections, shifted
from instar.imaging.sheets import INK, PAPER
from instar.report.case_picture import COLOURS as FATES
from instar.report.case_picture import draw_case
from instar.store import RunStore
from instar.tasks.detection import Detections, adaptive, insertion
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.systems.onnx import yolox

EVERY = 22  # frames: a new picture about every two seconds
COLUMNS, ROWS, WIDTH = 1, 3, 960  # of the contact sheet, and the width of each finding in pixels
VIEW = (240, 320)  # pixels of a frame that are shown, height and width: pedestrians are small
COLOURS = 120


def frames(video: str) -> list[instar.Scene]:
    capture = cv2.VideoCapture(video)
    scenes = []
    for i in range(0, int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), EVERY):
        capture.set(cv2.CAP_PROP_POS_FRAMES, i)
        read, frame = capture.read()
        if read:
            scenes.append(instar.Scene.of(f"frame-{i:03d}", cv2.cvtColor(frame, cv2.COLOR_BGR2RGB)))
    return scenes


def clarity(record: instar.Record) -> float:
    """A believable large object is easier to see than a small one, and a lost person matters more."""
    person = any(
        f.evidence.get("was", f.evidence.get("is"))["label"] == "person" for f in record.verdict.findings
    )
    return record.change.width * record.change.height * (record.naturalness or 0) ** 2 * (1 + 3 * person)


def different(found: list[instar.Record]) -> list[instar.Record]:
    """The clearest of every failure, one of each frame before a second of any."""
    best: dict[tuple[str, str], instar.Record] = {}
    for record in sorted(found, key=clarity, reverse=True):
        for finding in record.verdict.findings:
            best.setdefault((record.scene, finding.subject), record)
    seen: dict[str, int] = {}
    ranked = []
    for record in {id(record): record for record in best.values()}.values():
        seen[record.scene] = seen.get(record.scene, 0) + 1
        ranked.append((seen[record.scene], -clarity(record), record.case, record))
    return [record for *_, record in sorted(ranked)]


def close_up(again: Replay, record: instar.Record) -> tuple[Observation, Observation, Insertion, Verdict]:
    """The case as if the frame were only what surrounds the change; what lies outside is not found."""
    height, width = VIEW
    x, y = (round(v) for v in ((a + b) / 2 for a, b in zip(record.change.box[:2], record.change.box[2:])))
    frame = again.source.input.shape
    left = min(max(0, x - width // 2), frame[1] - width)
    top = min(max(0, y - height // 2), frame[0] - height)
    window = np.array([left, top, left + width, top + height], np.float32)

    def seen(observed: Observation) -> Observation:
        answer = observed.answer
        inside = (intersections(answer.boxes, window[None])[:, 0]) > 0.5 * areas(answer.boxes)
        moved = Detections(
            shifted(answer.boxes, -left, -top),
            answer.labels,
            np.where(inside, answer.scores, 0).astype(np.float32),
            answer.confidence,
        )
        return Observation.of(observed.input[top : top + height, left : left + width], moved, observed.scene)

    def moved(evidence: dict[str, Any]) -> dict[str, Any]:
        offset = np.tile([left, top], 2)
        return {key: one | {"box": (one["box"] - offset).tolist()} for key, one in evidence.items()}

    findings = [
        replace(f, evidence=moved({k: v for k, v in f.evidence.items() if k in ("was", "is")}))
        for f in record.verdict.findings
    ]
    change = replace(record.change, x=record.change.x - left, y=record.change.y - top)
    return seen(again.source), seen(again.follow_ups[0]), change, Verdict.violated(findings)


def save(path: Path, image: np.ndarray) -> None:
    """A small PNG: few colours are enough for a photograph, and those of the boxes besides."""
    picture = Picture.fromarray(image)
    colours = picture.quantize(COLOURS, dither=Picture.Dither.NONE).getpalette()[: 3 * COLOURS]
    palette = Picture.new("P", (1, 1))
    fates = (channel for fate in ("matched", "lost", "new", "change") for channel in FATES[fate])
    palette.putpalette([*colours, *INK, *PAPER, *fates])
    picture.quantize(palette=palette, dither=Picture.Dither.NONE).save(path, optimize=True)


def sheet(pictures: list[np.ndarray]) -> np.ndarray:
    scaled = []
    for one in pictures:
        height = round(one.shape[0] * WIDTH / one.shape[1])
        scaled.append(cv2.resize(one, (WIDTH, height), interpolation=cv2.INTER_AREA))
    most = max(one.shape[0] for one in scaled)
    tiles = [
        cv2.copyMakeBorder(one, 0, most - one.shape[0] + 10, 0, 10, cv2.BORDER_CONSTANT, value=(255,) * 3)
        for one in scaled
    ]
    blank = np.full_like(tiles[0], 255)
    rows = [tiles[i : i + COLUMNS] for i in range(0, len(tiles), COLUMNS)]
    return np.vstack([np.hstack([*row, *[blank] * (COLUMNS - len(row))]) for row in rows])


def main(video: str, folder: Path) -> None:
    scenes, system = frames(video), yolox()
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(temporary) / "run"
        limits = instar.Limits(queries=1600)
        search = adaptive(per_object=60)
        records = instar.run(scenes, insertion(), system, search=search, limits=limits, out=run, workers=2)
        found = [record for record in records if record.verdict.status is instar.Status.VIOLATED]
        chosen = different(found)
        with RunStore.read(run) as store:
            relation = insertion(pool=store.pictures)

            def asking(queries: Any) -> Any:
                return ask(system, [query.input for query in queries])

            def picture(record: instar.Record) -> np.ndarray:
                (scene,) = [scene for scene in scenes if scene.id == record.scene]
                known_as = store.source_digest(record.source)
                again = replay(record, scene, relation, asking, known_as=known_as)
                source, follow_up, change, verdict = close_up(again, record)
                panels = make_panels(relation.resolved_task, source, [follow_up], change, verdict)
                return draw_case(panels, str(record.change))

            pictures = [picture(one) for one in chosen[: COLUMNS * ROWS]]
            save(folder / "finding.png", pictures[0])
            save(folder / "findings.png", sheet(pictures))
    print(f"{len(found)} violated cases on {len(scenes)} frames, {len(chosen)} different failures")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent)
