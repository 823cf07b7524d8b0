"""`instar rule`: the document, the text and the exit status."""

import json

import pytest

from instar.cli import main

RULE = "If: a black truck appears on the roadside, Then: the ego-vehicle should slow down at least 30%."


def spoken(capsys, *words):
    status = main(["rule", *words])
    out, err = capsys.readouterr()
    return status, out, err


def document(capsys, *words):
    status, out, _ = spoken(capsys, *words, "--json")
    return status, json.loads(out)


def test_the_document_has_blocks_with_condition_expectation_and_formula(capsys):
    status, read = document(capsys, RULE)
    assert status == 0
    assert read["blocks"] == [
        {
            "condition": [
                {
                    "op": "add",
                    "element": "vehicle",
                    "properties": {"type": "truck", "color": "black"},
                    "count": 1,
                    "reference": "sidewalk",
                    "position": "on",
                    "new": None,
                    "comparative": None,
                }
            ],
            "expectation": {
                "quantity": "speed",
                "direction": "decrease",
                "comparator": "at least",
                "amount": 30,
                "unit": "%",
                "negated": False,
                "relative_to_block": None,
            },
            "formula": "add(1 vehicle[type=truck][color=black], on, sidewalk) -> (x1 - x2)/|x1| >= 30%",
            "engines": ["paste"],
        }
    ]
    assert "held" not in read


def test_weather_reads_as_replace(capsys):
    _, read = document(capsys, "If it rains heavily, then slow down")
    (condition,) = read["blocks"][0]["condition"]
    assert condition["op"] == "replace"
    assert condition["element"] == "weather"
    assert condition["new"] == {"element": "weather", "properties": {"type": "rain", "level": "heavy"}}


@pytest.mark.parametrize(
    ("answers", "held"), [("50,35", True), ("50,40", False), ("0.5,0.1", None), ("50, 35", True)]
)
def test_answers_are_judged_and_the_status_is_zero(capsys, answers, held):
    status, read = document(capsys, RULE, "--answers", answers)
    assert (status, read["held"]) == (0, held)


def test_answers_are_in_the_units_of_the_rule(capsys):
    in_mph = "If it rains, slow down by at least 10 mph"
    assert document(capsys, in_mph, "--answers", "50,40")[1]["held"] is True
    assert document(capsys, in_mph, "--answers", "50,41")[1]["held"] is False


def test_answers_may_be_negative(capsys):
    assert document(capsys, "If it rains, turn left", "--answers", "-2,-1.5")[1]["held"] is True
    assert document(capsys, "If it rains, turn left", "--answers", "-.2,-1.5")[1]["held"] is False


def test_each_block_says_whether_it_held(capsys):
    rule = "If a man appears ahead, slow down. If he gets closer, slow down more."
    _, read = document(capsys, rule, "--answers", "50,40,45")
    assert [block["held"] for block in read["blocks"]] == [True, False]
    assert read["held"] is False


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("50", "has 1 numbers; this rule needs 2"),
        ("50,fast", "are not numbers"),
        ("50,nan", "must be finite numbers"),
    ],
)
def test_answers_that_cannot_be_judged_are_errors(capsys, answers, message):
    status, read = document(capsys, RULE, "--answers", answers)
    assert status == 2
    assert message in read["error"]


def test_answers_to_two_quantities_are_refused(capsys):
    rule = "If it rains, slow down. If night falls, turn left."
    status, read = document(capsys, rule, "--answers", "1,2,3")
    assert status == 2
    assert "speaks of speed and steering" in read["error"]


def test_a_refused_rule_names_word_column_and_suggestions(capsys):
    status, read = document(capsys, "If: a pedestrain appears on the roadside, Then: slow down.")
    assert status == 2
    assert set(read) == {"error", "word", "column", "suggestions"}
    assert (read["word"], read["column"]) == ("pedestrain", 7)
    assert read["suggestions"][0] == "pedestrian"


def test_a_refused_rule_is_one_line_on_standard_error(capsys):
    status, out, err = spoken(capsys, "If: a pedestrian or a car appears, Then: slow down.")
    assert (status, out) == (2, "")
    assert err.startswith("instar: 'or' gives alternatives")
    assert err.count("\n") == 1


def test_the_rule_is_echoed_in_words_and_as_a_formula(capsys):
    status, out, _ = spoken(capsys, RULE, "--answers", "50,30")
    assert status == 0
    assert out.splitlines() == [
        "If: a black truck is added on the sidewalk, Then: the speed should decrease by at least 30%.",
        "  add(1 vehicle[type=truck][color=black], on, sidewalk) -> (x1 - x2)/|x1| >= 30%",
        "pictures: add vehicle by paste",
        "held, margin 0.1",
    ]


def test_an_ontology_of_ones_own_brings_its_words(capsys, tmp_path):
    from importlib.resources import files

    text = files("instar.tasks.driving.rules").joinpath("ontology.toml").read_text(encoding="utf-8")
    own = tmp_path / "mine.toml"
    own.write_text(text + '\n[element.ghost]\nsynonyms = ["ghost", "spook"]\n', encoding="utf-8")
    rule = "If: two spooks appear on the road, Then: slow down."
    status, read = document(capsys, rule, "--ontology", str(own))
    assert status == 0
    assert read["blocks"][0]["condition"][0]["element"] == "ghost"
    own.write_text(text + '\n[element.ghost]\nsynonims = ["ghost"]\n', encoding="utf-8")
    status, read = document(capsys, rule, "--ontology", str(own))
    assert status == 2
    assert "unknown key of ghost 'synonims'; did you mean 'synonyms'" in read["error"]


def test_what_no_engine_can_make_is_said(capsys):
    _, read = document(capsys, "If: a lane is added and it rains, Then: slow down.")
    assert read["blocks"][0]["engines"] == [None, "atmosphere"]


def test_engines_of_ones_own_are_checked(capsys, tmp_path):
    own = tmp_path / "engines.toml"
    own.write_text('[engine]\nmine = "my.engine"\n[add]\nlane = "mine"\n', encoding="utf-8")
    _, read = document(capsys, "If: a lane is added, Then: slow down.", "--engines", str(own))
    assert read["blocks"][0]["engines"] == ["mine"]
    own.write_text('[engine]\nmine = "my.engine"\n[add]\nlane = "mone"\n', encoding="utf-8")
    status, read = document(capsys, "If: a lane is added, Then: slow down.", "--engines", str(own))
    assert status == 2
    assert "unknown engine 'mone'; did you mean 'mine'?" in read["error"]


NIGHT = "If: night falls, Then: the ego-vehicle should slow down."


def run_document(capsys, tmp_path, *words):
    scenes = ["--scenes", "street:5:9", "--set", "search.n=1", "--out", str(tmp_path / "run"), "--json"]
    status = main(["run", "--system", "street-driver", *words, *scenes])
    return status, json.loads(capsys.readouterr().out)


def test_a_rule_runs_as_a_campaign(capsys, tmp_path):
    status, counted = run_document(
        capsys, tmp_path, "--rule", NIGHT, "--rule", "If it gets dark, brake by 1%"
    )
    assert set(counted["relations"]) == {
        "If: the time changes to night, Then: the speed should decrease.",
        "If: the time changes to night, Then: the speed should decrease by 1%.",
    }
    assert counted["cases"] == 10
    assert status == (1 if counted["violated"] else 0)


def test_a_fault_is_found_with_rules_from_a_file(capsys, tmp_path):
    file = tmp_path / "rules.txt"
    file.write_text(f"# at night\n{NIGHT}\n\n", encoding="utf-8")
    fault = ["--set", "system.fault=hurries at night"]
    status, counted = run_document(capsys, tmp_path, "--rule", str(file), *fault)
    assert (status, counted["held"]) == (1, 0)
    assert counted["violated"] >= 2


def test_a_rule_that_is_refused_starts_no_run(capsys, tmp_path):
    status, counted = run_document(capsys, tmp_path, "--rule", "If: a unicorn appears, Then: slow down.")
    assert (status, counted["word"]) == (2, "unicorn")
    assert not (tmp_path / "run").exists()


def test_a_file_of_rules_that_does_not_exist_is_named(capsys, tmp_path):
    assert main(["run", "--system", "street-driver", "--rule", "rulse.txt", "--scenes", "street:2"]) == 2
    assert "'rulse.txt' is neither a rule nor a file of rules that exists" in capsys.readouterr().err


def test_a_case_of_a_rule_is_replayed_the_same(capsys, tmp_path):
    rule = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down."
    fault = ["--set", "system.fault=ignores people"]
    _, counted = run_document(capsys, tmp_path, "--rule", rule, *fault)
    case = counted["findings"][0]["case"]
    assert main(["replay", str(tmp_path / "run"), case, "--json"]) in (0, 1)
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_in_paper_mode_words_are_guessed_and_the_score_is_shown(capsys):
    sentence = "If: a banana appears on the roadside, Then: slow down by more than 10 km/h."
    status, read = document(capsys, sentence, "--paper", "--answers", "50,40")
    assert status == 0
    assert read["guessed"] == [{"word": "banana", "taken_as": "tree", "similarity": 0.8}]
    assert read["blocks"][0]["condition"][0]["element"] == "tree"
    assert read["held"] is True  # more than is at least
    status, read = document(capsys, sentence)
    assert (status, read["word"]) == (2, "banana")
    assert "tree" in read["suggestions"]
    _, read = document(capsys, sentence.replace("banana", "pedestrian"), "--answers", "50,40")
    assert read["held"] is False
    status, read = document(capsys, sentence.replace("banana", "unicorn"), "--paper")
    assert (status, read["word"]) == (2, "unicorn")


def test_it_is_said_on_how_many_scenes_a_rule_can_be_made_and_why_not_on_the_others(capsys):
    status, read = document(capsys, "If: it stops raining, Then: do not brake.", "--scenes", "street:12:9")
    assert status == 0
    counted = read["scenes"]
    assert counted["of"] == 12 == counted["made"] + sum(counted["reasons"].values())
    assert counted["reasons"]["it is not 'rain' there"] == 12 - counted["made"]
    _, out, _ = spoken(capsys, "If: an ambulance appears ahead, Then: brake.", "--scenes", "street:3")
    assert out.splitlines()[-2:] == [
        "can be made on 0 of 3 scenes",
        "  3 not: nothing here can show 'ambulance'",
    ]


def test_words_and_engines_of_ones_own_are_for_rules_only(capsys, tmp_path):
    own = tmp_path / "words.toml"
    own.write_text('[element.pedestrian]\nsynonyms = ["rambler"]\n', encoding="utf-8")
    rule = ["--rule", "If: a rambler appears on the roadside, Then: slow down.", "--ontology", str(own)]
    status, counted = run_document(capsys, tmp_path, *rule)
    assert (status, counted["violated"]) == (0, 0)
    assert counted["held"] > 0
    status = main(["run", "--system", "street-driver", "--relation", "deeptest", "--ontology", str(own)])
    assert status == 2
    assert "--ontology and --engines are about rules" in capsys.readouterr().err
