"""The contracts in `instar.testing` pass what is right and say in one line what is wrong."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.testing import ContractBroken, check_relation, check_search, check_system

SCENES = planted.pictures(3)
IMAGES = [scene.image for scene in SCENES]
SOURCE = instar.Observation.of(IMAGES[0], planted.sees(IMAGES[0]), SCENES[0])


def broken(check, *arguments, **options):
    with pytest.raises(ContractBroken) as found:
        check(*arguments, **options)
    assert "\n" not in str(found.value)
    return str(found.value)


class Predicting:
    name = "mine"

    def __init__(self, predict):
        self.predict = predict


# --- systems ----------------------------------------------------------------------------------------


def test_a_steady_system_passes():
    check_system(planted.Hashed(), IMAGES)


def test_a_system_that_looks_at_its_neighbours_is_told():
    system = Predicting(lambda inputs: [float(np.mean(inputs)) for _ in inputs])
    assert broken(check_system, system, IMAGES) == (
        "the answer of mine to input 0 depends on its neighbours in the batch"
    )


def test_a_system_that_looks_at_places_in_the_batch_is_told():
    system = Predicting(lambda inputs: list(range(len(inputs))) if len(inputs) > 1 else [int(inputs[0][0])])
    text = broken(check_system, system, [np.array([i]) for i in range(3)])
    assert text == "the answer of mine to input 0 depends on its place in the batch"


def test_a_system_that_answers_by_the_clock_is_told_as_such():
    ticks = iter(range(10**6))
    system = Predicting(lambda inputs: [next(ticks) for _ in inputs])
    assert broken(check_system, system, IMAGES) == "mine answers input 0 differently when asked again"


def test_a_system_that_writes_into_its_inputs_is_told():
    def predict(inputs):
        for one in inputs:
            one[0, 0] = 0
        return [1 for _ in inputs]

    assert (
        broken(check_system, Predicting(predict), [i.copy() for i in IMAGES]) == "mine writes into its inputs"
    )


def test_a_system_that_fails_is_told_with_its_error():
    def predict(inputs):
        raise ValueError("no weights")

    assert broken(check_system, Predicting(predict), IMAGES) == "mine fails: ValueError: no weights"


def test_a_system_that_knows_no_batches_is_told():
    def one_at_a_time(inputs):
        (one,) = inputs
        return [int(one.max())]

    for predict in (one_at_a_time, lambda inputs: [1]):
        assert broken(check_system, Predicting(predict), IMAGES) == (
            "mine cannot answer 3 inputs at once, only one by one"
        )


def test_answers_that_cannot_be_kept_are_told():
    system = Predicting(lambda inputs: [object() for _ in inputs])
    assert broken(check_system, system, IMAGES).startswith("an answer of mine cannot be kept: ")


def test_one_input_is_too_few_to_see_neighbours():
    assert "give at least two inputs" in broken(check_system, planted.Hashed(), IMAGES[:1])


def test_a_system_without_a_name_is_told():
    nameless = Predicting(lambda inputs: [1 for _ in inputs])
    nameless.name = None
    assert broken(check_system, nameless, IMAGES) == "the system has no name"


# --- relations --------------------------------------------------------------------------------------


@pytest.mark.parametrize("relation", [planted.plain, planted.double, planted.checked, planted.checked_double])
def test_a_right_relation_passes(relation):
    check_relation(relation, planted.Hashed(), SCENES)


def relation_broken(relation):
    return broken(check_relation, relation, planted.Hashed(), SCENES)


def test_an_apply_that_is_not_pure_is_told():
    rng = np.random.default_rng(0)

    def apply(image, change):
        return image ^ np.uint8(rng.integers(1, 200))

    assert relation_broken(replace(planted.plain, apply=apply)) == "plain.apply is not pure"


def test_an_apply_that_writes_into_its_input_is_told():
    def apply(image, change):
        image[0, 0] = image[0, 0] + 1
        return image.copy()

    scenes = planted.pictures(3)
    text = broken(check_relation, replace(planted.plain, apply=apply), planted.Hashed(), scenes)
    assert text == "plain.apply writes into its input"


def test_an_apply_that_gives_no_follow_up_is_told():
    wrong = replace(planted.plain, apply=lambda image, change: None)
    assert relation_broken(wrong).startswith("plain: apply gave a NoneType, None; it gives a picture, Moved")


@dataclass(frozen=True)
class Strange(instar.Change):
    value: object = field(default_factory=dict)


@pytest.mark.parametrize("value", [np.int64(3), {1: 2}, {1, 2}, [1, 2], object()])
def test_a_change_that_does_not_survive_storage_is_told(value):
    wrong = replace(
        planted.plain, draw=lambda source, rng: Strange(value), apply=lambda image, c: image.copy()
    )
    text = relation_broken(wrong)
    assert text.startswith("plain: Strange(value=")
    assert text.endswith("does not survive storage as JSON")


def test_a_change_whose_class_cannot_be_found_again_is_told():
    @dataclass(frozen=True)
    class Local(instar.Change):
        x: int

    wrong = replace(planted.plain, draw=lambda source, rng: Local(1), apply=lambda image, c: image.copy())
    assert relation_broken(wrong).endswith("Local(x=1) does not survive storage as JSON")


def test_a_draw_that_does_not_use_its_random_numbers_is_told():
    rng = np.random.default_rng(0)
    wrong = replace(planted.plain, draw=lambda source, _: planted.Dot(1, 1, int(rng.integers(20, 200))))
    assert relation_broken(wrong).startswith("plain.draw gives two changes for one seed: Dot(")


def compare_strictly(before, after):
    return instar.Verdict.at_least(0.0, 1.0, "difference")


@pytest.mark.parametrize("nulls", [None, planted.nulls, replace(planted.nulls, conditions=())])
def test_a_task_that_finds_an_answer_other_than_itself_is_told(nulls):
    task = replace(planted.things, compare=compare_strictly, nulls=nulls)
    text = relation_broken(replace(planted.plain, task=task, expect=planted.expect_kept))
    assert text == "things: compare calls an answer other than itself"


def test_a_demanded_reaction_is_no_broken_contract():
    def slower(source, follow_ups, change):
        return instar.Verdict.at_least(0.0, 1.0, "reaction")

    check_relation(replace(planted.checked, expect=slower), planted.Hashed(), SCENES)


def test_an_expect_that_is_not_pure_is_told():
    ticks = iter(range(10**6))
    wrong = replace(planted.plain, expect=lambda s, f, c: instar.Verdict.held(float(next(ticks))))
    assert relation_broken(wrong) == "plain.expect is not pure"


def test_a_compare_that_is_not_pure_is_told():
    ticks = iter(range(10**6))

    def compare(before, after):
        return instar.Verdict.held(float(next(ticks)))

    wrong = replace(planted.plain, task=replace(planted.things, compare=compare))
    assert relation_broken(wrong) == "things.compare is not pure"


def test_an_expect_that_gives_no_verdict_is_told():
    wrong = replace(planted.plain, expect=lambda s, f, c: True)
    assert relation_broken(wrong) == "plain: expect gave a bool, True; it gives a Verdict"


def test_a_null_change_that_does_not_survive_storage_is_told():
    @dataclass(frozen=True)
    class Local(instar.Null):
        x: int

        def apply(self, picture):
            return picture.copy()

    nulls = replace(planted.nulls, strikers=lambda source: [Local(1)])
    wrong = replace(planted.checked, task=replace(planted.things, nulls=nulls))
    assert relation_broken(wrong).endswith("Local(x=1) does not survive storage as JSON")


def test_a_relation_whose_changes_are_values_passes_and_one_whose_are_not_json_is_told():
    graded = replace(planted.plain, draw=lambda source, rng: {"sigma": [rng.uniform(), None, "x"]},
                     apply=lambda image, change: image.copy())  # fmt: skip
    check_relation(graded, planted.Hashed(), SCENES)
    wrong = replace(graded, draw=lambda source, rng: {"sigma": {1, 2}})
    assert relation_broken(wrong).startswith("draw gave {'sigma': {1, 2}}; a change is a JSON value or an")


def test_a_system_that_fails_before_a_scene_is_asked_is_told():
    def first_the_picture(scene):
        yield scene.image
        return []

    def predict(inputs):
        raise ValueError("no weights")

    relation = replace(planted.plain, task=replace(planted.things, questions=first_the_picture))
    text = broken(check_relation, relation, Predicting(predict), SCENES)
    assert text == "mine fails on 0000.png: ValueError: no weights"


def test_evidence_that_is_not_json_is_told():
    strange = object()
    wrong = replace(planted.plain, expect=lambda s, f, c: instar.Verdict.held(1.0, why=strange))
    assert relation_broken(wrong) == "plain.expect: evidence holds a object; it must be JSON"


def test_a_system_that_fails_on_a_scene_is_told_with_the_scene():
    def predict(inputs):
        raise ValueError("no weights")

    text = broken(check_relation, planted.plain, Predicting(predict), SCENES)
    assert text == "mine fails on 0000.png: ValueError: no weights"


# --- searches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [instar.draws(5), planted.walk(4)])
def test_a_right_search_passes(search):
    check_search(search, planted.plain, SOURCE)


def test_an_endless_search_is_told():
    def endless(relation, source, rng):
        while True:
            yield [relation.drawn(source, rng)]

    assert broken(check_search, endless, planted.plain, SOURCE) == "the search has not ended after 50 rounds"


def test_a_search_with_random_numbers_of_its_own_is_told():
    rng = np.random.default_rng(0)

    def wild(relation, source, _):
        yield [planted.Dot(1, 1, int(rng.integers(20, 250))) for _ in range(4)]

    assert broken(check_search, wild, planted.plain, SOURCE) == (
        "the search takes another path with the same seed and verdicts"
    )


def test_a_search_that_yields_something_else_is_told():
    def strange(relation, source, rng):
        yield ["a change"]

    assert broken(check_search, strange, planted.plain, SOURCE) == "the search yields 'a change', no change"
