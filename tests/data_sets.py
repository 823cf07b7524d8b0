"""Small data sets in the layouts that people have, for the tests of their loaders."""

from __future__ import annotations

import base64
import io
import json
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
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
    car = {"category": "car", "box2d": {"x1": 10, "y1": 5, "x2": 29.5, "y2": 24}}
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


PART = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]], np.uint8)
"""A mask of its box."""


def write_labelme_masks(root: Path) -> Path:
    write_labelme(root)
    png = base64.b64encode(encode_png(np.dstack([PART] * 3))).decode()
    said = json.loads((root / "a.json").read_text())
    said["shapes"] = [
        {"label": "car", "points": [[10, 20], [14, 21]], "shape_type": "mask", "mask": png},
        {"label": "bus", "points": [[9, 8], [1, 8], [1, 2], [9, 2]], "shape_type": "rectangle"},
    ]
    put(root / "a.json", said)
    return root


def write_cvat_masks(root: Path) -> Path:
    write_cvat(root)
    shapes = (
        '<mask label="car" rle="2, 3, 4, 1" left="10" top="20" width="5" height="2"/>'
        '<box label="bus" xtl="0" ytl="4" xbr="10" ybr="6" rotation="90.0"/>'
    )
    file = root / "annotations.xml"
    put(file, re.sub("<box.*/>", shapes, file.read_text()))
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


def write_cityscapes(root: Path) -> Path:
    """A car whose right third a pole hides, and cars that nobody told apart."""
    stem = "town_000001_000019"
    picture(root / f"leftImg8bit/val/town/{stem}_leftImg8bit.png")
    maps = root / "gtFine/val/town"
    maps.mkdir(parents=True)
    (maps / f"{stem}_gtFine_labelIds.png").write_bytes(encode_png(np.full((HEIGHT, WIDTH), 26, np.uint8)))
    outlines = [
        ("car", (15, 5, 38, 24)), ("pole", (30, 0, 38, 39)), ("cargroup", (40, 5, 50, 9)),
        ("license plate", (16, 20, 20, 22)),
    ]  # fmt: skip
    shapes = [
        {"label": label, "polygon": [[x1, y1], [x2, y1], [x2, y2], [x1, y2]]}
        for label, (x1, y1, x2, y2) in outlines
    ]
    said = {"imgHeight": HEIGHT, "imgWidth": WIDTH, "objects": shapes}
    put(maps / f"{stem}_gtFine_polygons.json", said)
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


def write_nuscenes(root: Path) -> Path:
    write_nuimages(root)
    (root / "v1.0-mini" / "object_ann.json").unlink()
    box = {
        "sample_data_token": "one",
        "category_name": "vehicle.car",
        "bbox_corners": [15.0, 5.0, 30.0, 25.0],
    }
    put(root / "v1.0-mini" / "image_annotations.json", [box | {"filename": "samples/CAM_FRONT/a.png"}])
    return root


def write_hugging_face(root: Path) -> Path:
    """As `datasets` writes it, features and all."""
    import pyarrow
    from pyarrow import parquet

    root.mkdir(exist_ok=True)
    names = {"feature": {"names": ["bus", "car"], "_type": "ClassLabel"}, "_type": "Sequence"}
    features = {"image": {"_type": "Image"}, "objects": {"bbox": {"_type": "Sequence"}, "category": names}}
    table = pyarrow.table(
        {
            "image": [{"bytes": encode_png(np.dstack([SHADES] * 3)), "path": None}],
            "objects": [{"bbox": [[15.0, 5.0, 15.0, 20.0]], "category": [1]}],
        }
    )
    table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    parquet.write_table(table, root / "train-00000-of-00001.parquet")
    return root


def write_list(root: Path) -> Path:
    picture(root / "a.png")
    put(root / "pictures.txt", "# first\na.png\n")
    return root / "pictures.txt"


def write_video(root: Path) -> Path:
    root.mkdir(exist_ok=True)
    writer = cv2.VideoWriter(str(root / "drive.avi"), cv2.VideoWriter.fourcc(*"MJPG"), 10, (64, 48))
    for number in range(12):
        writer.write(np.full((48, 64, 3), 20 * number, np.uint8))
    writer.release()
    return root / "drive.avi"


FILES: dict[str, tuple[Callable[[Path], Path], str]] = {
    "kitti": (write_kitti, "training/label_2/000007.txt"),
    "bdd100k": (write_bdd100k, "labels/det_val.json"),
    "cityscapes": (write_cityscapes, "gtFine/val/town/town_000001_000019_gtFine_polygons.json"),
    "open-images": (write_open_images, "validation-annotations-bbox.csv"),
    "labelme": (write_labelme, "a.json"),
    "cvat": (write_cvat, "annotations.xml"),
    "labelme-masks": (write_labelme_masks, "a.json"),
    "cvat-masks": (write_cvat_masks, "annotations.xml"),
    "fiftyone": (write_fiftyone, "labels.json"),
    "image-folder": (write_image_folder, "train/metadata.jsonl"),
    "nuimages": (write_nuimages, "v1.0-mini/object_ann.json"),
    "nuscenes": (write_nuscenes, "v1.0-mini/image_annotations.json"),
    "hugging-face": (write_hugging_face, "train-00000-of-00001.parquet"),
    "list": (write_list, "pictures.txt"),
    "video": (write_video, "drive.avi"),
    "web-dataset": (write_web_dataset, "shard-000000.tar"),
}
"""What writes each of them, and the file that its annotations are in."""
