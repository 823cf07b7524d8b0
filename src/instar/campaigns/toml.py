"""TOML in and out, as far as plans need it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from instar.core.errors import BadInput
from instar.user_file import parse_toml


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
