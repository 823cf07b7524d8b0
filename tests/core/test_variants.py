"""Follow-ups for a variant of the system: asked under its own fingerprint, kept, replayed, or refused."""

from collections import Counter
from contextlib import closing
from dataclasses import replace

import pytest

import instar
import planted_core as planted
from instar.campaigns.reader import Named, open_run
from instar.core.errors import BadInput
from instar.core.fingerprint import fingerprint_of
from instar.core.system import Limits, variant_of
from instar.engines.worker import within_limits

VIOLATED = instar.Status.VIOLATED


def of_variant(name):
    def apply(image, _):
        return instar.Variant(image, name)

    return instar.Relation("randomised", planted.checked_things, apply)


relation = of_variant("random")


def log(tmp_path):
    return tmp_path / "asked.txt"


def asked(tmp_path):
    return Counter(log(tmp_path).read_text().splitlines()) if log(tmp_path).exists() else Counter()


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_a_variant_is_asked_under_its_own_fingerprint_and_replayed_from_the_run(timeout, tmp_path):
    system, limits = planted.Varied(log(tmp_path)), instar.Limits(timeout=timeout)
    scenes = planted.pictures(6)
    records = list(instar.run(scenes, relation, system, out=tmp_path / "run", limits=limits))
    cases = [record for record in records if record.role == "case"]
    assert Counter(record.verdict.status for record in cases)[VIOLATED] >= 3  # the variant sees less
    own, variants = asked(tmp_path)["varied 1"], asked(tmp_path)["varied 1 random"]
    assert variants >= len(cases)
    assert own + variants == sum(asked(tmp_path).values())
    log(tmp_path).unlink()
    again = instar.run(scenes, relation, system, out=tmp_path / "run", limits=limits, resume=True)
    assert planted.rows(again) == planted.rows(records)
    given = Named(system=system, relations=[relation], scenes=scenes)
    with open_run(str(tmp_path / "run"), named=given) as there:
        for case in cases:
            outcome = there.replay(there.record(case.case), there.remembered)
            assert outcome.same
    assert asked(tmp_path) == Counter()  # everything was kept


def test_the_same_picture_is_another_question_to_a_variant(tmp_path):
    """The follow-up of the relation is the very picture of the source: only the fingerprint differs."""
    system = planted.Varied(log(tmp_path))
    scene = planted.pictures(1)
    plain = replace(relation, task=planted.things)
    (record,) = instar.run(scene, plain, system)
    image = scene[0].image
    lost = set(planted.sees(image)["seen"]) - set(planted.sees(image, lose=8)["seen"])
    assert {finding.subject for finding in record.verdict.findings} == lost
    assert asked(tmp_path) == {"varied 1": 2, "varied 1 random": 1}  # the source is asked again


@pytest.mark.parametrize(
    ("system", "name", "text"),
    [
        (
            planted.Hashed(),
            "random",
            "the relation needs the variant 'random', and hashed has no variant(name)",
        ),
        (
            planted.Varied("unused"),
            "same",
            "variant 'same' of varied has the fingerprint of the system itself",
        ),
    ],
)
def test_a_system_without_the_variant_is_refused_in_one_line(system, name, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as refused:
        list(instar.run(planted.pictures(1), of_variant(name), system))
    assert str(refused.value) == text


def test_a_system_in_a_process_of_its_own_keeps_its_fingerprint(tmp_path):
    variant = variant_of(planted.Varied(log(tmp_path)), "random")
    with closing(within_limits(variant, Limits(timeout=60.0, start=20))) as safe:
        assert fingerprint_of(safe) == fingerprint_of(variant)
        assert fingerprint_of(safe).startswith("varied 1 random ")
