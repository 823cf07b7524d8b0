"""`instar backdoor`: plant a backdoor into a classifier."""

from instar.training.interpretation.command import arguments, perform

__all__ = ["arguments", "perform"]
