"""Whole campaigns on the drawn street: faults are found and named, a right detector is not accused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import drawn
import instar
from instar import Finding, Record, Status
from instar.core.system import System
from instar.core.workspace import Folder, prepare_relation
from instar.tasks.detection import guided, insertion
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.systems.street import street_blobs, street_exact
from instar.worlds.street import scenes


def campaign(
    system: System, *, streets: int, queries: int, seed: int = 0, timeout: float | None = None
) -> list[Record]:
    street = scenes(streets, seed=seed, size=(240, 320))
    limits = instar.Limits(queries=queries, timeout=timeout)
    return list(
        instar.run(
            street,
            insertion(pool="scenes", least_natural=0.0),
            system,
            search=guided(),
            seed=seed,
            limits=limits,
        )
    )


def statuses(records: list[Record]) -> Counter[Status]:
    return Counter(record.verdict.status for record in records if record.role == "case")


def kinds(records: list[Record]) -> set[str]:
    """Every kind of finding that was believed."""
    return {finding.kind for record in violated(records) for finding in record.verdict.findings}


def violated(records: list[Record]) -> list[Record]:
    return [r for r in records if r.role == "case" and r.verdict.status is Status.VIOLATED]


@pytest.mark.parametrize(
    ("system", "kind", "queries"),
    [
        (drawn.loses_neighbours(), "lost", 60),
        (drawn.drifts(), "drifted", 60),
        (drawn.invents(), "invented", 60),
        # Shows only where exactly two cars or persons are and the object pasted is one of them.
        (drawn.swaps_labels(), "renamed", 300),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
@pytest.mark.parametrize("seed", range(3))
def test_a_planted_fault_is_found_and_named(system: System, kind: str, queries: int, seed: int) -> None:
    records = campaign(system, streets=12, queries=queries, seed=seed)
    assert kinds(records) == {kind}
    assert sum(record.queries for record in records) <= queries


def test_the_blob_detector_is_found_to_fuse_neighbours_of_one_class() -> None:
    records = campaign(street_blobs(), streets=12, queries=300)
    assert kinds(records) == {"lost", "drifted"}
    for record in violated(records):
        assert isinstance(record.change, Insertion)
        assert {hurt(finding) for finding in record.verdict.findings} == {record.change.label}


def hurt(finding: Finding) -> str:
    """The class of the object that was lost or moved, or newly seen."""
    about = finding.evidence.get("was") or finding.evidence["is"]
    return str(about["label"])


@pytest.mark.parametrize("cases", [1_000, pytest.param(10_000, marks=pytest.mark.real)])
def test_a_right_detector_is_never_accused(cases: int) -> None:
    records = campaign(street_exact(), streets=cases // 25, queries=cases * 6 // 5)
    assert {record.verdict.status for record in records if record.role == "null"} == {Status.HELD}
    assert set(statuses(records)) <= {Status.HELD, Status.INAPPLICABLE}
    reasons = {r.verdict.reason for r in records if r.verdict.status is Status.INAPPLICABLE}
    assert reasons <= {"no free place", "no cut-out of its class"}
    assert statuses(records)[Status.HELD] >= cases


@pytest.mark.parametrize("seed", range(3))
def test_a_jittery_detector_is_unstable_and_not_violated(seed: int) -> None:
    records = campaign(drawn.jitters(), streets=12, queries=400, seed=seed)
    assert statuses(records)[Status.VIOLATED] == 0
    assert sum(record.verdict.kind == "unstable" for record in records if record.role == "case") >= 50


def test_a_detector_that_contradicts_itself_is_unstable_and_not_violated(tmp_path: Path) -> None:
    # One scene alone, so that questions come one after the other and every second answer lacks an object.
    street = scenes(12, size=(240, 320))
    relation = prepare_relation(insertion(pool="scenes", least_natural=0.0), street, Folder(tmp_path))
    records = list(instar.run(street[:1], relation, drawn.Wavers(), search=guided()))
    count = statuses(records)
    assert set(count) == {Status.HELD, Status.INAPPLICABLE}
    assert {r.verdict.kind for r in records if r.verdict.status is Status.INAPPLICABLE} == {"unstable"}
    assert count[Status.INAPPLICABLE] >= 10


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (drawn.raises(one_in=5), "RuntimeError: the lens cap is on"),
        (drawn.answers_nan(one_in=5), "the answer contains NaN"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_right_detector_that_fails_on_some_pictures_is_failed_there_and_held_elsewhere(
    system: System, reason: str
) -> None:
    records = campaign(system, streets=12, queries=120)
    count = statuses(records)
    assert set(count) == {Status.HELD, Status.FAILED}
    assert {r.verdict.reason for r in records if r.verdict.status is Status.FAILED} == {reason}
    assert 10 <= count[Status.FAILED] < count[Status.HELD]


def test_a_detector_that_forgets_the_last_picture_of_a_batch_fails_on_all() -> None:
    # Asked one by one, the last is the only one.
    records = campaign(drawn.Forgets(), streets=5, queries=50)
    assert [(r.verdict.status, r.verdict.reason) for r in records] == [
        (Status.FAILED, "predict gave 0 answers to 1 inputs")
    ] * 5


def test_a_detector_that_hangs_on_some_pictures_is_killed_there_and_held_elsewhere() -> None:
    records = campaign(drawn.hangs(one_in=5), streets=2, queries=14, timeout=5.0)
    assert set(statuses(records)) == {Status.HELD, Status.FAILED}
    assert {r.verdict.reason for r in records if r.verdict.status is Status.FAILED} == {
        "TimeoutError: no answer within 5 s"
    }
