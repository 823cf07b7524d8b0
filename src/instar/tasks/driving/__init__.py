"""Driving: rules in plain English about what speed and steering must do when the scene changes."""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.tasks.driving.answers import Control
    from instar.tasks.driving.distortion import deeptest
    from instar.tasks.driving.relations import rule
    from instar.tasks.driving.task import driving

__all__ = ["Control", "deeptest", "driving", "rule"]

_HOMES = {"Control": "answers", "driving": "task", "deeptest": "distortion", "rule": "relations"}
__getattr__ = lazy_names(__name__, _HOMES)
