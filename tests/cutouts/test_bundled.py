"""The pool that comes along, and pools that are joined."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from instar.cutouts.extraction import is_part_of_a_body
from instar.cutouts.pool import CutOut, Pool, bundled_pool, join_pools
from instar.tasks.detection.coco_names import COCO_NAMES

OBJECTS = Path(__file__).parents[2] / "src" / "instar" / "cutouts" / "objects"


def test_every_bundled_cut_out_can_be_read_and_says_who_made_it() -> None:
    pool = bundled_pool()
    credits = (OBJECTS / "ATTRIBUTION.md").read_text(encoding="utf-8")
    for cutout in pool.cutouts:
        pixels = pool.pixels(cutout.digest)
        assert pixels.shape == (cutout.height, cutout.width, 4)
        assert max(pixels.shape[:2]) <= 320
        assert cutout.label in COCO_NAMES
        assert cutout.licence in ("CC0-1.0", "CC-BY-3.0", "CC-BY-3.0-US")
        assert cutout.creator in credits
        assert cutout.scene in credits
        assert cutout.metres > 0


def test_people_come_along_whole() -> None:
    pool = bundled_pool()
    people = [cutout for cutout in pool.cutouts if cutout.label == "person"]
    assert len(people) >= 30
    assert not any(is_part_of_a_body(pool.pixels(one.digest)[..., 3] > 127, "person") for one in people)


def test_the_pool_that_comes_along_is_small() -> None:
    assert sum(path.stat().st_size for path in OBJECTS.iterdir()) < 5e6


def test_of_a_second_pool_only_missing_classes_are_taken() -> None:
    own = Pool(Path("own"), [CutOut("a", "motorbike", "s", 4, 4, 9, 0)])
    other = Pool(
        Path("other"), [CutOut("b", "motorcycle", "t", 4, 4, 9, 0), CutOut("c", "cat", "t", 4, 4, 9, 0)]
    )
    joined = join_pools(own, other, lambda label: label.replace("motorbike", "motorcycle"))
    assert {(cutout.digest, cutout.label) for cutout in joined.cutouts} == {("a", "motorcycle"), ("c", "cat")}


def test_pixels_of_joined_pools_come_from_where_they_are() -> None:
    bundled = bundled_pool()
    joined = join_pools(Pool(Path("nowhere"), []), bundled, str)
    first = bundled.cutouts[0].digest
    assert np.array_equal(joined.pixels(first), bundled.pixels(first))
