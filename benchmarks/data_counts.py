"""Counts of pictures and boxes, read here and by each format's own tool.

In an environment with datumaro, datasets and webdataset (any of them), from pictures with labels of YOLO:

    python data_counts.py write PICTURES LABELS OUT

and then, where instar is installed:

    python data_counts.py count OUT
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

DATUMARO = ("coco_instances", "voc_detection", "yolo_ultralytics", "kitti_detection", "cvat", "open_images")
Rows = list[tuple[Path, list[tuple[int, list[float]]]]]


def rows_of(pictures: Path, labels: Path) -> Rows:
    """Pictures with their boxes: class, and x, y, width and height in pixels."""
    from PIL import Image

    found = []
    for picture in sorted(pictures.glob("*.jpg")):
        with Image.open(picture) as opened:
            width, height = opened.size
        file = labels / f"{picture.stem}.txt"
        boxes = []
        for line in file.read_text().splitlines() if file.is_file() else []:
            number, x, y, w, h = map(float, line.split())
            boxes.append((int(number), [(x - w / 2) * width, (y - h / 2) * height, w * width, h * height]))
        found.append((picture, boxes))
    return found


def write_datumaro(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    import datumaro
    from datumaro.components.annotation import AnnotationType, Bbox
    from datumaro.components.dataset_base import DatasetItem
    from datumaro.components.media import Image

    number = 0
    for format in DATUMARO:
        items = []
        for k, (picture, boxes) in enumerate(rows):
            things = []
            for label, (x, y, w, h) in boxes:
                number += 1
                extra = {"attributes": {"occluded": False}, "id": number, "group": number}
                things.append(Bbox(x, y, w, h, label=label, **extra))
            part = "val" if format == "yolo_ultralytics" and k % 2 else "train"
            media = Image.from_file(path=str(picture))
            items.append(DatasetItem(id=picture.stem, subset=part, media=media, annotations=things))
        folder = str(out / format)
        made = datumaro.Dataset.from_iterable(items, categories=names)
        made.export(folder, format, save_media=True)
        # It does not read its own layout of Ultralytics again: there what it wrote is counted.
        back = made if format == "yolo_ultralytics" else datumaro.Dataset.import_from(folder, format)
        boxes_read = [a for item in back for a in item.annotations if a.type == AnnotationType.bbox]
        yield format, f"datumaro {datumaro.__version__}", len(back), len(boxes_read)


def write_datasets(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    import datasets

    entries = [
        {"image": str(picture), "objects": {"bbox": [b for _, b in boxes], "category": [n for n, _ in boxes]}}
        for picture, boxes in rows
    ]
    objects = {"bbox": [[datasets.Value("float32")]], "category": [datasets.ClassLabel(names=names)]}
    features = datasets.Features({"image": datasets.Image(), "objects": objects})
    made = datasets.Dataset.from_list(entries, features=features)
    made.save_to_disk(str(out / "datasets-disk"))
    (out / "datasets-parquet").mkdir()
    made.to_parquet(str(out / "datasets-parquet" / "train.parquet"))
    back = datasets.load_from_disk(str(out / "datasets-disk"))
    number = sum(len(one["category"]) for one in back["objects"])
    for name in ("datasets-disk", "datasets-parquet"):
        yield name, f"datasets {datasets.__version__}", len(back), number


def write_webdataset(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    import webdataset

    (out / "webdataset").mkdir()
    with webdataset.ShardWriter(str(out / "webdataset" / "shard-%06d.tar"), maxcount=20) as writer:
        for picture, boxes in rows:
            told = {"bbox": [box for _, box in boxes], "categories": [names[n] for n, _ in boxes]}
            entry = {"__key__": picture.stem, "jpg": picture.read_bytes(), "json": {"objects": told}}
            writer.write(entry)
    shards = [str(path) for path in sorted((out / "webdataset").glob("*.tar"))]
    back = list(webdataset.WebDataset(shards, shardshuffle=False).decode())
    number = sum(len(one["json"]["objects"]["bbox"]) for one in back)
    yield "webdataset", f"webdataset {webdataset.__version__}", len(back), number


def write(pictures: str, labels: str, out: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows_of(Path(pictures), Path(labels))
    most = max((number for _, boxes in rows for number, _ in boxes), default=0)
    names = [f"class-{number}" for number in range(most + 1)]
    file = folder / "counts.json"
    counts: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    writers: list[Callable[..., Iterator[tuple[str, str, int, int]]]]
    writers = [write_datumaro, write_datasets, write_webdataset]
    for writer in writers:
        with contextlib.suppress(ImportError):
            counts |= {name: told for name, *told in writer(rows, names, folder)}
    file.write_text(json.dumps(counts, indent=1))


def count(out: str) -> None:
    from instar.scenes import load_scenes

    print("| format | written and counted by | pictures | boxes | pictures here | boxes here |")
    print("|---|---|--:|--:|--:|--:|")
    for name, (tool, pictures, boxes) in json.loads((Path(out) / "counts.json").read_text()).items():
        scenes = load_scenes(str(Path(out) / name))
        here = sum(len(scene.objects or ()) for scene in scenes)
        print(f"| {name} | {tool} | {pictures} | {boxes} | {len(scenes)} | {here} |")


if __name__ == "__main__":
    {"write": write, "count": count}[sys.argv[1]](*sys.argv[2:])
