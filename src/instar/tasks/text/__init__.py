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

_HOMES = {
    "Quads": "answers",
    "text": "task",
    "brightness_down": "relations",
    "brightness_up": "relations",
    "channel_switch": "relations",
    "listed": "searches",
    "masking": "relations",
    "perspective": "relations",
    "watermark": "relations",
}
__getattr__ = lazy_names(__name__, _HOMES)
