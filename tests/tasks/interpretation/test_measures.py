"""Each measure sees what it is for, and what lies within a blur is at the same place."""

import numpy as np
import pytest

from instar.tasks.interpretation.measures import leak, map_differences


def blob(x, y, width=0.12, side=56):
    down, right = (np.indices((side, side)) + 0.5) / side
    return np.exp(-((right - x) ** 2 + (down - y) ** 2) / (2 * width**2)).astype(np.float32)


def test_the_same_map_does_not_differ_at_any_resolution():
    same = map_differences(
        blob(0.4, 0.5), blob(0.4, 0.5, side=224), objects=[(0, 0, 50, 60)], size=(100, 100)
    )
    assert set(same) == {"marked", "ranks", "pointing", "centre", "inside"}
    assert max(same.values()) < 0.02


@pytest.mark.parametrize(
    ("after", "measure", "least"),
    [
        (blob(0.7, 0.5), "marked", 0.9),
        (blob(0.7, 0.5), "centre", 0.25),
        (1 - blob(0.4, 0.5), "ranks", 1.5),
        (0.4 * blob(0.4, 0.5) + blob(0.8, 0.2, 0.08), "pointing", 0.4),
        (blob(0.4, 0.5, 0.4), "marked", 0.6),
        (blob(0.4, 0.5, 0.03), "marked", 0.6),
    ],
)
def test_each_measure_sees_what_it_is_for(after, measure, least):
    assert map_differences(blob(0.4, 0.5), after)[measure] > least


def test_the_heat_on_the_object_is_told_from_that_beside_it():
    both = blob(0.3, 0.5) + blob(0.8, 0.5)
    found = map_differences(both, blob(0.3, 0.5), objects=[(0, 0, 0.55, 1)])
    assert found["inside"] == pytest.approx(0.48, abs=0.05)


def test_faint_places_have_no_order():
    noise = 0.05 * np.random.default_rng(0).random((56, 56)).astype(np.float32)
    assert map_differences(blob(0.4, 0.5), np.maximum(blob(0.4, 0.5), noise))["ranks"] < 0.05


def test_signs_count_for_the_order():
    signed = blob(0.3, 0.5) - blob(0.7, 0.5)
    assert map_differences(signed, np.maximum(signed, 0))["ranks"] > 0.05
    assert map_differences(signed, np.maximum(signed, 0))["marked"] < 0.05


def test_a_leak_is_new_heat_on_what_was_changed():
    changed = np.zeros((100, 100), bool)
    changed[10:30, 70:90] = True
    assert leak(blob(0.4, 0.5), blob(0.4, 0.5), changed) == 0
    assert leak(blob(0.4, 0.5), blob(0.4, 0.5) + blob(0.8, 0.2), changed) > 0.5
    assert leak(blob(0.8, 0.2), blob(0.8, 0.2), changed) == 0  # it was hot before


def test_places_that_differ_by_rounding_alone_are_tied():
    heat = np.zeros((224, 224), np.float32)
    heat[:, :100], heat[60:90, 150:180] = 0.3, 1
    jitter = np.random.default_rng(0).normal(0, 1e-7, heat.shape).astype(np.float32)
    assert map_differences(heat, heat + jitter)["ranks"] == 0


@pytest.mark.parametrize("level", [0.12345, 0.3, 0.55555])
def test_a_plateau_is_one_tie_at_whatever_level(level):
    heat = np.full((28, 28), level, np.float32)
    heat[:, :14] = 1
    draws = np.random.default_rng(0)
    maps = [heat + draws.normal(0, 1e-6, heat.shape).astype(np.float32) for _ in range(2)]
    assert map_differences(*maps)["ranks"] < 0.01
