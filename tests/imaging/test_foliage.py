"""Leaves of real trees, spread over a larger area."""

import numpy as np

from instar.imaging.foliage import cut_leaves, edge_of, lay_leaves


def street():
    """A bright sky over dark, speckled trees, with a gap in them that shows the sky."""
    rng = np.random.default_rng(0)
    image = np.full((160, 200, 3), 230, np.uint8)
    trees = np.zeros((160, 200), np.bool_)
    trees[60:] = True
    image[60:] = rng.integers(10, 110, (100, 200, 1))
    image[100:120, 20:40] = 230
    return image, trees


def test_leaves_come_from_trees_without_sky_and_not_from_plain_walls():
    image, trees = street()
    leaves = cut_leaves(image, trees, ~trees)
    assert leaves is not None
    assert min(leaves.shape[:2]) >= 48
    assert leaves.max() <= 110
    image[60:] = 80
    assert cut_leaves(image, trees, ~trees) is None


def test_leaves_change_nothing_outside_and_look_like_those_they_come_from():
    image, trees = street()
    leaves = cut_leaves(image, trees, ~trees)
    where = np.zeros(trees.shape, np.bool_)
    where[20:90, 10:190] = True
    laid = lay_leaves(image, where, leaves, np.random.default_rng(1))
    assert (laid == image)[~where].all()
    inner = laid[50:80, 40:160]
    assert abs(inner.mean() - leaves.mean()) < 30
    assert 0.6 < inner.std() / leaves.std() < 1.6
    np.testing.assert_array_equal(lay_leaves(image, where, leaves, np.random.default_rng(1)), laid)


def test_sky_is_seen_between_the_outermost_branches_only():
    _, trees = street()
    edge = edge_of(trees, ~trees)
    assert edge[62].all()
    assert not edge[90].any()
