from __future__ import annotations

import sys

import pytest

from instar.campaigns.progress import progress_line, show_campaign
from instar.core.system import Limits
from instar.engines.account import Tally
from instar.progress import show_steps

Captured = pytest.CaptureFixture[str]


def tally(*, seconds: float, queries: int = 50, done: int = 5) -> Tally:
    return Tally(
        scenes=20, scenes_done=done, cases=40, failing=3, queries=queries, seconds=seconds, price=0.5
    )


def test_with_a_budget_progress_is_counted_in_queries() -> None:
    line = progress_line(tally(seconds=10.0), Limits(queries=200))
    assert line == "50 of 200 queries, 5.0 queries/s, 30 s left, 3 failing"


def test_without_a_budget_progress_is_counted_in_scenes() -> None:
    line = progress_line(tally(seconds=100.0), Limits())
    assert line == "5 of 20 scenes, 0.1 scenes/s, 5 min 0 s left, 3 failing"


def test_money_is_told_for_a_priced_system() -> None:
    line = progress_line(tally(seconds=4000.0), Limits(price_per_query=0.01))
    assert line == "5 of 20 scenes, 0.0 scenes/s, 3 h 20 min left, 3 failing, price 0.50"


def test_before_anything_happened_nothing_is_promised() -> None:
    assert progress_line(tally(seconds=0.0, queries=0, done=0), Limits()) == "0 of 20 scenes, 3 failing"


def test_without_a_terminal_a_line_comes_every_ten_seconds(capsys: Captured) -> None:
    with show_campaign(Limits(queries=200)) as watch:
        for seconds in (0.5, 9.9, 10.0, 12.0, 19.9, 20.5):
            watch(tally(seconds=seconds))
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.split(", ")[1] for line in said.err.splitlines()] == ["5.0 queries/s", "2.4 queries/s"]
    assert all(line.startswith("asking: 50 of 200 queries, ") for line in said.err.splitlines())


def test_quiet_says_nothing_without_a_terminal(capsys: Captured) -> None:
    with show_campaign(Limits(), quiet=True) as watch, show_steps("cutting out", 3, quiet=True) as steps:
        watch(tally(seconds=30.0))
        steps.advance()
        steps.advance(2)
    assert capsys.readouterr().err == ""


def test_steps_without_a_terminal_are_announced_once(capsys: Captured) -> None:
    with show_steps("cutting out objects", 1200) as steps:
        steps.advance()
    assert capsys.readouterr().err == "cutting out objects, 1,200 steps\n"


def test_long_steps_without_a_terminal_say_how_far_they_are_now_and_then(capsys: Captured) -> None:
    times = iter([0.0, 0.0, 4.0, 4.0, 12.0, 12.0, 30.0, 30.0])
    with show_steps("training", 10, clock=lambda: next(times)) as steps:
        for _ in range(3):
            steps.advance()
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "training, 10 steps",
        "training: 2 of 10, 0.2/s, 48 s left",
        "training: 3 of 10, 0.1/s, 1 min 10 s left",
    ]


def test_downloads_have_the_same_look(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    from instar.zoo import show_download

    with show_download("yolox-nano", 66.0) as told:
        told(1.0)
    assert capsys.readouterr().err == "fetching yolox-nano, 66.0 MB\n"
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with show_download("yolox-nano", 66.0) as told:
        told(33.0)
    assert "fetching yolox-nano: 33.0 of 66.0 MB" in capsys.readouterr().err


def test_one_step_is_not_several(capsys: Captured) -> None:
    with show_steps("cutting out objects", 1):
        pass
    assert capsys.readouterr().err == "cutting out objects, 1 step\n"


def test_a_terminal_gets_a_bar(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with show_campaign(Limits(queries=200), quiet=True) as watch:
        watch(tally(seconds=10.0))
    with show_steps("cutting out", 3, quiet=True) as steps:
        steps.advance(3)
    said = capsys.readouterr()
    assert "50 of 200 queries, 5.0 queries/s, 30 s left, 3 failing" in said.err
    assert "cutting out" in said.err
    assert said.out == ""
