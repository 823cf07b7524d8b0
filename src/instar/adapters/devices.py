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


def choose_device(given: str | None, owner: str) -> str:
    """The device that was named, or else a GPU where there is one."""
    torch = import_extra("torch", "torch", extra="torch", needed_for=owner)
    return require_device(given or ("cuda" if torch.cuda.is_available() else "cpu"), owner)
