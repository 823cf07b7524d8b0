"""Text localization: how stable are the boxes that a locator finds?"""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.tasks.text.answers import Quads
    from instar.tasks.text.relations import (
        brightness_down,
        brightness_up,
        channel_switch,
        masking,
        perspective,
        watermark,
    )
    from instar.tasks.text.searches import listed
    from instar.tasks.text.task import text

__all__ = [
    "Quads",
    "brightness_down",
    "brightness_up",
    "channel_switch",
    "listed",
    "masking",
    "perspective",
    "text",
    "watermark",
]

_HOMES = dict.fromkeys(__all__, "relations") | {"Quads": "answers", "listed": "searches", "text": "task"}
__getattr__ = lazy_names(__name__, _HOMES)
