"""The driving study: counts and thresholds by hand, and the command on drawn streets."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from instar.cli import main
from instar.core.record import Record
from instar.core.verdict import Finding, Verdict
from instar.report.files import write_picture
from instar.studies.driving.measure import (
    DriverMeasures,
    RuleMeasures,
    error_of,
    errors_on_card,
    measure_rules,
    share_below,
)
from instar.studies.driving.rules import STUDY, own_rules, rules_for
from instar.studies.driving.tables import make_tables
from instar.tasks.driving.engine_table import usual_engines
from instar.tasks.driving.engines import deeptest
from instar.tasks.driving.rules import RefusedRule, read_rule

STAYED = {"speed": 40.0, "steering": 2.0}


def record(scene, verdict, after, rule="Rule 1"):
    evidence = {"answers": [STAYED, after]}
    made = (
        Verdict.violated([Finding("speed decrease", "", -1.0)], **evidence) if verdict == "violated" else None
    )
    if verdict == "held":
        made = Verdict.held(1.0, **evidence)
    if verdict == "unstable":
        made = Verdict.inapplicable("unstable: it does not recur", kind="unstable", **evidence)
    if verdict == "no place":
        made = Verdict.inapplicable("no free place")
    return Record(f"{scene}{verdict}", scene, scene, rule, 0, None, made)


def some_records():
    return [
        record("a", "held", {"speed": 30.0, "steering": 2.0}),  # falls by a quarter
        record("b", "violated", {"speed": 41.0, "steering": 2.0}),
        record("c", "unstable", {"speed": 40.0, "steering": 2.0}),
        record("d", "no place", {}),
        record("a", "held", {"speed": 40.0, "steering": 4.0}, rule="Rule 5"),
    ]


def mine():
    return DriverMeasures("mine", {"speed", "steering"}, measure_rules(some_records()))


def test_the_paper_counts_what_wavers_too_and_we_do_not():
    found = measure_rules(some_records())["Rule 1"]
    assert (found.judged, found.violated, found.bare, found.unstable, found.inapplicable) == (2, 1, 2, 1, 1)
    assert found.tried == 3
    low, high = found.interval
    assert low < 0.5 < high


def test_thresholds_are_judged_from_the_answers():
    found = measure_rules(some_records())
    assert share_below(found["Rule 1"], "speed", 0.0) == (2, 3)
    assert share_below(found["Rule 1"], "speed", 0.25) == (2, 3)
    assert share_below(found["Rule 1"], "speed", 0.3) == (3, 3)
    assert share_below(found["Rule 5"], "steering", 1.39) == (1, 1)
    assert share_below(found["Rule 5"], "steering", 2.0) == (0, 1)


def test_a_car_that_stands_is_in_no_share():
    found = RuleMeasures(answers=[[{"speed": 0.4}, {"speed": 0.4}]])
    assert share_below(found, "speed", 0.0) == (0, 0)


def test_the_error_stands_beside_that_of_the_best_constant():
    error = error_of("speed", [10.0, 20.0, 30.0], [10.0, 20.0, 36.0], ["a", "b", "c"])
    assert error.mae == pytest.approx(2)
    assert error.constant == pytest.approx(26 / 3)
    assert error.interval[0] == 0


def test_every_table_says_what_it_counts():
    system = DriverMeasures(
        "mine", {"speed", "steering"}, measure_rules(some_records()), waver={"speed": 0.1}
    )
    system.errors = [error_of("speed", [1.0, 2.0], [1.0, 4.0], ["a", "b"])]
    made = {table.name: table for table in make_tables([system])}
    assert made["table-7"].rows[1] == ["Rule 1", "3", "2 (66.7 %) | 1"]
    assert made["table-8-speed"].rows[1][:4] == ["Rule 1", "mine", "66.7", "66.7"]
    assert made["table-8-steering"].rows[0][2:4] == ["2.00°", "5.00°"]
    assert made["waver"].rows[1] == ["mine", "0.100", "-"]
    assert made["errors"].rows[1][1:5] == ["speed (km/h)", "these pictures", "2", "1.00"]
    assert made["rules"].rows[1][1].startswith("If: a pedestrian appears on the roadside, Then: ")


def test_files_have_one_number_to_a_cell_and_say_its_unit():
    other = DriverMeasures("other", {"speed"}, {})
    made = {
        table.name: table
        for table in make_tables(
            [DriverMeasures("mine", {"speed", "steering"}, measure_rules(some_records())), other]
        )
    }
    head, first, second = made["table-7"].data
    assert head[:5] == ["rule", "mine: cases", "mine: violated", "mine: violated (%)", "mine: recurring"]
    assert first == ["Rule 1", "3", "2", "66.7", "1", "0", "", "", ""]
    assert second[:5] == ["Rule 5", "1", "0", "0.0", "0"]
    row = dict(zip(made["cases"].data[0], made["cases"].data[1]))
    assert (row["judged"], row["violated"], row["violated (%)"], row["unstable"]) == ("2", "1", "50.0", "1")
    assert float(row["95 % low (%)"]) < 50 < float(row["95 % high (%)"])


def test_a_table_that_nobody_can_fill_says_why():
    made = {table.name: table for table in make_tables([DriverMeasures("mine", {"steering"}, {})])}
    assert made["table-11"].rows[1:] == [["none", "0", "-"]]
    assert made["table-11"].note == "These rules are about speed, which none of these systems answers."
    assert len(made["table-11"].data) == 1
    assert made["table-7"].note == "None of these rules could be judged on these scenes."


def test_where_the_truth_is_not_known_the_card_of_a_network_says_its_error():
    card = {"steering": {"mae": 4.4, "interval": [1.9, 7.0], "constant_mae": 6.1, "pictures": 160}}
    (error,) = errors_on_card(SimpleNamespace(card=json.dumps({"errors": card})))
    assert (error.quantity, error.mae, error.interval, error.constant) == ("steering", 4.4, (1.9, 7.0), 6.1)
    assert error.on == "held out in training"
    assert errors_on_card(SimpleNamespace(card="{}")) == []


def test_all_rules_of_the_study_can_be_read_and_made():
    for rule in STUDY:
        meaning = read_rule(rule.text)
        assert {block.expectation.quantity for block in meaning.blocks} == {rule.quantity}
        for block in meaning.blocks:
            assert all(usual_engines().name_for(condition) for condition in block.conditions)
    assert len(rules_for({"speed", "steering"}, drawn=True)) == len(STUDY) == 17


def test_deeptests_rain_is_the_same_again_and_covers_the_picture():
    engines = usual_engines("deeptest_pasted")
    (block,) = read_rule("If: it rains heavily, Then: keep the steering angle.").blocks
    (condition,) = block.conditions
    assert engines.name_for(condition) == "deeptest"
    (edit,) = deeptest.plan(condition, None, np.random.default_rng(3))
    grey = np.full((160, 320, 3), 100, np.uint8)
    wet = deeptest.make(grey, edit, None)
    assert np.array_equal(wet, deeptest.make(grey, edit, None))
    assert grey.min() == grey.max() == 100
    for part in (wet[:80, :160], wet[80:, 160:]):
        assert part.max() > 120
    more = deeptest.alter(edit, "more", None)
    assert deeptest.make(grey, more, None).mean() > wet.mean()


@pytest.mark.real
def test_the_command_makes_every_table_for_a_driver(tmp_path, capsys):
    words = ["study", "driving", "--systems", "street-driver", "--scenes", "street:4:4", "--plots"]
    assert main([*words, "--out", str(tmp_path / "study"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    wanted = {"table-7", "table-8-speed", "table-8-steering", "table-9", "table-10", "table-11", "table-12"}
    assert wanted <= document["tables"].keys()
    assert [row[0] for row in document["tables"]["table-9"]["rows"]] == ["rule", "CR 1", "CR 2", "CR 3"]
    for name in (*wanted, "waver", "cases", "rules", "errors"):
        with (tmp_path / "study" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(rows) > 1
    assert [Path(path).name for path in document["figures"]] == [
        "violations.png",
        "thresholds.png",
        "behaviour.png",
    ]
    assert all(Path(path).stat().st_size > 5000 for path in document["figures"])


def test_a_system_that_does_not_drive_is_refused(capsys, tmp_path):
    assert (
        main(
            ["study", "driving", "--systems", "street-exact", "--scenes", "street:1", "--out", str(tmp_path)]
        )
        == 2
    )
    assert "says neither speed nor steering" in capsys.readouterr().err


def test_scenes_without_label_maps_are_refused(capsys, tmp_path):
    (tmp_path / "photographs").mkdir()
    picture = np.random.default_rng(0).integers(0, 256, (60, 80, 3), np.uint8)
    write_picture(tmp_path / "photographs" / "a.png", picture)
    words = ["study", "driving", "--systems", "epoch-ch2", "--scenes", str(tmp_path / "photographs")]
    assert main([*words, "--out", str(tmp_path / "study"), "--json"]) == 2
    assert "rules need pictures of roads with label maps" in capsys.readouterr().out
    assert not list((tmp_path / "study").glob("*.csv"))


@pytest.mark.parametrize("card", [None, 5, "no JSON", "[]", '{"errors": {"speed": {"mae": 3}}}'])
def test_a_card_that_is_none_of_ours_says_no_error(card):
    assert errors_on_card(SimpleNamespace(card=card)) == []
    assert errors_on_card(object()) == []


def test_the_affine_set_of_deeptest_has_a_table_of_its_own(tmp_path, capsys):
    words = ["study", "driving", "--systems", "street-driver,epoch-ch2", "--scenes", "street:1:4"]
    assert main([*words, "--affine", "--out", str(tmp_path / "study"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["affine"]["rows"]
    kinds = ["translate", "scale", "shear", "rotate", "contrast", "brightness", "blur"]
    assert [row[0] for row in rows[1:]] == [f"DeepTest: {kind}" for kind in kinds]
    assert {row[2] for row in rows[1:]} == {
        "0 (0.0 %) | 0"
    }  # goes by the truth, whatever the picture looks like


def test_rules_of_ones_own_have_names_and_a_table_of_their_own():
    own = own_rules(["If: it rains, Then: slow down.", "If: it rains, Then: keep its lane."], None)
    assert [(one.name, one.quantity) for one in own] == [("own 1", "speed"), ("own 2", "steering")]
    found = {"own 1": measure_rules(some_records())["Rule 1"]}
    made = {table.name: table for table in make_tables([DriverMeasures("mine", {"speed"}, found)], own)}
    assert made["own-rules"].rows[1] == ["own 1", "3", "2 (66.7 %) | 1"]
    assert ["own 1", "If: it rains, Then: slow down."] in made["rules"].rows
    with pytest.raises(RefusedRule):
        own_rules(["If: it rains, Then: honk."], None)
