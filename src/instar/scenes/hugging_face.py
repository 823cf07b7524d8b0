"""Scenes from Hugging Face's `datasets`: what `save_to_disk` and `to_parquet` write (extra: parquet)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Scene
from instar.installation import MissingExtra
from instar.scenes.annotation_file import complain_at
from instar.scenes.folder import check_limit
from instar.scenes.image_folder import LABELS, read_objects

ENDINGS = (".arrow", ".parquet")


def hugging_face(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The pictures of a dataset's tables, and their `objects` (`bbox` as x, y, width and height).

    A table has a column of pictures: bytes, or the path of a file. Names of classes are those of the
    features. A picture is read from its table when it is looked at.
    """
    check_limit(limit)
    root = Path(path)
    files = find_dataset_tables(root) if root.is_dir() else [root]
    if not files:
        raise BadInput(f"{root} has no table of a dataset; expected .arrow or .parquet files")
    base = root if root.is_dir() else root.parent
    scenes = [scene for file in files for scene in _scenes(file, base)]
    return sorted(scenes, key=lambda scene: scene.id)[:limit]


def find_dataset_tables(root: Path) -> list[Path]:
    places = [root, *(entry for entry in sorted(root.iterdir()) if entry.is_dir())]
    found = [file for place in places for end in ENDINGS for file in sorted(place.glob(f"*{end}"))]
    return [file for file in found if not file.name.startswith("cache-")]  # of what was made of it


def _scenes(file: Path, base: Path) -> Iterator[Scene]:
    name = file.relative_to(base).as_posix()
    numbers = count()
    for part, batch in enumerate(_batches(file)):
        with complain_at(str(file)):
            features = json.loads((batch.schema.metadata or {}).get(b"huggingface", b"{}"))
            classes = _class_names(features.get("info", {}).get("features", {}).get("objects"))
            column = _picture_column(batch)
            is_known = "objects" in batch.column_names
            objects = batch.column("objects").to_pylist() if is_known else [None] * batch.num_rows
        for row, told in enumerate(objects):
            number = next(numbers)
            with complain_at(f"{file}: row {number}"):
                known = read_objects({"objects": _named(told, classes)})
            read = partial(_read, file, part, row, column, base)
            yield Scene(f"{name}#{number:06d}", read, None if known is None else tuple(known))


def _batches(file: Path) -> Iterator[Any]:
    """The record batches of a table."""
    try:
        import pyarrow
        from pyarrow import ipc, parquet
    except ImportError:
        raise MissingExtra("pyarrow", extra="parquet", needed_for="tables of datasets") from None
    try:
        if file.suffix == ".parquet":
            with parquet.ParquetFile(file) as opened:
                yield from opened.iter_batches(batch_size=64)
        else:
            with pyarrow.memory_map(str(file)) as mapped:
                try:
                    yield from ipc.open_stream(mapped)
                except pyarrow.ArrowInvalid:
                    opened = ipc.open_file(mapped)
                    yield from map(opened.get_batch, range(opened.num_record_batches))
    except (OSError, pyarrow.ArrowException) as error:
        reason = " ".join(str(error).split())[:200]
        raise BadInput(f"{file} cannot be read as a table: {reason}") from None


def _picture_column(batch: Any) -> str:
    """The first column whose values have bytes or a path."""
    import pyarrow

    for field in batch.schema:
        kind = field.type
        if pyarrow.types.is_struct(kind) and {"bytes", "path"} <= {one.name for one in kind}:
            return str(field.name)
    raise BadInput(f"no column of pictures, but {', '.join(batch.column_names)[:200]}")


def _class_names(feature: Any) -> dict[str, list[str]]:
    """The names of classes by the key below `objects`, where the features have them."""
    while isinstance(feature, (list, dict)):
        if isinstance(feature, list):
            feature = feature[0] if feature else None
        elif isinstance(feature.get("feature"), (dict, list)):
            feature = feature["feature"]
        else:
            break
    if not isinstance(feature, Mapping):
        return {}
    found = {}
    for key in LABELS:
        one = feature.get(key)
        while isinstance(one, (list, dict)) and "names" not in one:
            # A list of classes is one of their feature, or a mapping that has it.
            one = (one[0] if one else None) if isinstance(one, list) else one.get("feature")
        if isinstance(one, dict):
            found[key] = [str(name) for name in one["names"]]
    return found


def _named(told: Any, classes: Mapping[str, list[str]]) -> Any:
    """The same objects, with names of classes in the place of numbers."""
    if isinstance(told, list):
        return [_named(one, classes) for one in told]
    if not isinstance(told, dict):
        return told
    return {key: _name(value, classes[key]) if key in classes else value for key, value in told.items()}


def _name(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_name(one, names) for one in value]
    if isinstance(value, int) and not 0 <= value < len(names):
        raise ValueError(f"class {value}, but there are {len(names)} names")
    return names[value] if isinstance(value, int) else value


def _read(file: Path, part: int, row: int, column: str, base: Path) -> Image:
    from instar.imaging.codecs import decode_picture
    from instar.scenes.folder import read_file

    for number, batch in enumerate(_batches(file)):
        if number == part:
            told = batch.column(column)[row].as_py() or {}
            if told.get("bytes"):
                return decode_picture(told["bytes"])
            return read_file(base / str(told.get("path") or ""))
    raise UnreadablePicture(f"{file.name} has no row {row} in batch {part} any more")
