"""`instar train`: from scenes that know what the driver did to a driving network with its card."""

from instar.training.driving.command import arguments, perform

__all__ = ["arguments", "perform"]
