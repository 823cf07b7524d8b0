"""Every search and every oracle finds a planted fault on the drawn street; none accuses a right detector."""

from __future__ import annotations

import pytest

import drawn
import instar
from instar import Record, Status
from instar.campaigns.adaptive_search import adaptive
from instar.core.system import System
from instar.tasks.detection import guided, insertion, random, relocation
from instar.tasks.detection.changes import Insertion
from instar.tasks.detection.systems.street import street_exact
from instar.worlds.street import scenes

SEARCHES = {
    "guided": guided,
    "random": random,
    "relocation": relocation,
    "adaptive": lambda: adaptive(draws=60),
}
# Anywhere in a street is seldom within ten pixels of a neighbour; on average one of forty is.
QUERIES = {"guided": 150, "random": 400, "relocation": 150, "adaptive": 150}


def campaign(
    system: System, search: str, *, oracle: str = "same_objects", queries: int | None = None
) -> list[Record]:
    street = scenes(10, seed=3, size=(240, 320))
    limits = instar.Limits(queries=queries or QUERIES[search])
    relation = insertion(pool="scenes", oracle=oracle, least_natural=0.0)
    return list(instar.run(street, relation, system, search=SEARCHES[search](), seed=1, limits=limits))


def believed(records: list[Record]) -> set[str]:
    return {f.kind for r in records if r.verdict.status is Status.VIOLATED for f in r.verdict.findings}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("system", "kind"),
    [
        (drawn.loses_neighbours(), "lost"),
        (drawn.drifts(), "drifted"),
        (drawn.invents(), "invented"),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_every_search_finds_it(search: str, system: System, kind: str) -> None:
    records = campaign(system, search)
    assert kind in believed(records)
    assert sum(record.queries for record in records) <= QUERIES[search]


@pytest.mark.parametrize("search", SEARCHES)
def test_no_search_accuses_a_right_detector(search: str) -> None:
    records = campaign(street_exact(), search, queries=300)
    assert not believed(records)
    assert sum(record.verdict.status is Status.HELD for record in records) > 200


@pytest.mark.parametrize(
    ("system", "kind"),
    [(drawn.loses_neighbours(), "lost"), (drawn.drifts(), "drifted")],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_papers_oracle_finds_what_was_lost_or_moved(system: System, kind: str) -> None:
    assert believed(campaign(system, "guided", oracle="map_equal")) == {kind}
    assert not believed(campaign(street_exact(), "guided", oracle="map_equal", queries=200))


def test_relocation_goes_on_from_violated_insertions_and_tells_how_far() -> None:
    records = campaign(drawn.loses_neighbours(within=60), "relocation", queries=400)
    moved = [r for r in records if isinstance(r.change, Insertion) and r.change.start is not None]
    starts = {
        (r.scene, r.change.cutout, r.change.x, r.change.y)
        for r in records
        if isinstance(r.change, Insertion) and r.change.start is None and r.verdict.status is Status.VIOLATED
    }
    assert moved
    assert {(r.scene, r.change.cutout, *r.change.start) for r in moved} <= starts
    assert all(0 < r.change.travelled <= 1 for r in moved)
    assert any(r.verdict.status is Status.VIOLATED for r in moved)
