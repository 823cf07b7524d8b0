"""Scenes from whatever the user names: the layout is recognised, or said."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path

from instar.core.errors import BadInput, UnknownName, UnreadablePicture
from instar.core.scene import Scene, SceneList
from instar.scenes.bdd100k import bdd100k
from instar.scenes.coco import coco, panoptic
from instar.scenes.cvat import cvat, find_cvat_file
from instar.scenes.driving_log import driving_log, looks_like_driving_log
from instar.scenes.fiftyone import fiftyone, looks_like_fiftyone
from instar.scenes.folder import SPLITS, SUFFIXES, check_limit, folder, is_picture
from instar.scenes.hugging_face import find_dataset_tables, hugging_face
from instar.scenes.image_folder import image_folder, looks_like_image_folder
from instar.scenes.kitti import find_kitti, kitti
from instar.scenes.label_maps import label_maps, looks_like_label_maps
from instar.scenes.labelme import labelme, looks_like_labelme
from instar.scenes.nuimages import find_tables, nuimages
from instar.scenes.open_images import is_open_images, open_images
from instar.scenes.picture_list import is_pattern, listed_pictures, subset
from instar.scenes.video import VIDEOS, is_video, video
from instar.scenes.voc import looks_like_voc, voc
from instar.scenes.web_dataset import web_dataset
from instar.scenes.words import coco_text, icdar, looks_like_icdar, looks_like_total_text, total_text
from instar.scenes.yolo import looks_like_yolo, yolo

_LOADERS: dict[str, Callable[..., list[Scene]]] = {
    "bdd100k": bdd100k,
    "coco": coco,
    "coco-text": coco_text,
    "cvat": cvat,
    "driving-log": driving_log,
    "fiftyone": fiftyone,
    "folder": folder,
    "hugging-face": hugging_face,
    "icdar": icdar,
    "image-folder": image_folder,
    "kitti": kitti,
    "label-maps": label_maps,
    "labelme": labelme,
    "list": listed_pictures,
    "nuimages": nuimages,
    "open-images": open_images,
    "panoptic": panoptic,
    "total-text": total_text,
    "video": video,
    "voc": voc,
    "web-dataset": web_dataset,
    "yolo": yolo,
}
_FOLDERS: dict[str, Callable[[Path], object]] = {
    "voc": looks_like_voc,
    "kitti": find_kitti,
    "nuimages": find_tables,
    "fiftyone": looks_like_fiftyone,
    "cvat": find_cvat_file,
    "image-folder": looks_like_image_folder,
    "hugging-face": find_dataset_tables,
    "labelme": looks_like_labelme,
    "yolo": looks_like_yolo,
    "driving-log": looks_like_driving_log,
    "total-text": looks_like_total_text,
    "icdar": looks_like_icdar,
    "label-maps": looks_like_label_maps,
    "web-dataset": lambda path: next(path.glob("*.tar"), None) is not None,
    "video": lambda path: any(map(is_video, path.iterdir())) and not any(map(is_picture, path.iterdir())),
}
"""What recognises a folder of each format, by giving something, in the order in which they are asked."""
_OF_FILES = ("bdd100k", "coco", "coco-text", "open-images", "panoptic")
_ENDINGS = {".yaml": "yolo", ".yml": "yolo", ".tar": "web-dataset", ".xml": "cvat", ".txt": "list"}
_ENDINGS |= {".arrow": "hugging-face", ".parquet": "hugging-face", ".data": "yolo"}
ROBOFLOW = "_annotations.coco.json"  # COCO of the pictures beside it
MOST_DRAWN = 100_000
WORLDS = ("drive", "page", "poster", "street")
_STRIDE = re.compile(r"(.+)@([0-9]{1,9})")
_IMAGES = re.compile(rb'"images"\s*:\s*\[')


def load_scenes(
    spec: str | Path,
    *,
    format: str | None = None,
    limit: int | None = None,
    truth: str | None = None,
    palette: str | None = None,
) -> SceneList:
    """The scenes that `spec` names, in the order of their ids and at most `limit` of them.

    A picture, a folder or a pattern (`photos/**/*.jpg`) of pictures, a text file that lists them, a video or
    a folder of videos (`drive.mp4@30`: every 30th frame); annotated ones as BDD100K, COCO (instances or
    panoptic), CVAT, FiftyOne, Hugging Face's datasets and image folders, KITTI, LabelMe, nuImages, Open
    Images, VOC, WebDataset and YOLO lay them out; of words, ICDAR, Total-Text and COCO-Text; a folder of
    pictures with label maps, whose classes `palette` names where they are not known; a driving log; or
    drawn ones: `street:N`, `drive:N`, `page:N` and `poster:N`, each also with a seed, `street:N:SEED`.
    `format` says what is not to be guessed. A folder with pictures lying in it is a plain folder, whatever
    COCO files are there. `truth` is the folder of ICDAR's or Total-Text's annotations where they are not
    below the pictures.
    """
    check_limit(limit)
    name = str(spec)
    return SceneList(_with_classes(_load(name, format, limit, truth, palette)), name, limit)


def _with_classes(scenes: list[Scene]) -> list[Scene]:
    """The scenes, which know the annotated classes: of any other class the annotations say nothing."""
    classes = frozenset(thing.label for scene in scenes for thing in scene.objects or ())
    if not classes:
        return scenes
    return [
        scene if scene.objects is None else replace(scene, knowledge={**scene.knowledge, "classes": classes})
        for scene in scenes
    ]


def _load(
    spec: str, format: str | None, limit: int | None, truth: str | None, palette: str | None
) -> list[Scene]:
    if format is not None and format not in _LOADERS:
        raise UnknownName("scene format", format, _LOADERS)
    if format is None and spec.partition(":")[0] in WORLDS:
        if truth is not None:
            raise BadInput(f"truth {truth!r} was given, but {spec} is drawn and known already")
        return _drawn(spec, limit)
    path = Path(spec)
    if format is None and not os.path.exists(path):
        if is_pattern(spec):
            return listed_pictures(path, limit=limit)
        if (strided := _STRIDE.fullmatch(spec)) is not None and os.path.exists(strided[1]):
            return video(strided[1], stride=int(strided[2]), limit=limit)
    if not os.path.exists(path):  # False also for what no file can be called
        raise BadInput(f"scenes {spec!r} do not exist; give a folder, a picture, a COCO json or street:N")
    if path.is_file() and (part := subset(path)) is not None:
        whole, ids = part
        every = _load(whole, format, None, truth, palette)
        found = [scene for scene in every if scene.id in ids]
        if missing := sorted(ids - {scene.id for scene in found}):
            meant = next((scene.id for scene in every if scene.id.endswith(f"/{missing[0]}")), "")
            do = f"write {meant!r}" if meant else "remove that line"
            raise BadInput(f"{path}: {whole} has no scene {missing[0]!r}; {do}")
        return found[:limit]
    if truth is not None:
        return _with_truth(path, Path(truth), format, limit)
    if palette is not None:
        if format not in (None, "label-maps"):
            raise BadInput(f"palette {palette!r} was given, which {format} has no use for")
        return label_maps(path, limit=limit, palette=palette)
    format, path = _recognised(path) if format is None else (format, _annotation_file(path, format))
    return _LOADERS[format](path, limit=limit)


def _with_truth(path: Path, truth: Path, format: str | None, limit: int | None) -> list[Scene]:
    if format is None and truth.is_dir():
        format = "total-text" if looks_like_total_text(truth) else "icdar"
    if format not in ("icdar", "total-text"):
        raise BadInput(f"truth {str(truth)!r} is no folder of gt_NAME.txt or poly_gt_NAME.txt")
    return _LOADERS[format](path, truth=truth, limit=limit)


def require_one_readable(scenes: Sequence[Scene]) -> None:
    """Raise BadInput with the first reasons when not one of the scenes can be decoded.

    Stops at the first one that can, so a folder in order costs one picture.
    """
    reasons = []
    for scene in scenes:
        reason = _why_unreadable(scene)
        if reason is None:
            return
        name = "".join(sign if sign.isprintable() else "?" for sign in scene.id)
        reasons.append(f"{name}: {reason}")
    first = "; ".join(reasons[:3]) + (f"; and {len(reasons) - 3} more" if len(reasons) > 3 else "")
    raise BadInput(f"not one of {len(scenes)} pictures can be read ({first or 'there is none'})")


def _why_unreadable(scene: Scene) -> str | None:
    try:
        scene.read()
    except UnreadablePicture as reason:
        return str(reason)
    return None


def _recognised(path: Path) -> tuple[str, Path]:
    if path.is_file():
        return _recognised_file(path), path
    for format, looks_like in _FOLDERS.items():
        if looks_like(path):
            return format, path
    if (path / ROBOFLOW).is_file():
        return "coco", path / ROBOFLOW
    if not any(map(is_picture, path.iterdir())):
        found = _annotation_files(path)
        if len(found) > 1:
            names = ", ".join(file.relative_to(path).as_posix() for file in islice(found, 4))
            raise BadInput(f"{path} has several annotation files ({names}); name one of them")
        for file, format in found.items():
            return format, file
    return "folder", path


def _recognised_file(path: Path) -> str:
    if is_picture(path):
        return "folder"
    if is_video(path):
        return "video"
    ending = path.suffix.lower()
    if ending == ".json":
        return _json_format(path) or "coco"  # which will say what is wrong with it
    if ending == ".csv" and is_open_images(path):
        return "open-images"
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    known = ", ".join((".json", ".csv of Open Images", *_ENDINGS, *SUFFIXES, *VIDEOS))
    raise BadInput(f"{path} is no file of scenes; expected one of {known}")


def _annotation_file(path: Path, format: str) -> Path:
    """The annotation file in a folder, for a format that is a file."""
    if path.is_file() or format not in _OF_FILES:
        return path
    found = [file for file, its_format in _annotation_files(path).items() if its_format == format]
    if len(found) != 1:
        raise BadInput(f"{path} has {len(found)} {format} files in it; name the file itself")
    return found[0]


def _annotation_files(path: Path) -> dict[Path, str]:
    """The files that annotate many pictures, in a folder or in `annotations` or `labels` below it."""
    places = [path, path / "annotations", *(path / "labels").glob("**")]
    files = sorted(file for place in places for file in place.glob("*.json"))
    files += [path / split / ROBOFLOW for split in SPLITS[1:] if (path / split / ROBOFLOW).is_file()]
    formats = {file: _json_format(file) for file in files}
    tables = sorted(file for place in places for file in place.glob("*.csv"))
    formats |= {file: "open-images" for file in tables if is_open_images(file)}
    return {file: format for file, format in formats.items() if format is not None}


def _json_format(path: Path) -> str | None:
    """What sort of file it seems to be, without parsing what can be half a gigabyte."""
    data = path.read_bytes()
    if b'"box2d"' in data:
        return "bdd100k"
    if b'"shapes"' in data and b'"imagePath"' in data:
        return "labelme"
    if b'"imgToAnns"' in data and b'"anns"' in data:
        return "coco-text"
    if _IMAGES.search(data) is None or b'"file_name"' not in data:
        return None
    return "panoptic" if b'"segments_info"' in data else "coco"


def _drawn(spec: str, limit: int | None) -> list[Scene]:
    world, *numbers = spec.split(":")
    try:
        n, seed = [int(number) for number in (*numbers, "0")][:2]
        if not 1 <= n <= MOST_DRAWN or seed < 0 or len(numbers) > 2:
            raise ValueError
    except ValueError:
        raise BadInput(
            f"scenes {spec!r}: expected {world}:N or {world}:N:SEED, such as {world}:20, "
            f"and at most {MOST_DRAWN:,}"
        ) from None
    scenes: Callable[..., list[Scene]] = import_module(f"instar.worlds.{world}").scenes
    return scenes(n if limit is None else min(n, limit), seed=seed)
