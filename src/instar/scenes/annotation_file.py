"""Annotation files as every loader reads them: what is wrong with one is said in one line, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instar.core.errors import BadInput
from instar.user_file import read_text

__all__ = ["locate", "read_bytes", "read_lines"]


@contextmanager
def locate(place: str) -> Iterator[None]:
    """Turn a missing or senseless field, or BadInput without a place, into BadInput that says where."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{place} has no {error.args[0]!r}") from None
    except (AttributeError, TypeError) as error:
        raise BadInput(f"{place} cannot be understood: {error}") from None
    except (BadInput, ValueError, OverflowError) as error:
        raise BadInput(f"{place}: {error}") from None


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    lines = read_text(path).splitlines()
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
