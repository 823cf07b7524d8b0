"""What the formats' own tools write is read here, box by box; each tool is tried where it is installed."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from instar.imaging.codecs import encode_png
from instar.scenes import load_scenes
from instar.worlds import street

FILE = Path(__file__).parents[2] / "benchmarks" / "data_counts.py"
WRITERS = ("datumaro", "datasets", "webdataset", "nuimages", "nuscenes", "bdd100k", "fiftyone", "cityscapes")
FARTHEST = {"voc_detection": 1.0, "nuimages": 0.5}  # it counts from 1; whole pixels


@pytest.fixture(scope="module")
def counts():
    spec = importlib.util.spec_from_file_location("data_counts", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Drawn streets with their boxes, as `data_counts` passes them."""
    folder, found = tmp_path_factory.mktemp("pictures"), []
    for scene in street.scenes(3, size=(240, 320)):
        picture = folder / f"{scene.id}.jpg"
        picture.write_bytes(encode_png(scene.image))
        boxes = [(n % 2, [x1, y1, x2 - x1, y2 - y1]) for n, (x1, y1, x2, y2) in boxes_of(scene)]
        found.append((picture, boxes))
    return found


def boxes_of(scene):
    return enumerate(thing.box for thing in scene.objects)


@pytest.mark.real
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.filterwarnings("default")
def test_what_a_tool_writes_is_read_here(name, counts, rows, tmp_path):
    names = ["class-0", "class-1"]
    try:
        told = list(getattr(counts, f"write_{name}")(rows, names, tmp_path))
    except ImportError as missing:
        pytest.skip(f"{missing.name} is not installed: it is no part of our environment")
    written = [[names[n], [x, y, x + w, y + h]] for _, boxes in rows for n, (x, y, w, h) in boxes]
    for format, tool, pictures, boxes in told:
        scenes = load_scenes(tmp_path / format)
        things = [one for scene in scenes for one in scene.objects if not one.crowd]
        assert (len(scenes), len(things)) == (pictures, boxes), json.dumps([format, tool])
        if format != "cityscapes":  # whose names are its own
            far = counts.farthest(written, [(one.label, one.box) for one in things])
            assert far <= FARTHEST.get(format, 0.01), format
