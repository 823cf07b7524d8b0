"""Scenes from WebDataset's shards: tar files in which the files of one sample share a name."""

from __future__ import annotations

import tarfile
from functools import partial
from pathlib import Path, PurePosixPath

from instar.core.errors import BadInput, UnreadablePicture
from instar.core.scene import Image, Scene, SceneObject
from instar.scenes.annotation_file import complain_at
from instar.scenes.folder import SUFFIXES, check_limit
from instar.scenes.image_folder import read_objects
from instar.user_file import parse_json

MOST_BYTES = 1 << 30  # of one member


def web_dataset(path: str | Path, *, limit: int | None = None) -> list[Scene]:
    """The pictures of a tar file, or of all in a folder; `objects` of a sample's JSON are known of it.

    Nothing is unpacked: a picture is read from its place in the shard when it is looked at.
    """
    check_limit(limit)
    root = Path(path)
    shards = sorted(root.glob("*.tar")) if root.is_dir() else [root]
    found = [scene for shard in shards for scene in _scenes(shard)]
    if not found:
        raise BadInput(f"no picture in the shards of {root}; expected tar files with {', '.join(SUFFIXES)}")
    return sorted(found, key=lambda scene: scene.id)[:limit]


def _scenes(shard: Path) -> list[Scene]:
    pictures: dict[str, tarfile.TarInfo] = {}
    known: dict[str, list[SceneObject] | None] = {}
    try:
        with tarfile.open(shard, "r:") as opened:
            for member in opened:
                name = PurePosixPath(member.name)
                key, _, ending = name.name.partition(".")
                sample = (name.parent / key).as_posix()
                if not member.isreg() or member.size > MOST_BYTES or name.name.startswith("."):
                    continue
                if f".{ending.lower()}" in SUFFIXES:
                    pictures.setdefault(sample, member)
                elif ending.lower() == "json":
                    known[sample] = _known(opened, member, shard)
    except (OSError, tarfile.TarError) as error:
        raise BadInput(f"{shard} cannot be read as a tar file without compression: {error}") from None
    return [
        Scene(
            f"{shard.name}/{member.name}",
            partial(_read, shard, member.offset_data, member.size),
            None if (objects := known.get(sample)) is None else tuple(objects),
        )
        for sample, member in pictures.items()
    ]


def _known(opened: tarfile.TarFile, member: tarfile.TarInfo, shard: Path) -> list[SceneObject] | None:
    file = opened.extractfile(member)
    with complain_at(f"{shard}: {member.name}"):
        entry = parse_json(file.read() if file else b"", "it")
        return read_objects(entry) if isinstance(entry, dict) else None


def _read(shard: Path, start: int, length: int) -> Image:
    from instar.imaging.codecs import decode_picture

    try:
        with shard.open("rb") as file:
            file.seek(start)
            return decode_picture(file.read(length))
    except OSError as error:
        raise UnreadablePicture(f"{shard.name} cannot be read: {error.strerror}") from None
