"""Folders of pictures become scenes, lazily and in order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from instar.core.errors import BadInput, UnreadablePicture
from instar.imaging.codecs import encode_png
from instar.scenes import folder

PICTURE = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)


def put(path: Path, data: bytes = encode_png(PICTURE)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_all_pictures_below_are_found_and_sorted_by_their_path(tmp_path):
    for name in (
        "b.jpg",
        "a.PNG",
        "sub/c.webp",
        "sub/deep/d.Tiff",
        "Z.gif",
        "e.ppm",
        "f.bmp",
        "g.tif",
        "h.jpeg",
    ):
        put(tmp_path / name)
    for name in ("notes.txt", "a.json", ".hidden.png", ".git/x.png", "sub/.thumbs/y.jpg", "noext"):
        put(tmp_path / name)
    (tmp_path / "folder.png").mkdir()
    scenes = folder(tmp_path)
    assert [scene.id for scene in scenes] == [
        "Z.gif", "a.PNG", "b.jpg", "e.ppm", "f.bmp", "g.tif", "h.jpeg", "sub/c.webp", "sub/deep/d.Tiff",
    ]  # fmt: skip
    assert [scene.objects for scene in scenes] == [None] * 9


def test_a_scene_is_read_when_asked_and_says_why_it_cannot(tmp_path):
    put(tmp_path / "a.png")
    put(tmp_path / "b.png", encode_png(PICTURE)[:-10])
    put(tmp_path / "c.png", b"")
    good, cut, empty = folder(tmp_path)
    np.testing.assert_array_equal(good.image, PICTURE)
    with pytest.raises(UnreadablePicture, match=r"^truncated$"):
        cut.read()
    with pytest.raises(UnreadablePicture, match=r"^empty file$"):
        empty.read()
    (tmp_path / "a.png").unlink()
    with pytest.raises(UnreadablePicture, match=r"^missing$"):
        good.read()


def test_one_picture_file_is_one_scene(tmp_path):
    (scene,) = folder(str(put(tmp_path / "one.png")))
    assert scene.id == "one.png"
    np.testing.assert_array_equal(scene.image, PICTURE)


def test_the_limit_takes_the_first(tmp_path):
    for name in ("c.png", "a.png", "b.png"):
        put(tmp_path / name)
    assert [scene.id for scene in folder(tmp_path, limit=2)] == ["a.png", "b.png"]
    assert len(folder(tmp_path, limit=9)) == 3
    for limit in (0, -1):
        with pytest.raises(BadInput, match=f"limit {limit} leaves no scene"):
            folder(tmp_path, limit=limit)


def test_links_are_followed_but_not_in_circles(tmp_path):
    put(tmp_path / "elsewhere" / "a.png")
    (tmp_path / "set" / "sub").mkdir(parents=True)
    os.symlink(tmp_path / "elsewhere", tmp_path / "set" / "linked")
    os.symlink(tmp_path / "set", tmp_path / "set" / "sub" / "round")
    assert [scene.id for scene in folder(tmp_path / "set")] == ["linked/a.png"]


def test_pictures_of_findings_in_run_folders_are_no_scenes(tmp_path):
    put(tmp_path / "a.png")
    put(tmp_path / "runs" / "net" / "run.sqlite", b"")
    put(tmp_path / "runs" / "net" / "pictures" / "0a" / "0a1b.jpg")
    assert [scene.id for scene in folder(tmp_path)] == ["a.png"]
    assert [scene.id for scene in folder(tmp_path / "runs" / "net" / "pictures")] == ["0a/0a1b.jpg"]


def test_what_cannot_be_loaded_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"nowhere does not exist"):
        folder(tmp_path / "nowhere")
    put(tmp_path / "notes.txt")
    with pytest.raises(BadInput, match=r"^no picture below .*; expected \.bmp, \.gif, \.jpeg, \.jpg, \.png"):
        folder(tmp_path)
    with pytest.raises(BadInput, match=r"notes\.txt is not a picture by its name"):
        folder(tmp_path / "notes.txt")


def test_ten_thousand_scenes_hold_no_pixels_and_open_no_file(tmp_path, monkeypatch):
    for i in range(10_000):
        (tmp_path / f"{i:05}.png").touch()

    def refuse(*args, **kwargs):
        raise AssertionError("a file was opened")

    monkeypatch.setattr("builtins.open", refuse)
    scenes = folder(tmp_path)
    assert len(scenes) == 10_000
    assert scenes[-1].id == "09999.png"


def test_importing_the_loaders_does_not_import_opencv():
    code = "import sys, instar.scenes; sys.exit('cv2' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": os.pathsep.join(sys.path)}).returncode
        == 0
    )
