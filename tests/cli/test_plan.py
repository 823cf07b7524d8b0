from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar.campaigns.overrides import override, put_settings
from instar.campaigns.plan import LIMITS, Plan, RelationUse, Use, make_plan, plan_to_toml, read_tables
from instar.campaigns.toml import write_table
from instar.core.errors import BadInput
from instar.core.system import Limits
from instar.user_file import parse_toml

LEAST = {"system": [{"use": "yolox-nano"}], "relation": [{"use": "insertion"}], "scenes": "photos/"}
FROM_THE_DESIGN = """
seed = 7
scenes = "photos/"
out = "runs/yolox"

[[system]]
use = "yolox-nano"
confidence = 0.5

[[relation]]
use = "insertion"
search = {use = "adaptive", rounds = 6}
blend = "feather"

[limits]
queries = 5000
seconds = 3600
price_per_query = 0.001
retries = 3
timeout = 30
"""


def test_the_plan_of_the_design_is_understood() -> None:
    assert make_plan(parse_toml(FROM_THE_DESIGN)) == Plan(
        systems=(Use("yolox-nano", {"confidence": 0.5}),),
        relations=(RelationUse(Use("insertion", {"blend": "feather"}), Use("adaptive", {"rounds": 6})),),
        scenes="photos/",
        seed=7,
        out="runs/yolox",
        limits=Limits(queries=5000, seconds=3600, price_per_query=0.001, retries=3, timeout=30),
    )


def test_every_limit_can_be_written_in_a_plan() -> None:
    assert set(LIMITS) == {field.name for field in dataclasses.fields(Limits)}


names = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1)
options = st.dictionaries(
    names.filter(lambda key: key not in ("use", "search", "name")),
    st.integers() | st.text(max_size=5) | st.booleans() | st.lists(st.floats(0, 1), max_size=3),
    max_size=3,
)
uses = st.builds(Use, names, options)
named_uses = st.builds(Use, names, options, st.none() | names)
relations = st.builds(RelationUse, named_uses, st.none() | uses)
plans = st.builds(
    Plan,
    systems=st.lists(named_uses, min_size=1, max_size=2).map(tuple),
    relations=st.lists(relations, min_size=1, max_size=2).map(tuple),
    scenes=names,
    format=st.none() | names,
    seed=st.integers(0, 2**40),
    out=st.none() | names,
    objects=st.none() | names,
    pool=st.none() | names,
    limit=st.none() | st.integers(1, 9),
    workers=st.none() | st.integers(1, 9),
    batch=st.none() | st.integers(1, 9),
    limits=st.builds(Limits, queries=st.none() | st.integers(1, 99), timeout=st.none() | st.floats(0.1, 9)),
)


@settings(deadline=None)
@given(plans)
def test_a_written_plan_is_read_back_as_the_same_plan(plan: Plan) -> None:
    assert make_plan(parse_toml(plan_to_toml(plan))) == plan


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"sede": 7}, "unknown key 'sede'; did you mean 'seed'"),
        ({"limits": {"querys": 7}}, "unknown limits key 'querys'; did you mean 'queries'?"),
        ({"scenes": {"path": "a", "fromat": "coco"}}, "unknown scenes key 'fromat'; did you mean 'format'?"),
        ({"seed": "7"}, "seed is '7'; it must be a whole number"),
        ({"seed": True}, "seed is True; it must be a whole number"),
        ({"seed": -1}, "seed is -1; it must be at least 0"),
        ({"workers": 0}, "workers is 0; it must be at least 1"),
        ({"limits": {"queries": 1.5}}, "limits: queries is 1.5; it must be a whole number"),
        ({"limits": {"timeout": "long"}}, "limits: timeout is 'long'; it must be a number"),
        ({"limits": {"queries": 0}}, "limits: queries is 0; it must be a number of at least 1"),
        ({"limits": 3}, "limits is 3; it must be a table"),
        ({"scenes": 3}, "scenes is 3; it must be a text, or a table with path and format"),
        ({"scenes": {"format": "coco"}}, "scenes has no path"),
        ({"system": "yolox-nano"}, "system is 'yolox-nano'; write it as [[system]] with a line use = ..."),
        ({"system": [{"confidence": 0.5}]}, "a system has no key 'use', which names it"),
        ({"relation": [{"use": 3}]}, "relation: use is 3; it must be a text"),
        ({"relation": [{"use": "insertion", "name": 3}]}, "relation: name is 3; it must be a text"),
        ({"system": [{"use": "yolox-nano", "name": " "}]}, "system: name is ' '; it must say something"),
        ({"relation": [{"use": "insertion", "search": 3}]}, "search is 3; it must be a table"),
    ],
)
def test_a_wrong_plan_is_refused_with_the_file_and_the_key(
    tmp_path: Path, wrong: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BadInput) as from_tables:
        make_plan(LEAST | wrong)
    assert str(from_tables.value).startswith(complaint)

    file = tmp_path / "plan.toml"
    file.write_text(write_table(wrong))
    with pytest.raises(BadInput) as from_file:
        read_tables(file)
    assert str(from_file.value).startswith(f"{file}: {complaint}")


def without(missing: str) -> dict[str, Any]:
    return {key: value for key, value in LEAST.items() if key != missing}


@pytest.mark.parametrize("missing", ["system", "scenes"])
def test_what_is_missing_is_named_with_an_example(missing: str) -> None:
    with pytest.raises(BadInput, match=f"no {missing} was given; .* such as --{missing}"):
        make_plan(without(missing))


def test_a_plan_without_relations_leaves_them_to_the_task() -> None:
    assert make_plan(without("relation")).relations == ()


def test_the_plan_of_a_run_made_in_python_need_not_name_its_scenes() -> None:
    assert make_plan(LEAST | {"scenes": ""}, complete=False).scenes == ""
    with pytest.raises(BadInput, match="no scenes was given"):
        make_plan(LEAST | {"scenes": ""})


def test_flags_replace_what_the_file_says() -> None:
    file = {"seed": 1, "scenes": "a/", "limits": {"queries": 5, "retries": 0}}
    flags = {"seed": 2, "scenes": None, "limits": {"queries": 9, "seconds": None}}
    assert override(file, flags) == {"seed": 2, "scenes": "a/", "limits": {"queries": 9, "retries": 0}}


def test_a_flag_that_names_an_entry_of_the_file_keeps_its_options() -> None:
    file = {"system": [{"use": "a", "confidence": 0.4}, {"use": "b"}], "relation": [{"use": "r"}]}
    merged = override(file, {"system": ["a"], "relation": ["s", "r"]})
    assert merged == {
        "system": [{"use": "a", "confidence": 0.4}],
        "relation": [{"use": "s"}, {"use": "r"}],
    }


def test_a_flag_keeps_every_entry_that_the_file_has_under_its_name() -> None:
    near, far = {"use": "r", "name": "near"}, {"use": "r", "name": "far", "distance": 9}
    file = {"relation": [near, far]}
    assert override(file, {"relation": ["r"]})["relation"] == [near, far]
    assert override(file, {"relation": ["far"]})["relation"] == [far]


def test_a_setting_finds_what_the_plan_gave_a_name() -> None:
    near, far = {"use": "r", "name": "near"}, {"use": "r", "name": "far"}
    tables = {"system": [{"use": "s"}], "relation": [near, far]}
    assert put_settings(tables, ["far.n=3"])["relation"] == [near, far | {"n": 3}]
    assert put_settings(tables, ["r.n=3"])["relation"] == [near | {"n": 3}, far | {"n": 3}]
    with pytest.raises(BadInput, match="unknown owner 'fur'; did you mean 'far'"):
        put_settings(tables, ["fur.n=3"])


def test_the_search_flag_goes_to_every_relation_and_keeps_the_options_of_its_namesake() -> None:
    guided = {"use": "guided", "n": 3}
    file = {"relation": [{"use": "a"}, {"use": "b", "search": guided}, {"use": "c", "search": "draws"}]}
    merged = override(file, {"search": "guided"})
    assert [entry["search"] for entry in merged["relation"]] == ["guided", guided, "guided"]


TWO = {
    "system": [{"use": "yolox-nano"}],
    "relation": [{"use": "insertion", "search": "guided"}, {"use": "my.rules:rain"}],
}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("system.confidence=0.5", {"system": [{"use": "yolox-nano", "confidence": 0.5}]}),
        ("yolox-nano.confidence=0.5", {"system": [{"use": "yolox-nano", "confidence": 0.5}]}),
        ("limits.queries=7", {"limits": {"queries": 7}}),
        (
            "relation.blend=hard",
            {
                "relation": [
                    {"use": "insertion", "search": "guided", "blend": "hard"},
                    {"use": "my.rules:rain", "blend": "hard"},
                ]
            },
        ),
        (
            "my.rules:rain.level=[1, 2]",
            {"relation": [TWO["relation"][0], {"use": "my.rules:rain", "level": [1, 2]}]},
        ),
        (
            "search.n=3",
            {"relation": [{"use": "insertion", "search": {"use": "guided", "n": 3}}, TWO["relation"][1]]},
        ),
    ],
)
def test_a_setting_goes_where_its_owner_is(setting: str, expected: dict[str, Any]) -> None:
    assert put_settings(TWO, [setting]) == TWO | expected


def test_settings_do_not_write_into_the_tables_they_are_given() -> None:
    tables = {"relation": [{"use": "insertion"}]}
    put_settings(tables, ["relation.blend=hard"])
    assert tables == {"relation": [{"use": "insertion"}]}


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("blend=hard", "--set 'blend=hard' is not of the form relation.key=value"),
        ("relation.blend", "--set 'relation.blend' is not of the form relation.key=value"),
        (
            "insertoin.blend=hard",
            "--set 'insertoin.blend=hard': unknown owner 'insertoin'; did you mean",
        ),
    ],
)
def test_a_setting_that_belongs_nowhere_is_refused(setting: str, complaint: str) -> None:
    with pytest.raises(BadInput) as refused:
        put_settings(TWO, [setting])
    assert str(refused.value).startswith(complaint)


def test_an_option_of_a_search_that_was_not_named_goes_to_the_usual_one() -> None:
    tables = put_settings({"relation": [{"use": "insertion"}]}, ["search.per_object=3"])
    assert tables == {"relation": [{"use": "insertion", "search": {"use": "guided", "per_object": 3}}]}


@pytest.mark.parametrize("owner", ["system", "search", "relation"])
def test_a_setting_for_something_that_was_not_given_says_so(owner: str) -> None:
    with pytest.raises(BadInput, match=f"no {owner} was given"):
        put_settings({}, [f"{owner}.key=1"])


def test_an_option_of_a_suite_says_that_relations_must_be_named() -> None:
    with pytest.raises(BadInput, match=r"'insertion\.blend=hard': no relation was given, and"):
        put_settings({"system": [{"use": "yolox-nano"}]}, ["insertion.blend=hard"])
    with pytest.raises(BadInput, match="unknown owner 'watermark'"):
        put_settings({"relation": [{"use": "insertion"}]}, ["watermark.font=strokes"])
