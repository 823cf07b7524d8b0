"""A case made again and asked again says whether it came out the same."""

from dataclasses import replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.errors import BadInput, SceneChanged
from instar.core.replay import replay
from instar.core.system import ask

SCENES = {scene.id: scene for scene in planted.pictures(12)}


def all_records(relation=planted.checked, system=None, **limits):
    return list(
        instar.run(
            SCENES.values(), relation, system or planted.Hashed(), search=instar.draws(8),
            limits=instar.Limits(**limits),
        )
    )  # fmt: skip


def asking(system):
    return lambda queries: ask(system, [query.input for query in queries])


def again(record, relation=planted.checked, system=None, scene=None):
    scene = scene or SCENES[record.scene]
    known_as = planted.digest(scene.image)
    return replay(record, scene, relation, asking(system or planted.Hashed()), known_as=known_as)


@pytest.mark.parametrize("relation", [planted.checked, planted.checked_double])
@pytest.mark.parametrize("queries", [None, 150])
def test_a_steady_system_gives_the_same_on_every_kind_of_record(relation, queries):
    records = all_records(relation, queries=queries)
    kinds = {(r.role, r.verdict.status.value, r.verdict.kind) for r in records}
    assert {("case", "held", ""), ("case", "inapplicable", ""), ("case", "inapplicable", "unstable")} <= kinds
    if queries is None:
        assert {("case", "violated", "lost"), ("null", "held", "")} <= kinds
    else:
        assert ("case", "inapplicable", "unconfirmed") in kinds
    assert [r for r in records if not again(r, relation).same] == []


def test_a_system_that_fails_again_is_the_same_and_one_that_recovered_is_not():
    def moody(image):
        if int(planted.digest(image), 16) % 3 == 0:
            raise ValueError("unlucky")
        return planted.sees(image)

    system = planted.Scripted(moody)
    records = all_records(system=system)
    failed = [r for r in records if r.verdict.status is instar.Status.FAILED]
    assert {r.change is None for r in failed} == {True, False}
    assert all(again(r, system=system).same for r in records)
    assert not any(again(r).same for r in failed if "struck" not in r.verdict.evidence)


def test_another_answer_is_not_the_same():
    blind = planted.Scripted(lambda image: {"seen": {}})
    found = [r for r in all_records() if r.verdict.status is instar.Status.VIOLATED]
    assert found
    assert not any(again(r, system=blind).same for r in found)
    held = next(r for r in all_records() if r.verdict.status is instar.Status.HELD)
    source = planted.digest(SCENES[held.scene].image)
    forgets = planted.Scripted(
        lambda image: planted.sees(image) if planted.digest(image) == source else {"seen": {}}
    )
    outcome = again(held, system=forgets)
    assert (outcome.same, outcome.verdict.status) == (False, instar.Status.VIOLATED)


def test_a_margin_that_moved_is_not_the_same():
    record = next(r for r in all_records() if r.verdict.status is instar.Status.VIOLATED)
    moved = [replace(f, margin=f.margin - 0.01) for f in record.verdict.findings]
    other = replace(record, verdict=instar.Verdict.violated(moved, **record.verdict.evidence))
    assert again(record).same
    assert not again(other).same


def test_the_source_and_the_follow_ups_are_there_to_be_looked_at():
    record = next(r for r in all_records() if r.verdict.status is instar.Status.VIOLATED)
    outcome = again(record)
    np.testing.assert_array_equal(outcome.source.input, SCENES[record.scene].image)
    made = planted.apply_dot(SCENES[record.scene].image, record.change)
    np.testing.assert_array_equal(outcome.follow_ups[0].input, made)
    assert outcome.follow_ups[0].answer == planted.sees(made)


def test_a_scene_that_changed_is_refused_by_name():
    record = all_records()[0]
    other = instar.Scene.of(record.scene, SCENES[record.scene].image ^ np.uint8(1))
    with pytest.raises(SceneChanged) as refused:
        replay(
            record,
            other,
            planted.checked,
            asking(planted.Hashed()),
            known_as=planted.digest(SCENES[record.scene].image),
        )
    assert str(refused.value) == f"{record.scene} is not the picture that was tested; its content has changed"


def test_a_part_that_the_system_makes_no_more_is_refused_by_name():
    def halves(scene):
        return [(side, {"left": left_half, "right": np.copy}[side]) for side in sides]
        yield

    def left_half(image):
        return np.ascontiguousarray(image[:, :6])

    sides = ["left", "right"]
    task = replace(planted.things, questions=halves)
    relation = replace(planted.plain, task=task, draw=lambda source, rng: planted.Dot(1, 1, 60))
    records = list(instar.run(planted.pictures(2), relation, planted.Hashed(), search=instar.draws(1)))
    assert [r.source for r in records] == [f"000{i}.png#{side}" for i in range(2) for side in sides]
    scene = planted.pictures(2)[0]
    known = planted.digest(left_half(scene.image))
    assert replay(records[0], scene, relation, asking(planted.Hashed()), known_as=known).same
    sides.remove("left")
    with pytest.raises(BadInput, match=r"0000\.png#left is no question any more"):
        replay(records[0], scene, relation, asking(planted.Hashed()), known_as=known)


def test_a_scene_that_is_no_question_is_one_inapplicable_case_and_stays_one():
    def nothing(scene):
        return instar.Inapplicable("nothing to ask")
        yield

    relation = replace(planted.plain, task=replace(planted.things, questions=nothing))
    records = list(instar.run(planted.pictures(2), relation, planted.Hashed(), search=instar.draws(3)))
    assert [(r.source, r.change, r.queries) for r in records] == [(f"000{i}.png", None, 0) for i in range(2)]
    assert {(r.verdict.status, r.verdict.reason) for r in records} == {
        (instar.Status.INAPPLICABLE, "nothing to ask")
    }
    assert replay(records[0], planted.pictures(2)[0], relation, asking(planted.Hashed()), known_as=None).same


def test_a_picture_is_decoded_once_for_its_questions_and_its_cases():
    read = []

    def looked_at(scene):
        return [(str(i), np.copy) for i in range(2) if scene.image.shape]
        yield

    def counting(scene):
        def count():
            read.append(scene.id)
            return scene.image

        return replace(scene, read=count)

    relation = replace(planted.plain, task=replace(planted.things, questions=looked_at))
    scenes = [counting(scene) for scene in planted.pictures(2)]
    assert list(instar.run(scenes, relation, planted.Hashed(), search=instar.draws(3)))
    assert sorted(read) == ["0000.png", "0001.png"]
