"""The command line: arguments in, text or one JSON document out."""

from instar.cli.program import main

__all__ = ["main"]
