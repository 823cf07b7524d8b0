"""Class names of different sources meet under one name."""

from __future__ import annotations

import pytest

from instar.tasks.detection.class_names import ALIASES, canonical_class
from instar.tasks.detection.coco_names import COCO_NAMES

VOC = (
    *("aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow"),
    *("diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train"),
    "tvmonitor",
)


def test_every_class_of_voc_is_one_of_coco_and_no_two_meet() -> None:
    known = [canonical_class(label) for label in VOC]
    assert set(known) <= set(COCO_NAMES)
    assert len(set(known)) == len(VOC)


@pytest.mark.parametrize("name", COCO_NAMES)
def test_a_name_of_coco_stays_in_any_spelling(name: str) -> None:
    for spelling in (
        name,
        name.upper(),
        name.replace(" ", "_"),
        name.replace(" ", "-"),
        name.replace(" ", ""),
    ):
        assert canonical_class(spelling) == name


def test_a_class_of_ones_own_keeps_its_name() -> None:
    assert canonical_class("Weld_Seam") == "Weld_Seam"
    assert canonical_class("") == ""


def test_no_alias_hides_a_name_of_coco() -> None:
    assert not set(ALIASES) & set(COCO_NAMES)
    assert set(ALIASES.values()) <= set(COCO_NAMES)
