from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from instar.core.change import Inapplicable
from instar.core.scene import Observation, Scene
from instar.cutouts import CutOut, Pool
from instar.imaging.geometry import intersections
from instar.tasks.detection import Detections
from instar.tasks.detection.placement import LookMatch, find_placements, match_look
from instar.tasks.detection.places import Placements, choose_place

PICTURE = np.random.default_rng(0).integers(0, 256, (240, 320, 3), np.uint8)
STREET = np.clip(
    np.repeat([(150, 190, 235), (95, 95, 95)], 120, axis=0)[:, None]
    + np.random.default_rng(1).normal(0, 4, (240, 320, 1)),
    0,
    255,
).astype(np.uint8)
"""Blue above row 120, grey below."""

Seen = tuple[str, tuple[float, float, float, float], float]


def source(*objects: Seen, image: np.ndarray = PICTURE, confidence: float = 0.5) -> Observation:
    answer = Detections(
        np.array([box for _, box, _ in objects], np.float32).reshape(-1, 4),
        tuple(label for label, _, _ in objects),
        np.array([score for _, _, score in objects], np.float32),
        confidence,
    )
    return Observation.of(image, answer, Scene.of("here", image))


def pool_of(*sizes: tuple[str, int, int], scene: str = "elsewhere") -> Pool:
    """Cut-outs by class, height and width; their pixels are never looked at."""
    cutouts = [CutOut(f"{i:x}", label, scene, w, h, w * h, 0) for i, (label, h, w) in enumerate(sizes)]
    return Pool(Path("nowhere"), cutouts)


PEOPLE = pool_of(("person", 100, 40))
STANDING: Seen = ("person", (150, 80, 190, 180), 0.9)


def try_to_place(observed: Observation, pool: Pool = PEOPLE, **options) -> Placements | Inapplicable:
    return find_placements(
        observed, pool, **({"hysteresis": 0.1, "scale": "nearest", "way": "guided"} | options)
    )


def placements(observed: Observation, pool: Pool = PEOPLE, **options) -> Placements:
    found = try_to_place(observed, pool, **options)
    assert isinstance(found, Placements)
    return found


def boxes(found: Placements, n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(n):
        option, x, y = choose_place(found, rng)
        drawn.append((x, y, x + option.size[1], y + option.size[0]))
    return np.array(drawn, np.float32)


@pytest.mark.parametrize(
    ("objects", "pool", "reason"),
    [
        ([], PEOPLE, "nothing found in the source"),
        ([("person", (150, 80, 190, 180), 0.49)], PEOPLE, "nothing found in the source"),
        ([("kite", (150, 80, 190, 180), 0.9)], PEOPLE, "no cut-out of its class"),
        ([("car", (150, 80, 190, 180), 0.9)], pool_of(("carrot", 40, 40)), "no cut-out of its class"),
        ([STANDING], pool_of(("person", 100, 40), scene="here"), "no free place"),
        ([("car", (0, 0, 320, 240), 0.9)], pool_of(("car", 40, 60)), "no free place"),
        ([STANDING], pool_of(("person", 60, 50)), "no free place"),  # half a body
    ],
)
def test_what_cannot_be_is_inapplicable_with_the_reason(objects, pool: Pool, reason: str) -> None:
    assert try_to_place(source(*objects), pool) == Inapplicable(reason)


def test_a_cut_out_is_as_large_as_its_neighbour_and_stands_on_its_ground_line() -> None:
    found = placements(source(STANDING))
    assert {(option.anchor, option.size) for option in found.options} == {(0, (100, 40))}
    for option in found.options:
        feet = np.arange(option.window.top, option.window.bottom) + option.size[0]
        assert np.abs(feet - 180).max() <= 2


def test_nothing_is_put_into_the_sky() -> None:
    ahead: Seen = ("person", (150, 80, 190, 180), 0.9)
    found = placements(source(ahead, ("kite", (20, 0, 50, 10), 0.9), image=STREET), way="close")
    assert boxes(found)[:, 3].min() > 120  # the road begins there


def test_other_classes_than_those_found_come_in_the_size_that_they_have_beside_them() -> None:
    found = placements(source(("bench", (150, 120, 250, 170), 0.9)), pool_of(("person", 200, 80)))
    assert {option.size for option in found.options} == {(100, 40)}  # 1.7 m where 0.85 m are 50 pixels


def test_everything_found_is_joined_by_its_like_or_by_what_is_seen_to_stand_there() -> None:
    person: Seen = ("person", (190, 100, 214, 160), 0.9)
    car: Seen = ("car", (20, 109, 90, 162), 0.9)
    found = placements(source(person, car, image=STREET), pool_of(("car", 60, 80)))
    assert {(option.anchor, option.cutout.label) for option in found.options} == {(0, "car"), (1, "car")}


def test_nothing_stands_below_a_sign_that_hangs() -> None:
    hanging: Seen = ("stop sign", (20, 40, 50, 70), 0.9)
    found = placements(source(hanging, image=STREET), pool_of(("car", 60, 80), ("stop sign", 40, 40)))
    assert {option.cutout.label for option in found.options} == {"stop sign"}


@pytest.mark.parametrize("label", ["airplane", "boat", "kite"])
def test_nothing_is_put_beside_what_flies_or_swims(label: str) -> None:
    aloft: Seen = (label, (20, 40, 50, 70), 0.9)
    found = try_to_place(source(aloft, image=STREET), pool_of(("car", 60, 80), (label, 40, 40)))
    assert found == Inapplicable("no free place")


def test_nothing_is_put_beside_half_a_thing_unless_it_is_asked_for() -> None:
    bust: Seen = ("person", (120, 130, 220, 200), 0.9)
    observed = source(bust, image=STREET)
    assert try_to_place(observed) == Inapplicable("no free place")
    assert {one.anchor for one in placements(observed, beside_halves=True).options} == {0}


def test_a_class_of_ones_own_gets_more_of_its_kind_as_large_as_the_one_found() -> None:
    seam: Seen = ("weld seam", (100, 100, 160, 130), 0.9)
    found = placements(source(seam), pool_of(("weld seam", 30, 60)))
    assert {option.size for option in found.options} == {(30, 60)}


def test_names_of_other_sources_find_their_cut_outs() -> None:
    found = placements(source(("motorbike", (150, 120, 200, 170), 0.9)), pool_of(("motorcycle", 50, 50)))
    assert {option.cutout.label for option in found.options} == {"motorcycle"}


def test_what_sits_or_is_cut_off_does_not_tell_the_size() -> None:
    bust: Seen = ("person", (20, 100, 80, 178), 0.9)
    found = placements(source(STANDING, bust), way="guided")
    assert {option.anchor for option in found.options} == {0}


def test_nothing_is_as_small_as_beside_a_truck_that_is_a_car() -> None:
    car = ("car", (60.0, 60.0, 240.0, 170.0), 0.9)
    same_as_truck = ("truck", (62.0, 60.0, 240.0, 170.0), 0.6)
    bicycles = pool_of(("bicycle", 100, 100))
    alone = placements(source(car, image=STREET), bicycles)
    assert {o.size for o in placements(source(same_as_truck, car, image=STREET), bicycles).options} == {
        o.size for o in alone.options
    }


def test_nobody_stands_on_the_line_of_a_rider() -> None:
    rider: Seen = ("person", (100, 60, 130, 150), 0.9)
    horse: Seen = ("horse", (70, 100, 160, 190), 0.9)
    found = placements(source(rider, horse), pool_of(("person", 100, 40), ("horse", 90, 90)), way="close")
    assert {option.anchor for option in found.options} == {1}


def test_half_figures_tell_sizes_where_the_paper_is_followed() -> None:
    found = placements(source(("person", (150, 80, 210, 140), 0.9)), scale="paper")
    assert {option.size for option in found.options} == {(95, 38)}  # the same area


def test_what_shrinks_stands_farther_back() -> None:
    walls: list[Seen] = [("wall", (0, 0, 125, 240), 0.9), ("wall", (215, 0, 320, 240), 0.9)]
    (option,) = {option.size: option for option in placements(source(STANDING, *walls)).options}.values()
    feet = np.array([option.window.top, option.window.bottom - 1]) + option.size[0]
    assert option.size == (55, 22)
    # At eye level the feet of one that is 55 high, of 100, are 45 higher; a lower camera sees less of that.
    assert 180 - 50 <= feet.mean() <= 180 - 20


def test_nothing_is_enlarged_more_than_one_and_a_half_times() -> None:
    found = placements(source(("person", (100, 20, 180, 220), 0.9)), pool_of(("person", 80, 32)))
    assert max(option.size[0] for option in found.options) <= 120


def test_the_papers_size_is_the_mean_of_the_class_anywhere_on_the_ring() -> None:
    other: Seen = ("person", (20, 100, 40, 160), 0.9)
    found = placements(source(STANDING, other), scale="paper")
    assert {option.size for option in found.options} == {(77, 31)}  # 80 x 30 at the shape of the cut-out
    assert np.ptp(boxes(found)[:, 3]) > 100


def test_boxes_a_little_below_the_confidence_are_kept_clear_of() -> None:
    doubtful: Seen = ("dog", (0, 0, 320, 79), 0.41)
    faint: Seen = ("dog", (0, 0, 320, 79), 0.39)
    assert boxes(placements(source(STANDING, doubtful), scale="paper"))[:, 1].min() >= 79
    assert boxes(placements(source(STANDING, faint), scale="paper"))[:, 1].min() < 79


def test_every_pair_with_room_is_drawn_equally_often() -> None:
    three = [("person", (20.0 + 110 * i, 100.0, 40.0 + 110 * i, 150.0), 0.9) for i in range(3)]
    found = placements(source(*three))
    rng = np.random.default_rng(0)
    drawn = Counter(choose_place(found, rng)[0].anchor for _ in range(3000))
    assert set(drawn) == {0, 1, 2}
    assert all(abs(n - 1000) < 4 * (3000 * 2 / 9) ** 0.5 for n in drawn.values())


def test_random_placement_reaches_the_whole_picture_and_has_no_anchor() -> None:
    found = placements(source(("person", (150, 110, 160, 135), 0.9)), way="random")
    assert {option.anchor for option in found.options} == {None}
    drawn = boxes(found, 2000)
    counts, _, _ = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=3, range=[[0, 310], [0, 215]])
    corners = counts[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert all(abs(n - 2000 / 9) < 5 * (2000 * 8 / 81) ** 0.5 for n in corners)


@st.composite
def crowds(draw: st.DrawFn) -> Observation:
    kind = st.sampled_from(["person", "dog"])
    spot = st.tuples(kind, st.integers(0, 280), st.integers(0, 200), st.integers(9, 40), st.integers(9, 40))
    drawn = draw(st.lists(st.tuples(spot, st.floats(0.3, 1)), min_size=1, max_size=6))
    return source(*((label, (x, y, x + w, y + h), score) for (label, x, y, w, h), score in drawn))


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(crowds(), st.booleans(), st.sampled_from(["nearest", "paper"]), st.integers(0, 99))
def test_what_is_chosen_lies_wholly_inside_and_overlaps_nothing(
    crowd: Observation, guided: bool, scale: str, seed: int
) -> None:
    pool = pool_of(("person", 60, 25), ("dog", 30, 45))
    found = try_to_place(crowd, pool, way="guided" if guided else "random", scale=scale)
    if isinstance(found, Inapplicable):
        return
    option, x, y = choose_place(found, np.random.default_rng(seed))
    height, width = option.size
    assert 0 <= x <= 320 - width
    assert 0 <= y <= 240 - height
    box = np.array([[x, y, x + width, y + height]], np.float32)
    kept_clear = crowd.answer.boxes[crowd.answer.scores >= 0.4]
    assert intersections(box, kept_clear).max() == 0
    if guided and scale == "paper":
        anchor = crowd.answer.boxes[option.anchor]
        away = np.abs((box[0, :2] + box[0, 2:]) / 2 - (anchor[:2] + anchor[2:]) / 2)
        assert (away <= (anchor[2:] - anchor[:2]) / 2 + (width, height) + 1e-3).all()


def look(image: np.ndarray, cutout: np.ndarray) -> LookMatch:
    option = placements(source(STANDING, image=image)).options[0]
    return match_look(cutout, image, option, 60, 80)


def solid(grey: int) -> np.ndarray:
    return np.dstack([np.full((100, 40, 3), grey, np.uint8), np.full((100, 40), 255, np.uint8)])


def test_a_cut_out_comes_halfway_into_the_light() -> None:
    dark = look(np.full((240, 320, 3), 40, np.uint8), solid(90))
    assert (dark.gain, dark.offset) == (1.0, -25.0)


def test_a_grey_picture_takes_the_colour_from_what_is_pasted() -> None:
    grey = np.repeat(PICTURE[..., :1], 3, axis=2)
    assert (look(grey, solid(90)).saturation, look(PICTURE, solid(90)).saturation) == (0.0, 1.0)


def test_a_cut_out_gets_the_grain_of_its_place_and_none_where_there_is_none() -> None:
    noise = np.random.default_rng(0).normal(0, 6, (240, 320, 1))
    grainy = np.clip(128 + noise, 0, 255).astype(np.uint8).repeat(3, axis=2)
    assert look(grainy, solid(90)).grain == pytest.approx(6, abs=1)
    assert look(np.full((240, 320, 3), 128, np.uint8), solid(90)).grain == 0
