"""What an address shows: counted against a plain loop over the same records."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

import instar
from bench_runs import lost, make_run, make_test_site, record
from instar.core.errors import BadInput
from instar.workbench.filters import PER_PAGE, CaseFilter, read_filter, select_cases
from instar.workbench.table import FACETS, SORTS, CaseTable

MARGINS = [-0.9, -0.5, -0.1, 0.0, 0.2, 0.7]


def make_records() -> list[instar.Record]:
    made = []
    for i in range(120):
        margin = MARGINS[i % 6]
        verdict = lost(margin, kind=["lost", "drifted"][i % 2]) if margin < 0 else instar.Verdict.held(margin)
        if i % 11 == 0:
            verdict = instar.Verdict.inapplicable(f"reason {i % 3}")
        made.append(
            record(i, verdict=verdict, relation=["insertion", "blur"][i % 5 == 0], naturalness=i / 120)
        )
    return made


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> CaseTable:
    folder = tmp_path_factory.mktemp("runs")
    make_run(folder / "a", make_records(), system="system A")
    make_run(folder / "b", make_records()[:40], system="system B")
    site = make_test_site(folder)
    site.library.mark(site.library.run("a"), f"{6:016x}", "real defect", "")
    return site.library.table


def plainly(table: CaseTable, view: CaseFilter) -> list[int]:
    def fits(row: int) -> bool:
        named = all(table.name(f, row) in names for f, names in view.chosen.items() if names)
        low = view.least is None or table.margin[row] >= view.least
        high = view.most is None or table.margin[row] <= view.most
        natural = view.natural is None or table.naturalness[row] >= view.natural
        text = view.text in table.name("scene", row) or table.case_id(row).startswith(view.text)
        return named and low and high and natural and text

    return [row for row in range(len(table)) if fits(row)]


def some(*names: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), max_size=2, unique=True).map(tuple)


VIEWS = st.builds(
    CaseFilter,
    chosen=st.fixed_dictionaries(
        {},
        optional={
            "status": some("violated", "held", "failed"),
            "relation": some("insertion", "blur", "none"),
            "system": some("system A", "system B"),
            "kind": st.just(("drifted",)),
            "mark": st.sampled_from([("real defect",), ("unmarked",)]),
            "scene": st.just(("scene-3",)),
        },
    ),
    least=st.none() | st.sampled_from(MARGINS),
    most=st.none() | st.sampled_from(MARGINS),
    natural=st.none() | st.just(0.5),
    text=st.sampled_from(["", "scene-1", "00000000000000"]),
    sort=st.sampled_from(list(SORTS)),
)


@given(view=VIEWS)
def test_rows_and_counts_are_those_of_a_plain_loop(table: CaseTable, view: CaseFilter) -> None:
    found = select_cases(table, view)
    assert sorted(found.rows.tolist()) == plainly(table, view)
    for facet in FACETS:
        others = CaseFilter(
            {f: v for f, v in view.chosen.items() if f != facet},
            view.least,
            view.most,
            view.natural,
            view.text,
        )
        rows = plainly(table, others)
        for choice in found.choices[facet]:
            assert choice.count == sum(table.name(facet, row) == choice.name for row in rows)
            assert choice.is_chosen == (choice.name in view.chosen.get(facet, ()))


@given(view=VIEWS)
def test_the_address_holds_the_whole_state(view: CaseFilter) -> None:
    chosen = {facet: names for facet, names in view.chosen.items() if names}
    assert read_filter(parse_qsl(view.query)) == CaseFilter(
        chosen, view.least, view.most, view.natural, view.text, view.sort
    )


def test_orders_are_orders(table: CaseTable) -> None:
    margins = table.margin[select_cases(table, CaseFilter(sort="worst")).rows]
    assert (margins[1:] >= margins[:-1]).all()
    assert table.margin[select_cases(table, CaseFilter(sort="clearest")).rows][0] == 0.7
    natural = table.naturalness[select_cases(table, CaseFilter(sort="natural")).rows]
    assert (natural[1:] <= natural[:-1]).all()
    scenes = [table.name("scene", row) for row in select_cases(table, CaseFilter(sort="scene")).rows]
    assert scenes == sorted(scenes)


def test_pages_together_are_everything_once(table: CaseTable) -> None:
    found = select_cases(table, CaseFilter())
    shown = [row for page in range(1, found.pages + 1) for row in found.on(page)]
    assert shown == found.rows.tolist()
    assert len(found.on(1)) == PER_PAGE
    assert found.on(found.pages + 1) == []


def test_the_neighbours_of_a_case_are_those_of_the_view(table: CaseTable) -> None:
    rows = select_cases(table, CaseFilter({"status": ("violated",)})).rows.tolist()
    found = select_cases(table, CaseFilter({"status": ("violated",)}))
    assert found.beside(rows[0]) == (0, None, rows[1])
    assert found.beside(rows[5]) == (5, rows[4], rows[6])
    held = select_cases(table, CaseFilter({"status": ("held",)})).rows[0]
    assert found.beside(int(held)) == (None, None, rows[0])


def test_groups_are_a_filter(table: CaseTable) -> None:
    titles = [word for word in table.words["group"] if word != "no group"]
    counts = [len(select_cases(table, CaseFilter({"group": (title,)})).rows) for title in titles]
    assert sum(counts) == len(select_cases(table, CaseFilter({"status": ("violated",)})).rows)
    assert len(titles) >= 2


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("sort=x", "sort is 'x'"),
        ("least=nan", "least is 'nan'"),
        ("natural=1e999", "natural"),
        ("page=0", "page"),
        ("page=1.5", "page"),
        ("scene=" + "x" * 5000, "characters"),
        ("&".join(f"scene={i}" for i in range(60)), "times"),
    ],
)
def test_nonsense_is_refused_in_words(query: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        read_filter(parse_qsl(query))


def test_a_folder_without_runs_is_an_empty_table(tmp_path: Path) -> None:
    found = select_cases(make_test_site(tmp_path).library.table, CaseFilter({"status": ("violated",)}))
    assert (len(found.rows), found.pages) == (0, 1)
