from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from instar.campaigns.plan import Use
from instar.campaigns.resolve import resolve_relation, resolve_search, resolve_system
from instar.core.errors import BadInput, UnknownName
from instar.core.relation import Relation
from instar.tasks.detection.answers import read as read_detections

PICTURE = np.full((6, 8, 3), 51, np.uint8)


@pytest.fixture(autouse=True)
def _own_things_are_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_things", raising=False)


def system(name: str, **options: object) -> object:
    return resolve_system(Use(name, options))


def test_an_instance_is_used_as_it_is() -> None:
    assert system("own_things:ready").predict([0]) == [0.9]  # type: ignore[attr-defined]


def test_a_class_is_called_with_the_options() -> None:
    assert system("own_things:Detector", confidence=0.3).predict([0]) == [0.3]  # type: ignore[attr-defined]


def test_a_function_without_required_parameters_is_a_factory() -> None:
    assert system("own_things:make").predict([0]) == [0.1]  # type: ignore[attr-defined]
    assert system("own_things:make", confidence=0.2).predict([0]) == [0.2]  # type: ignore[attr-defined]


def test_a_function_that_awaits_one_thing_is_predict_itself() -> None:
    made = system("own_things:brightness")
    assert made.name == "own_things:brightness"  # type: ignore[attr-defined]
    assert made.predict([[1, 3]]) == [2.0]  # type: ignore[attr-defined]


def test_a_function_whose_one_parameter_is_given_as_an_option_is_a_factory() -> None:
    assert system("own_things:load", weights="abc").predict([0]) == [3]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("yolox-nao", {}, "unknown system 'yolox-nao'; did you mean 'yolox-nano'"),
        (
            "own_things:makes",
            {},
            "system 'own_things:makes': unknown attribute 'makes'; did you mean 'make'",
        ),
        (
            "own_thing:make",
            {},
            "system 'own_thing:make': cannot import own_thing: ModuleNotFoundError: No module named",
        ),
        (
            "own_things:make",
            {"confidense": 1},
            "system 'own_things:make': unknown option 'confidense'; did you mean 'confidence'?",
        ),
        ("own_things:ready", {"a": 1}, "system 'own_things:ready' takes no options, but 'a' was given"),
        (
            "own_things:not_a_system",
            {},
            "system 'own_things:not_a_system' is an int; it needs predict(inputs), or to be a function",
        ),
        ("own_things:number", {}, "system 'own_things:number' is an int, which cannot be used as one"),
    ],
)
def test_what_is_no_system_is_refused_in_one_line(
    name: str, options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput) as refused:
        system(name, **options)
    assert str(refused.value).startswith(complaint)


def test_a_module_that_ends_the_program_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_script.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="cannot import a_script: SystemExit: 0"):
        system("a_script:predict")


def test_a_factory_that_ends_the_program_is_one_line() -> None:
    with pytest.raises(BadInput, match="system 'own_things:leaves' ends the program: SystemExit: 0"):
        system("own_things:leaves")


def test_a_factory_that_was_taken_for_predict_says_which_option_it_needs() -> None:
    with pytest.raises(BadInput, match=r"own_things:load makes a system, .* give --set system\.weights="):
        system("own_things:load")


@pytest.mark.parametrize("name", ["nameless", "Nameless", "callable_one", "make_function"])
def test_what_is_made_may_have_no_name_or_be_a_function(name: str) -> None:
    made = system(f"own_things:{name}")
    assert made.name == f"own_things:{name}"  # type: ignore[attr-defined]
    (answer,) = made.predict([PICTURE])  # type: ignore[attr-defined]
    assert read_detections(PICTURE, answer).labels == ("dog",)


def test_a_module_that_does_not_compile_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "half_written.py").write_text("def predict(images:\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput, match="cannot import half_written: SyntaxError"):
        system("half_written:predict")


def test_built_in_systems_take_options() -> None:
    assert system("street-exact").name == "street-exact"  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match="'yolox-nano': unknown option 'confidense'; did you mean 'conf"):
        system("yolox-nano", confidense=0.4)


def test_a_relation_is_one_or_is_made() -> None:
    assert resolve_relation(Use("own_things:darker")).name == "darker"
    made = resolve_relation(Use("own_things:darkening", {"tolerance": 3.0}))
    assert isinstance(made, Relation)


def test_a_relation_goes_by_the_name_that_the_plan_gives_it() -> None:
    assert resolve_relation(Use("own_things:darker", {}, "dusk")).name == "dusk"
    assert resolve_relation(Use("own_things:darkening", {"tolerance": 3.0}, "night")).name == "night"


def test_a_factory_is_given_what_it_has_a_parameter_for() -> None:
    made = resolve_relation(Use("own_things:darkening"), given={"tolerance": 5.0, "pool": "unused"})
    assert made.name == "darkening"


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("insertoin", {}, "unknown relation 'insertoin'; did you mean 'insertion' or 'insert'?"),
        ("driving.mirrored", {}, "unknown relation of driving 'mirrored'; known: deeptest, rule"),
        (
            "own_things:not_a_system",
            {},
            "relation 'own_things:not_a_system' is an int; it must be an instar.Relation",
        ),
        (
            "own_things:darkening",
            {"serach": "guided"},
            "relation 'own_things:darkening': unknown option 'serach'; did you mean 'search'",
        ),
        (
            "own_things:load",
            {},
            "relation 'own_things:load' needs weights; give --set relation.weights=...",
        ),
    ],
)
def test_what_is_no_relation_is_refused_in_one_line(
    name: str, options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput) as refused:
        resolve_relation(Use(name, options))
    assert str(refused.value).startswith(complaint)


def test_searches_are_made_with_their_options() -> None:
    assert callable(resolve_search(Use("draws", {"n": 3})))
    assert callable(resolve_search(Use("own_things:three")))
    with pytest.raises(BadInput, match="search 'draws': unknown option 'm'"):
        resolve_search(Use("draws", {"m": 3}))
    assert callable(resolve_search(Use("sweep")))
    with pytest.raises(BadInput, match=r"search 'own_things:among' needs levels; give --set search\.levels="):
        resolve_search(Use("own_things:among"))
    with pytest.raises(UnknownName, match="unknown search 'gided'; did you mean 'guided'"):
        resolve_search(Use("gided"))


@pytest.mark.parametrize("name", ["of_one_by_name", "of_one_by_trying", "of_many_by_trying"])
def test_whether_a_function_takes_one_picture_or_a_batch_is_told_by_its_parameter_or_by_trying(
    name: str,
) -> None:
    answers = system(f"own_things:{name}").predict([PICTURE] * 3)  # type: ignore[attr-defined]
    assert [len(answer["boxes"]) for answer in answers] == [1, 1, 1]


def test_the_numbers_of_labels_get_the_names_that_are_given() -> None:
    named = system("own_things:Numbers", labels=["cat", "dog"])
    (answer,) = named.predict([PICTURE])  # type: ignore[attr-defined]
    assert read_detections(PICTURE, answer).labels == ("dog",)
    bare = system("own_things:Numbers")
    (answer,) = bare.predict([PICTURE])  # type: ignore[attr-defined]
    assert read_detections(PICTURE, answer).labels == ("1",)
    assert named.fingerprint != bare.fingerprint  # type: ignore[attr-defined]


def test_labels_that_are_no_names_are_refused() -> None:
    with pytest.raises(BadInput, match="labels is 3; give a list, a text file, 'coco' or 'coco-ids'"):
        system("own_things:Numbers", labels=3)
