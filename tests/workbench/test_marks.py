"""Marks and ratings: kept in the run, nothing overwritten, any number of hands at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bench_runs import make_run, record
from instar.core.errors import BadInput
from instar.store import RunStore
from instar.store.marks import Marks


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run", [record(i) for i in range(20)])


def test_the_last_mark_counts_and_all_are_history(run: Path) -> None:
    marks = Marks(run)
    marks.add("a1", "acceptable", "far away")
    marks.add("a1", "real defect", "no, it is near")
    marks.add("b2", "oracle wrong")
    assert Marks(run).current() == {"a1": "real defect", "b2": "oracle wrong"}
    assert [(said.mark, said.note) for said in Marks(run).history("a1")] == [
        ("real defect", "no, it is near"),
        ("acceptable", "far away"),
    ]
    marks.add("b2", "")
    assert Marks(run).current() == {"a1": "real defect"}
    assert [said.mark for said in Marks(run).history("b2")] == ["", "oracle wrong"]


def test_reading_writes_nothing(run: Path) -> None:
    assert (Marks(run).current(), Marks(run).history("a1"), Marks(run).ratings()) == ({}, [], [])
    assert not (run / "marks.sqlite").exists()


@pytest.mark.parametrize(("mark", "note"), [("nonsense", ""), ("acceptable", "x" * 2001)])
def test_what_is_no_mark_is_refused(run: Path, mark: str, note: str) -> None:
    with pytest.raises(BadInput):
        Marks(run).add("a1", mark, note)
    assert Marks(run).history("a1") == []


def test_many_hands_at_once_lose_nothing(run: Path) -> None:
    def say(i: int) -> None:
        Marks(run).add(f"case-{i % 5}", "acceptable", str(i))

    with ThreadPoolExecutor(8) as hands:
        list(hands.map(say, range(40)))
    assert sorted(int(said.note) for k in range(5) for said in Marks(run).history(f"case-{k}")) == list(
        range(40)
    )


def test_marks_do_not_touch_the_file_of_the_campaign(run: Path) -> None:
    before = (run / "run.sqlite").read_bytes()
    # A campaign holds the lock and an open transaction.
    with RunStore.resume(run, identity={"system": "made-up", "fingerprint": "x"}) as store:
        store.keep_records([record(99)])
        Marks(run).add("a1", "acceptable")
        assert Marks(run).current() == {"a1": "acceptable"}
    with RunStore.read(run) as store:
        assert len(list(store.records())) == 21
    assert before != b""


def test_ratings_of_several_raters(run: Path) -> None:
    marks = Marks(run)
    marks.rate("a1", "ann", {"real": 6, "reasonable": 2})
    marks.rate("a1", "bob", {"real": 5, "reasonable": 3})
    marks.rate("a1", "ann", {"real": 7})
    rated = [(r.rater, r.question, r.points) for r in marks.ratings()]
    assert rated == [
        ("ann", "real", 7),
        ("ann", "reasonable", 2),
        ("bob", "real", 5),
        ("bob", "reasonable", 3),
    ]
    for name, points in (
        ("", {"real": 1}),
        ("x" * 61, {"real": 1}),
    ):
        with pytest.raises(BadInput):
            marks.rate("a1", name, points)
