"""Referees: asked about findings only, once, outside of the budget; what they lose too is struck out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import instar
import planted_core as planted
from instar.core.campaign import Campaign
from instar.core.errors import BadInput, InstarError
from instar.core.referees import Referee
from instar.engines.local import run_local
from instar.store import MemoryStore, RunStore


def verify(source, follow_up, finding, opinions):
    """Real where a referee still sees it, unfair where none of them does."""
    if not opinions:
        return "unknown"
    seen = [finding.subject in one.after["seen"] for one in opinions if finding.subject in one.before["seen"]]
    return "disputed" if not seen else "real" if any(seen) else "unfair"


class Sees:
    """Finds thing 1 in every picture that it is not blind to, and counts what it is asked."""

    def __init__(self, name, *, blind_to=()):
        self.name, self.blind_to, self.asked = name, blind_to, 0

    def predict(self, inputs):
        self.asked += len(inputs)
        return [{"seen": {} if int(one[0, 0, 0]) in self.blind_to else {"1": 0.9}} for one in inputs]


task = replace(planted.things, verify=verify)
marked = instar.Relation("marked", task, lambda picture, value: np.full_like(picture, value))
SCENES = [instar.Scene.of(f"{i}.png", np.full((4, 4, 3), i, np.uint8)) for i in range(3)]
everything = instar.Relation("marked", task, marked.apply, draw=lambda source, rng: 77)


def run(system, referees, store=None, scenes=SCENES, **more):
    store = store or MemoryStore()
    campaign = Campaign(
        scenes=scenes, relations=[(everything, instar.draws(1))], system=system,
        referees=[Referee(one) for one in referees], **more,
    )  # fmt: skip
    records = list(run_local(campaign, store))
    totals = store.totals() if callable(store.totals) else store.totals
    return records, totals


@pytest.mark.parametrize(
    ("blind_to", "status", "kind", "words"),
    [
        ((), "violated", "lost", ["real"]),
        ((77,), "held", "unfair", []),
        ((0, 1, 2), "violated", "lost", ["unknown"]),
    ],
)  # fmt: skip
def test_what_referees_say_decides(blind_to, status, kind, words):
    records, totals = run(Sees("tested", blind_to=(77,)), [Sees("referee", blind_to=blind_to)])
    for record in records:
        verdict = record.verdict
        assert (verdict.status.value, verdict.kind) == (status, kind)
        assert [finding.known for finding in verdict.findings] == words
        assert verdict.failures == tuple(f for f in verdict.findings if f.known == "real")
    assert totals.referees == {"referee": ""}


def test_they_are_asked_only_about_findings_and_not_from_the_budget():
    referee = Sees("referee")
    _, totals = run(Sees("tested"), [referee])
    assert (referee.asked, totals.referee_queries, totals.referees) == (0, 0, {})
    limits = instar.Limits(queries=6)
    records, totals = run(Sees("tested", blind_to=(77,)), [referee], limits=limits)
    assert (totals.queries, totals.asked) == (6, 4)  # all follow-ups are the same picture
    assert totals.referee_queries == 6
    assert referee.asked == 4
    assert len(records) == 3


def test_without_referees_nothing_is_known():
    records, totals = run(Sees("tested", blind_to=(77,)), [])
    assert [record.verdict.findings[0].known for record in records] == ["unknown"] * 3
    assert all(record.verdict.failures for record in records)
    assert totals.referee_queries == 0


class Missing:
    name = "missing"

    @property
    def fingerprint(self):
        raise InstarError("it cannot be fetched")

    def predict(self, inputs):
        raise AssertionError


class Failing(Sees):
    def predict(self, inputs):
        raise RuntimeError("out of order")


def test_a_referee_that_cannot_be_asked_is_named_and_the_others_decide():
    records, totals = run(Sees("tested", blind_to=(77,)), [Missing(), Sees("referee"), Failing("failing")])
    assert [record.verdict.findings[0].known for record in records] == ["real"] * 3
    assert totals.referees == {"missing": "it cannot be fetched", "referee": "", "failing": ""}


def test_two_referees_of_one_name_are_refused():
    with pytest.raises(BadInput, match="two referees are called 'r'"):
        run(Sees("tested"), [Sees("r"), Sees("r")])


def test_a_resumed_run_asks_no_referee_twice(tmp_path):
    path = tmp_path / "run"
    with RunStore.create(path, identity={}) as store:
        first, _ = run(Sees("tested", blind_to=(77,)), [Sees("referee")], store)
    referee = Sees("referee")
    with RunStore.resume(path, identity={}) as store:
        again, totals = run(Sees("tested", blind_to=(77,)), [referee], store)
    assert referee.asked == 0
    assert totals.referee_queries == 6
    assert planted.rows(first) == planted.rows(again)


def test_a_run_from_python_takes_systems_as_referees():
    tested, referee = Sees("tested", blind_to=(77,)), Sees("referee")
    records = list(instar.run(SCENES, everything, tested, search=instar.draws(1), referees=[referee]))
    assert {finding.known for record in records for finding in record.verdict.findings} == {"real"}
    alone = list(instar.run(SCENES, everything, tested, search=instar.draws(1)))
    assert {finding.known for record in alone for finding in record.verdict.findings} == {"unknown"}


def test_they_are_asked_whether_they_see_what_was_pasted_also_where_truth_has_decided():
    def verify_pasted(source, follow_up, finding, opinions):
        return "unfair" if opinions else "real"

    def compare(before, after):
        verdict = planted.things.compare(before, after)
        return replace(
            verdict, findings=tuple(replace(one, evidence={"pasted": 1}) for one in verdict.findings)
        )

    pasting = replace(everything, task=replace(task, verify=verify_pasted, compare=compare))
    settled = replace(everything, task=replace(task, verify=verify_pasted))
    for relation, status in ((pasting, "held"), (settled, "violated")):
        referee = Sees("referee")
        records = list(
            instar.run(
                SCENES, relation, Sees("tested", blind_to=(77,)), search=instar.draws(1), referees=[referee]
            )
        )
        assert {record.verdict.status.value for record in records} == {status}
        assert bool(referee.asked) == (status == "held")


def test_findings_are_told_by_what_referees_call_them():
    def name_finding(finding, opinions):
        return replace(finding, evidence={**finding.evidence, "called": [one.referee for one in opinions]})

    named = replace(everything, task=replace(task, name_finding=name_finding))
    campaign = Campaign(
        scenes=SCENES[:1], relations=[(named, instar.draws(1))], system=Sees("blind", blind_to=(77,)),
        referees=[Referee(Sees("keen"))],
    )  # fmt: skip
    (record,) = (one for one in run_local(campaign, MemoryStore()) if one.role == "case")
    assert [one.evidence["called"] for one in record.verdict.findings] == [["keen"]]
