"""Small data sets in the layouts that people have, for the tests of their loaders."""

from __future__ import annotations

import base64
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from instar.imaging.codecs import encode_png

HEIGHT, WIDTH = 40, 60
SHADES = np.tile(np.arange(WIDTH, dtype=np.uint8), (HEIGHT, 1))


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_png(np.dstack([SHADES] * 3)))
    return path


def put(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def write_kitti(root: Path) -> Path:
    picture(root / "training/image_2/000007.png")
    picture(root / "training/image_2/000008.png")
    rest = "1.6 1.7 3.9 1.0 1.5 20.0 1.6"
    lines = [f"Car 0.00 0 -1.6 10.00 5.00 30.50 25.00 {rest}", f"DontCare -1 -1 -10 1 2 3 4 {rest}"]
    put(root / "training/label_2/000007.txt", "\n".join(lines))
    return root


def write_bdd100k(root: Path) -> Path:
    picture(root / "images/100k/val/a.png")
    picture(root / "images/100k/val/b.png")
    lane = {"category": "lane", "poly2d": [{"vertices": [[0, 0], [5, 5]]}]}
    car = {"category": "car", "box2d": {"x1": 10, "y1": 5, "x2": 30.5, "y2": 25}}
    return put(root / "labels/det_val.json", [{"name": "a.png", "labels": [car, lane]}, {"name": "b.png"}])


def write_open_images(root: Path) -> Path:
    picture(root / "images/a.png")
    heading = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf"
    rows = ["a,xclick,/m/0k4j,1,0.25,0.5,0.125,0.625,0,0,0", "elsewhere,xclick,/m/0k4j,1,0,1,0,1,0,0,1"]
    put(root / "class-descriptions-boxable.csv", "/m/0k4j,Car\n")
    return put(root / "validation-annotations-bbox.csv", "\n".join([heading, *rows]))


def write_labelme(root: Path) -> Path:
    picture(root / "a.png")
    polygon = {"label": "car", "points": [[15, 5], [30, 5], [30, 25], [15, 25]], "shape_type": "polygon"}
    line = {"label": "lane", "points": [[0, 0], [5, 5]], "shape_type": "line"}
    said = {
        "shapes": [polygon, line],
        "imagePath": "..\\\\far\\\\a.png",
        "imageHeight": HEIGHT,
        "imageWidth": WIDTH,
    }
    put(root / "a.json", said)
    return root


def write_cvat(root: Path) -> Path:
    picture(root / "images/a.png")
    shapes = (
        '<box label="car" xtl="15" ytl="5" xbr="30" ybr="25" occluded="0"/>'
        '<polyline label="lane" points="0,0;5,5"/>'
    )
    image = f'<image id="0" name="a.png" width="{WIDTH}" height="{HEIGHT}">{shapes}</image>'
    put(root / "annotations.xml", f"<annotations><version>1.1</version>{image}</annotations>")
    return root


def write_fiftyone(root: Path) -> Path:
    picture(root / "data/a.png")
    box = {"label": 1, "bounding_box": [0.25, 0.125, 0.25, 0.5]}
    put(root / "labels.json", {"classes": ["bus", "car"], "labels": {"a": [box]}})
    return root


def write_image_folder(root: Path) -> Path:
    picture(root / "train/a.png")
    objects = {"bbox": [[15, 5, 15, 20]], "categories": ["car"]}
    put(root / "train/metadata.jsonl", json.dumps({"file_name": "a.png", "objects": objects}))
    return root


def write_nuimages(root: Path) -> Path:
    picture(root / "samples/CAM_FRONT/a.png")
    picture(root / "sweeps/CAM_FRONT/b.png")
    tables = root / "v1.0-mini"
    frames = [("one", "samples/CAM_FRONT/a.png", True), ("two", "sweeps/CAM_FRONT/b.png", False)]
    put(
        tables / "sample_data.json",
        [
            {"token": token, "filename": name, "is_key_frame": key, "height": HEIGHT, "width": WIDTH}
            for token, name, key in frames
        ],
    )
    put(tables / "category.json", [{"token": "c", "name": "vehicle.car"}])
    runs = base64.b64encode(b"PQ2").decode()
    box = {"token": "o", "sample_data_token": "one", "category_token": "c", "bbox": [15, 5, 30, 25]}
    put(tables / "object_ann.json", [box | {"mask": {"size": [HEIGHT, WIDTH], "counts": runs}}])
    return root


def write_web_dataset(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    entry = {"objects": {"bbox": [[15, 5, 15, 20]], "categories": ["car"]}}
    with tarfile.open(root / "shard-000000.tar", "w") as shard:
        for name, data in (
            ("a.png", encode_png(np.dstack([SHADES] * 3))),
            ("a.json", json.dumps(entry).encode()),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            shard.addfile(member, io.BytesIO(data))
    return root


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "kitti": (write_kitti, "training/label_2/000007.txt"),
    "bdd100k": (write_bdd100k, "labels/det_val.json"),
    "open-images": (write_open_images, "validation-annotations-bbox.csv"),
    "labelme": (write_labelme, "a.json"),
    "cvat": (write_cvat, "annotations.xml"),
    "fiftyone": (write_fiftyone, "labels.json"),
    "image-folder": (write_image_folder, "train/metadata.jsonl"),
    "nuimages": (write_nuimages, "v1.0-mini/object_ann.json"),
    "web-dataset": (write_web_dataset, "shard-000000.tar"),
}
"""What writes each of them, and the file that its annotations are in."""
