"""Baselines, conditions and comparisons over plain records."""

from __future__ import annotations

import numpy as np
import pytest

from instar.core.errors import BadInput
from instar.core.record import Record, Totals
from instar.core.verdict import Finding, Verdict
from instar.report.by_scene import ByScene, FailureKey, FailureObject, is_in
from instar.report.comparison import RelationPairs, Side, compare_runs, comparison_json, render_compared
from instar.report.gate import numbers_of, read_condition
from instar.report.known import (
    Dismissal,
    Known,
    compare_with_known,
    dismisser,
    read_known,
    render_known,
    words_about,
)
from instar.report.summary import summarise

from .hostile import HOSTILE


def record(case: str, scene: str, *kinds: str, relation: str = "r") -> Record:
    """A case that held, or one with a finding of each kind about object 1."""
    found = [Finding(kind, "object 1", -0.5) for kind in kinds]
    verdict = Verdict.violated(found) if found else Verdict.held(0.1)
    return Record(case, scene.partition("#")[0], scene, relation, 0, None, verdict)


def by_scene(*records: Record) -> ByScene:
    scenes = ByScene()
    summarise(scenes.watch(records), Totals("run", "s", 0, 1, 1, 1, 1.0))
    return scenes


def key(scene: str, kind: str) -> FailureKey:
    return FailureKey("r", scene, "object 1", kind)


def test_what_is_new_known_fixed_and_untried():
    known = dict.fromkeys([key("a", "lost"), key("b", "lost"), key("gone.jpg", "lost")], FailureObject())
    against = compare_with_known(by_scene(record("1", "a", "lost", "moved"), record("2", "b")), known)
    assert against.new == (key("a", "moved"),)
    assert against.known == (key("a", "lost"),)
    assert against.fixed == (key("b", "lost"),)
    assert against.untried == (key("gone.jpg", "lost"),)


def test_what_is_not_even_found_any_more_is_not_fixed():
    dog = FailureObject("dog", (10.0, 10.0, 50.0, 40.0))
    known = dict.fromkeys([key("a", "lost"), key("b", "lost"), key("a", "invented")], dog)
    answers = {
        "a": {"boxes": np.float32([[60, 10, 90, 40], [11, 10, 50, 40]]), "scores": np.float32([0.9, 0.2]),
              "confidence": 0.3},
        "b": {"boxes": np.float32([[11, 10, 50, 40]]), "scores": np.float32([0.2])},
    }  # fmt: skip
    found = by_scene(record("1", "a"), record("2", "b"))
    against = compare_with_known(found, known, lambda scene, thing: is_in(answers[scene], thing))
    assert (against.unseen, against.fixed) == ((key("a", "lost"),), (key("a", "invented"), key("b", "lost")))
    assert against.where_nothing_was_judged().untried == tuple(sorted(known))
    assert all(is_in(answer, dog) for answer in ({"quads": ()}, None))


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_a_baseline_is_read_back_as_it_was_whatever_is_in_it(name, tmp_path):
    known = Known(
        {
            FailureKey(name, name, name, name): FailureObject(name, (1.0, 2.0, 3.0, 4.5)),
            FailureKey("r", "a", "", "k"): FailureObject(),
        },
        (Dismissal(FailureKey("r", name, name, "k"), FailureObject(), name, name),),
    )
    (tmp_path / "k.json").write_text(render_known(known, system=name), encoding="utf-8")
    assert read_known(tmp_path / "k.json") == known


ENTRY = '{"failures": [{"relation": "r", "scene": "s", "object": "", "kind": "k", %s}]}'


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", '{"failures": [1]}', '{"failures": [{"relation": "r"}]}', ENTRY % '"box": [1, 2]',
     ENTRY % '"box": [1, 2, 3, NaN]', ENTRY % '"no_failure": ""', ENTRY % '"label": 1'],
)  # fmt: skip
def test_what_is_no_baseline_is_refused_by_name(text, tmp_path):
    (tmp_path / "k.json").write_text(text)
    with pytest.raises(BadInput, match=r"k\.json is no list of known failures"):
        read_known(tmp_path / "k.json")


@pytest.mark.parametrize(
    ("text", "met"),
    [("rate>0.5", False), ("rate>=0.5", True), ("rate > 5%", True), ("violated==1", True),
     ("failed>0", False),
     ("groups<1", True), ("false_alarm_rate>0", False), ("held!=1", False), ("rate<=1e-1", False)],
)  # fmt: skip
def test_conditions_compare_a_number_with_a_bound(text, met):
    summary = summarise([record("1", "a", "lost"), record("2", "b")], Totals("run", "s", 0, 1, 1, 1, 1.0))
    assert read_condition(text).met(numbers_of(summary, [], None)) is met


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("rate", "is not of the form"), ("rat>1", "did you mean 'rate'"), ("rate>1.2.3", "is no number"),
     ("rate=>1", "is not of the form"), ("", "is not of the form")],
)  # fmt: skip
def test_a_condition_that_makes_no_sense_is_refused(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        read_condition(text)


def side(name: str, **cases: Record) -> Side:
    return Side.of(name, [(one, change) for change, one in cases.items()])


def test_pairs_are_cases_with_the_same_change():
    first = side("A", x=record("1", "a"), y=record("2", "a", "lost"), z=record("3", "b", "lost"))
    second = side("B", x=record("4", "a", "new"), y=record("5", "a"), w=record("6", "c", "lost"))
    found = compare_runs(first, second)
    assert (found.pairs, found.both_held, found.both_violated, found.broken, found.fixed) == (2, 0, 0, 1, 1)
    assert found.keys_broken == (key("a", "new"),)
    assert found.keys_fixed == (key("a", "lost"),)


def pairs(scenes: dict[str, int], relation: str) -> tuple[list[tuple[Record, str]], list[tuple[Record, str]]]:
    """In each scene so many cases that only the second run violates, and one that neither does."""
    first, second = [], []
    for scene, broken in scenes.items():
        for i in range(broken + 1):
            case = f"{relation} {scene} {i}"
            first.append((record(case, scene, relation=relation), str(i)))
            second.append((record(case, scene, *["lost"] * (i < broken), relation=relation), str(i)))
    return first, second


def test_signs_are_flipped_over_scenes_and_relations_are_adjusted_for():
    often = pairs({f"{i}.png": 1 + i for i in range(8)}, "often")
    seldom = pairs({f"{i}.png": int(i < 6) for i in range(8)}, "seldom")
    rare = pairs({f"{i}.png": 1 for i in range(5)}, "rare")
    sides = [often[i] + seldom[i] + rare[i] for i in range(2)]
    found = compare_runs(Side.of("a", sides[0]), Side.of("b", sides[1]))
    assert found.paired_scenes == 8
    assert found.p == 2 / 2**8
    assert found.relations == {
        "often": RelationPairs(pairs=44, broken=36, fixed=0, p=2 / 2**8, p_adjusted=4 / 2**8),
        "rare": RelationPairs(pairs=10, broken=5, fixed=0, p=None, p_adjusted=None),
        "seldom": RelationPairs(pairs=14, broken=6, fixed=0, p=2 / 2**6, p_adjusted=2 / 2**6),
    }
    rare = {"pairs": 10, "broken": 5, "fixed": 0, "p": None, "p_adjusted": None}
    assert comparison_json(found)["relations"]["rare"] == rare
    text = render_compared(found)
    brief = render_compared(found, brief=True)
    assert brief == text[: len(brief)]
    assert brief.splitlines() == [f"a and then b: {len(found.keys_broken)} failures newly broken, 0 fixed"]
    assert "sign flips over 8 scenes: p = 0.007812\n" in text
    assert "often        44      36      0  0.007812     0.01562\n" in text
    assert "rare         10       5      0         -           -\n" in text


def test_parts_of_one_scene_are_one_scene_and_under_six_are_too_few():
    first, second = pairs({f"drive#{i}": 1 for i in range(40)}, "r")
    found = compare_runs(Side.of("a", first), Side.of("b", second))
    assert (found.broken, found.paired_scenes, found.p) == (40, 1, None)
    assert "too few scenes to compare (1; six are needed)" in render_compared(found)


def test_runs_that_have_nothing_in_common_are_not_told_as_alike():
    found = compare_runs(side("A", x=record("1", "a", "lost")), side("B", x=record("2", "b", "lost")))
    told = "A and B cannot be compared: on no scene both were judged by the same relation\n"
    assert render_compared(found) == render_compared(found, brief=True) == told


def test_what_has_no_pair_is_matched_by_relation_scene_object_and_kind():
    first = side("A", x=record("1", "a", "lost"), y=record("2", "b", "lost"), z=record("3", "only A", "lost"))
    second = side("B", v=record("4", "a", "lost"), w=record("5", "b"), u=record("6", "b", "moved"))
    found = compare_runs(first, second)
    assert (found.pairs, found.p) == (0, None)
    assert found.keys_broken == (key("b", "moved"),)
    assert found.keys_fixed == (key("b", "lost"),)
    assert "no test can be made" in render_compared(found)


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_a_comparison_shows_names_as_text(name):
    first, second = side(name, x=record("1", name)), side(name, x=record("2", name, name))
    text = render_compared(compare_runs(first, second))
    assert not {"\x00", "\x1b", "\u202e"} & set(text)
    assert max(map(len, text.splitlines())) < 400


def found(
    scene: str, number: int, box: tuple[float, ...], *, kind: str = "lost", label: str = "car"
) -> Record:
    """A case in which an object is lost that the answer calls by this number."""
    was = {"label": label, "score": 0.9, "box": list(box)}
    finding = Finding(kind, f"object {number}", -0.5, {"was": was}, known="real")
    return Record(f"{scene}{number}", scene, scene, "r", 0, None, Verdict.violated([finding]))


def test_a_known_failure_is_known_again_by_its_place_where_objects_are_numbered_otherwise():
    known = by_scene(found("a", 3, (10, 10, 50, 50)), found("a", 4, (100, 10, 150, 50))).failures()
    now = by_scene(found("a", 4, (12, 10, 50, 50)), found("a", 7, (300, 10, 350, 50)))
    against = compare_with_known(now, known)
    assert [one.object for one in against.known] == ["object 4"]
    assert [one.object for one in against.new] == ["object 7"]
    assert [one.object for one in against.fixed] == ["object 4"]


def test_a_known_failure_that_is_called_none_is_no_longer_known():
    a, b = found("a", 3, (10, 10, 50, 50)), found("b", 4, (100, 10, 150, 50))
    said = words_about(found("a", 1, (11, 10, 50, 50)), "a poster", "s")
    known = Known(by_scene(a, b).failures(), tuple(said))
    assert [key.scene for key in known.failures_left("s")] == ["b"]
    assert known.failures_left("another") == known.failures


def test_what_is_called_no_failure_is_counted_as_none_in_runs_of_the_same_system_only():
    said = words_about(found("a", 3, (10, 10, 50, 50)), "a poster", "s")
    records = [found("a", 1, (11, 10, 50, 50)), found("a", 3, (10, 10, 50, 50), label="dog"),
               found("a", 2, (11, 10, 50, 50), kind="drifted")]  # fmt: skip
    judged = list(map(dismisser(said, "s"), records))
    assert [one.verdict.findings[0].known for one in judged] == ["no failure", "real", "real"]
    summary = summarise(judged, Totals("run", "s", 0, 1, 1, 1, 1.0))
    assert (summary.called_none, summary.counts.headline) == ((1, 3), 2)
    assert list(map(dismisser(said, "another"), records)) == records
