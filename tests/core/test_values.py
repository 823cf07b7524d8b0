"""The small values that everything is made of: verdicts, changes, hashes, scenes, campaigns."""

import json
import os
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import instar
import planted_core as planted
from instar.campaigns.reader import Named, open_run
from instar.core.budget import LEAST
from instar.core.campaign import Campaign
from instar.core.change import Value, change_from_json, plain, wrap
from instar.core.digest import digest
from instar.core.errors import BadInput, UnknownName
from instar.core.record import case_id
from instar.core.scene_run import random_for

HELD, VIOLATED, INAPPLICABLE, FAILED = instar.Status


@pytest.mark.parametrize(
    ("verdict", "status", "margin", "kind"),
    [
        (instar.Verdict.at_least(0.75, 0.5, "IoU"), HELD, 0.25, ""),
        (instar.Verdict.at_least(0.5, 0.5, "IoU"), HELD, 0.0, ""),
        (instar.Verdict.at_least(0.25, 0.5, "IoU"), VIOLATED, -0.25, "IoU"),
        (instar.Verdict.at_most(2.0, 3.0, "drift"), HELD, 1.0, ""),
        (instar.Verdict.at_most(3.0, 3.0, "drift"), HELD, 0.0, ""),
        (instar.Verdict.at_most(5.0, 3.0, "drift"), VIOLATED, -2.0, "drift"),
        (instar.Verdict.held(0.5), HELD, 0.5, ""),
        (instar.Verdict.inapplicable("no place"), INAPPLICABLE, 0.0, ""),
        (instar.Verdict.failed("down"), FAILED, 0.0, ""),
    ],
)
def test_verdicts_have_their_status_margin_and_kind(verdict, status, margin, kind):
    assert (verdict.status, verdict.margin, verdict.kind) == (status, margin, kind)


def test_a_violated_verdict_without_objects_is_one_finding():
    verdict = instar.Verdict.at_least(0.25, 0.5, "IoU")
    assert verdict.findings == (instar.Finding("IoU", "", -0.25),)
    assert verdict.evidence == {"IoU": 0.25}


def test_the_worst_finding_gives_margin_and_kind_and_ties_are_broken_by_name():
    findings = [
        instar.Finding("b", "2", -1.0),
        instar.Finding("a", "3", -1.0),
        instar.Finding("c", "1", -0.5),
    ]
    verdict = instar.Verdict.violated(findings)
    assert (verdict.kind, verdict.margin, verdict.findings) == ("a", -1.0, tuple(findings))
    with pytest.raises(ValueError, match="needs at least one finding"):
        instar.Verdict.violated([])


@dataclass(frozen=True)
class Nested(instar.Change):
    corners: tuple
    name: str
    on: bool = True


@given(
    st.builds(
        Nested,
        st.lists(st.tuples(st.floats(allow_nan=False), st.integers()), max_size=3).map(tuple),
        st.text(max_size=5),
        st.booleans(),
    )
)
def test_a_change_comes_back_from_json(change):
    assert change_from_json(json.loads(json.dumps(change.to_json()))) == change


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(json_values, st.text(max_size=5))
def test_any_json_value_is_a_change_that_comes_back(value, unit):
    change = Value(value, unit)
    back = change_from_json(json.loads(json.dumps(change.to_json())))
    assert (back, hash(back), back.unit, plain(back)) == (change, hash(change), unit, plain(change))
    assert plain(change) == value
    assert wrap(value) == change  # whatever the unit


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        ((1, (2, 3)), [1, [2, 3]]),
        ({"a": np.bool_(True)}, {"a": True}),
    ],
)
def test_a_relation_is_given_the_same_value_now_and_in_a_replay(given, value):
    assert (plain(wrap(given)), type(plain(wrap(given)))) == (value, type(value))


@pytest.mark.parametrize("given", [object(), {1, 2}, np.zeros(3), b"x", {"a": object()}])
def test_what_is_no_json_value_is_no_change(given):
    with pytest.raises(TypeError, match="a change is a JSON value"):
        wrap(given)


def test_values_that_differ_are_other_changes():
    different = [None, 0, 0.5, "0", [], [0], {}, {"a": 0}, False]
    assert len({Value(value) for value in different}) == len(different)
    assert str(Value(0.123456, "of it")) == "0.1235 (of it)"
    assert str(Value(None, "mirrored")) == "mirrored"


@pytest.mark.parametrize("value", [None, 3, 0.25, "x", [1, [2.5, None]], {"a": {"b": [1, 2]}}])
def test_a_change_that_is_a_value_survives_a_run_folder_and_a_replay(value, tmp_path):
    given = []

    def apply(image, change):
        given.append(change)
        return image ^ np.uint8(1)

    relation = replace(planted.checked, draw=lambda source, rng: value, apply=apply, placebo=None)
    scenes = planted.pictures(1)
    record = next(r for r in instar.run(scenes, relation, planted.Hashed(), out=tmp_path / "run")
                  if r.role == "case")  # fmt: skip
    with open_run(str(tmp_path / "run"), named=Named(planted.Hashed(), [relation], scenes)) as there:
        kept = there.record(record.case)
        assert kept.change == record.change == Value(value)
        assert there.replay(kept, there.remembered).same
    assert len(given) >= 2
    assert all(one == value for one in given)


def test_a_field_that_a_newer_version_dropped_is_passed_over():
    assert change_from_json({**planted.Dot(1, 2, 3).to_json(), "gone": 1}) == planted.Dot(1, 2, 3)


@pytest.mark.parametrize(
    "path", ["os:system", "antigravity:x", "scipy:signal.x", "instar.nowhere:X", "planted_core"]
)
def test_a_hostile_change_imports_and_runs_nothing(path):
    before = set(sys.modules)
    with pytest.raises(BadInput):
        change_from_json({"type": path, "x": 1})
    assert set(sys.modules) == before


def test_a_dataclass_that_is_no_change_is_refused():
    with pytest.raises(BadInput, match="Finding is not a Change"):
        change_from_json({"type": "instar.core.verdict:Finding", "kind": "x"})


def test_a_case_has_the_same_name_in_every_run():
    assert case_id("s", "r", "a.png", 0, planted.Dot(1, 2, 3)) == "3d75b51b50c6206f"
    names = {
        case_id(*parts)
        for parts in [
            ("s", "r", "a", 0, None), ("t", "r", "a", 0, None), ("s", "q", "a", 0, None),
            ("s", "r", "b", 0, None), ("s", "r", "a", 1, None),
            ("s", "r", "a", 0, planted.Dot(1, 2, 3)), ("s", "r", "a", 0, planted.Dot(1, 2, 4)),
        ]
    }  # fmt: skip
    assert len(names) == 7


def test_random_numbers_come_from_seed_relation_and_scene():
    draws = {
        int(random_for(*key).integers(2**60))
        for key in [(0, "r", "a"), (1, "r", "a"), (0, "q", "a"), (0, "r", "b")]
    }
    assert len(draws) == 4
    assert int(random_for(0, "r", "a").integers(2**60)) == int(random_for(0, "r", "a").integers(2**60))


@dataclass(frozen=True)
class Pair:
    a: object
    b: object = None


DIFFERENT = [
    np.zeros((2, 3), np.uint8), np.zeros((3, 2), np.uint8), np.zeros((2, 3), np.int8), np.zeros((0, 3)),
    np.zeros((3, 0)), np.zeros(()), 0, 0.0, -0.0, False, None, "", "0", b"0", [], [[]], {}, {"a": 0}, [0],
    [0, 0], Pair(0), Pair(0, 0), ["ab", "c"], ["a", "bc"], planted.Dot(0, 0, 0),
]  # fmt: skip


def test_different_values_have_different_hashes():
    assert len({digest(value) for value in DIFFERENT}) == len(DIFFERENT)


def test_equal_values_have_equal_hashes_whatever_their_layout():
    image = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    assert digest(np.asfortranarray(image)) == digest(image) == digest(image.repeat(2, axis=1)[:, ::2])
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest((1, 2)) == digest([1, 2])
    assert digest(image) == "32cf1db73309582854bf1f39951b97c0"


@pytest.mark.parametrize("value", [object(), np.array([object()]), {1, 2}, Pair(lambda: 1)])
def test_what_has_no_content_hash_is_named(value):
    with pytest.raises(TypeError, match="has no content hash"):
        digest(value)


def test_a_scene_holds_no_pixels_and_an_observation_knows_its_part():
    reads = []
    scene = instar.Scene("a.png", lambda: reads.append(1) or np.zeros((1, 1, 3), np.uint8))
    assert scene.image.shape == scene.image.shape == (1, 1, 3)
    assert len(reads) == 2
    assert instar.Observation(scene, None, scene.read).id == "a.png"
    assert instar.Observation(scene, None, scene.read, "cat").id == "a.png#cat"


def test_a_scene_whose_file_name_is_no_text_is_tested_like_any_other(tmp_path):
    scene = instar.Scene.of(os.fsdecode(b"f\xff.png"), planted.pictures(1)[0].image)
    assert scene.id == "f\\xff.png"
    records = list(instar.run([scene], planted.plain, planted.Hashed(), out=tmp_path / "run"))
    assert {record.scene for record in records} == {"f\\xff.png"}
    assert instar.Scene.of("süß/猫.png", scene.image).id == "süß/猫.png"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"scenes": []}, "there are no scenes to test on"),
        ({"scenes": [planted.pictures(1)[0]] * 2}, "two scenes are called '0000.png'; give one another name"),
        ({"relation": []}, "no relation was given; name at least one"),
        ({"relation": [planted.plain] * 2}, "two relations are called 'plain'; give one another name"),
        ({"system": 7}, "7 is no system: it needs a name and predict(inputs)"),
        ({"workers": 0}, "workers is 0; it must be at least 1"),
        ({"batch": 0}, "batch is 0; it must be at least 1"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused_and_nothing_is_written(change, text, tmp_path):
    how = {"scenes": planted.pictures(1), "relation": planted.plain, "system": planted.Hashed(), **change}
    with pytest.raises(BadInput) as refused:
        list(instar.run(**how, out=tmp_path / "run"))
    assert str(refused.value) == text
    assert not (tmp_path / "run").exists()


def test_a_campaign_knows_what_it_is_made_of():
    campaign = Campaign(
        scenes=planted.pictures(1), relations=[(planted.plain, instar.draws(1))], system=planted.Hashed()
    )
    assert (campaign.seed, campaign.limits, LEAST) == (0, instar.Limits(), 2)


def test_an_unknown_name_comes_with_the_nearest():
    assert str(UnknownName("relation", "x", ["insertion"])) == "unknown relation 'x'; known: insertion"
    assert str(UnknownName("relation", "x", [])) == "unknown relation 'x'; none is known"


def test_a_measure_that_is_no_number_is_not_judged():
    with pytest.raises(ValueError, match="IoU is not a number"):
        instar.Verdict.at_least(float("nan"), 0.5, "IoU")
