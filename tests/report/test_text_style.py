from __future__ import annotations

import pytest

from instar.report.text import table
from instar.report.text_style import PLAIN, TextStyle, terminal_style


def test_a_table_is_as_wide_as_the_terminal_and_keeps_what_is_typed() -> None:
    rows = [["case", "scene", "margin"], ["3f9a0c1122334455", "a/long/way/down/to/one/picture.jpg", "-0.412"]]
    lines = table(rows, right=[2], fixed=[0], look=TextStyle(width=48)).splitlines()
    assert max(map(len, lines)) == 48
    assert lines[1].startswith("3f9a0c1122334455  a/long/")
    assert lines[1].endswith("  -0.412")


def test_a_last_column_of_words_goes_on_below_itself() -> None:
    rows = [
        ["case", "what"],
        ["3f9a", "dog 0.66 appears where cat 0.63 was found"],
        ["41f0", "cat 0.5 is lost"],
    ]
    assert table(rows, fixed=[0], look=TextStyle(width=30)).splitlines() == [
        "case  what",
        "3f9a  dog 0.66 appears where",
        "      cat 0.63 was found",
        "41f0  cat 0.5 is lost",
    ]


def test_colours_do_not_move_columns() -> None:
    rows = [["known", "n"], ["real", "1"], ["was false", "22"]]
    styles = {"real": "red"}
    coloured = table(rows, right=[1], look=TextStyle(colour=True), styles=styles)
    for style in ("2", "31"):
        coloured = coloured.replace(f"\x1b[{style}m", "")
    assert coloured.replace("\x1b[0m", "") == table(rows, right=[1], look=PLAIN)


def test_what_is_no_terminal_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert terminal_style() == PLAIN
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal_style() == TextStyle(colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal_style() == PLAIN
