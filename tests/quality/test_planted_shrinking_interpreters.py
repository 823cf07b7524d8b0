"""Known smallest changes of planted interpreters. Without torch."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest

from instar.core.shrink import MOST_QUESTIONS, shrink_case, words_of
from instar.core.system import ask
from instar.core.workspace import Folder, prepare_relation
from instar.imaging.photometric import moved
from instar.tasks.interpretation import delete, distinct, insert, squeeze
from instar.worlds import street
from planted_interpretation import Perfect, painted
from planted_shrinking import every_violated, fails, observed, shrunk_case

SCENES = street.scenes(2, size=(240, 320))
CORNER = (0, 0, 40, 30)


class Fooled(Perfect):
    """Points at the corner where a picture differs enough from the one that it was made from."""

    def __init__(self, name, differs):
        super().__init__()
        self.name, self._differs = name, differs

    def heat(self, one, found):
        return painted(one.image, [CORNER]) if self._differs(apart(one.image)) else super().heat(one, found)


STEPS = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
KNOWN = [moved(scene.image, *step)[..., 1].astype(np.int16) for scene in SCENES for step in STEPS]


def apart(image):
    """How far each pixel is from the scene, which may have been moved by a pixel."""
    green = image[..., 1].astype(np.int16)
    return min((np.abs(green - known) for known in KNOWN), key=np.mean)


def rows_that_differ(difference):
    """In how many rows there is something else; JPEG does less than that."""
    return np.count_nonzero((difference > 60).sum(axis=1) >= 3)


def shrunk(relation, system, folder, *, most=3):
    """What every violated case was reduced to; of all that is less still nothing fails."""
    ready = prepare_relation(relation, SCENES, Folder(folder))
    for record, source in islice(every_violated(SCENES, ready, system, search=distinct(n=1)), most):
        found = shrunk_case(ready, system, record, source)
        assert found.complete
        assert found.questions <= MOST_QUESTIONS
        assert words_of(ready, found) == f"{found.change} suffices"
        lines = [line for line in ready.smaller(source, found.change) if line]
        less = {one for line in lines for one in (line[-1], *line[:-1:9])}
        assert not any(fails(ready, system, source, record, one) for one in less)
        asked = [found.change, *ready.again(source, found.change)]
        rows = [rows_that_differ(apart(ready.apply(source.input, one)[0].image)) for one in asked]
        yield found.change, min(rows)


ROWS = 16


def fooled_by_rows():
    return Fooled("fooled by tall changes", lambda difference: rows_that_differ(difference) >= ROWS)


def test_a_pasted_object_is_reduced_to_the_height_that_fools(tmp_path):
    changes = list(shrunk(insert(), fooled_by_rows(), tmp_path))
    assert len(changes) >= 2
    for change, rows in changes:
        assert ROWS <= rows <= ROWS + 1, str(change)
        assert f"of {change.width} x {change.height} px" in str(change)


def test_of_a_removed_object_only_the_part_goes_that_fools(tmp_path):
    changes = list(shrunk(delete(), fooled_by_rows(), tmp_path))
    assert len(changes) >= 2
    for change, rows in changes:
        assert ROWS <= rows <= ROWS + 1, str(change)
        x1, y1, x2, y2 = change.part
        assert str(change).startswith(f"{x2 - x1} x {y2 - y1} px of the {change.label} removed")


@pytest.mark.parametrize(("how", "expected"), [("depth", 3), ("median", 9), ("blur", 9)])
def test_a_squeezed_background_is_reduced_to_the_strength_that_fools(how, expected, tmp_path):
    """The interpreter is fooled by what this strength does to a scene, and not by one step less."""
    relation = squeeze(bits=1, median=15, blur=15)
    ready = prepare_relation(relation, SCENES, Folder(tmp_path))
    system = Perfect()
    scene = SCENES[0]
    (part, build), *_ = ready.expand(scene, system)
    source = observed(ready, system, scene, part, build(scene.image))
    change = ready.ways[how](source, np.random.default_rng(0))
    (line,) = ready.smaller(source, change)

    def differs(strength):
        (after,) = ready.apply(source.input, replace(change, strength=strength))
        return apart(after.image).mean()

    (before, *_) = [one.strength for one in reversed(line) if far(how, one.strength) < far(how, expected)]
    bound = (differs(before) + differs(expected)) / 2
    fooled = Fooled("fooled by much", lambda difference: difference.mean() >= bound)
    found = shrink_case(ready, source, change, [("moved", "")], partial(ask, fooled))
    assert found.complete
    assert found.questions <= MOST_QUESTIONS
    assert abs(far(how, found.change.strength) - far(how, expected)) <= 1
    assert words_of(ready, found) == f"{found.change} suffices"


def far(how, strength):
    """How many steps from doing nothing."""
    return 8 - strength if how == "depth" else strength // 2
