"""Whatever a system does becomes an answer or a failure with its reason, and the campaign goes on."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.errors import BadInput, TooManyFailures
from instar.core.fingerprint import fingerprint_of
from instar.core.system import Limits, Reply, ask, describe_error
from instar.store import RunStore

FAILED = instar.Status.FAILED
ONES = [np.full((2, 2, 3), i, np.uint8) for i in range(4)]


def no_sleep(seconds):
    raise AssertionError("nothing here is temporary")


def replies(predict, inputs=ONES, **how):
    system = planted.Scripted(None)
    system.predict = predict
    for key, value in how.pop("system", {}).items():
        setattr(system, key, value)
    return [(reply.answer, reply.error) for reply in ask(system, inputs, **{"sleep": no_sleep, **how})]


def test_answers_come_in_order():
    assert replies(lambda inputs: [int(one.max()) for one in inputs]) == [(i, None) for i in range(4)]


def test_an_array_of_answers_is_as_good_as_a_list():
    assert replies(lambda inputs: np.arange(len(inputs))) == [(i, None) for i in range(4)]


def test_one_bad_input_fails_alone():
    sizes = []

    def predict(inputs):
        sizes.append(len(inputs))
        if any(one.max() == 2 for one in inputs):
            raise ValueError("too\nred")
        return [1] * len(inputs)

    assert replies(predict) == [(1, None), (1, None), (None, "ValueError: too red"), (1, None)]
    assert sizes == [4, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([], "predict gave 0 answers to 1 inputs"),
        ([1, 2], "predict gave 2 answers to 1 inputs"),
        (None, "predict gave a NoneType, not a sequence of answers"),
        (7, "predict gave a int, not a sequence of answers"),
        ("x", "predict gave a str, not a sequence of answers"),
        (b"x", "predict gave a bytes, not a sequence of answers"),
        ({"x": 1}, "predict gave a dict, not a sequence of answers"),
        (iter([1]), "predict gave a list_iterator, not a sequence of answers"),
        ([None], "the answer is None"),
    ],
)
def test_what_is_no_list_of_answers_is_a_failure(given, reason):
    assert replies(lambda inputs: given, ONES[:1]) == [(None, reason)]


class Broken:
    def __len__(self):
        return 1

    def __iter__(self):
        raise OSError("the connection is gone")


def test_answers_that_break_while_they_are_read_are_a_failure():
    assert replies(lambda inputs: Broken(), ONES[:1]) == [(None, "OSError: the connection is gone")]


@dataclass(frozen=True)
class Box:
    corners: np.ndarray
    score: float


@pytest.mark.parametrize(
    "answer",
    [
        float("nan"),
        np.float32("nan"),
        complex("nan"),
        np.array([1.0, np.nan]),
        np.array([1, np.nan], np.complex64),
        np.array([np.nan], np.float16),
        {"speed": {"now": float("nan")}},
        [1, (2, float("nan"))],
        Box(np.zeros(4), float("nan")),
        [Box(np.full(4, np.nan), 1.0)],
    ],
)
def test_nan_anywhere_in_an_answer_is_a_failure(answer):
    assert replies(lambda inputs: [answer], ONES[:1]) == [(None, "the answer contains NaN")]


@pytest.mark.parametrize(
    "answer", [float("inf"), np.array(["nan"]), np.array([1, 2]), "nan", Box(np.ones(4), 1.0)]
)
def test_other_answers_are_not_taken_for_nan(answer):
    ((given, error),) = replies(lambda inputs: [answer], ONES[:1])
    assert error is None
    assert given is answer


def test_temporary_errors_are_tried_again_after_pauses_that_double():
    pauses, left = [], [3]

    def predict(inputs):
        if left[0]:
            left[0] -= 1
            raise instar.Temporary("busy")
        return [1] * len(inputs)

    assert replies(predict, retries=3, pause=0.5, sleep=pauses.append) == [(1, None)] * 4
    assert pauses == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("inputs", [ONES[:1], ONES])
def test_a_question_that_succeeds_after_a_temporary_error_is_answered_and_asked_no_more(inputs):
    calls = []

    def predict(asked):
        calls.append(len(asked))
        if len(calls) == 1:
            raise instar.Temporary("busy")
        return [1] * len(asked)

    assert replies(predict, inputs, sleep=lambda seconds: None) == [(1, None)] * len(inputs)
    assert calls == [len(inputs)] * 2


def test_a_system_that_exits_has_failed_and_is_not_obeyed():
    def predict(inputs):
        raise SystemExit(0)

    assert replies(predict, ONES[:1]) == [(None, "SystemExit: 0")]


def test_a_system_names_its_own_temporary_errors():
    pauses = []

    def predict(inputs):
        raise ConnectionError("reset")

    how = {"sleep": pauses.append, "retries": 2, "system": {"temporary": (ConnectionError,)}}
    assert replies(predict, ONES[:1], **how) == [(None, "ConnectionError: reset")]
    assert pauses == [0.5, 1.0]


def test_other_errors_are_not_tried_again():
    calls = []

    def predict(inputs):
        calls.append(1)
        raise KeyError("x")

    assert replies(predict, ONES[:1]) == [(None, "KeyError: 'x'")]
    assert len(calls) == 1


def test_an_error_without_words_is_named():
    assert describe_error(RuntimeError()) == "RuntimeError"


def test_a_fingerprint_is_the_name_and_the_source_where_there_is_none():
    name, source = fingerprint_of(planted.Scripted(None)).split()
    assert name == "scripted"
    assert len(source) == 16
    assert fingerprint_of(planted.Scripted(None, fingerprint="v2")) == f"v2 {source}"
    assert Reply(1).error is None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"queries": 0}, "limits: queries is 0; it must be a number of at least 1"),
        ({"queries": 2.5}, "limits: queries is 2.5; it must be a whole number"),
        ({"seconds": float("nan")}, "limits: seconds is nan; it must be a number of at least 0"),
        ({"timeout": "3"}, "limits: timeout is '3'; it must be a number of at least 0"),
        ({"retries": -1}, "limits: retries is -1; it must be a number of at least 0"),
        ({"failures": 0}, "limits: failures is 0; it must be a number of at least 1"),
        ({"price_per_query": -0.1}, "limits: price_per_query is -0.1; it must be a number of at least 0"),
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong, text):
    with pytest.raises(BadInput) as refused:
        Limits(**wrong)
    assert str(refused.value) == text


# --- in a campaign ----------------------------------------------------------------------------------


def run(system, *, n=4, cases=3, **how):
    return list(
        instar.run(planted.pictures(n), planted.plain, system, search=instar.draws(cases), seed=2, **how)
    )


def test_a_system_that_fails_on_a_source_gives_one_failed_record_for_it():
    scenes = planted.pictures(4)
    bad = planted.digest(scenes[2].image)

    def answer(image):
        if planted.digest(image) == bad:
            raise MemoryError("too large")
        return planted.sees(image)

    records = [r for r in run(planted.Scripted(answer, batch=4)) if r.scene == scenes[2].id]
    (record,) = records
    assert (record.verdict.status, record.verdict.reason) == (FAILED, "MemoryError: too large")
    assert (record.change, record.ordinal, record.queries) == (None, 0, 0)


def test_a_follow_up_on_which_the_system_fails_fails_alone_whatever_the_batch():
    def answer(image):
        if int(planted.digest(image), 16) % 3 == 0:
            raise ValueError("unlucky picture")
        return planted.sees(image)

    alone = run(planted.Scripted(answer), n=8)
    assert {r.verdict.reason for r in alone if r.verdict.status is FAILED} == {"ValueError: unlucky picture"}
    assert planted.rows(run(planted.Scripted(answer), n=8, batch=7, workers=2)) == planted.rows(alone)


def test_nonsense_by_the_tasks_own_word_is_a_failure():
    def read(asked, answer):
        if "thing 1" in answer["seen"]:
            raise ValueError("thing 1 does not exist")
        return answer

    strict = replace(planted.plain, name="strict", task=replace(planted.things, read=read))
    records = list(instar.run(planted.pictures(6), strict, planted.Hashed()))
    assert {r.verdict.reason for r in records if r.verdict.status is FAILED} == {
        "nonsense answer: thing 1 does not exist"
    }


class Spoiling(planted.Hashed):
    """Blackens every picture that it is shown."""

    def predict(self, inputs):
        answers = super().predict(inputs)
        for one in inputs:
            one[:] = 0
        return answers


def test_a_system_cannot_spoil_the_pictures_it_is_shown():
    how = {"search": instar.draws(4), "batch": 3}
    spoiled = instar.run(planted.pictures(5), planted.checked, Spoiling(), **how)
    assert planted.rows(spoiled) == planted.rows(
        instar.run(planted.pictures(5), planted.checked, planted.Hashed(), **how)
    )
    inputs = [scene.image.copy() for scene in planted.pictures(2)]
    ask(Spoiling(), inputs, copies=False)
    assert not np.any(inputs)  # it would


class Opaque:
    pass


@pytest.mark.parametrize("answer", [Opaque(), {1: 2}, np.array([object()]), {"x": {1, 2}}])
def test_an_answer_that_cannot_be_kept_is_a_failure_with_and_without_a_folder(answer, tmp_path):
    system = planted.Scripted(lambda image: answer)
    in_memory, kept = run(system, n=2), run(system, n=2, out=tmp_path / "run")
    assert planted.rows(in_memory) == planted.rows(kept)
    assert {r.verdict.status for r in kept} == {FAILED}
    assert all(r.verdict.reason.startswith("nonsense answer: TypeError: ") for r in kept)


def test_an_answer_of_a_class_that_nobody_can_find_again_is_a_failure():
    @dataclass(frozen=True)
    class Hidden:
        x: int

    records = run(planted.Scripted(lambda image: Hidden(1)), n=1)
    assert records[0].verdict.status is FAILED
    assert "Hidden" in records[0].verdict.reason


class Down:
    """Works for a while, then fails at everything until it is mended."""

    name = "down"
    works_for = 30

    def __init__(self):
        self.calls, self.failed = 0, []

    def predict(self, inputs):
        self.calls += len(inputs)
        if self.calls > self.works_for:
            self.failed += [planted.digest(one) for one in inputs]
            raise OSError("no route to host")
        return [planted.sees(one) for one in inputs]


@pytest.mark.parametrize("batch", [1, 4, 16])
def test_too_many_failures_in_a_row_stop_the_campaign_and_are_asked_again_on_resume(batch, tmp_path):
    reference = run(planted.hashed_as("down"), n=20)
    system = Down()
    with pytest.raises(TooManyFailures) as stopped:
        run(system, n=20, batch=batch, out=tmp_path / "run", limits=Limits(failures=6))
    text = str(stopped.value)
    assert text.startswith("down failed ")
    assert text.endswith(
        "last with: OSError: no route to host; what came before is kept: mend it and go on with --resume"
    )
    with RunStore.read(tmp_path / "run") as store:
        assert not store.totals().finished
    asked = len(system.failed)
    system.works_for = 10**9
    resumed = run(system, n=20, batch=batch, out=tmp_path / "run", resume=True, limits=Limits(failures=6))
    assert asked >= 6
    assert planted.rows(resumed) == planted.rows(reference)


def test_failures_with_successes_between_them_stop_nothing():
    def answer(image):
        if image[0, 0, 0] % 2:
            raise ValueError("odd")
        return planted.sees(image)

    records = run(planted.Scripted(answer), n=30, cases=1, limits=Limits(failures=15))
    assert len(records) == 30


def test_a_system_that_exits_is_failed_and_the_campaign_goes_on():
    def answer(image):
        raise SystemExit("the driver said so")

    records = list(instar.run(planted.pictures(2), planted.plain, planted.Scripted(answer)))
    assert [(r.verdict.status, r.verdict.reason) for r in records] == [
        (instar.Status.FAILED, "SystemExit: the driver said so")
    ] * 2


class Defect(Exception):
    pass


def broken_at(step):
    """The relation with a function, its own or its task's, that raises."""

    def defective(*arguments):
        raise Defect(step)

    task, nulls = planted.checked_things, planted.nulls
    if step in ("fresh", "strikers"):
        return replace(planted.checked, task=replace(task, nulls=replace(nulls, **{step: defective})))
    if step in ("compare", "marks", "verify", "questions"):
        return replace(planted.checked, task=replace(task, **{step: defective}))
    return replace(planted.checked, **{step: defective})


@pytest.mark.parametrize(
    "step",
    ["draw", "apply", "expect", "placebo", "naturalness", "pixels", "compare", "marks", "verify", "questions",
     "fresh", "strikers"],
)  # fmt: skip
def test_a_defect_of_a_relation_or_task_keeps_its_type_and_the_run_can_be_resumed(step, tmp_path):
    how = {"search": instar.draws(10), "out": tmp_path / "run"}
    with pytest.raises(Defect, match=step):
        list(instar.run(planted.pictures(3), broken_at(step), planted.Hashed(), **how))
    mended = replace(planted.checked)  # like the broken one it has no name
    resumed = list(instar.run(planted.pictures(3), mended, planted.Hashed(), resume=True, **how))
    reference = instar.run(planted.pictures(3), planted.checked, planted.Hashed(), search=instar.draws(10))
    assert planted.rows(resumed) == planted.rows(reference)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (None, "plain: apply gave a NoneType, None; it gives a picture, Moved, Variant, another question, "
               "a tuple of these, or Inapplicable"),
        ((), "plain: apply gave a tuple, (); it gives a picture"),
        ("picture.png", "plain: apply gave a str, 'picture.png'; it gives a picture"),
        (np.zeros((4, 4), np.uint8), "plain: apply gave uint8 (4, 4); a picture is uint8 (height, width, 3)"),
        (np.zeros((4, 4, 3)), "plain: apply gave float64 (4, 4, 3); a picture is uint8 (height, width, 3)"),
        (instar.Moved(np.zeros((4, 4, 3)), np.eye(3)), "plain: apply gave float64 (4, 4, 3); a picture"),
        (instar.Variant(None, "random"), "plain: apply gave NoneType; a picture is uint8"),
        ([instar.Inapplicable("no")], "plain: apply gave a Inapplicable, Inapplicable(reason='no'); it"),
    ],
)  # fmt: skip
def test_an_apply_that_gives_no_follow_up_is_told_with_what_it_gave(made, text):
    wrong = replace(planted.plain, apply=lambda image, change: made)
    with pytest.raises(TypeError) as refused:
        list(instar.run(planted.pictures(1), wrong, planted.Hashed()))
    assert str(refused.value).startswith(text)


def test_an_expect_that_gives_no_verdict_is_told():
    wrong = replace(planted.plain, expect=lambda source, follow_ups, change: None)
    with pytest.raises(TypeError, match="plain: expect gave a NoneType, None; it gives a Verdict"):
        list(instar.run(planted.pictures(1), wrong, planted.Hashed()))


def test_a_time_limit_ends_a_campaign_early_and_unfinished(tmp_path):
    from instar.core.campaign import Campaign
    from instar.engines.local import run_local
    from instar.store import MemoryStore

    ticks = iter(range(10**6))
    campaign = Campaign(
        scenes=planted.pictures(30), relations=[(planted.plain, instar.draws(5))], system=planted.Hashed(),
        limits=Limits(seconds=150),
    )  # fmt: skip
    store = MemoryStore()
    records = list(run_local(campaign, store, clock=lambda: float(next(ticks))))
    assert 0 < len(records) < 150
    assert not store.totals.finished
    assert store.totals.asked < 180
