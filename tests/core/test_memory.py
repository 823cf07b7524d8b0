"""However many scenes there are, pictures are let go."""

import gc
import weakref

import numpy as np
import pytest

import instar
import planted_core as planted

N = 3000


class Watched:
    """Scenes, changes and answers whose pictures are counted while they live."""

    def __init__(self):
        self.alive, self.most = 0, 0

    def watch(self, image):
        self.alive += 1
        self.most = max(self.most, self.alive)
        weakref.finalize(image, self._gone)
        return image

    def _gone(self):
        self.alive -= 1

    def scenes(self):
        return [instar.Scene(f"{i:05d}.png", lambda i=i: self.watch(self.picture(i))) for i in range(N)]

    def picture(self, i):
        return np.full((6, 6, 3), (i % 256, i // 256, 7), np.uint8)

    def apply(self, image, change):
        return tuple(self.watch(made) for made in planted.apply_two_dots(image, change))


@pytest.mark.parametrize("search", [instar.draws(10), planted.roam(40)], ids=["per scene", "across"])
def test_thousands_of_scenes_waiting_for_budget_hold_no_pictures(search):
    watched = Watched()
    relation = instar.Relation(
        "watched",
        planted.checked_things,
        watched.apply,
        draw=lambda source, rng: planted.Dot(1, 1, int(rng.integers(20, 250))),
    )
    limits = instar.Limits(queries=7000)
    records = instar.run(watched.scenes(), relation, planted.Hashed(), search=search, limits=limits, batch=4)
    assert sum(1 for _ in records) > 100
    gc.collect()
    # A window of 2 x 4 + 2 scenes is worked on at a time: eight cases of two pictures each, and the
    # pictures of eighteen scenes that are remembered, beside those being asked.
    assert watched.most < 150
    assert watched.alive == 0
