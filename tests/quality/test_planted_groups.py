"""Planted faults come out as groups: each fault in one, and each group nearly of one fault."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

import drawn
import instar
from instar.core.scene import Image
from instar.core.verdict import Status
from instar.core.workspace import Folder, prepare_relation
from instar.report.causes import Failure
from instar.report.groups import group_failures, place_of
from instar.tasks.detection import guided, insertion
from instar.tasks.detection.answers import Detections
from instar.worlds.street import scenes
from planted_groups import Fault, beside, both, cut_to, ghost, height, middle, of, planted, renamed_to, width
from planted_groups import lost as gone

PURE = 0.95


@pytest.fixture(scope="module")
def street(tmp_path_factory):
    streets = scenes(12, size=(240, 320))
    return streets, prepare_relation(
        insertion(pool="scenes", least_natural=0.0), streets, Folder(tmp_path_factory.mktemp("pool"))
    )


def failures_of(system, street):
    streets, relation = street
    records = list(instar.run(streets, relation, system, search=guided(per_object=3)))
    cases = [record for record in records if record.role == "case" and record.change is not None]
    tried = defaultdict(Counter)
    for record in cases:
        tried[place_of(record, record.change.to_json())][record.change.label] += 1
    violated = [record for record in cases if record.verdict.status is Status.VIOLATED]
    return [Failure(record, record.change.to_json()) for record in violated], tried


@pytest.mark.parametrize(
    "fault",
    [drawn.loses_neighbours(), drawn.swaps_labels(), drawn.drifts(), drawn.invents()],
    ids=lambda f: f.name,
)
def test_one_fault_is_one_group(fault, street):
    failures, tried = failures_of(fault, street)
    groups = group_failures(failures, tried)
    assert len(failures) >= 8
    assert len(groups[0].cases) >= PURE * len(failures), [(g.title, len(g.cases)) for g in groups]


def near(label: str, spoil: Callable[[Detections, int], Detections], image: Image) -> Detections:
    """The right answer, spoilt for objects of one class that have a neighbour within ten pixels."""
    found = drawn.exact(image)
    gaps = drawn._gaps(found.boxes).min(axis=1, initial=np.inf)
    for i in reversed(np.flatnonzero(gaps <= 10).tolist()):
        if found.labels[i] == label:
            found = spoil(found, i)
    return found


def lost(found: Detections, i: int) -> Detections:
    return found.select(np.arange(len(found)) != i)


def renamed(found: Detections, i: int) -> Detections:
    return drawn._with(found, labels=tuple("truck" if k == i else one for k, one in enumerate(found.labels)))


def moved(found: Detections, i: int) -> Detections:
    boxes = found.boxes.copy()
    boxes[i, 3] -= 0.6 * (boxes[i, 3] - boxes[i, 1])
    return drawn._with(found, boxes=boxes)


def doubled(found: Detections, i: int) -> Detections:
    ghost = np.array([[4, 4, 40, 30]], np.float32)
    return Detections(
        np.concatenate([found.boxes, ghost]),
        (*found.labels, "bird"),
        np.append(found.scores, np.float32(0.9)),
    )


FAULTS = {"person": lost, "car": moved, "bicycle": renamed, "traffic light": doubled, "stop sign": lost}


def all_at_once(image: Image) -> Detections:
    found = drawn.exact(image)
    gaps = drawn._gaps(found.boxes).min(axis=1, initial=np.inf)
    for i in reversed(np.flatnonzero(gaps <= 10).tolist()):
        spoil = FAULTS.get(found.labels[i])
        found = found if spoil is None else spoil(found, i)
    return found


def test_five_faults_of_one_system_are_five_pure_groups(street):
    failures, tried = failures_of(drawn.Drawn("five faults", all_at_once), street)
    truth = {failure.record.case: blamed(failure, street) for failure in failures}
    groups = group_failures(failures, tried)
    told = [(group.title, Counter(truth[case] for case in group.cases)) for group in groups]
    for title, faults in told:
        assert faults.most_common(1)[0][1] >= PURE * faults.total(), (title, faults)
    assert Counter(truth.values()).keys() == FAULTS.keys()
    for fault, count in Counter(truth.values()).items():
        most = max(faults[fault] for _, faults in told)
        assert most >= PURE * count, (fault, told)


SMALL, TALL, LEFT, LIKE = (
    lambda found, i, k: height(found, i) < 36,
    lambda found, i, k: height(found, i) >= 42,
    lambda found, i, k: middle(found, i)[0] < 110,
    lambda found, i, k: found.labels[i] == found.labels[k],
)
OTHERS = {
    "loses what is small": {"small": Fault(SMALL, gone)},
    "loses the small, cuts the tall": {"small": Fault(SMALL, gone), "tall": Fault(TALL, cut_to(0.4, 1))},
    "loses bicycles, and all beside trucks": {
        "bicycle": Fault(of("bicycle"), gone),
        "beside": Fault(beside("truck"), gone),
    },
    "loses three classes": {name: Fault(of(name), gone) for name in ("car", "bicycle", "traffic light")},
    "loses what is beside a car": {"beside": Fault(beside("car"), gone)},
    "loses what is beside its like": {"like": Fault(LIKE, gone)},
    "takes signs for lights": {"sign": Fault(of("stop sign"), renamed_to("traffic light"))},
}
MORE = {
    "cuts the tall": {"tall": Fault(TALL, cut_to(0.4, 1))},
    "loses what is wide": {"wide": Fault(lambda found, i, k: width(found, i) >= 40, gone)},
    "loses the left, renames beside cars, sees boats": {
        "left": Fault(LEFT, gone),
        "beside": Fault(beside("car"), renamed_to("bus")),
        "boat": Fault(of("dog"), ghost("boat", (100, 4, 140, 30))),
    },
    "loses lights, cuts signs, sees horses": {
        "light": Fault(of("traffic light"), gone),
        "sign": Fault(of("stop sign"), cut_to(0.4, 0)),
        "car": Fault(of("car"), ghost("horse", (4, 4, 40, 30))),
    },
    "loses persons, cuts the small": {
        "person": Fault(of("person"), gone),
        "small": Fault(SMALL, cut_to(0.4, 1)),
    },
    "loses all beside signs, cuts cars": {
        "beside": Fault(beside("stop sign"), gone),
        "car": Fault(of("car"), cut_to(0.4, 2)),
    },
    "loses persons beside cars": {"person": Fault(both(of("person"), beside("car")), gone)},
}


LIKES = "loses what is beside its like"
ELSEWHERE = {name: faults for name, faults in (OTHERS | MORE).items() if name != LIKES}
"""Most that is pasted is of its neighbour's kind anyhow."""


@pytest.mark.parametrize("name", OTHERS)
def test_each_fault_of_another_sort_is_one_group(name, street, request):
    if name == LIKES:
        reason = "own classes are pasted first, so one group has 0.91 of them and not 0.95"
        request.applymarker(pytest.mark.xfail(strict=True, reason=reason))
    check_groups(OTHERS[name], street)


@pytest.mark.real
@pytest.mark.parametrize("name", ELSEWHERE)
def test_each_fault_of_more_sorts_is_one_group_on_other_streets(name, tmp_path):
    # Signs seldom have anything pasted beside them.
    streets = scenes(20 if "signs" in name else 10, size=(240, 320), seed=3)
    relation = insertion(pool="scenes", least_natural=0.0)
    check_groups(ELSEWHERE[name], (streets, prepare_relation(relation, streets, Folder(tmp_path))))


def check_groups(faults, street):
    failures, tried = failures_of(planted(faults), street)
    alone = {name: planted({name: fault}).detect for name, fault in faults.items()}
    truth = {failure.record.case: guilty(failure, street, alone)[0] for failure in failures}
    assert len(failures) >= 8
    told = [
        (group.title, Counter(truth[case] for case in group.cases))
        for group in group_failures(failures, tried)
    ]
    for title, counts in told:
        assert counts.most_common(1)[0][1] >= PURE * counts.total(), (title, counts)
    for fault, count in Counter(truth.values()).items():
        assert max(counts[fault] for _, counts in told) >= PURE * count, (fault, told)


def guilty(failure, street, alone):
    """The faults that, planted alone, make this case fail by the same finding."""
    streets, relation = street
    worst = failure.record.verdict.plainest
    scene = next(scene for scene in streets if scene.id == failure.record.scene)
    follow_up = relation.apply(scene.image, failure.record.change)
    found = []
    for name, detect in alone.items():
        source = instar.Observation.of(scene.image, detect(scene.image), scene)
        seen = instar.Observation.of(follow_up, detect(follow_up))
        if worst.key in {f.key for f in relation.expect(source, [seen], failure.record.change).findings}:
            found.append(name)
    return found or [""]


def blamed(failure, street):
    """The fault that, planted alone, makes this case fail by the same finding."""
    (one,) = guilty(failure, street, {label: partial(near, label, spoil) for label, spoil in FAULTS.items()})
    return one


def test_the_same_failures_in_any_order_give_the_same_groups(street):
    failures, tried = failures_of(drawn.swaps_labels(), street)
    shuffled = [failures[i] for i in np.random.default_rng(0).permutation(len(failures))]
    assert group_failures(shuffled, tried) == group_failures(failures, tried)
