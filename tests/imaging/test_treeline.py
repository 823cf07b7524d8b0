"""Rows of trees cut out of a photograph without its sky, and planted in another."""

import cv2
import numpy as np

from instar.imaging.treeline import cut_tree, cut_treeline, lay_treelines

SKY = np.array([200, 220, 255], np.uint8)


def photograph():
    """A blue sky, and dark branches with sky between them from column 40 to 160 and row 30 to 100."""
    image = np.full((160, 200, 3), SKY, np.uint8)
    image[100:] = 90
    rng = np.random.default_rng(0)
    twigs = cv2.GaussianBlur(rng.normal(0, 1, (70, 120)).astype(np.float32), (0, 0), 1.5)
    image[30:100, 40:160] = np.where((twigs > -0.05)[..., None], np.array([70, 60, 50], np.uint8), SKY)
    trees, sky = np.zeros((160, 200), bool), np.ones((160, 200), bool)
    trees[30:100, 40:160] = True
    sky[trees] = False
    sky[100:] = False
    return image, trees, sky


def test_branches_cover_and_the_sky_between_them_does_not():
    image, trees, sky = photograph()
    pixels, upper = cut_treeline(image, trees, sky, 40, 160)
    cover = pixels[30 - upper : 100 - upper, :, 3]
    is_sky = (image[30:100, 40:160] == SKY).all(axis=2)
    assert (cover[is_sky] == 0).all()
    assert (cover[~is_sky] == 255).all()


def test_trees_behind_which_no_sky_is_seen_dark_as_an_outline_are_none():
    image, trees, sky = photograph()
    image[30:100, 40:160] = 8
    assert cut_treeline(image, trees, sky, 40, 160) is None


def test_trees_hidden_by_something_to_half_their_height_are_none():
    image, trees, sky = photograph()
    trees[50:100, 40:90] = False
    assert cut_treeline(image, trees, sky, 40, 160) is None


def test_only_what_may_change_changes_and_trees_stand_where_they_are_wanted():
    image, trees, sky = photograph()
    row = cut_treeline(image, trees, sky, 40, 160)
    empty = np.full((160, 400, 3), SKY, np.uint8)
    may = np.zeros((160, 400), np.float32)
    may[:100] = 1
    wanted = np.zeros(400, bool)
    wanted[200:] = True
    planted, cover, ends = lay_treelines(empty, may, wanted, [row], np.random.default_rng(1))
    changed = (planted != empty).any(axis=2)
    assert not changed[100:].any()
    assert not changed[:, :60].any()
    assert changed[30:100, 220:380].mean() > 0.3
    assert not changed[cover == 0].any()
    assert np.median(ends[220:380]) == 100


def test_a_single_tree_has_branches_with_nothing_between_and_stands_on_a_trunk():
    image, trees, sky = photograph()
    row, _ = cut_treeline(image, trees, sky, 40, 160)
    tree = cut_tree(row, np.random.default_rng(2))
    height, width = tree.shape[:2]
    cover = tree[..., 3] / 255
    crown = cover[round(0.2 * height) : round(0.5 * height), width // 4 : -width // 4]
    assert 0.3 < crown.mean() < 0.8
    assert (crown == 0).any()
    foot = np.flatnonzero(cover[-1] > 0.5)
    assert 1 <= len(foot) < 0.1 * width
    assert abs(foot.mean() - (width - 1) / 2) < 2
    assert not cover[0, : width // 5].any(), "its corners are empty"
    assert tree[-1, foot, :3].mean() < 70, "the trunk is no lighter than branches"


def test_no_tree_is_made_of_a_hedge_or_of_a_few_columns():
    hedge = np.full((90, 120, 4), (60, 70, 50, 255), np.uint8)
    assert cut_tree(hedge, np.random.default_rng(0)) is None
    image, trees, sky = photograph()
    row, _ = cut_treeline(image, trees, sky, 40, 160)
    assert cut_tree(row[:, :30], np.random.default_rng(0)) is None
