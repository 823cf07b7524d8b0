"""What is in a scene: annotations say so, else what referees agree on; never the system under test."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.core.errors import BadInput
from instar.core.referees import Referee
from instar.core.scene import Scene, SceneObject
from instar.core.system import ask
from instar.core.task import Opinion
from instar.tasks.detection.answers import Detections, read
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.systems.decode import drop_duplicates
from instar.tasks.detection.verification import HINT, SURE, mean_sureness


class KnownObjects:
    """The objects of scenes. Referees are asked once for each scene that has no annotations."""

    def __init__(self, referees: Sequence[Referee]) -> None:
        self._referees = referees
        self._agreed: dict[str, list[SceneObject]] = {}
        self.asked = 0

    def of(self, scene: Scene) -> Sequence[SceneObject]:
        if scene.objects is not None:
            return scene.objects
        if scene.id not in self._agreed:
            self._agreed[scene.id] = agree_on_objects(self._opinions(scene))
        return self._agreed[scene.id]

    def _opinions(self, scene: Scene) -> list[Opinion]:
        image, opinions = scene.image, []
        for referee in self._referees:
            (reply,) = ask(referee.system, [image])
            self.asked += 1
            if reply.error is None:
                found = read(image, reply.answer)
                knows = getattr(referee.system, "classes", None)
                opinions.append(Opinion(referee.name, found, found, referee.labels, knows))
        if len(opinions) < 2:
            raise BadInput(
                f"{scene.id} has no annotations, and {len(opinions)} referees answered: nobody can say what "
                "is in it; give annotated scenes, or two --referees"
            )
        return opinions


def agree_on_objects(opinions: Sequence[Opinion]) -> list[SceneObject]:
    """What referees are sure of on average. What only some of them see is a `crowd`: there may be something,
    so that nobody should learn that there is nothing.
    """
    boxes, labels, scores = _candidates(opinions)
    objects: list[SceneObject] = []
    if not labels:
        return objects
    numbers = np.array([sorted(set(labels)).index(label) for label in labels])
    sure = np.array(
        [mean_sureness(opinions, {"label": label, "box": box}) for label, box in zip(labels, boxes)]
    )
    order = np.lexsort((-scores, -sure))
    for i in order[drop_duplicates(boxes[order], numbers[order])].tolist():
        if sure[i] >= HINT:
            x1, y1, x2, y2 = boxes[i].tolist()
            objects.append(SceneObject(labels[i], (x1, y1, x2, y2), crowd=bool(sure[i] < SURE)))
    return objects


def _candidates(opinions: Sequence[Opinion]) -> tuple[np.ndarray, list[str], np.ndarray]:
    found: list[Detections] = [one.before.confident() for one in opinions]
    boxes = np.concatenate([one.boxes for one in found])
    labels = [
        canonical_class(opinion.labels.get(label, label))
        for opinion, one in zip(opinions, found)
        for label in one.labels
    ]
    return boxes, labels, np.concatenate([one.scores for one in found])
