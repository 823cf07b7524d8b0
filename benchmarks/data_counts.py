"""Counts of pictures and boxes, read here and by each format's own tool, and how far the boxes differ.

In environments with datumaro, datasets, webdataset, nuscenes-devkit, scalabel, cityscapesscripts and fiftyone
(any of them; what was counted before is kept), from pictures with labels of YOLO:

    python data_counts.py write PICTURES LABELS OUT

and then, where instar is installed:

    python data_counts.py count OUT
"""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
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


def copied(picture: Path, folder: Path) -> tuple[int, int]:
    """Put a picture into a folder; its width and height."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(picture, folder / picture.name)
    with Image.open(picture) as opened:
        return opened.size


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def write_nuimages(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    """Tables after its schema, which its devkit reads and checks."""
    from nuimages import NuImages
    from nuimages.utils.utils import mask_decode
    from pycocotools.mask import encode

    root, frames, objects = out / "nuimages", [], []
    for picture, boxes in rows:
        width, height = copied(picture, root / "samples" / "CAM_FRONT")
        name, token = f"samples/CAM_FRONT/{picture.name}", picture.stem
        size = {"height": height, "width": width, "is_key_frame": True, "fileformat": "jpg"}
        links = {"sample_token": f"s{token}", "ego_pose_token": "e", "calibrated_sensor_token": "k"}
        frames.append(
            {"token": token, "filename": name, "timestamp": 0, "prev": "", "next": ""} | size | links
        )
        for number, box in boxes:
            runs = encode(filled(box, height, width))
            counts = base64.b64encode(runs["counts"]).decode()
            about = {"token": f"o{len(objects)}", "sample_data_token": token, "category_token": f"c{number}"}
            mask = {"size": [height, width], "counts": counts}
            objects.append(about | {"attribute_tokens": [], "bbox": corners(box), "mask": mask})
    samples = [
        {"token": f"s{one['token']}", "timestamp": 0, "log_token": "l", "key_camera_token": one["token"]}
        for one in frames
    ]
    tables = {"sample_data": frames, "object_ann": objects, "sample": samples} | categories(names)
    tables |= {"attribute": [], "ego_pose": [], "log": [], "surface_ann": []}
    tables |= {"calibrated_sensor": [{"token": "k", "sensor_token": "x"}]}
    tables |= {"sensor": [{"token": "x", "channel": "CAM_FRONT", "modality": "camera"}]}
    for table, content in tables.items():
        put(root / "v1.0-val" / f"{table}.json", content)
    read = NuImages(version="v1.0-val", dataroot=str(root), lazy=False)
    assert all(mask_decode(one["mask"]).any() for one in read.object_ann)
    yield "nuimages", version_of("nuscenes-devkit"), len(read.sample_data), len(read.object_ann)


def write_nuscenes(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    """Flat things in space, which its own script projects into the pictures."""
    import nuscenes

    root, focal, far = out / "nuscenes", 1000.0, 10.0
    frames, samples, sensors, things, instances = [], [], [], [], []
    for picture, boxes in rows:
        width, height = copied(picture, root / "samples" / "CAM_FRONT")
        token = picture.stem
        matrix = [[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]]
        here = {"translation": [0, 0, 0], "rotation": [1, 0, 0, 0]}
        sensors.append({"token": f"k{token}", "sensor_token": "x", "camera_intrinsic": matrix} | here)
        samples.append({"token": f"s{token}", "timestamp": 0, "prev": "", "next": "", "scene_token": "n"})
        links = {"sample_token": f"s{token}", "ego_pose_token": "e", "calibrated_sensor_token": f"k{token}"}
        name = {"filename": f"samples/CAM_FRONT/{picture.name}", "fileformat": "jpg", "is_key_frame": True}
        size = {"height": height, "width": width, "timestamp": 0, "prev": "", "next": ""}
        frames.append({"token": token} | links | name | size)
        for number, (x, y, w, h) in boxes:
            one = f"{len(things)}"
            centre = [(x + w / 2 - width / 2) * far / focal, (y + h / 2 - height / 2) * far / focal, far]
            extent = {"translation": centre, "rotation": [1, 0, 0, 0]}
            extent |= {"size": [h * far / focal, w * far / focal, 1e-6]}  # its width is along y
            said = {"visibility_token": "4", "attribute_tokens": [], "num_lidar_pts": 1, "num_radar_pts": 0}
            about = {"token": f"o{one}", "sample_token": f"s{token}", "instance_token": f"i{one}"}
            things.append(about | extent | said | {"prev": "", "next": ""})
            instances.append({"token": f"i{one}", "category_token": f"c{number}"})
    tables = {"sample_data": frames, "sample": samples, "calibrated_sensor": sensors}
    tables |= {"map": [{"token": "m", "filename": "", "log_tokens": []}]}
    tables |= {
        "sample_annotation": things,
        "instance": instances,
        "attribute": [],
        "log": [],
        "visibility": [],
    }
    tables |= {"sensor": [{"token": "x", "channel": "CAM_FRONT", "modality": "camera"}]} | categories(names)
    tables |= {"ego_pose": [{"token": "e", "translation": [0, 0, 0], "rotation": [1, 0, 0, 0]}]}
    tables |= {"scene": [{"token": "n", "log_token": "l", "name": "n"}]}
    for table, content in tables.items():
        put(root / "v1.0-mini" / f"{table}.json", content)
    script = Path(nuscenes.__file__).parent / "scripts" / "export_2d_annotations_as_json.py"
    words = ["--dataroot", str(root), "--version", "v1.0-mini"]
    subprocess.run([sys.executable, str(script), *words], check=True, capture_output=True)
    projected = json.loads((root / "v1.0-mini" / "image_annotations.json").read_text())
    told = len({one["filename"] for one in projected}), len(projected)
    yield "nuscenes", version_of("nuscenes-devkit"), *told


def write_bdd100k(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    """By Scalabel, which BDD100K's labels are made and read with."""
    from scalabel.label.io import load, save
    from scalabel.label.transforms import bbox_to_box2d
    from scalabel.label.typing import Frame, Label

    root, frames, number = out / "bdd100k", [], 0
    for picture, boxes in rows:
        copied(picture, root / "images" / "100k" / "val")
        labels = []
        for label, box in boxes:
            number += 1
            labels.append(Label(id=str(number), category=names[label], box2d=bbox_to_box2d(box)))
        frames.append(Frame(name=picture.name, labels=labels))
    (root / "labels").mkdir(exist_ok=True)
    save(str(root / "labels" / "det_val.json"), frames)
    back = load(str(root / "labels" / "det_val.json"), nprocs=1).frames
    yield "bdd100k", version_of("scalabel"), len(back), sum(len(one.labels or ()) for one in back)


def write_fiftyone(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    import fiftyone
    from PIL import Image

    made, kind = fiftyone.Dataset(), fiftyone.types.FiftyOneImageDetectionDataset
    for picture, boxes in rows:
        with Image.open(picture) as opened:
            width, height = opened.size
        found = [
            fiftyone.Detection(label=names[n], bounding_box=[x / width, y / height, w / width, h / height])
            for n, (x, y, w, h) in boxes
        ]
        sample = fiftyone.Sample(filepath=str(picture.resolve()))
        sample["ground_truth"] = fiftyone.Detections(detections=found)
        made.add_sample(sample)
    folder = str(out / "fiftyone")
    made.export(export_dir=folder, dataset_type=kind, label_field="ground_truth")
    back = fiftyone.Dataset.from_dir(dataset_dir=folder, dataset_type=kind)
    number = back.count("ground_truth.detections")
    yield "fiftyone", f"fiftyone {fiftyone.__version__}", len(back), number


def write_cityscapes(rows: Rows, names: list[str], out: Path) -> Iterator[tuple[str, str, int, int]]:
    """Each box as a polygon of a car, counted as instances that its own drawing leaves visible."""
    import numpy
    from cityscapesscripts.helpers.annotation import Annotation
    from cityscapesscripts.preparation.json2instanceImg import createInstanceImage
    from cityscapesscripts.preparation.json2labelImg import json2labelImg
    from PIL import Image

    root, number = out / "cityscapes", 0
    kinds = ("car", "person", "bicycle", "truck", "rider")
    (root / "gtFine" / "val" / "town").mkdir(parents=True)
    for picture, boxes in rows:
        width, height = copied(picture, root / "leftImg8bit" / "val" / "town")
        place = root / "leftImg8bit" / "val" / "town"
        with Image.open(picture) as opened:
            opened.save(place / f"{picture.stem}_leftImg8bit.png")
        (place / picture.name).unlink()
        shapes = []
        for k, (label, (x, y, w, h)) in enumerate(sorted(boxes, key=lambda one: -one[1][2] * one[1][3])):
            edges = [[x, y], [x + w, y], [x + w, y + h], [x, y + h]]
            label = kinds[label % len(kinds)] + ("group" if k % 10 == 9 else "")
            shapes.append({"label": label, "polygon": [[round(a), round(b)] for a, b in edges]})
        stem = str(root / "gtFine" / "val" / "town" / f"{picture.stem}_gtFine")
        put(Path(f"{stem}_polygons.json"), {"imgWidth": width, "imgHeight": height, "objects": shapes})
        json2labelImg(f"{stem}_polygons.json", f"{stem}_labelIds.png")
        read = Annotation()
        read.fromJsonFile(f"{stem}_polygons.json")
        visible = numpy.unique(numpy.asarray(createInstanceImage(read, "ids")))
        number += int((visible >= 1000).sum())
    yield "cityscapes", version_of("cityscapesscripts"), len(rows), number


def corners(box: list[float]) -> list[int]:
    x, y, w, h = box
    return [round(x), round(y), round(x + w), round(y + h)]


def filled(box: list[float], height: int, width: int) -> Any:
    import numpy

    mask = numpy.zeros((height, width), numpy.uint8, order="F")
    x1, y1, x2, y2 = corners(box)
    mask[y1:y2, x1:x2] = 1
    return mask


def categories(names: list[str]) -> dict[str, Any]:
    return {"category": [{"token": f"c{n}", "name": name, "description": ""} for n, name in enumerate(names)]}


def version_of(package: str) -> str:
    from importlib.metadata import version

    return f"{package} {version(package)}"


def write(pictures: str, labels: str, out: str) -> None:
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    rows = rows_of(Path(pictures), Path(labels))
    most = max((number for _, boxes in rows for number, _ in boxes), default=0)
    names = [f"class-{number}" for number in range(most + 1)]
    file = folder / "counts.json"
    counts: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    writers: list[Callable[..., Iterator[tuple[str, str, int, int]]]]
    writers = [write_datumaro, write_datasets, write_webdataset, write_nuimages, write_nuscenes]
    writers += [write_bdd100k, write_fiftyone, write_cityscapes]
    for writer in writers:
        with contextlib.suppress(ImportError):
            counts |= {name: told for name, *told in writer(rows, names, folder)}
    file.write_text(json.dumps(counts, indent=1))
    boxes = [[names[n], [x, y, x + w, y + h]] for _, found in rows for n, (x, y, w, h) in found]
    put(folder / "boxes.json", boxes)


def count(out: str) -> None:
    from instar.scenes import load_scenes

    heads = ("format", "written and counted by", "pictures", "boxes", "pictures here", "boxes here")
    print(f"| {' | '.join(heads)} | farthest, px |")
    print("|---|---|--:|--:|--:|--:|--:|")
    written = json.loads((Path(out) / "boxes.json").read_text())
    for name, (tool, pictures, boxes) in json.loads((Path(out) / "counts.json").read_text()).items():
        scenes = load_scenes(str(Path(out) / name))
        things = [thing for scene in scenes for thing in scene.objects or () if not thing.crowd]
        read = [(thing.label, thing.box) for thing in things]
        far = (
            f"{farthest(written, read):.3f}"
            if {label for label, _ in read} <= {n for n, _ in written}
            else ""
        )
        print(f"| {name} | {tool} | {pictures} | {boxes} | {len(scenes)} | {len(read)} | {far} |")


def farthest(written: list[Any], read: list[Any]) -> float:
    """How far the nearest box of the same name is from each that was written, at most."""
    return max(
        min((max(abs(a - b) for a, b in zip(box, other)) for n, other in read if n == name), default=1e9)
        for name, box in written
    )


if __name__ == "__main__":
    {"write": write, "count": count}[sys.argv[1]](*sys.argv[2:])
