"""Files that are read or written: what is wrong with one is said in one line that names it."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from instar.core.errors import BadInput, RunError

MOST_BYTES = 2**30
# The same parser under two names; only one of them is installed, so neither can be imported by statement.
_parser: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

T = TypeVar("T")


def find_file(name: str, what: str = "file") -> Path:
    """The file of that name, wherever the current folder is later on."""
    path = Path(name).absolute()
    if not path.is_file():
        raise BadInput(f"there is no {what} {name}; give the path of a file")
    return path


def read_text(path: Path, what: str = "file") -> str:
    """A text in UTF-8, with or without a byte order mark, its lines ending in `\\n`."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES >> 20} MiB")
        data = path.read_bytes()
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise BadInput(f"{path} line {line}: byte {error.start} is not UTF-8") from None
    except (OSError, ValueError) as error:  # ValueError also for a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"cannot read the {what} {path}: {reason}") from None


def parse_json(text: str | bytes, name: object) -> Any:
    """The value of a JSON text; `name` is the file's, for complaints."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is not JSON: {_reason(error)}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        tables: dict[str, Any] = _parser.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"this is not TOML: {_reason(error)}") from None
    return tables


def read_json(path: Path, what: str = "file") -> Any:
    return parse_json(read_text(path, what), path)


def read_user_file(path: Path, what: str, build: Callable[[Mapping[str, Any]], T]) -> T:
    """What `build` makes of the tables in a TOML file."""
    text = read_text(path, what)
    try:
        return build(parse_toml(text))
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def load_resource(package: str, name: str) -> Mapping[str, Any]:
    """The tables of a file that comes with instar."""
    return parse_toml(files(package).joinpath(name).read_text(encoding="utf-8"))


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)


def write_file(path: str | Path, content: str | bytes) -> None:
    """The file as it is to be, in a folder that is made if need be."""
    data = content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")
    with _complain(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)


@contextlib.contextmanager
def unfinished_file(path: Path) -> Iterator[Path]:
    """Where to write meanwhile: `path` has all of it at the end, or is as it was, whoever else writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{os.getpid()}-{threading.get_ident()}.{path.name}")
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write or replace a file in one step; an OSError is the caller's to explain."""
    with unfinished_file(path) as unfinished:
        unfinished.write_bytes(content if isinstance(content, bytes) else content.encode())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """An unfinished file, and RunError where it cannot be written."""
    with _complain(path), unfinished_file(path) as unfinished:
        yield unfinished


@contextlib.contextmanager
def _complain(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror or error}; choose another place") from error
