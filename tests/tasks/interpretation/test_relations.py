"""What insert, delete and squeeze do to a picture, and what they leave alone. None of this needs torch."""

from dataclasses import replace

import numpy as np
import pytest

from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.scene import Observation, Scene, SceneObject
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.imaging.mask_text import mask_from_text
from instar.report.causes import finding_words
from instar.tasks.interpretation import Asked, Explanation, delete, delete_same, insert, squeeze, truth
from instar.tasks.interpretation.changes import Squeeze
from instar.tasks.interpretation.compare import Settings, same_explanation
from instar.tasks.interpretation.known_objects import KnownObjects
from instar.tasks.interpretation.trigger import Trigger
from instar.worlds import street
from planted_interpretation import Perfect, painted

SCENES = street.scenes(3, size=(300, 400))


def question(scene, label=None, trigger=None):
    label = label or scene.objects[0].label
    image = scene.image
    box = None
    if trigger is not None:
        image, box, label = trigger.stamp(image), trigger.box(image.shape), trigger.target
    asked = Asked(image, label, trigger=box)
    heat = painted(image, [thing.box for thing in scene.objects if thing.label == label])
    return Observation.of(asked, Explanation(0.9, heat), scene, label)


def masks_of(scene):
    return [thing.mask() for thing in scene.objects]


@pytest.fixture(scope="module")
def inserting(tmp_path_factory):
    return insert().prepare(SCENES, Folder(tmp_path_factory.mktemp("insert")))


def drawn(relation, source, tries=12):
    rng = np.random.default_rng(5)
    changes = [relation.draw(source, rng) for _ in range(tries)]
    return [one for one in changes if not isinstance(one, Inapplicable)]


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.id)
def test_no_pixel_of_an_object_changes(scene, inserting):
    source = question(scene)
    before = source.input.image
    for relation in (inserting, delete(), squeeze()):
        changes = drawn(relation, source)
        assert changes, relation.name
        for change in changes:
            after = relation.apply(before, change)
            assert not np.array_equal(after, before)
            gone = change.box if relation.name == "delete" else None
            for thing, mask in zip(scene.objects, masks_of(scene)):
                if thing.box != gone:
                    np.testing.assert_array_equal(after[mask], before[mask])


def test_the_trigger_is_never_covered_deleted_or_squeezed(inserting):
    source = question(SCENES[0], trigger=Trigger("stop sign", 0.3))
    x1, y1, x2, y2 = map(int, source.input.trigger)
    for relation in (inserting, delete(), squeeze()):
        for change in drawn(relation, source):
            after = relation.apply(source.input.image, change)
            np.testing.assert_array_equal(after[y1:y2, x1:x2], source.input.image[y1:y2, x1:x2])


def test_only_the_place_of_a_pasted_object_changes_and_it_is_of_another_class(inserting):
    source = question(SCENES[1])
    for change in drawn(inserting, source):
        after = inserting.apply(source.input.image, change)
        x1, y1, x2, y2 = map(int, change.box)
        rest = np.ones(after.shape[:2], bool)
        rest[y1:y2, x1:x2] = False
        np.testing.assert_array_equal(after[rest], source.input.image[rest])
        assert change.label != source.input.label
        assert inserting.naturalness(source, Asked(after, "dog"), change) >= 0.8
        for thing in SCENES[1].objects:
            left, top, right, bottom = thing.box
            assert right <= x1 or x2 <= left or bottom <= y1 or y2 <= top


def test_a_deleted_object_is_gone_and_of_another_class():
    source = question(SCENES[0])
    found = Perfect().found(source.input.image)
    for change in drawn(delete(), source):
        assert change.label != source.input.label
        after = delete().apply(source.input.image, change)
        assert len(Perfect().found(after)) == len(found) - 1


@pytest.mark.real
def test_mi_gan_removes_an_object_and_touches_no_pixel_of_the_others():
    relation = delete(filling="mi-gan")
    for scene in SCENES:
        source = question(scene)
        before = source.input.image
        found = Perfect().found(before)
        changes = list(dict.fromkeys(drawn(relation, source, tries=4)))
        assert changes
        for change in changes:
            after = relation.apply(before, change)
            hole = mask_from_text(change.hole)
            np.testing.assert_array_equal(after[~hole], before[~hole])
            for thing, mask in zip(scene.objects, masks_of(scene)):
                if thing.box != change.box:
                    np.testing.assert_array_equal(after[mask], before[mask])
                else:
                    own = hole & mask
                    assert np.mean(np.any(after[own] != before[own], axis=1)) > 0.9
            assert len(Perfect().found(after)) == len(found) - 1
            telea = delete().apply(before, replace(change, filling="telea"))
            assert not np.array_equal(telea, after)


def test_delete_same_takes_one_of_several_and_leaves_the_others():
    scene = next(
        s
        for s in street.scenes(12, size=(300, 400))
        if len(labels := [t.label for t in s.objects]) > len(set(labels))
    )
    labels = [thing.label for thing in scene.objects]
    label = next(one for one in labels if labels.count(one) > 1)
    changes = drawn(delete_same(), question(scene, label))
    assert changes
    assert {change.label for change in changes} == {label}
    lonely = next((one for one in labels if labels.count(one) == 1), None)
    if lonely is not None:
        only = delete_same().draw(question(scene, lonely), np.random.default_rng(0))
        assert only == Inapplicable("no second object of the class")


def test_squeezing_has_three_kinds_and_each_does_what_it_says():
    source = question(SCENES[0])
    ways = squeeze().ways
    made = {name: way(source, np.random.default_rng(0)) for name, way in ways.items()}
    assert [(one.how, one.strength) for one in made.values()] == [("depth", 5), ("median", 5), ("blur", 5)]
    kept = mask_from_text(made["depth"].kept)
    after = squeeze().apply(source.input.image, made["depth"])
    assert len(np.unique(after[~kept])) <= 32
    assert np.abs(after[~kept].astype(int) - source.input.image[~kept]).max() <= 4
    with pytest.raises(BadInput, match="median is 4"):
        squeeze(median=4)


def test_a_picture_that_is_all_object_has_no_background():
    image = np.zeros((60, 80, 3), np.uint8)
    scene = Scene.of("full", image, (SceneObject("dog", (0, 0, 80, 60)),))
    source = Observation.of(Asked(image, "dog"), Explanation(0.9, np.ones((2, 2), np.float32)), scene)
    assert squeeze().draw(source, np.random.default_rng(0)) == Inapplicable("no background")


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (0.59, 0.9, "the classifier is not sure of the class"),
        (0.9, 0.59, "the classifier is not sure of the class any more"),
    ],
)
def test_a_case_whose_premise_fails_is_inapplicable(before, after, reason):
    heat = np.ones((4, 4), np.float32)
    verdict = same_explanation(
        Explanation(before, heat), Explanation(after, heat), (40, 40), objects=(), settings=Settings()
    )
    assert (verdict.status, verdict.reason) == (Status.INAPPLICABLE, reason)


@pytest.mark.parametrize("paper", [False, True])
def test_a_map_that_is_empty_after_a_change_is_gone_where_the_classifier_is_as_sure(paper):
    def verdict(before, after, now=0.9):
        maps = Explanation(0.9, before), Explanation(now, after)
        return same_explanation(*maps, (40, 40), objects=(), settings=Settings(paper=paper))

    full, empty = np.ones((4, 4), np.float32), np.zeros((4, 4), np.float32)
    (finding,) = verdict(full, empty).findings
    assert (finding.kind, finding_words(finding)) == (
        "gone",
        "the explanation is gone: the map is empty now",
    )
    assert verdict(empty, full).reason == verdict(empty, empty).reason == "an explanation is empty"
    minded = verdict(full, empty, now=0.7).status
    assert minded is (Status.VIOLATED if paper else Status.INAPPLICABLE)  # the paper does not ask how sure


def test_in_the_paper_theta_decides_and_the_border_holds():
    def shifted(by):
        heat = np.zeros((100, 100), np.float32)
        heat[20:40, 20 + by : 40 + by] = 1
        return Explanation(0.9, heat)

    def verdict(by):
        return same_explanation(
            shifted(0), shifted(by), (100, 100), objects=(), settings=Settings(paper=True)
        )

    assert verdict(10).status is Status.HELD
    assert verdict(10).margin == pytest.approx(0)
    assert verdict(11).status is Status.VIOLATED
    assert verdict(11).kind == "moved"
    assert verdict(11).evidence["iomin"] == pytest.approx(0.45)


def test_theta_belongs_to_the_paper():
    with pytest.raises(BadInput, match="squeeze: theta is the least IoMin of the paper; give paper=true"):
        squeeze(theta=0.4)
    with pytest.raises(BadInput, match="insert: beta is 2; it must be a number between 0 and 1"):
        insert(beta=2)


def test_where_nothing_is_known_what_the_explanation_marks_is_not_touched(tmp_path):
    (bare,) = [replace(scene, objects=None) for scene in SCENES[:1]]
    heat = painted(bare.image, [(100, 60, 180, 200)])
    source = Observation.of(Asked(bare.image, "dog"), Explanation(0.9, heat), bare)
    for relation in (squeeze().prepare([bare], Folder(tmp_path)), insert().prepare([bare], Folder(tmp_path))):
        for change in drawn(relation, source, tries=3):
            after = relation.apply(bare.image, change)
            assert not np.array_equal(after, bare.image)
            np.testing.assert_array_equal(after[60:200, 100:180], bare.image[60:200, 100:180])


def test_what_a_helper_found_is_kept_with_the_run(tmp_path):
    bare = [replace(scene, objects=None) for scene in SCENES[:1]]

    class Helper:
        name = "helper"

        def predict(self, images):
            return [
                {"boxes": [[10, 10, 90, 90], [0, 0, 5, 5]], "labels": ["dog", "cat"], "scores": [0.9, 0.2]}
            ]

    ready = squeeze(objects=Helper()).prepare(bare, Folder(tmp_path))
    (thing,) = KnownObjects(str(tmp_path / "objects.json")).objects(bare[0])
    assert (thing.label, thing.box) == ("dog", (10, 10, 90, 90))
    # On replay the helper is not asked again, nor where cut-outs are made of what it found.
    again = squeeze().prepare(bare, Folder(tmp_path))
    made = insert().prepare(bare, Folder(tmp_path))
    questions = [one.resolved_task.questions for one in (ready, again, made)]
    assert questions == [questions[0]] * 3  # so that they are asked once for all relations
    assert (tmp_path / "pool" / "index.json").is_file()


def test_the_relations_keep_the_contract(tmp_path):
    from instar.testing import check_relation

    ready = [
        relation.prepare(SCENES[:1], Folder(tmp_path))
        for relation in (delete(), squeeze(), truth(), delete_same())
    ]
    for relation in ready:
        check_relation(relation, Perfect(only=SCENES[0].objects[0].label), SCENES[:1], seeds=1)


def test_shrinking_goes_to_smaller_changes(inserting):
    source = question(SCENES[0])
    change = drawn(inserting, source)[0]
    (smaller,) = inserting.smaller(source, change)
    assert smaller[0].width * smaller[0].height < smaller[-1].width * smaller[-1].height
    assert all(one.y + one.height == change.y + change.height for one in smaller)
    squeezed = next(iter(drawn(squeeze(), source)))
    strong = Squeeze("depth", 5, squeezed.kept)
    (weaker,) = squeeze().smaller(source, strong)
    assert [one.strength for one in weaker] == [7, 6]
    hole = drawn(delete(), source)[0]
    lines = list(delete().smaller(source, hole))
    assert len(lines) == 4
    for line in lines:
        sizes = [int(one.mask.sum()) for one in line[:: len(line) // 3]]
        assert sizes == sorted(sizes)
        assert sizes[-1] < int(hole.mask.sum())
    assert list(delete_same().smaller(source, hole)) == []  # what is left of it may be pointed at
