"""The floor is pooled over scenes, kept with the run, and bounded at both ends."""

from collections import Counter

import numpy as np
import pytest

from instar.campaigns.run import run
from instar.core.verdict import Status
from instar.core.workspace import Folder
from instar.store import RunStore
from instar.tasks.interpretation import (
    Asked,
    Explanation,
    another_class,
    another_picture,
    covered,
    distinct,
    insert,
    mirrored,
    padded,
    random_weights,
    shifted,
    squeeze,
    zoomed,
)
from instar.tasks.interpretation.compare import Settings, changed_explanation, same_explanation
from instar.tasks.interpretation.floor import FACTOR, LEAST, MOST, Floor, floor_of, rehearse_floor
from instar.tasks.interpretation.measures import amount_difference
from instar.tasks.interpretation.relations.moves import add_bars
from instar.tasks.interpretation.relations.reactions import shuffle_pieces
from instar.user_file import read_json
from instar.worlds import street
from planted_interpretation import Everywhere, Perfect

SCENES = street.scenes(2, size=(300, 400))


def test_nineteen_in_twenty_stay_within_it():
    floor = floor_of([{"marked": i / 100, "ranks": 0.5} for i in range(100)])
    assert floor.n == 100
    assert floor.of("marked") == pytest.approx(0.95, abs=0.01)
    assert floor_of([{"marked": 0.5}] * 5) == Floor()  # too few to say so


def test_differences_that_nobody_or_anybody_would_see_are_no_matter_of_the_floor():
    assert Floor((("marked", 0.0),), 50).tolerance("marked") == LEAST["marked"]
    assert Floor((("marked", 0.2),), 50).tolerance("marked") == pytest.approx(FACTOR * 0.2)
    assert Floor((("marked", 0.9),), 50).tolerance("marked") == MOST["marked"]


def test_a_finding_says_which_measure_broke_and_by_how_much():
    heat = np.zeros((40, 40), np.float32)
    heat[5:15, 5:15] = 1
    before, after = Explanation(0.9, heat), Explanation(0.9, heat[:, ::-1].copy())
    verdict = same_explanation(before, after, (40, 40), objects=(), settings=Settings())
    (finding,) = verdict.findings
    value = verdict.evidence["centre"]
    assert (finding.kind, finding.evidence["measure"]) == ("moved", "centre")
    assert finding.evidence["times"] == pytest.approx(value / (LEAST["centre"] / FACTOR), abs=0.1)
    assert finding.margin == pytest.approx(1 - value / LEAST["centre"], abs=0.01)


def test_heat_on_what_was_pasted_is_a_leak_though_all_else_stays():
    before, changed = np.zeros((40, 40), np.float32), np.zeros((40, 40), bool)
    before[5:25, 5:25] = 1
    changed[28:38, 28:38] = True
    after = before.copy()
    after[28:38, 28:38] = 0.7

    def judged(settings, was=0.9, now=0.9, changed=changed):
        maps = Explanation(was, before), Explanation(now, after)
        return same_explanation(*maps, (40, 40), objects=(), settings=settings, changed=changed)

    assert "leak" in {finding.kind for finding in judged(Settings()).findings}
    assert judged(Settings(paper=True)).status is Status.HELD
    # What came spoke for the class: then the heat on it tells the truth.
    assert "leak" not in {finding.kind for finding in judged(Settings(), 0.8, 0.88).findings}
    assert "leak" in {finding.kind for finding in judged(Settings(), 0.8, 0.82).findings}
    # From 0.99 to 0.95 is as far as from 0.7 to 0.3, and a thing was pasted or removed.
    mattered = judged(Settings(), 0.99, 0.95)
    assert (mattered.status, mattered.reason) == (
        Status.INAPPLICABLE,
        "the classifier is not as sure as it was",
    )
    assert judged(Settings(), 0.99, 0.95, None).status is not Status.INAPPLICABLE


def test_a_map_that_stays_is_blind_and_one_that_empties_is_not():
    heat = np.zeros((40, 40), np.float32)
    heat[5:15, 5:15] = 1
    one = Explanation(0.9, heat)
    blind = changed_explanation(one, Explanation(0.1, heat), settings=Settings(), blind_to="class")
    assert blind.kind == "blind to the class"
    moved = Explanation(0.1, heat[::-1].copy())
    assert changed_explanation(one, moved, settings=Settings(), blind_to="class").status is Status.HELD
    empty = Explanation(0.1, np.zeros((40, 40), np.float32))
    assert changed_explanation(one, empty, settings=Settings(), blind_to="class").status is Status.HELD


class WithWeights(Perfect):
    """Perfect, and pointing elsewhere when its weights are shuffled."""

    fingerprint = "perfect"

    def variant(self, name):
        made = WithWeights()
        made.fingerprint, made.name = name, name
        made.heat = lambda one, found: np.ascontiguousarray(self.heat(one, found)[::-1, ::-1])
        return made


class Blind(WithWeights):
    """One map for every class, picture and network."""

    fingerprint = "blind"

    def heat(self, one, found):
        heat = np.zeros((12, 16), np.float32)
        heat[2:6, 3:9] = 1
        return heat

    def variant(self, name):
        made = Blind()
        made.fingerprint = name
        return made


def ends(system, *relations, **options):
    found = {}
    for record in run(SCENES, list(relations), system, search=distinct(n=1), **options):
        if record.role == "case":
            end = record.verdict.kind or record.verdict.status.value
            found.setdefault(record.relation, Counter())[end] += 1
    return found


REACTIONS = {
    "another-class": another_class,
    "random-weights": random_weights,
    "another-picture": another_picture,
}
MOVES = {"mirrored": mirrored, "padded": padded, "shifted": shifted, "zoomed": zoomed}


@pytest.mark.parametrize("name", REACTIONS)
def test_who_does_not_react_is_blind(name):
    assert set(ends(WithWeights(), REACTIONS[name]())[name]) == {"held"}
    what = name.split("-")[1]
    assert set(ends(Blind(), REACTIONS[name]())[name]) == {f"blind to the {what}"}


@pytest.mark.parametrize("name", MOVES)
def test_an_explanation_moves_with_the_picture(name):
    assert set(ends(Perfect(), MOVES[name]())[name]) <= {"held", "inapplicable"}


class Framed(Perfect):
    """Right, but for the edges of the picture: they are always hot."""

    def heat(self, one, found):
        heat = super().heat(one, found)
        return np.pad(heat[15:-15, 15:-15], 15, constant_values=1)


def test_who_is_always_hot_at_the_same_place_is_found_by_other_pictures():
    assert set(ends(Perfect(), another_picture())["another-picture"]) == {"held"}
    found = ends(Framed(), another_picture())["another-picture"]
    assert found["always hot"] > 0
    assert set(found) <= {"always hot", "blind to the picture"}  # the latter where objects are small


class ByRank(Perfect):
    """Tells the order of the places, and nothing of how much each says."""

    def heat(self, one, found):
        heat = super().heat(one, found)
        return np.float32(heat.ravel().argsort().argsort().reshape(heat.shape) / heat.size)


def test_who_has_as_much_heat_for_any_picture_is_found_by_other_pictures():
    assert set(ends(ByRank(), another_picture())["another-picture"]) <= {"always as much", "always hot"}
    assert ends(ByRank(), another_picture())["another-picture"]["always as much"] > 0


def test_maps_differ_in_their_amounts_wherever_the_heat_is():
    heat = np.linspace(0, 1, 200, dtype=np.float32).reshape(10, 20)
    assert amount_difference(heat, np.ascontiguousarray(heat[::-1, ::-1])) == 0
    assert amount_difference(heat, heat / 2) == pytest.approx(0.5)
    assert amount_difference(heat, heat**2) == pytest.approx(1 / 3, abs=0.01)  # 1/6 of a half
    assert amount_difference(0 * heat, 0 * heat) == 0


def test_pieces_of_a_picture_are_its_own_in_another_order():
    picture = np.arange(13 * 20 * 3, dtype=np.uint16).reshape(13, 20, 3)
    made = shuffle_pieces(picture)
    assert sorted(made.ravel().tolist()) == sorted(picture.ravel().tolist())
    assert (made[:12, :18] != picture[:12, :18]).any()
    assert (made[12:] == picture[12:]).all()


class LeftForRight(Perfect):
    """Points at the mirror image of what it sees."""

    def heat(self, one, found):
        return np.ascontiguousarray(super().heat(one, found)[:, ::-1])


def test_who_points_beside_the_reason_is_found_by_covering_it():
    assert set(ends(Perfect(), covered())["covered"]) <= {"held", "inapplicable"}
    assert ends(LeftForRight(), covered())["covered"]["beside the reason"] > 0


def test_who_is_always_turned_over_is_found_by_a_bar_beside_the_picture_and_not_by_the_mirror():
    assert set(ends(LeftForRight(), mirrored())["mirrored"]) <= {"held", "inapplicable"}
    assert ends(LeftForRight(), padded())["padded"]["moved"] > 0


def test_a_bar_leaves_every_pixel_of_the_picture_and_says_where_they_are():
    picture = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    for side in ("left", "right", "above", "below"):
        moved = add_bars(picture, [side])
        x, y = (int(moved.matrix[i][2]) for i in (0, 1))
        assert (moved.picture[y : y + 10, x : x + 10] == picture).all()
        assert sorted(moved.picture.shape[:2]) == [10, 14]
    assert add_bars(picture, ("left", "right")).matrix[0][2] == 2


def test_a_map_that_never_moves_is_found_in_the_mirror():
    assert ends(Blind(), mirrored())["mirrored"]["moved"] > 0


def test_the_floor_is_kept_with_the_run_and_its_questions_are_counted(tmp_path):
    out = tmp_path / "run"
    list(run(SCENES, [insert(), squeeze()], Perfect(), search=distinct(n=1), out=out))
    kept = read_json(out / "floors.json")
    assert set(kept) == {"null changes", "placebo of insert"}
    assert kept["null changes"]["n"] >= 10
    assert kept["null changes"]["within"]["marked"] < 0.2
    with RunStore.read(out) as store:
        totals = store.totals()
        cases = [record for record in store.records() if record.role == "case"]
    assert {record.relation for record in cases} == {"insert", "squeeze"}
    assert totals.queries > kept["null changes"]["n"] + kept["placebo of insert"]["n"] + len(cases)
    # Who only looks at the run asks nobody, and has the same floor.
    relation = squeeze().prepare(SCENES, Folder(out))
    assert rehearse_floor(Folder(out), relation, n=1) == Floor()
    quiet = type("Named", (), {"name": "null changes"})
    assert rehearse_floor(Folder(out), quiet, n=1).n == kept["null changes"]["n"]


def test_a_small_budget_goes_into_cases_and_not_into_the_floor(tmp_path):
    from instar.core.system import Limits

    records = list(run(SCENES, [squeeze()], Perfect(), search=distinct(n=1), limits=Limits(queries=40)))
    assert any(record.verdict.status is Status.HELD for record in records)


def test_everywhere_is_still_everywhere():
    assert set(ends(Everywhere(), squeeze())["squeeze"]) == {"everywhere"}


def test_a_question_names_another_class():
    question = Asked(SCENES[0].image, "dog", other="cat")
    assert another_class().draw(type("Source", (), {"input": question}), None).label == "cat"
