"""Ratings: pages that tell nothing, and counts that are right."""

from __future__ import annotations

import dataclasses
import json
import math
from itertools import pairwise

import numpy as np
import pytest

from instar.cli import main
from instar.errors import BadInput
from instar.ratings import Item, choose, read_answers, render_page, summarise
from instar.record import Record
from instar.relation import Change
from instar.stats.agreement import krippendorff_alpha
from instar.verdict import Finding, Verdict

SLOW = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."
NIGHT = "If: the driving time changes into night, Then: slow down."


@dataclasses.dataclass(frozen=True)
class Some(Change):
    number: int


def record(case, relation, violated):
    verdict = Verdict.violated([Finding("speed", "", -1.0)]) if violated else Verdict.held(1.0)
    return Record(f"{case:016x}", f"s{case}", f"s{case}", relation, 0, Some(case), verdict)


def records(violated, held, relations=("a", "b")):
    every = [record(i, relations[i % len(relations)], True) for i in range(violated)]
    return every + [record(1000 + i, relations[i % len(relations)], False) for i in range(held)]


def statuses(chosen):
    return [one.verdict.status.value for one in chosen]


def test_violations_and_passes_are_balanced_and_so_are_relations():
    chosen = choose(records(200, 300), 60)
    assert statuses(chosen).count("violated") == 30
    assert len(chosen) == 60
    assert [one.relation for one in chosen].count("a") == 30
    assert len({one.case for one in chosen}) == 60


def test_what_one_side_lacks_the_other_makes_up_for():
    assert statuses(choose(records(5, 300), 60)).count("violated") == 5
    assert statuses(choose(records(300, 5), 60)).count("violated") == 55
    assert len(choose(records(3, 4), 60)) == 7


def test_the_order_tells_nothing_and_is_the_same_again():
    first, again = (statuses(choose(records(50, 50), 60, seed=1)) for _ in range(2))
    assert first == again != statuses(choose(records(50, 50), 60, seed=2))
    changes = sum(a != b for a, b in pairwise(first))
    assert 15 < changes < 45  # neither sorted nor alternating


def test_a_page_is_one_file_that_fetches_nothing():
    page = render_page(
        [Item("ab", b"\x89PNG..", b"jpeg", "speed 40 km/h", "speed </script> 30")], title="A & B"
    )
    assert "<title>A &amp; B</title>" in page
    assert page.count("</script>") == 2  # an answer cannot end the script
    assert "http" not in page
    assert "data:image/png;base64," in page
    assert "data:image/jpeg;base64," in page


def sheet(rater, points):
    return {
        "ratings": 1,
        "rater": rater,
        "answers": [{"item": i, "case": case, **given} for i, (case, given) in enumerate(points.items(), 1)],
    }


def test_answers_are_joined_with_the_run(tmp_path):
    known = {one.case: one for one in records(2, 2)}
    cases = sorted(known)
    sheets = []
    for rater, bias in (("ann", 0), ("bob", 1)):
        points = {case: {"real": 5 + bias, "reasonable": 2 + i + bias} for i, case in enumerate(cases)}
        path = tmp_path / f"{rater}.json"
        path.write_text(json.dumps(sheet(rater, points)))
        sheets.append(read_answers(path))
    found = summarise(sheets, known)
    assert found.raters == ("ann", "bob")
    (box,) = [
        b for b in found.boxes if (b.relation, b.verdict, b.question) == ("all", "violated", "reasonable")
    ]
    assert sorted(box.values) == [2, 3, 3, 4]
    assert box.quartiles == (2, 2.75, 3, 3.25, 4)
    expected = krippendorff_alpha([[2, 3, 4, 5], [3, 4, 5, 6]])
    assert found.alpha["reasonable"] == pytest.approx(expected)
    alone = summarise(sheets[:1], known)
    assert math.isnan(alone.alpha["real"])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("nonsense", "is no file of ratings"),
        ("{}", "must be one that the page"),
        (json.dumps(sheet("x", {"ab": {"real": 8}})), "real is 8; it must be 1 to 7"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(tmp_path, content, complaint):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(BadInput, match=complaint):
        read_answers(tmp_path / "a.json")


def test_cases_of_another_run_and_a_rater_twice_are_refused():
    from instar.ratings import Rated

    known = {one.case: one for one in records(1, 1)}
    with pytest.raises(BadInput, match="is not in this run"):
        summarise([Rated("ann", {"ffff": {"real": 3}})], known)
    case = next(iter(known))
    with pytest.raises(BadInput, match="two files are by 'ann'"):
        summarise([Rated("ann", {case: {"real": 3}})] * 2, known)


def test_alpha_is_that_of_the_published_example_and_of_no_agreement():
    # Krippendorff (2011), part D; the doctest has the nominal and interval values.
    n = float("nan")
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    assert krippendorff_alpha(table) == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1
    rng = np.random.default_rng(0)
    assert abs(krippendorff_alpha(rng.integers(1, 8, (4, 2000)))) < 0.03
    assert math.isnan(krippendorff_alpha([[4, 4], [4, 4]]))
    assert krippendorff_alpha([[1, 7, 1, 7], [7, 1, 7, 1]]) < -0.5
    with pytest.raises(ValueError, match="metric is 'ratio'"):
        krippendorff_alpha(table, metric="ratio")


def test_a_run_is_exported_rated_and_imported(tmp_path, capsys):
    run = tmp_path / "run"
    words = [
        "run",
        "--system",
        "street-driver",
        "--set",
        "system.fault=brakes a tenth",
        "--scenes",
        "street:8:4",
    ]
    words += ["--rule", SLOW, "--rule", NIGHT, "--set", "search.n=1", "--out", str(run), "--json"]
    assert main(words) == 1
    assert main(["ratings", "export", str(run), "--n", "8", "--json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (document["pairs"], document["violated"], document["passed"]) == (8, 4, 4)
    page = (run / "ratings.html").read_text()
    items = json.loads(page.partition('type="application/json">')[2].partition("</script>")[0])["items"]
    assert all(item.keys() == {"case", "before", "after", "answers"} for item in items)
    for hint in ("violated", "held", "passed", "pedestrian", "tenth", "street-"):
        assert hint not in json.dumps([(item["case"], item["answers"]) for item in items])
        assert hint not in page.partition("<script")[0]
    assert all(item["answers"][0].startswith("speed ") for item in items)
    files = []
    for rater in ("ann", "bob", "cy"):
        points = {item["case"]: {"real": 6, "reasonable": 1 + i % 7} for i, item in enumerate(items)}
        files.append(tmp_path / f"{rater}.json")
        files[-1].write_text(json.dumps(sheet(rater, points)))
    words = ["ratings", "import", str(run), *map(str, files), "--csv", str(tmp_path / "boxes.csv")]
    assert main([*words, "--plot", str(tmp_path / "boxes.png"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["alpha"]["reasonable"] == 1
    assert document["alpha"]["real"] is None  # nobody ever said anything but 6
    assert {box["verdict"] for box in document["boxes"]} == {"passed", "violated"}
    assert (tmp_path / "boxes.png").stat().st_size > 5000
    assert (tmp_path / "boxes.csv").read_text().startswith("relation,verdict,question,ratings")
