"""TOML files of instar and of users."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from instar.core.errors import BadInput

__all__ = ["parse_toml", "read_toml"]

# The same parser under two names; only one of them is installed, so neither can be imported by statement.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")

T = TypeVar("T")


def parse_toml(text: str) -> Mapping[str, Any]:
    """The tables in a text."""
    tables: Mapping[str, Any] = _toml.loads(text)
    return tables


def read_toml(path: Path, what: str, build: Callable[[Mapping[str, Any]], T]) -> T:
    """What `build` makes of a user's file; whatever is wrong with it is said in one line."""
    try:
        return build(parse_toml(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise BadInput(f"cannot read the {what} {path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, _toml.TOMLDecodeError) as error:
        raise BadInput(f"{path} is not TOML: {error}") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
