from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.campaigns.toml import parse_value, write_table, write_value
from instar.core.errors import BadInput
from instar.user_file import parse_toml

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3)
)


@settings(deadline=None)
@given(st.dictionaries(text, values, max_size=4))
def test_what_is_written_is_read_back(table: dict[str, Any]) -> None:
    assert parse_toml(write_table(table)) == table


def test_entries_without_a_value_are_left_out() -> None:
    assert write_table({"a": 1, "b": None}) == "a = 1\n"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("3", 3),
        ("0.25", 0.25),
        ("true", True),
        ('"3"', "3"),
        ("[1, 2]", [1, 2]),
        ("{a = 1}", {"a": 1}),
        ("hard", "hard"),
        ("", ""),
        ("a b", "a b"),
        ("1\nb = 2", "1\nb = 2"),
    ],
)
def test_a_value_is_toml_or_else_text(given: str, meant: object) -> None:
    assert parse_value(given) == meant


def test_what_toml_cannot_keep_is_refused() -> None:
    with pytest.raises(BadInput, match="cannot be kept in a plan"):
        write_value(datetime.time(12))


def test_a_name_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(BadInput, match="not valid Unicode"):
        write_value("photo\udcff.jpg")
