"""Make the pictures of docs/studies/driving.md: the drawn drive, and every rule on it, drawn and pasted.

python docs/make_driving_pictures.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import cv2
import numpy as np

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.studies.driving.rules import STUDY
from instar.tasks.driving import rule
from instar.tasks.driving.systems.street import street_driver
from instar.worlds.drive import render, sample_drive, scenes

HERE = Path(__file__).parent / "studies"
FONT, INK, PAPER = cv2.FONT_HERSHEY_SIMPLEX, (28, 32, 38), 255


def write(path: Path, picture: np.ndarray) -> None:
    """As JPEG: drawn pictures are full of grain, which PNG does not shrink."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.ascontiguousarray(picture[..., ::-1]), [cv2.IMWRITE_JPEG_QUALITY, 82])
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} KB")


def grid(pictures: list[np.ndarray], columns: int, gap: int = 3) -> np.ndarray:
    height, width = pictures[0].shape[:2]
    rows = -(-len(pictures) // columns)
    whole = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), PAPER, np.uint8)
    for number, picture in enumerate(pictures):
        y, x = number // columns * (height + gap), number % columns * (width + gap)
        whole[y : y + height, x : x + width] = picture
    return whole


def titled(picture: np.ndarray, text: str) -> np.ndarray:
    drawn = np.ascontiguousarray(picture)
    (width, _), _ = cv2.getTextSize(text, FONT, 0.36, 1)
    cv2.rectangle(drawn, (0, 0), (width + 8, 15), INK, cv2.FILLED)
    cv2.putText(drawn, text, (4, 11), FONT, 0.36, (255, 255, 255), 1, cv2.LINE_AA)
    return drawn


def world(seeds: tuple[int, ...]) -> np.ndarray:
    return grid([render(sample_drive(seed), (170, 340)).picture for seed in seeds], 3)


def rules(how: str, folder: Path) -> np.ndarray:
    """A row for each rule: the source, then the picture of each block, with the careful driver's answers."""
    every = scenes(40, seed=3, size=(140, 280))
    by_day = [
        s for s in every if s.knowledge["drive"].time == "day" and s.knowledge["drive"].weather == "clear"
    ]
    driver = street_driver()
    shown = []
    for number, one in enumerate(rule_ for rule_ in STUDY if rule_.part in ("rules", "compound", "rain")):
        if one.engines is not None:
            continue
        relation = rule(one.text, engines=how)
        if relation.prepare is not None:
            relation = relation.prepare(by_day, Folder(folder / how))
        for scene in by_day[number % 5 :]:
            image = scene.image
            source = Observation(scene, driver.predict([image])[0], lambda image=image: image)
            change = relation.draw(source, np.random.default_rng(1))
            made = change if isinstance(change, Inapplicable) else relation.apply(image, change)
            if isinstance(made, Inapplicable):
                continue
            pictures = [image, *made]
            answers = [getattr(answer, one.quantity) for answer in driver.predict(pictures)]
            unit = "km/h" if one.quantity == "speed" else "degrees"
            names = [f"{one.name}, source", *(f"block {n}" for n in range(1, len(pictures)))]
            row = [
                titled(np.array(picture), f"{name}: {answer:.1f} {unit}")
                for name, picture, answer in zip(names, pictures, answers)
            ]
            row += [np.full_like(row[0], PAPER)] * (3 - len(row))
            shown += row
            break
    return grid(shown, 3)


def main() -> None:
    write(HERE / "driving-world.jpg", world((1, 10, 41, 2, 49, 12, 16, 21, 18, 27, 55, 50)))
    with tempfile.TemporaryDirectory() as folder:
        write(HERE / "driving-rendered.jpg", rules("rendered", Path(folder)))
        write(HERE / "driving-pasted.jpg", rules("pasted", Path(folder)))


if __name__ == "__main__":
    main()
