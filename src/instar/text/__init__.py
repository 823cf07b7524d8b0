"""Text localization: how stable are the boxes that a locator finds?"""

from instar.text.answers import Quads

__all__ = ["Quads"]
