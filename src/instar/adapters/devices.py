"""Libraries that need not be installed, and where torch computes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from instar.core.errors import BadInput
from instar.installation import MissingExtra

__all__ = ["import_extra", "require_device", "require_torch"]


def import_extra(module: str, package: str, *, extra: str, needed_for: str) -> Any:
    """The module; MissingExtra where the package that it needs is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(package, extra=extra, needed_for=needed_for) from None


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
