"""Known smallest changes of planted interpreters. Without torch."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from instar.campaigns.run import run
from instar.campaigns.shrink import MOST_QUESTIONS, format_shrunk, shrink_case
from instar.core.follow_up import follow_ups_of, judge, observe, under_null
from instar.core.replay import find_source
from instar.core.system import ask
from instar.core.verdict import Status
from instar.core.workspace import Folder, prepare_relation
from instar.imaging.photometric import moved
from instar.tasks.interpretation import delete, distinct, insert, squeeze
from instar.worlds import street
from planted_interpretation import Perfect, painted

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


def asking(system):
    return lambda queries: ask(system, [query.input for query in queries])


def answered(relation, system, scene, id):
    """The source of that id with its answer."""
    source = find_source(relation.resolved_task, id, scene, asking(system))
    (reply,) = ask(system, [source.input])
    return replace(source, answer=relation.resolved_task.read(source.input, reply.answer))


def every_violated(relation, system):
    """Each violated case with its source."""
    scenes = {scene.id: scene for scene in SCENES}
    for record in run(SCENES, relation, system, search=distinct(n=1)):
        if record.role == "case" and record.verdict.status is Status.VIOLATED:
            yield record, answered(relation, system, scenes[record.scene], record.source)


def under_conditions(relation, source, change):
    """The follow-ups of a change as they are, and under every condition that must not matter."""
    task, made = relation.resolved_task, follow_ups_of(relation, source.input, change)
    return [made, *(under_null(task, one, made, source.input) for one in task.nulls.conditions)]


def fails(relation, system, source, keys, change):
    """Whether a change shows one of the findings, also under every condition."""

    def shown(made):
        replies = ask(system, [one.input for one in made])
        seen = observe(relation.resolved_task, source, made, replies)
        return {finding.key for finding in judge(relation, seen, change).findings}

    return all(keys & shown(made) for made in under_conditions(relation, source, change))


def shrunk(relation, system, folder, *, most=3):
    """What every violated case was reduced to; of all that is less still nothing fails."""
    ready = prepare_relation(relation, SCENES, Folder(folder))
    for record, source in islice(every_violated(ready, system), most):
        keys = {finding.key for finding in record.verdict.findings}
        found = shrink_case(ready, source, record.change, keys, asking(system))
        assert found.complete
        assert found.questions <= MOST_QUESTIONS
        assert format_shrunk(ready, found) == f"{found.change} suffices"
        lines = [line for line in ready.smaller(source, found.change) if line]
        less = {one for line in lines for one in (line[-1], *line[:-1:9])}
        assert not any(fails(ready, system, source, keys, one) for one in less)
        made = under_conditions(ready, source, found.change)
        rows = [rows_that_differ(apart(one.input.image)) for (one,) in made]
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
    source = answered(ready, system, scene, f"{scene.id}#{min(system.sure(scene.image))}")
    change = ready.ways[how](source, np.random.default_rng(0))
    (line,) = ready.smaller(source, change)

    def differs(strength):
        return apart(ready.apply(scene.image, replace(change, strength=strength))).mean()

    (before, *_) = [one.strength for one in reversed(line) if far(how, one.strength) < far(how, expected)]
    bound = (differs(before) + differs(expected)) / 2
    fooled = Fooled("fooled by much", lambda difference: difference.mean() >= bound)
    found = shrink_case(ready, source, change, [("moved", "explanation")], asking(fooled))
    assert found.complete
    assert found.questions <= MOST_QUESTIONS
    assert abs(far(how, found.change.strength) - far(how, expected)) <= 1
    assert format_shrunk(ready, found) == f"{found.change} suffices"


def far(how, strength):
    """How many steps from doing nothing."""
    return 8 - strength if how == "depth" else strength // 2
