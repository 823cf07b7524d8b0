"""The study: measures of records as the paper defines them, and what follows from them."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from instar import Record, Verdict
from instar.core.verdict import Finding
from instar.studies.text.diagnosis import diagnose
from instar.studies.text.measure import (
    LocatorStability,
    RelationStability,
    breaking_points,
    brightness_curve,
    compare_locators,
    correlate_relations,
    least_stable,
    measure_stability,
    on_pictures,
)
from instar.studies.text.tables import make_tables, picture_rows
from instar.tasks.text.accuracy import Hits
from instar.tasks.text.clarity import Look

counter = iter(range(10**9))


def record(relation, scene, stability, *, role="case", kind="", **evidence):
    evidence = {"stability": stability} | evidence
    if kind:
        verdict = Verdict.inapplicable("unstable", kind=kind, **evidence)
    elif stability < 1:
        verdict = Verdict.violated([Finding("lost", "box 0", -0.5)], **evidence)
    else:
        verdict = Verdict.held(0.5, **evidence)
    n = next(counter)
    return Record(f"{n:016x}", scene, scene, relation, n, None, verdict, role)


def rows_of(name, records):
    made = make_tables([measure_stability("s", records)])
    return next(table for table in made if table.name == name).rows


def test_stability_is_the_mean_of_the_pictures_means_whatever_was_believed():
    system = measure_stability(
        "s",
        [
            record("perspective", "a", 1.0),
            record("perspective", "a", 0.5, kind="unstable"),
            record("perspective", "b", 0.25),
        ],
    )
    found = system.relations["perspective"]
    assert system.stability("perspective") == 0.5
    assert (found.judged, found.violated, found.unstable, found.inapplicable) == (2, 1, 1, 0)


def test_watermarks_are_counted_over_all_follow_ups():
    shots = [record("watermark", "a", 1.0)] * 3 + [record("watermark", "b", 0.0)]
    assert measure_stability("s", shots).stability("watermark") == 0.75


def test_null_changes_are_measured_apart():
    system = measure_stability("s", [record("masking", "a", 0.5, role="null"), record("masking", "a", 1.0)])
    assert (system.null_stability, system.stability("masking")) == (0.5, 1.0)
    assert math.isnan(system.stability("perspective"))


def test_what_cannot_be_applied_is_counted_and_not_measured():
    verdict = Verdict.inapplicable("no text found in the source")
    system = measure_stability("s", [Record("0" * 16, "a", "a", "masking", 0, None, verdict)])
    assert system.relations["masking"].inapplicable == 1
    assert math.isnan(system.stability("masking"))


def test_accuracy_adds_up_over_follow_ups():
    records = [
        record("masking", "a", 1.0, accuracy=[1, 2, 3, 1], word_accuracy=[1, 2, 3, 3]),
        record("masking", "a", 1.0, accuracy=[2, 2, 2, 2], word_accuracy=[2, 2, 2, 2]),
    ]
    counts = measure_stability("s", records).relations["masking"].accuracy["a"]
    assert (counts.matched, counts.by_words) == (Hits(3, 4, 5, 3), Hits(3, 4, 5, 5))


def swept():
    levels = {-20: 0.5, -10: 1.0, 10: 0.5, 20: 0.0}
    records = [record("brightness-up", "a", value, level=level) for level, value in levels.items()]
    return measure_stability("s", [*records, record("brightness-up", "b", 1.0, level=10)])


def test_the_brightness_curve_is_in_order():
    assert brightness_curve(swept()) == {-20: 0.5, -10: 1.0, 10: 0.75, 20: 0.0}


def test_breaking_points_are_the_first_on_either_side():
    assert breaking_points(swept()) == {"a": (-20, 10), "b": (None, None)}


def systems():
    """Three systems on twelve pictures, the first best; the darker a picture, the worse for all."""
    made = []
    for number, name in enumerate("xyz"):
        records = []
        for i in range(12):
            for relation in ("brightness-up", "perspective"):
                value = 1 - 0.1 * number - 0.03 * (11 - i)
                records.append(record(relation, f"p{i:02}", value))
        one = measure_stability(name, records)
        one.looks = {
            f"p{i:02}": Look(40.0 + 10 * i, 3 + i % 4, 0.3 + 0.01 * ((i * 5) % 7)) for i in range(12)
        }
        made.append(one)
    return made


def test_systems_are_compared_on_the_pictures_they_share():
    found = compare_locators(systems(), "perspective")
    assert found.scenes == 12
    assert found.friedman.statistic == pytest.approx(24.0)  # every picture ranks them alike
    assert found.effect[0, 1] == pytest.approx(1 - found.effect[1, 0])
    assert found.nemenyi[0, 2] < 0.001
    assert compare_locators(systems(), "masking") is None
    assert compare_locators(systems()[:2], "perspective").friedman is None


def test_pictures_that_are_equally_stable_tie_in_whatever_order_their_follow_ups_came():
    orders = ([2 / 3] + [1.0] * 9, [1.0] * 9 + [2 / 3], [1.0] * 4 + [2 / 3] + [1.0] * 5)
    made = [
        measure_stability(name, [record("perspective", f"p{i}", value) for i in range(4) for value in values])
        for name, values in zip("xyz", orders)
    ]
    found = compare_locators(made, "perspective")
    assert (found.friedman.statistic, found.friedman.p) == (0.0, 1.0)
    assert (found.effect == 0.5).all()
    assert made[0].of_scenes("perspective")["p0"] == Fraction(29, 30)


def test_stability_of_words_leaves_boxes_on_no_text_out():
    records = [record("perspective", "a", 0.25, word_stability=1.0), record("perspective", "b", 0.5)]
    of_words = measure_stability("s", records, measure="word_stability")
    assert of_words.of_scenes("perspective") == {"a": 1}  # no word is located in b, so b says nothing
    of_words.of_boxes = measure_stability("s", records)
    made = {table.name: table for table in make_tables([of_words])}
    assert made["stability"].rows[4] == ["perspective", "1.000"]
    assert made["boxes"].rows[4] == ["perspective", "0.375"]


def test_chosen_pictures_are_told_beside_all():
    made = {table.name: table for table in make_tables(systems())}
    rows = {row[0]: row[1:] for row in made["chosen"].rows}
    assert rows["perspective"][:2] == ["10", "0.805"]  # the ten lowest of 0.67, 0.70, ... 1
    assert rows["perspective"][4] == "0.030"
    chosen = least_stable(systems(), count=3)
    assert on_pictures(systems()[0], chosen).of_scenes("perspective").keys() == {"p00", "p01", "p02"}


def test_the_least_stable_pictures_come_first():
    assert least_stable(systems(), count=3)["perspective"] == ["p00", "p01", "p02"]
    assert least_stable(systems(), count=3)["masking"] == []
    stable = measure_stability("s", [record("watermark", f"p{i}", float(i > 0)) for i in range(3)])
    assert least_stable([stable])["watermark"] == ["p0"]


def test_relations_that_say_the_same_correlate():
    found = correlate_relations(systems()[0])
    assert found[0, 3] == pytest.approx(1.0)
    assert np.isnan(found[0, 5])


def test_the_diagnosis_finds_what_makes_pictures_unstable():
    found = diagnose(systems()[0])
    assert found.scenes == 12
    assert found.linear.weights == pytest.approx((0.03 * np.std(np.arange(12)), 0.0, 0.0), abs=1e-9)
    assert found.linear.r2_unseen == pytest.approx(1.0)
    assert found.ridge.weights[0] < found.linear.weights[0]
    told = {(rule.given, rule.then): rule.confidence for rule in found.rules}
    assert told[("brightness-up unstable",), "dark"] == told[("perspective unstable",), "dark"] == 1.0
    assert (("brightness-up unstable", "perspective unstable"), "dark") not in told  # says no more


def test_a_system_that_never_wavers_has_no_diagnosis():
    one = measure_stability("s", [record("masking", f"p{i}", 1.0) for i in range(9)])
    one.looks = {f"p{i}": Look(float(i), i, 0.1 * i) for i in range(9)}
    found = diagnose(one)
    assert (found.linear, found.ridge, found.rules) == (None, None, ())


def test_all_tables_have_rows_of_one_width():
    made = {table.name: table for table in make_tables(systems())}
    assert {
        "stability",
        "friedman",
        "effects",
        "correlation",
        "diagnosis",
        "rules",
        "least-stable",
    } <= made.keys()
    for table in made.values():
        assert len({len(row) for row in table.rows}) == 1, table.name
        assert all(isinstance(cell, str) for row in table.rows for cell in row)
    assert made["friedman"].note == "At 0.1 the systems differ under: brightness-up, perspective."
    assert "brightness-up and perspective (x)" in made["correlation"].note
    rows = list(picture_rows(systems()))
    assert len(rows) == 1 + 3 * 2 * 12


def test_one_system_alone_is_not_compared():
    assert {"friedman", "effects"}.isdisjoint(table.name for table in make_tables(systems()[:1]))


def test_statistics_of_nothing_are_tables_all_the_same():
    assert [row[1] for row in next(make_tables([measure_stability("s", [])])).rows] == [
        "s",
        "-",
        "-",
        "-",
        "-",
        "-",
        "-",
        "-",
    ]


def test_figures_are_drawn(tmp_path):
    from instar.studies.text.plots import draw_figures

    paths = list(draw_figures([*systems(), swept()], tmp_path / "figures"))
    assert [path.name for path in paths] == [
        "distribution.png", "brightness.png", "correlation.png", "clarity.png", "effects.png",
        "chosen.png",
    ]  # fmt: skip
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in paths)


def test_kinds_of_the_violated_cases_are_counted():
    records = [record("masking", "a", 0.0), record("masking", "b", 0.0), record("masking", "c", 1.0)]
    rows = next(
        table for table in make_tables([measure_stability("s", records)]) if table.name == "cases"
    ).rows
    assert rows[1] == ["s", "masking", "3", "2", "2", "0", "0", "0", "lost 2", "unknown 2"]


def test_brightness_up_is_held_against_down_picture_by_picture():
    records = [record("brightness-up", scene, 0.5) for scene in "abcdef"]
    records += [record("brightness-down", scene, 1.0) for scene in "abcde"]
    records += [record("brightness-down", "f", 0.5), record("brightness-down", "g", 0.0)]
    rows = next(
        table for table in make_tables([measure_stability("s", records)]) if table.name == "light"
    ).rows
    assert rows[1] == ["s", "0.500", "0.786", "5", "1", "0", "0.062"]
    (_, empty) = next(
        table for table in make_tables([measure_stability("s", [])]) if table.name == "light"
    ).rows
    assert empty == ["s", "-", "-", "0", "0", "0", "1"]


def test_the_mean_over_pictures_has_an_interval_also_where_all_are_alike():
    values = {f"p{k}": [0.5 + 0.05 * k] for k in range(10)}
    one = LocatorStability(
        "a", {"brightness-up": RelationStability(scenes=values), "watermark": RelationStability(
            scenes={name: [1.0] for name in values})}, {}, {})  # fmt: skip
    (table,) = [table for table in make_tables([one]) if table.name == "distribution"]
    assert [row[-1] for row in table.rows] == ["mean, 95 %", "0.617 to 0.833", "0.741 to 1.000"]
