"""Neither workers, batches, stores nor interruptions change a record."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import instar
import planted_core as planted
from instar.store import RunStore

RELATIONS = {
    "plain": [planted.plain],
    "two follow-ups": [planted.checked_double],
    "all checks": [planted.checked],
    "taking turns": [planted.checked, planted.double, planted.checked_double],
}
SEARCHES = {"draws": instar.draws(6), "walk": planted.walk(3), "across": planted.roam(4)}


def run(relations, search, *, queries=None, n=9, seed=3, concurrent=False, **how):
    system = planted.Hashed(concurrent=concurrent)
    limits = instar.Limits(queries=queries)
    records = instar.run(
        planted.pictures(n), relations, system, search=search, seed=seed, limits=limits, **how
    )
    return planted.rows(records)


@pytest.mark.parametrize("queries", [None, 120])
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
@pytest.mark.parametrize("relations", RELATIONS.values(), ids=RELATIONS.keys())
def test_workers_batches_and_stores_change_nothing(relations, search, queries, tmp_path):
    reference = run(relations, search, queries=queries)
    assert reference
    assert run(relations, search, queries=queries, workers=4, batch=16) == reference
    assert run(relations, search, queries=queries, workers=3, batch=2, concurrent=True) == reference
    assert run(relations, search, queries=queries, batch=5, out=tmp_path / "run") == reference
    with RunStore.read(tmp_path / "run") as store:
        assert planted.rows(store.records()) == reference


def test_every_kind_of_outcome_occurs_in_these_campaigns():
    # Otherwise the comparisons above would compare little.
    records = [
        r
        for queries in (61, 200, None)
        for r in run(RELATIONS["taking turns"], instar.draws(6), queries=queries)
    ]
    assert {row[6] for row in records} == {"held", "violated", "inapplicable"}
    assert {row[6] for row in records if row[3] == "checked"} == {"held", "violated", "inapplicable"}
    assert any('"recurs":[["lost"' in row[15] for row in records)
    assert {"lost", "unstable", "unconfirmed"} <= {row[7] for row in records}
    assert {row[5] for row in records} == {"case", "null"}


def test_another_seed_gives_other_changes():
    assert run([planted.plain], instar.draws(2)) != run([planted.plain], instar.draws(2), seed=4)


def test_a_relation_draws_alike_whatever_stands_beside_it():
    alone = run([planted.checked], instar.draws(4))
    beside = run([planted.plain, planted.checked], instar.draws(4))
    for relation in ("checked", ""):  # null changes have no relation
        assert [row for row in beside if row[3] == relation] == [row for row in alone if row[3] == relation]


def test_a_scene_is_judged_alike_whatever_stands_beside_it_when_nothing_limits():
    few, many = run([planted.checked], instar.draws(4), n=9), planted.pictures(9)[:4]
    alone = planted.rows(instar.run(many, planted.checked, planted.Hashed(), search=instar.draws(4), seed=3))
    assert [row for row in few if row[1] in {scene.id for scene in many}] == alone


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(1, 7),
    queries=st.none() | st.integers(1, 120),
    names=st.lists(st.sampled_from(["plain", "double", "checked", "checked_double"]), min_size=1, max_size=3),
    across=st.booleans(),
    seed=st.integers(0, 99),
    workers=st.integers(1, 4),
    batch=st.integers(1, 9),
    concurrent=st.booleans(),
)
def test_random_campaigns_come_out_alike(n, queries, names, across, seed, workers, batch, concurrent):
    relations = [replace(getattr(planted, name), name=f"{i}") for i, name in enumerate(names)]
    search = planted.roam(2) if across else planted.walk(2)
    reference = run(relations, search, queries=queries, n=n, seed=seed)
    other = run(
        relations,
        search,
        queries=queries,
        n=n,
        seed=seed,
        workers=workers,
        batch=batch,
        concurrent=concurrent,
    )
    assert other == reference


@pytest.mark.parametrize("stop_after", [1, 7, 30])
def test_a_campaign_that_is_closed_and_resumed_ends_alike(stop_after, tmp_path):
    how = {"queries": 150, "batch": 4, "workers": 2}
    reference = run(RELATIONS["taking turns"], planted.walk(3), **how)
    records = instar.run(
        planted.pictures(9), RELATIONS["taking turns"], planted.Hashed(), search=planted.walk(3), seed=3,
        limits=instar.Limits(queries=150), batch=4, workers=2, out=tmp_path / "run",
    )  # fmt: skip
    for _ in range(stop_after):
        next(records)
    records.close()
    assert (
        run(RELATIONS["taking turns"], planted.walk(3), out=tmp_path / "run", resume=True, **how) == reference
    )
    with RunStore.read(tmp_path / "run") as store:
        assert planted.rows(store.records()) == reference
