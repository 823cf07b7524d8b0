"""TOML in and out, as far as plans need it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput

__all__ = ["parse_toml", "parse_value", "read_toml", "write_table", "write_value"]

# The same parser under two names; only one of them is installed, so neither can be imported by statement.
_parser: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file; whatever is wrong with it in one line that names it."""
    try:
        return parse_toml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"cannot read the plan {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"cannot read the plan {path}: it is not UTF-8 text") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text."""
    try:
        tables: dict[str, Any] = _parser.loads(text)
    except _parser.TOMLDecodeError as error:
        raise BadInput(f"this is not TOML: {error}") from None
    return tables


def parse_value(text: str) -> Any:
    """What a value on the command line means: TOML where it is TOML, else the text itself.

    >>> parse_value("0.5"), parse_value("true"), parse_value("[1, 2]"), parse_value("feather")
    (0.5, True, [1, 2], 'feather')
    """
    try:
        parsed = parse_toml(f"value = {text}")
    except BadInput:
        return text
    return parsed["value"] if set(parsed) == {"value"} else text


def write_table(entries: Mapping[str, Any]) -> str:
    """`key = value` lines; entries that are None are left out, since TOML has no null."""
    return "".join(
        f"{_key(key)} = {write_value(value)}\n" for key, value in entries.items() if value is not None
    )


def write_value(value: Any) -> str:
    """A value as TOML.

    >>> write_value({"use": "draws", "n": 3})
    '{use = "draws", n = 3}'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {write_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(write_value, value)) + "]"
    raise BadInput(
        f"{value!r} cannot be kept in a plan; give text, a number, true or false, a list or a table"
    )


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else _string(key)


def _string(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{text!r} cannot be kept in a plan: it is not valid Unicode; rename it") from None
    # JSON and TOML agree on strings, but for one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
