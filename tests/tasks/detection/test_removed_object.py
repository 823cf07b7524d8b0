"""An object that stands alone is taken out of the picture; what is left must still be found."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import instar
import instar.testing
from instar.campaigns.reader import Named, open_run
from instar.core.change import Inapplicable
from instar.core.errors import BadInput, FetchFailed
from instar.core.referees import Referee
from instar.core.scene import Observation
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.imaging.inpaint import opencv
from instar.tasks.detection import Detections, removal
from instar.tasks.detection.changes import Removal
from instar.tasks.detection.export import export_coco
from outlined_scenes import ByColour, TrueOutlines, coloured, observed, scene

SCENES = [
    scene("a", ("disc", 40, 200, 36), ("box", 200, 190, 40)),
    scene("b", ("disc", 40, 180, 36), ("disc", 150, 190, 30), ("box", 260, 210, 30)),
]


def removed(**options) -> instar.Relation:
    return removal(**{"outline": TrueOutlines(), "fill": opencv()} | options)


@pytest.fixture
def relation(tmp_path: Path) -> instar.Relation:
    return removed().prepare(SCENES, Folder(tmp_path))


def drawn(relation: instar.Relation, source: Observation, seed: int = 0) -> Removal:
    change = relation.draw(source, np.random.default_rng(seed))
    assert isinstance(change, Removal)
    return change


def test_the_contract_of_a_relation_is_kept(relation: instar.Relation) -> None:
    instar.testing.check_relation(relation, ByColour(), SCENES)


def test_a_right_detector_is_not_accused() -> None:
    records = list(instar.run(SCENES, removed(), ByColour()))
    assert {record.verdict.status for record in records} == {Status.HELD}


class NeedsCompany(ByColour):
    """Finds a box only where there is a disc: it has learned what usually goes with what."""

    name = "needs-company"

    def answer(self, image):
        found = super().answer(image)
        return found if "disc" in found.labels else found.select(np.zeros(len(found), np.bool_))


def test_a_detector_that_goes_by_company_is_found_out() -> None:
    records = list(instar.run(SCENES[:1], removed(), NeedsCompany()))
    violated = [record for record in records if record.verdict.status is Status.VIOLATED]
    assert {record.change.label for record in violated} == {"disc"}
    (finding,) = violated[0].verdict.findings
    assert (finding.kind, finding.evidence["was"]["label"]) == ("lost", "box")


class SeesGhosts(ByColour):
    """Finds what was in the first picture that it saw, whatever it is shown."""

    name = "sees-ghosts"

    def answer(self, image):
        return super().answer(SCENES[0].image)


def test_what_is_said_about_the_place_itself_is_set_aside() -> None:
    records = list(instar.run(SCENES[:1], removed(), SeesGhosts()))
    assert {record.verdict.status for record in records} == {Status.HELD}


def test_the_object_is_gone_and_nothing_outside_of_the_hole_changes(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    labels = set()
    for seed in range(10):
        change = drawn(relation, source, seed)
        labels.add(change.label)
        follow_up = relation.apply(source.input, change)
        assert not coloured(follow_up, change.label).any()
        x1, y1, x2, y2 = change.box
        outside = np.ones(source.input.shape[:2], np.bool_)
        outside[y1:y2, x1:x2] = False
        np.testing.assert_array_equal(follow_up[outside], source.input[outside])
    assert labels == {"disc", "box"}


def test_an_object_that_touches_another_is_not_removed(relation: instar.Relation) -> None:
    source = observed(scene("close", ("disc", 40, 200, 36), ("box", 77, 200, 40)))
    assert relation.draw(source, np.random.default_rng(0)) == Inapplicable("no object stands alone")


def test_a_large_object_is_not_removed(relation: instar.Relation) -> None:
    source = observed(scene("large", ("box", 40, 200, 110), ("disc", 250, 200, 36)))
    assert {drawn(relation, source, seed).label for seed in range(10)} == {"disc"}


def test_the_only_object_is_not_removed(relation: instar.Relation) -> None:
    source = observed(scene("only", ("disc", 40, 200, 36)))
    assert relation.draw(source, np.random.default_rng(0)) == Inapplicable("nothing else found in the source")


def test_a_change_is_unfair_to_a_system_that_finds_something_else_there(relation: instar.Relation) -> None:
    source = observed(SCENES[0])
    change = drawn(relation, source)
    assert relation.fair(source, change) is None
    everything = Detections(
        np.concatenate([source.answer.boxes, np.array([[0, 0, 360, 240]], np.float32)]),
        (*source.answer.labels, "lawn"),
        np.append(source.answer.scores, np.float32(0.8)),
    )
    refused = relation.fair(Observation.of(source.input, everything, source.scene), change)
    assert refused == Inapplicable("it would cover what this system finds")
    only = source.answer.select(np.array([one == change.label for one in source.answer.labels]))
    refused = relation.fair(Observation.of(source.input, only, source.scene), change)
    assert refused == Inapplicable("nothing else found in the source")


def test_where_nothing_can_fill_a_hole_the_suite_goes_on_and_says_why() -> None:
    def missing(picture, hole):
        raise FetchFailed("npm is not installed")

    records = list(instar.run(SCENES, removed(fill=missing), ByColour()))
    reasons = {record.verdict.reason for record in records if record.role == "case"}
    assert reasons == {"no outlines: npm is not installed"}


def test_a_run_is_replayed_from_its_own_patches(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("instar.tasks.detection.outlines.sam2_outliner", TrueOutlines)
    out = tmp_path / "run"
    made = removed()
    records = list(instar.run(SCENES, made, ByColour(), out=out))
    shutil.rmtree(out / "outlines")
    with open_run(str(out)) as there:
        kept = there.store.pictures
    named = Named(system=ByColour(), scenes=SCENES, relations=[removal(cutouts=kept)])
    with open_run(str(out), named=named) as there, there.asking() as asking:
        assert all(there.replay(there.record(record.case), asking).same for record in records)


def test_what_was_removed_is_not_exported_as_a_label(tmp_path: Path) -> None:
    out = tmp_path / "run"
    records = list(instar.run(SCENES[:1], removed(), NeedsCompany(), out=out))
    violated = next(record for record in records if record.verdict.status is Status.VIOLATED)
    with open_run(str(out)) as there:
        kept = there.store.pictures
    named = Named(system=NeedsCompany(), scenes=SCENES, relations=[removal(cutouts=kept)])
    with open_run(str(out), named=named) as there, there.asking() as asking:
        case = there.replay(there.record(violated.case), asking)
    referees = [Referee(NeedsCompany()), Referee(NeedsCompany())]
    export_coco(
        [case], tmp_path / "coco", run="run", system="needs-company", referees=referees, with_pasted=True
    )
    (written,) = (tmp_path / "coco").glob("*.json")
    document = json.loads(written.read_text(encoding="utf-8"))
    names = {one["id"]: one["name"] for one in document["categories"]}
    assert [names[one["category_id"]] for one in document["annotations"]] == ["box"]


def test_options_are_checked() -> None:
    with pytest.raises(BadInput, match="removal: fill is 'telea'; it must be a function"):
        removal(fill="telea")
