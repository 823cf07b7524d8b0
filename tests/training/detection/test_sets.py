"""What is learned from: no finding that somebody called no failure."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import instar
from bench_runs import make_run, record
from instar.store import RunStore
from instar.store.marks import Marks
from instar.training.detection.sets import collect_sets

SCENE = instar.Scene("scene-1", lambda: np.zeros((40, 60, 3), np.uint8))
LOST = instar.Finding("lost", "object 1", -0.5, {"was": {"label": "car", "box": [1, 2, 3, 4]}}, known="real")


class Learned(Exception):
    """The case was to be made again, to learn from it."""


def sets_of(folder):
    with RunStore.read(folder) as store:

        def replay(record, answers):
            raise Learned

        reader = SimpleNamespace(store=store, record=store.record, replay=replay, remembered=None)
        known = SimpleNamespace(of=lambda scene: ())
        return collect_sets(reader, [SCENE], known, {}, (64, 64), with_pasted=False, seed=0)


def test_nothing_is_learned_from_what_is_called_no_failure(tmp_path):
    failing = record(1, verdict=instar.Verdict.violated([LOST]))
    folder = make_run(tmp_path / "run", [failing, record(8)])
    with pytest.raises(Learned):
        sets_of(folder)
    Marks(folder).add(failing.case, "oracle wrong", "a car on a poster")
    sets = sets_of(folder)
    assert (len(sets.natural), sets.failing, sets.passing) == (1, [], [])
