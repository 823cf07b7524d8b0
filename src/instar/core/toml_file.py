"""TOML files of instar and of users."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from instar.core.errors import BadInput

__all__ = ["load_resource", "load_toml", "read_user_file"]

# The same parser under two names; only one of them is installed, so neither can be imported by statement.
_parser: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

T = TypeVar("T")


def load_toml(text: str) -> Mapping[str, Any]:
    """The tables in a text; ValueError where it is not TOML."""
    tables: Mapping[str, Any] = _parser.loads(text)
    return tables


def load_resource(package: str, name: str) -> Mapping[str, Any]:
    """The tables of a file that comes with instar."""
    return load_toml(files(package).joinpath(name).read_text(encoding="utf-8"))


def read_user_file(path: Path, what: str, build: Callable[[Mapping[str, Any]], T]) -> T:
    """What `build` makes of a user's file; whatever is wrong with it is said in one line."""
    try:
        return build(load_toml(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadInput(f"cannot read the {what} {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, _parser.TOMLDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
