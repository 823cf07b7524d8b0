"""What is learned from: no finding that somebody called no failure, and nothing that is tested on."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

import instar
from bench_runs import make_run, record
from instar.core.errors import BadInput
from instar.store import RunStore
from instar.store.marks import Marks
from instar.training.detection.sets import HeldOut, collect_sets, hold_out_scenes, require_apart
from instar.worlds.street import scenes as streets

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


def copy_of(scene, name):
    """The same picture, smaller and compressed once more."""
    image = cv2.resize(scene.image, None, fx=0.7, fy=0.7, interpolation=cv2.INTER_AREA)
    again = cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_COLOR)
    return instar.Scene(name, lambda: again)


def test_copies_of_a_picture_are_held_out_together():
    own = streets(10, seed=3)
    every = [*own, *(copy_of(one, f"copy of {one.id}") for one in own)]
    for seed in range(3):
        parts = hold_out_scenes(every, 0.3, seed)
        require_apart(parts)
        ids = [{one.id.removeprefix("copy of ") for one in side} for side in (parts.training, parts.test)]
        assert ids[0] | ids[1] == {one.id for one in own}
        assert ids[0]
        assert ids[1]
        assert not ids[0] & ids[1]


def test_a_copy_and_a_frame_of_the_same_video_are_refused():
    first, second, third = streets(3, seed=3)
    require_apart(HeldOut([first, second], [third]))
    with pytest.raises(BadInput, match=f"other, to be tested on, and {second.id}, .* are the same picture"):
        require_apart(HeldOut([first, second], [copy_of(second, "other")]))
    frames = [instar.Scene(f"a.mp4#00000{n}", one.read) for n, one in enumerate((first, second))]
    with pytest.raises(BadInput, match="are of one video"):
        require_apart(HeldOut(frames[:1], frames[1:]))
