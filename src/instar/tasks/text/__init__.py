"""Text localization: how stable are the boxes that a locator finds?"""

from instar.tasks.text.answers import Quads
from instar.tasks.text.compare import nothing_left, same_text, word_found
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
    "nothing_left",
    "perspective",
    "same_text",
    "text",
    "watermark",
    "word_found",
]
