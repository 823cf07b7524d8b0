"""`instar retrain`: a detector is trained on what a run found, and measured."""

from instar.studies.retraining.command import arguments, perform

__all__ = ["arguments", "perform"]
