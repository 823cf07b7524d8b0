"""Where torch computes, if it is installed."""

from __future__ import annotations

from typing import Any

from instar.core.errors import BadInput
from instar.installation import import_extra


def require_torch(needed_for: str) -> None:
    """Raise MissingExtra where torch is not installed."""
    import_extra("torch", "torch", extra="torch", needed_for=needed_for)


def require_device(device: Any, owner: str) -> str:
    """The device as torch knows it; a GPU that is not there is an error."""
    import torch

    if device == "cpu" or (
        isinstance(device, str) and device.startswith("cuda") and torch.cuda.is_available()
    ):
        return str(device)
    raise BadInput(f"{owner}: device {device!r} is not there; it is cpu, or cuda where there is such a GPU")
