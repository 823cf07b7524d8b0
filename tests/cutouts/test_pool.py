from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.cutouts import CutOut, Pool, load_pool
from instar.cutouts.pool import save_pool, write_cutout


def cutout(name: str, label: str = "car", scene: str = "a.jpg", hash: int = 0) -> CutOut:
    return CutOut(name, label, scene, 40, 40, 1600, hash)


def pixels(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (12, 9, 4), np.uint8)


def test_the_nearest_hash_wins_and_a_tie_goes_to_the_first_digest(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [cutout("c", hash=0b111), cutout("b", hash=0b1), cutout("a", hash=0b10)])
    assert pool.nearest_few("car", 0b110, not_from="", most=1)[0].digest == "a"
    assert pool.nearest_few("car", 0b0, not_from="", most=1)[0].digest == "a"
    assert pool.nearest_few("car", 0b111, not_from="", most=1)[0].digest == "c"


def test_a_cut_out_never_goes_back_into_its_own_scene(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [cutout("a", scene="a.jpg"), cutout("b", scene="b.jpg", hash=2**64 - 1)])
    assert pool.nearest_few("car", 0, not_from="a.jpg", most=1)[0].digest == "b"
    assert Pool(tmp_path, [cutout("a")]).nearest_few("car", 0, not_from="a.jpg", most=1) == ()


def test_classes_are_the_same_only_when_their_names_are(tmp_path: Path) -> None:
    pool = Pool(tmp_path, [cutout("a", label="carrot")])
    assert pool.nearest_few("car", 0, not_from="", most=1) == ()
    assert ("car" in pool, "carrot" in pool) == (False, True)


def test_a_saved_pool_is_loaded_equal(tmp_path: Path) -> None:
    names = [write_cutout(tmp_path, pixels(seed)) for seed in range(3)]
    kept = [cutout(name, hash=2**64 - 1 - i) for i, name in enumerate(names)]
    save_pool(tmp_path, kept)
    pool = load_pool(tmp_path)
    assert set(pool.cutouts) == set(kept)
    assert len(pool) == 3
    for seed, name in enumerate(names):
        np.testing.assert_array_equal(pool.pixels(name), pixels(seed))


def test_threads_see_the_same_pixels(tmp_path: Path) -> None:
    names = [write_cutout(tmp_path, pixels(seed)) for seed in range(8)]
    pool = Pool(tmp_path, [cutout(name) for name in names])
    with ThreadPoolExecutor(4) as threads:
        for i, seen in enumerate(threads.map(pool.pixels, names * 10)):
            np.testing.assert_array_equal(seen, pixels(i % 8))


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (None, "is no pool of cut-outs: it has no index.json"),
        ("{", "is not JSON"),
        ("[]", "is damaged"),
        ('{"format": 1}', "is damaged"),
        ('{"format": 1, "cutouts": [{"digest": "a"}]}', "is damaged"),
        ('{"format": 9, "cutouts": []}', "has format 9; this instar reads 1"),
    ],
)
def test_a_folder_that_is_no_whole_pool_is_refused(tmp_path: Path, index: str | None, message: str) -> None:
    write_cutout(tmp_path, pixels(0))
    if index is not None:
        (tmp_path / "index.json").write_text(index)
    with pytest.raises(BadInput, match=message) as refused:
        load_pool(tmp_path)
    assert "\n" not in str(refused.value)


def test_pixels_that_are_gone_or_changed_are_refused(tmp_path: Path) -> None:
    name, other = write_cutout(tmp_path, pixels(0)), write_cutout(tmp_path, pixels(1))
    pool = Pool(tmp_path, [cutout(name), cutout(other)])
    (tmp_path / f"{name}.png").unlink()
    (tmp_path / f"{other}.png").write_bytes(
        (tmp_path / f"{write_cutout(tmp_path, pixels(2))}.png").read_bytes()
    )
    with pytest.raises(BadInput, match="is missing from the pool"):
        pool.pixels(name)
    with pytest.raises(BadInput, match="is not the cut-out it was"):
        pool.pixels(other)
    with pytest.raises(BadInput, match="is missing from the pool"):
        pool.pixels("../secret")


def test_the_index_is_readable_json(tmp_path: Path) -> None:
    save_pool(tmp_path, [cutout("a", hash=2**63)])
    assert json.loads((tmp_path / "index.json").read_text())["cutouts"][0]["hash"] == 2**63


def test_the_nearest_few_come_in_order_and_never_from_the_same_scene(tmp_path: Path) -> None:
    pool = Pool(
        tmp_path,
        [
            cutout("a", hash=0b111, scene="x"),
            cutout("b", hash=0b1, scene="x"),
            cutout("c", hash=0b0, scene="y"),
        ],
    )
    few = pool.nearest_few("car", 0, not_from="", most=2)
    assert [one.digest for one in few] == ["c", "b"]
    assert [one.digest for one in pool.nearest_few("car", 0, not_from="y", most=5)] == ["b", "a"]
