"""Annotation files as every loader reads them: what is wrong with one is said in one line, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from instar.core.errors import BadInput
from instar.user_file import read_text

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


@contextmanager
def complain_at(place: str) -> Iterator[None]:
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


def parse_xml(data: bytes, file: Path) -> Element:
    """The root of an XML text; `file` is its name, for complaints."""
    from xml.etree import ElementTree

    # Entities can be made to expand without end. Zeros are dropped to see through UTF-16.
    plain = data.replace(b"\0", b"")
    if b"<!DOCTYPE" in plain or b"<!ENTITY" in plain:
        raise BadInput(f"{file} declares a document type, which annotations have no use for; it is refused")
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise BadInput(f"{file} is not XML: {error}") from None


def read_lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    lines = read_text(path).splitlines()
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
