"""Driving: rules in plain English about what speed and steering must do when the scene changes.

The names below are imported when they are first used: reading a rule need not wait for OpenCV.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instar.tasks.driving.answers import Control
    from instar.tasks.driving.relations import rule

__all__ = ["Control", "rule"]

_HOMES = {"Control": "answers", "rule": "relations"}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"instar.tasks.driving.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'instar.tasks.driving' has no attribute {name!r}")
