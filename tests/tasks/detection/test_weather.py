"""Where there may be rain and haze."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.change import Inapplicable
from instar.core.scene import Observation
from instar.tasks.detection import Detections
from instar.tasks.detection.relations.whole_picture import RELATIONS

PICTURE = np.full((80, 100, 3), 120, np.uint8)


@pytest.mark.parametrize(
    ("labels", "outdoors"),
    [
        (("car",), True),
        (("cow", "person"), True),
        (("person",), False),
        (("bicycle", "couch"), False),
        (("car", "tvmonitor"), False),
    ],
)
@pytest.mark.parametrize("relation", [RELATIONS.rainy, RELATIONS.hazy])
def test_weather_is_for_the_outdoors_alone(relation, labels: tuple[str, ...], outdoors: bool) -> None:
    boxes = np.float32([[10, 10, 40, 40], [50, 20, 90, 60]][: len(labels)])
    found = Detections(boxes, labels, np.full(len(labels), 0.9, np.float32))
    drawn = relation.severity.at(Observation.of(PICTURE, found), 30.0)
    assert isinstance(drawn, Inapplicable) != outdoors
