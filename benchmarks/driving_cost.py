"""What a driving rule costs: reading it, and adding a pedestrian to a large picture, beside a HOG of it.

CPU milliseconds of this process, all in one run; a HOG of scikit-image is the measure for pictures.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import cv2
import numpy as np
from skimage.feature import hog

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.tasks.driving import Control, rule
from instar.tasks.driving.rules import read_rule
from instar.worlds.drive import scenes

SIZE = (1208, 1920)
RULES = (
    "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%.",
    "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down. "
    "If: he gets closer to the ego-vehicle, Then: the speed should decrease more.",
    "If: lane lines are removed from the road and the buildings are replaced with trees, "
    "Then: the steering angle of ego-vehicle should keep the same.",
    "If the weather changes to a rainy day, the steering angle of ego-vehicle should keep the same.",
)


def milliseconds(work: object, repeats: int) -> float:
    assert callable(work)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        for _ in range(repeats):
            work()
        best = min(best, (time.process_time() - began) / repeats)
    return 1000 * best


def main() -> None:
    cv2.setNumThreads(1)
    read_rule(RULES[0])  # loads the grammar
    for text in RULES:
        cost = milliseconds(lambda text=text: read_rule(text), 5)
        print(f"reading {len(text.split()):2} words       {cost:8.2f} ms")
    print()
    scene = next(s for s in scenes(40, seed=4, size=SIZE) if s.knowledge["drive"].time == "day")
    image = np.asarray(scene.image)
    source = Observation(scene, Control(40.0, 0.0), lambda: image)
    with tempfile.TemporaryDirectory() as folder:
        relation = rule(RULES[0], engines="pasted")
        assert relation.prepare is not None
        relation = relation.prepare([scene], Folder(Path(folder)))
        change = relation.draw(source, np.random.default_rng(1))
        assert not isinstance(change, Inapplicable)
        adding = milliseconds(lambda: relation.apply(image, change), 10)
        choosing = milliseconds(lambda: relation.draw(source, np.random.default_rng(1)), 2)
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    measure = milliseconds(lambda: hog(grey), 1)
    print(f"HOG of {SIZE[1]} x {SIZE[0]}     {measure:8.1f} ms")
    print(f"adding a pedestrian    {adding:8.1f} ms, {adding / measure:.3f} of the HOG")
    print(f"choosing the place     {choosing:8.1f} ms, {choosing / measure:.3f} of the HOG")


if __name__ == "__main__":
    main()
