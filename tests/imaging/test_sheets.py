"""What pictures can say in their letters."""

from __future__ import annotations

from instar.imaging.sheets import drawable


def test_an_ellipsis_is_three_dots_and_any_other_letter_one_question_mark() -> None:
    assert drawable("“backg…” is lost at 5 °") == "?backg...? is lost at 5 ?"
