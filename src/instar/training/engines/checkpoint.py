"""A training's state in files that are small enough to be sent anywhere."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from instar.core.errors import BadInput
from instar.user_file import write_whole

PIECE = 15 * 2**20  # bytes: under 16 MiB


def save(folder: Path, state: Mapping[str, Any]) -> None:
    """Weights in half precision; the last piece is written last, so that what is unfinished is seen."""
    buffer = io.BytesIO()
    torch.save(_map(dict(state), lambda x: x.half() if x.dtype == torch.float32 else x), buffer)
    content = buffer.getvalue()
    pieces = [content[at : at + PIECE] for at in range(0, len(content), PIECE)]
    for number, piece in enumerate(pieces):
        write_whole(_path(folder, number, len(pieces)), piece)


def saved(folder: Path) -> bool:
    """Whether there is a training to go on with."""
    return bool(list(folder.glob("checkpoint-*-of-*")))


def load(folder: Path) -> dict[str, Any]:
    """What `save` wrote, in 32 bits."""
    paths = sorted(folder.glob("checkpoint-*-of-*"))
    if not paths or len(paths) != int(paths[0].name.rpartition("-")[2]):
        raise BadInput(f"{folder} has not all pieces of a checkpoint; train again without --resume")
    buffer = io.BytesIO(b"".join(path.read_bytes() for path in paths))
    state: dict[str, Any] = torch.load(buffer, map_location="cpu", weights_only=True)
    return dict(_map(state, lambda x: x.float() if x.dtype == torch.float16 else x))


def _path(folder: Path, number: int, count: int) -> Path:
    return folder / f"checkpoint-{number + 1}-of-{count}"


def _map(value: Any, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value.detach().cpu())
    if isinstance(value, dict):
        return {key: _map(one, change) for key, one in value.items()}
    return value
