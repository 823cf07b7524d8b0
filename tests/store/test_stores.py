"""One contract for every store: what is given comes back as it was, the first content of a source stands."""

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.campaign import AnswerKey
from instar.core.errors import SceneChanged
from instar.core.record import Record, Skipped, Source, Totals
from instar.core.system import Reply
from instar.store import MemoryStore, RunStore

KEY = AnswerKey("system 1", "ab" * 16, 0)


@pytest.fixture(params=["memory", "run folder"])
def store(request, tmp_path):
    if request.param == "memory":
        yield MemoryStore()
    else:
        with RunStore.create(tmp_path / "run", identity={"seed": 1}) as opened:
            yield opened


def records_of(store):
    return store.records if isinstance(store, MemoryStore) else list(store.records())


def totals_of(store):
    return store.totals if isinstance(store, MemoryStore) else store.totals()


def test_an_answer_is_unknown_until_it_is_kept_and_again_when_it_is_forgotten(store):
    assert store.answer(KEY) is None
    store.keep_answers([(KEY, Reply([1, 2]))])
    assert store.answer(KEY).answer == [1, 2]
    store.forget_answers([KEY])
    assert store.answer(KEY) is None


def test_answers_are_told_apart_by_system_input_and_repeat(store):
    others = [KEY._replace(fingerprint="system 2"), KEY._replace(input="cd" * 16), KEY._replace(repeat=1)]
    store.keep_answers([(KEY, Reply("mine"))])
    assert [store.answer(other) for other in others] == [None, None, None]
    store.keep_answers([(other, Reply(i)) for i, other in enumerate(others)])
    assert [store.answer(key).answer for key in (KEY, *others)] == ["mine", 0, 1, 2]


def test_what_keep_answers_gives_back_is_what_is_read_later(store):
    array = np.arange(6, dtype=">i2").reshape(2, 3)
    (given,) = store.keep_answers([(KEY, Reply({"a": array, "t": (1, 2)}, seconds=0.25))])
    later = store.answer(KEY)
    for reply in (given, later):
        assert reply.answer["t"] == (1, 2)
        assert reply.answer["a"].dtype == array.dtype
        np.testing.assert_array_equal(reply.answer["a"], array)
        assert reply.seconds == 0.25


def test_an_answer_read_twice_is_two_objects_and_neither_is_the_one_given(store):
    array = np.zeros(3)
    (given,) = store.keep_answers([(KEY, Reply(array))])
    array[:], given.answer[:] = 1, 2
    store.answer(KEY).answer[:] = 3
    np.testing.assert_array_equal(store.answer(KEY).answer, np.zeros(3))


def test_a_failure_is_kept_as_a_failure(store):
    store.keep_answers([(KEY, Reply(error="ValueError: no", seconds=1.5))])
    assert store.answer(KEY) == Reply(None, "ValueError: no", 1.5)


def test_an_answer_that_cannot_be_kept_is_a_failure_from_then_on(store):
    (given,) = store.keep_answers([(KEY, Reply(object()))])
    assert given.error == "nonsense answer: TypeError: an answer with a object cannot be kept"
    assert store.answer(KEY).error == given.error


def test_a_later_answer_replaces_an_earlier_one(store):
    store.keep_answers([(KEY, Reply(error="down"))])
    store.keep_answers([(KEY, Reply(7))])
    assert store.answer(KEY) == Reply(7)


def test_records_come_back_with_all_their_fields(store):
    finding = instar.Finding("lost", "thing 3", -0.25, {"score": 0.5})
    verdict = instar.Verdict.violated([finding], boxes=[[1, 2.5]], name="x")
    one = Record("0" * 16, "a.png", "a.png#cat", "checked", 3, planted.Dot(1, 2, 3), verdict, "case", 4, 0.5)
    bare = Record("1" * 16, "b.png", "b.png", "checked", 0, None, instar.Verdict.failed("down"), "null")
    store.keep_records([one, bare])
    assert records_of(store) == [one, bare]


@pytest.mark.parametrize("margin", [float("inf"), float("-inf"), float("nan")])
def test_records_with_margins_that_json_does_not_know_come_back(store, margin):
    verdict = instar.Verdict.violated([instar.Finding("far", "", margin)], value=margin)
    store.keep_records([Record("0" * 16, "a", "a", "r", 0, None, verdict)])
    (back,) = records_of(store)
    read = [back.verdict.margin, back.verdict.findings[0].margin, back.verdict.evidence["value"]]
    assert list(map(repr, read)) == [repr(margin)] * 3


def test_numpy_numbers_in_evidence_are_numbers(store):
    verdict = instar.Verdict.held(np.float32(0.5), iou=np.float32(0.25), boxes=np.ones((1, 2)))
    store.keep_records([Record("0" * 16, "a", "a", "r", 0, None, verdict)])
    assert planted.rows(records_of(store))[0][15] == '{"iou":0.25,"boxes":[[1.0,1.0]]}'


def test_the_first_content_of_a_source_stands(store):
    store.keep_source(Source("a.png", "a.png", "11"))
    store.keep_source(Source("a.png", "a.png", "11"))
    with pytest.raises(SceneChanged, match=r"a\.png is not the picture"):
        store.keep_source(Source("a.png", "a.png", "22"))


def test_totals_are_the_last_that_were_kept(store):
    skipped = (Skipped("b.png", "it is no picture"),)
    store.keep_skipped(skipped[0])
    for scene in "cde":
        store.keep_source(Source(scene, scene, "0" * 32))
    for queries in (5, 9):
        store.keep_totals(Totals("run", "system", 1, 3, queries, 4, 1.5, 0.01, skipped, finished=False))
    assert totals_of(store) == Totals("run", "system", 1, 3, 9, 4, 1.5, 0.01, skipped, finished=False)


def test_pictures_are_kept_by_their_content(store):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 4), dtype=np.uint8)
    name = planted.digest(pixels)
    store.keep_picture(name, pixels)
    store.keep_picture(name, pixels)
    kept = store.pictures[name] if isinstance(store, MemoryStore) else store.pictures.pixels(name)
    np.testing.assert_array_equal(kept, pixels)
