"""Loaders: pictures on disk, with what their annotations know, as a list of scenes.

Every loader is a function from a path to scenes in the order of their ids. It opens annotations and at
most the headers of pictures; a scene holds no pixels and decodes its picture when it is read.
"""

from __future__ import annotations

from instar.scenes.coco import coco, panoptic
from instar.scenes.folder import folder
from instar.scenes.label_maps import label_maps
from instar.scenes.load import load_scenes, require_one_readable
from instar.scenes.voc import voc
from instar.scenes.words import coco_text, icdar, total_text
from instar.scenes.yolo import yolo

__all__ = [
    "coco",
    "coco_text",
    "folder",
    "icdar",
    "label_maps",
    "load_scenes",
    "panoptic",
    "require_one_readable",
    "total_text",
    "voc",
    "yolo",
]
