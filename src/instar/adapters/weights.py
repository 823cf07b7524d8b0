"""Weights of a network in a file: plain arrays, nothing that runs when it is read."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import torch

from instar.core.errors import BadInput
from instar.user_file import whole_file

ABOUT = "about"


def save_weights(path: Path, module: Any, about: dict[str, Any], *, half: bool) -> None:
    """Write the state of a module, in half precision where that will do, with a few facts about it."""
    arrays = {}
    for name, tensor in module.state_dict().items():
        array = tensor.detach().cpu().numpy()
        arrays[name] = array.astype(np.float16) if half and array.dtype == np.float32 else array
    arrays[ABOUT] = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    with whole_file(path) as unfinished:
        unfinished.write_bytes(buffer.getvalue())


def load_weights(path: Path, module: Any) -> dict[str, Any]:
    """Fill the module with the weights in a file; the facts about them."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(bytes(arrays[ABOUT]).decode())
            state = {name: torch.from_numpy(np.array(arrays[name])) for name in arrays if name != ABOUT}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise BadInput(f"{path} cannot be read as weights ({error}); plant them anew") from error
    state = {name: one.float() if one.is_floating_point() else one for name, one in state.items()}
    try:
        module.load_state_dict(state)
    except RuntimeError:
        raise BadInput(f"{path} has weights of another network than this one") from None
    found: dict[str, Any] = about
    return found
