"""The workbench: a web application over one run or a folder of runs, for one person on this machine."""

from instar.core.errors import BadInput

__all__ = ["NotHere"]


class NotHere(BadInput):
    """Nothing of that name is in the folder that is looked at."""
