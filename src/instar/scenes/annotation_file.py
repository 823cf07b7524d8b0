"""Annotation files as every loader reads them: what is wrong with one is said in one line, with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput

__all__ = ["locate", "read_bytes", "read_json", "read_lines", "read_text"]


@contextmanager
def locate(place: str) -> Iterator[None]:
    """Turn a missing or senseless field, or BadInput without a place, into BadInput that says where."""
    try:
        yield
    except KeyError as error:
        raise BadInput(f"{place} has no {error.args[0]!r}") from None
    except (AttributeError, TypeError) as error:
        raise BadInput(f"{place} cannot be understood: {error}") from None
    except (BadInput, ValueError) as error:
        raise BadInput(f"{place}: {error}") from None


def read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None


def read_text(path: Path) -> str:
    """A text in UTF-8, with or without a byte order mark."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{path} line {line}: byte {error.start} is not UTF-8") from None


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    lines = read_text(path).splitlines()
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def read_json(path: Path) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise BadInput(f"{path} is not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise BadInput(f"{path} is not COCO: it is nested too deeply") from None
