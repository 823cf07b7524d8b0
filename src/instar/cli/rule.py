"""`instar rule`: read a driving rule back as a relation, or say which word is not understood."""

from instar.tasks.driving.rules.command import arguments, perform

__all__ = ["arguments", "perform"]
