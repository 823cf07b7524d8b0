"""`instar pool`: built, kept, loaded again and looked at."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.cli import main
from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.workspace import no_progress
from instar.cutouts import load_pool
from instar.cutouts.outlines import SoftOutline
from instar.tasks.detection import Detections
from instar.tasks.detection.pool import pool_from_scenes
from instar.zoo import fetch


def told(capsys, *words: str) -> tuple[int, dict]:
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_pool_is_built_shown_and_used(tmp_path: Path, capsys) -> None:
    folder = str(tmp_path / "pool")
    status, built = told(capsys, "pool", "build", folder, "--scenes", "street:6", "--least", "3")
    assert (status, built["pool"]) == (0, folder)
    assert built["cutouts"] == len(load_pool(folder)) == sum(built["classes"].values()) > 5
    status, shown = told(capsys, "pool", "show", folder)
    assert status == 0
    assert len(shown["cutouts"]) == built["cutouts"]
    assert cv2.imread(shown["picture"]).shape[1] > 300
    label = shown["cutouts"][0]["label"]
    _, some = told(capsys, "pool", "show", folder, "--label", label, "--out", str(tmp_path / "some.png"))
    assert {one["label"] for one in some["cutouts"]} == {label}
    run = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:3"]
    status, _ = told(capsys, *run, "--pool", folder, "--budget", "60", "--out", str(tmp_path / "run"))
    assert status in (0, 1)
    assert not (tmp_path / "run" / "pool").exists()


@pytest.mark.parametrize(("pool", "judged"), [("bundled", True), ("scenes", False)])
def test_a_pool_may_be_what_comes_along_or_the_scenes_own(
    tmp_path: Path, capsys, monkeypatch, pool: str, judged: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / pool).mkdir()  # a folder of that name is no pool
    run = ["run", "--system", "street-exact", "--relation", "insertion", "--scenes", "street:1"]
    status, summary = told(capsys, *run, "--pool", pool, "--budget", "9", "--out", "run")
    assert (status, "error" in summary) == (0 if judged else 2, False)
    assert (summary["held"] > 0) is judged  # a single scene has no cut-outs from elsewhere


def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, capsys) -> None:
    pool = str(tmp_path / "pool")
    assert "needs --scenes" in told(capsys, "pool", "build", pool)[1]["error"]
    build = ("pool", "build", pool, "--scenes", "street:1")
    assert "did you mean 'grabcut'" in told(capsys, *build, "--outline", "grabcat")[1]["error"]
    assert "is no pool" in told(capsys, "pool", "show", pool)[1]["error"]
    assert "--keep is 0.0" in told(capsys, *build, "--keep", "0")[1]["error"]
    (tmp_path / "pool").mkdir()
    assert "exists; give another folder" in told(capsys, *build)[1]["error"]


class Segments:
    """A segmentation system: the red disc of a drawing, as a mask."""

    name = "segments"

    def predict(self, images):
        return [{"masks": [image[..., 0] > 150], "labels": ["ball"]} for image in images]


def disc(name: str) -> Scene:
    canvas = np.full((240, 320, 3), (40, 90, 60), np.uint8)
    return Scene.of(name, cv2.circle(canvas, (150, 120), 50, (220, 30, 30), -1))


def test_any_system_of_masks_gives_cut_outs(tmp_path: Path) -> None:
    pool = pool_from_scenes(
        [disc("a")], tmp_path / "p", objects=Segments(), outline="grabcut", progress=no_progress
    )
    (cutout,) = pool.cutouts
    assert (cutout.label, cutout.width, cutout.height) == ("ball", 101, 101)
    assert cutout.area == np.count_nonzero(disc("a").image[..., 0] > 150)

    class Wrong(Segments):
        def predict(self, images):
            return [{"masks": np.ones((1, 3, 3)), "labels": ["ball"]}]

    with pytest.raises(BadInput, match="segments cannot find objects to cut out"):
        pool_from_scenes(
            [disc("a")], tmp_path / "q", objects=Wrong(), outline="grabcut", progress=no_progress
        )


class Boxes(Segments):
    """The same disc as a box, whose outline has to be guessed."""

    def predict(self, images):
        return [self.around(image[..., 0].astype(int) - image[..., 1] > 100) for image in images]

    def around(self, red):
        ys, xs = np.nonzero(red)
        box = np.float32([[xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]])
        return Detections(box, ("ball",), np.float32([0.9]))


def test_what_is_rendered_is_cut_out_by_masks_alone(tmp_path: Path) -> None:
    make = partial(pool_from_scenes, [disc("a")], outline="grabcut", progress=no_progress)
    assert len(make(tmp_path / "a", objects=Boxes())) == 1
    assert len(make(tmp_path / "b", objects=Boxes(), rendered={"sports ball", "ball"})) == 0
    assert len(make(tmp_path / "c", objects=Segments(), rendered={"sports ball", "ball"})) == 1


@pytest.mark.parametrize(("quality", "cutouts"), [(0.95, 1), (0.5, 0)])
def test_outlines_by_sam_2_count_as_masks_where_it_is_sure(
    tmp_path: Path, monkeypatch, quality: float, cutouts: int
) -> None:
    def outline(picture, box):
        return SoftOutline((picture[..., 0] > 150).astype(np.uint8) * np.uint8(255), quality)

    monkeypatch.setattr("instar.tasks.detection.pool.sam2_outliner", lambda: outline)
    pool = pool_from_scenes(
        [disc("a")], tmp_path / "a", objects=Boxes(), outline="sam2", rendered={"ball"}, progress=no_progress
    )
    assert len(pool) == cutouts


@pytest.mark.real  # 42 MB are fetched
def test_u2net_p_outlines_what_a_photograph_is_of() -> None:
    from instar.tasks.detection.pool import find_outline

    (path,) = fetch("person")
    image = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
    outline = find_outline("u2net-p")
    for box, least, most in [((61, 264, 201, 350), 0.35, 0.75), ((189, 97, 277, 373), 0.3, 0.75)]:
        mask = outline(image, box)
        assert mask is not None
        x1, y1, x2, y2 = box
        assert least < mask[y1:y2, x1:x2].mean() < most
        assert not mask[: y1 - 1].any()
        ys, xs = np.nonzero(mask)
        assert (ys.max() - ys.min()) > 0.85 * (y2 - y1)
        assert (xs.max() - xs.min()) > 0.8 * (x2 - x1)
