"""Scenes from pictures and their label maps, as Cityscapes, CamVid, A2D2 and many others lay them out."""

from __future__ import annotations

import re
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Scene, SceneObject
from instar.imaging.labels import LabelMap
from instar.scenes.annotation_file import complain_at
from instar.scenes.cityscapes import cityscapes_objects
from instar.scenes.folder import check_limit, pictures_below, read_file
from instar.scenes.palettes import BUILT_IN, Palette, pack_colours, palette_named

FOLDERS = re.compile(
    r"labels?|masks?|annot(ations?)?|gt(Fine|Coarse)?|SegmentationClass|LabeledApproved_full|.*annot|.*_labels?"
)
"""What folders of label maps are called."""
OF_MAPS = re.compile(r"_(gtFine|gtCoarse)_(labelIds|labelTrainIds|color)$|_L$|_(label|mask)$")
POLYGONS_OF = re.compile(r"_(gtFine|gtCoarse)_[a-zA-Z]+$")
NO_MAPS = re.compile(r"_(instanceIds|instanceTrainIds)$")
OF_PICTURES = re.compile(r"_leftImg8bit$")
PREFERRED = ("_labelIds", "_labelTrainIds", "_color")
OWN = ("palette.toml", "classes.json")
LOSSLESS = (".png", ".bmp", ".ppm", ".tif", ".tiff", ".gif")


def label_maps(path: str | Path, *, limit: int | None = None, palette: str | None = None) -> list[Scene]:
    """A scene for every picture below a folder that has a label map, which `knowledge["labels"]()` gives; of
    Cityscapes also the objects that its polygons outline.

    Picture and map have the same name, but for endings and folders that tell them apart (`images/` and
    `labels/`, `_leftImg8bit` and `_gtFine_labelIds`, `_camera_` and `_label_`, ...). `palette` is a built-in
    one or a file; without it, `palette.toml` or `classes.json` in the folder, or what the layout or the maps
    themselves tell.
    """
    check_limit(limit)
    root = Path(path)
    if not root.is_dir():
        raise BadInput(f"{root} is no folder of pictures and label maps")
    pairs = _pairs(root)
    if not pairs:
        raise BadInput(
            f"no picture below {root} has a label map; expected images/NAME.jpg and labels/NAME.png"
        )
    chosen = _chosen(root, palette, [file for _, file in pairs.values()])
    return [
        Scene(
            picture.relative_to(root).as_posix(),
            partial(read_file, picture),
            _objects(file),
            knowledge={"labels": partial(_labels, picture, file, chosen)},
        )
        for _, (picture, file) in sorted(pairs.items())[:limit]
    ]


def looks_like_label_maps(path: Path) -> bool:
    """Whether a folder has a folder of pictures and one of maps with the same names."""
    below = [entry.name for entry in path.iterdir() if entry.is_dir()]
    if not any(FOLDERS.fullmatch(name) for name in below):
        return any((path / name / "label").is_dir() and (path / name / "camera").is_dir() for name in below)
    return bool(_pairs(path))


def _pairs(root: Path) -> dict[str, tuple[Path, Path]]:
    """Pictures and maps by the name that they share."""
    pictures: dict[str, Path] = {}
    maps: dict[str, list[Path]] = {}
    for file in pictures_below(root):
        stem = file.stem
        if NO_MAPS.search(stem):
            continue
        if _is_map(file.relative_to(root)):
            maps.setdefault(_shared(OF_MAPS.sub("", stem)), []).append(file)
        else:
            pictures[_shared(OF_PICTURES.sub("", stem))] = file
    return {name: (pictures[name], min(found, key=_rank)) for name, found in maps.items() if name in pictures}


def _is_map(file: Path) -> bool:
    named = OF_MAPS.search(file.stem) or "_label_" in file.stem
    inside = any(FOLDERS.fullmatch(part) for part in file.parts[:-1])
    return file.suffix.lower() in LOSSLESS and bool(named or inside)


def _objects(file: Path) -> tuple[SceneObject, ...] | None:
    """What Cityscapes' polygons beside a map say; None where there are none."""
    polygons = file.with_name(POLYGONS_OF.sub(r"_\1_polygons", file.stem) + ".json")
    return cityscapes_objects(polygons) if "_polygons" in polygons.stem and polygons.is_file() else None


def _shared(stem: str) -> str:
    """The name without what tells A2D2's cameras and labels apart."""
    return stem.replace("_camera_", "_").replace("_label_", "_")


def _rank(file: Path) -> tuple[int, str]:
    endings = [i for i, ending in enumerate(PREFERRED) if file.stem.endswith(ending)]
    return (endings or [0])[0], file.name


def _chosen(root: Path, palette: str | None, maps: list[Path]) -> Palette:
    if palette is not None:
        return palette_named(palette)
    for name in OWN:
        if (root / name).is_file():
            return palette_named(str(root / name))
    first = min(maps)
    if first.stem.endswith("_labelTrainIds"):
        return palette_named("cityscapes-train")
    if "_gtFine_" in first.stem or "_gtCoarse_" in first.stem:
        return palette_named("cityscapes")
    return _fitting(first)


def _fitting(file: Path) -> Palette:
    """The built-in palette of colours that knows all of a map; grey values could mean anything."""
    values = _values(file)
    if values.ndim == 3:
        colours = set(np.unique(pack_colours(values)).tolist())
        for palette in map(palette_named, BUILT_IN):
            if palette.colours and colours <= palette.colours.keys():
                return palette
    raise BadInput(
        f"{file}: what its values mean is not known; give --palette, one of {', '.join(BUILT_IN)} or a file"
    )


def _values(file: Path) -> npt.NDArray[np.uint8]:
    from instar.imaging.codecs import decode_exact

    try:
        read = decode_exact(file.read_bytes())
    except (OSError, UnreadablePicture) as error:
        raise BadInput(f"{file} cannot be read as a label map of 8 bits a channel: {error}") from None
    if read.ndim == 2:
        return read
    colours = np.ascontiguousarray(read[..., :3])
    grey = bool((colours == colours[..., :1]).all())
    return np.asarray(colours[..., 0] if grey else colours, np.uint8)


@lru_cache(maxsize=32)
def _labels(picture: Path, file: Path, palette: Palette) -> LabelMap:
    from instar.imaging.codecs import picture_size

    values = _values(file)
    with complain_at(str(file)):
        labels = palette.read(values)
    shape = picture_size(picture)
    if labels.ids.shape != shape:
        (h, w), (height, width) = labels.ids.shape, shape
        raise BadInput(f"{file} is {w} x {h} pixels, but its picture {width} x {height}")
    return labels
