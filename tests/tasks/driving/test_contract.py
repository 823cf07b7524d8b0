"""One contract from sentence to picture: every word is carried out, or it is the reason why not.

`SLOTS` are the words that a condition can have. Each is tried with both sets of engines, the one that draws a
drive anew and the one that edits any picture; what the finished picture shows is then judged by the truth of
the drive, by where pixels changed and by their colour, never by what the engine says it did.
"""

import math
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import cv2
import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.errors import BadInput
from instar.core.scene import Scene
from instar.core.workspace import Folder
from instar.tasks.driving import Control, rule
from instar.tasks.driving.rules import usual_ontology
from instar.worlds.drive import drive_of, sample_drive
from instar.worlds.drive.canvas import FOCAL, Camera
from instar.worlds.drive.plan import VEHICLES
from instar.worlds.drive.scenes import scene_of

SIZE = (240, 480)
SAME, SLOW = "the steering angle should keep the same", "slow down"


@cache
def drives():
    found = [sample_drive(seed) for seed in range(400, 460)]
    day = [drive for drive in found if drive.time == "day" and drive.weather in ("clear", "cloud")]
    return [scene_of(drive, f"drive-{drive.seed}", size=SIZE) for drive in day[:14]]


@cache
def workspace(scenes):
    return Folder(Path(mkdtemp()))


@cache
def made(text, engines, scenes=drives, lens=None):
    """(source picture, finished picture) of every drive where it can be made, and the reasons elsewhere."""
    relation = rule(text, engines=engines, least_objects=0.002, least_lines=0.001, lens=lens)
    relation = relation.prepare(scenes(), workspace(scenes)) if relation.prepare else relation
    pictures, reasons = [], Counter()
    for number, scene in enumerate(scenes()):
        source = Observation.of(scene.image, Control(40.0, 0.0), scene)
        change = relation.draw(source, np.random.default_rng(number))
        result = change if isinstance(change, Inapplicable) else relation.apply(source.input, change)
        if isinstance(result, Inapplicable):
            reasons[result.reason] += 1
        else:
            pictures.append((scene.image, result[-1]))
    return pictures, reasons


def tried(text, engines, scenes):
    """The same; a rule that is refused as a whole has no pictures, and its one reason."""
    try:
        return made(text, engines, scenes)
    except BadInput as refusal:
        return [], Counter([str(refusal)])


def new(before, after):
    return [thing for thing in drive_of(after).things if thing not in drive_of(before).things]


def gone(before, after):
    return [thing for thing in drive_of(before).things if thing not in drive_of(after).things]


def changed(before, after):
    return (np.asarray(before).astype(int) != np.asarray(after)).any(axis=2)


def all_new(test):
    """A check that something came, and that all of it is so."""
    return lambda before, after: (
        bool(new(before, after)) and all(test(thing, drive_of(before)) for thing in new(before, after))
    )


def many(count):
    return lambda before, after: len(new(before, after)) == count


def body_hue(before, after):
    """The hue that most of the strongly coloured changed pixels have, in half degrees."""
    pixels = np.asarray(after)[changed(before, after)]
    hsv = cv2.cvtColor(pixels[None], cv2.COLOR_RGB2HSV)[0]
    strong = hsv[(hsv[:, 1] > 90) & (hsv[:, 2] > 50)]
    return int(np.bincount(strong[:, 0], minlength=180).argmax()) if len(strong) else -1


def red(before, after):
    hue = body_hue(before, after)
    return 0 <= hue <= 9 or hue >= 170


def height(before, after):
    """Pixels from top to bottom of what changed, over those of a metre where it stands."""
    rows = np.flatnonzero(changed(before, after).any(axis=1))
    view = Camera.of(drive_of(before), SIZE)
    return (rows[-1] + 1 - rows[0]) * (1.4 / max(rows[-1] + 1 - view.horizon, 1.0))


def offsets(before, after):
    """How far right of the far end of the ego-vehicle's way the changed pixels are, in pixels."""
    drive, (_, columns) = drive_of(before), np.nonzero(changed(before, after))
    view = Camera.of(drive, SIZE)
    end = float(view.project(drive.ego, 0.0, 60.0)[0])
    aside = np.abs(columns - end) > 0.12 * SIZE[1]  # in between, left and right are a matter of taste
    return (columns - end)[aside]


def mostly(test):
    return lambda before, after: (
        changed(before, after).any() and float(np.mean([True, *test(offsets(before, after))])) > 0.95
    )


def left_of_road(thing, drive):
    return thing.offset < drive.road.left + (1.4 if thing.kind in (*VEHICLES, "bicyclist") else 0.1)


def right_of_road(thing, drive):
    return thing.offset > drive.road.right - (1.4 if thing.kind in (*VEHICLES, "bicyclist") else 0.1)


def in_own_lane(thing, drive):
    return -0.3 < thing.offset < drive.road.lane + 0.3


def in_other_lane(thing, drive):
    return -drive.road.lane - 0.3 < thing.offset < 0.3


def beside_road(thing, drive):
    return left_of_road(thing, drive) or right_of_road(thing, drive)


SLOTS = {
    "what": [
        ("a pedestrian appears on the roadside", all_new(lambda t, d: t.kind == "pedestrian")),
        ("a bus appears ahead", all_new(lambda t, d: t.kind == "bus")),
        ("a tree is planted on the roadside", all_new(lambda t, d: t.kind == "tree")),
    ],
    "how many": [
        ("two pedestrians appear on the roadside", many(2)),
        ("a pedestrian appears on the roadside", many(1)),
    ],
    "colour": [
        ("a red car appears on the road", red),
        ("a blue car appears on the road", lambda b, a: 95 <= body_hue(b, a) <= 130),
    ],
    "size": [
        ("a large truck appears ahead", lambda b, a: height(b, a) > 3.3),
        ("a truck appears ahead", lambda b, a: height(b, a) <= 3.6),
        ("a small tree is planted on the roadside", lambda b, a: bool(new(b, a))),
    ],
    "age": [
        ("a child appears on the roadside", lambda b, a: height(b, a) < 1.42),
        ("a pedestrian appears on the roadside", lambda b, a: height(b, a) > 1.42),
    ],
    "left, right": [
        ("a pedestrian appears on the left side of the road", all_new(left_of_road)),
        ("a pedestrian appears on the right side of the road", all_new(right_of_road)),
        ("a stop sign appears on your right", all_new(right_of_road)),
        ("a tree is planted on the left sidewalk", all_new(left_of_road)),
        ("a van is parked on the right side of the road", all_new(right_of_road)),
    ],
    "ahead": [
        ("a car appears ahead", all_new(in_own_lane)),
        ("a cyclist appears in front of the ego-vehicle", all_new(in_own_lane)),
        ("a red light appears ahead", all_new(beside_road)),
    ],
    "lane": [
        ("a car appears in the left lane", all_new(in_other_lane)),
        ("a car appears in the right lane", all_new(in_own_lane)),
        ("a car appears in our lane", all_new(in_own_lane)),
    ],
    "near": [("a pedestrian appears near the ego-vehicle", all_new(lambda t, d: t.distance < 17))],
    "on both sides": [
        (
            "a tree is planted on both sides of the road",
            lambda b, a: sorted(t.offset > 0 for t in new(b, a)) == [False, True],
        )
    ],
    "removed on a side": [
        ("the trees on the left side of the road are removed", mostly(lambda x: x < 0)),
        ("the trees on the right side of the road are removed", mostly(lambda x: x > 0)),
        ("the cars on the left side of the road are removed", mostly(lambda x: x < 0)),
    ],
    "replaced on a side": [
        ("the buildings on the left side of the road are replaced with trees", mostly(lambda x: x < 0)),
        ("the buildings on the right side of the road are replaced with trees", mostly(lambda x: x > 0)),
    ],
    "metres": [
        ("a car appears 20 m ahead", all_new(lambda t, d: 18.9 <= t.distance <= 21.1)),
        ("a pedestrian is within 15 m ahead", all_new(lambda t, d: t.distance <= 15)),
        (
            "a car is stopped 20 m ahead in the left lane",
            all_new(lambda t, d: in_other_lane(t, d) and 18.9 <= t.distance <= 21.1),
        ),
        (
            "a pedestrian is 15 m ahead on the right",
            all_new(lambda t, d: right_of_road(t, d) and 14.2 <= t.distance <= 15.8),
        ),
        (
            "a child is on the left sidewalk within 20 m ahead",
            all_new(lambda t, d: left_of_road(t, d) and t.distance <= 20),
        ),
    ],
    "moved": [
        (
            "a pedestrian appears 30 m ahead, Then: slow down. If: he is 15 m ahead",
            all_new(lambda t, d: 14.2 <= t.distance <= 15.8),
        )
    ],
    "heading": [("an oncoming car appears", all_new(lambda t, d: in_other_lane(t, d) and not t.away))],
    "opposite lane": [("a car drives in the opposite lane", all_new(in_other_lane))],
}
DRAWN_ONLY = {
    "far away": [("a car appears more than 40 m ahead", all_new(lambda t, d: t.distance >= 40))],
    "metres of what is painted": [
        ("a crosswalk appears 20 m ahead", lambda b, a: abs(drive_of(a).road.crosswalk - 20) < 1.1),
    ],
    "by another": [
        (
            "a pedestrian appears in front of a building",
            all_new(
                lambda t, d: any(
                    h.side * t.offset > 0 and h.start - 5 <= t.distance <= h.start + h.length + 5
                    for h in d.houses
                )
            ),
        )
    ],
    "speed on a sign": [
        (
            "a 50 km/h speed limit sign appears on the roadside",
            all_new(lambda t, d: t.variant == "speed limit 50"),
        )
    ],
    "one of several": [
        ("a building on the left side of the road is removed", lambda b, a: len(drive_of(a).houses) + 1
         == len(drive_of(b).houses) and mostly(lambda x: x < 0)(b, a)),
        ("a tree on the right side of the road is removed",
         lambda b, a: [t.offset > 0 for t in gone(b, a)] == [True]),
    ],
    "state": [
        ("the road is wet", lambda b, a: drive_of(a).road.surface == "wet"),
        ("the lane markings are faded", lambda b, a: changed(b, a).any()),
    ],
}  # fmt: skip


@pytest.mark.parametrize("engines", ["rendered", "pasted"])
@pytest.mark.parametrize("slot", SLOTS)
def test_the_picture_shows_what_the_sentence_says(slot, engines):
    for words, check in SLOTS[slot]:
        pictures, reasons = made(f"If: {words}, Then: {SAME}.", engines)
        assert pictures, (words, reasons)
        wrong = [number for number, (before, after) in enumerate(pictures) if not check(before, after)]
        assert not wrong, (words, engines, wrong, len(pictures))


@pytest.mark.parametrize("slot", DRAWN_ONLY)
def test_a_drawn_drive_shows_what_the_sentence_says(slot):
    for words, check in DRAWN_ONLY[slot]:
        pictures, reasons = made(f"If: {words}, Then: {SAME}.", "rendered")
        assert pictures, (words, reasons)
        assert all(check(before, after) for before, after in pictures), words


UNSHOWN = {
    "ambulance": "an ambulance appears ahead",
    "police": "a police car appears on the road",
    "school": "a school bus appears ahead",
    "icy": "the road is icy",
    "behind": "a car appears behind the ego-vehicle",
    "not 40": "40 cars are removed",
    "parked": "the parked cars are removed",
    "stop line": "the stop line becomes a yield line",
    "deer|animal": "a deer appears on the road",
    "motorcyclist": "a motorcyclist appears ahead",
}


@pytest.mark.parametrize("engines", ["rendered", "pasted"])
@pytest.mark.parametrize("word", UNSHOWN)
def test_a_word_that_cannot_be_shown_is_the_reason(word, engines):
    pictures, reasons = tried(f"If: {UNSHOWN[word]}, Then: {SAME}.", engines, drives)
    assert not pictures
    told = [reason for reason in reasons if any(one in reason for one in word.split("|"))]
    lawful = ("nothing of that class is there", "too little of that class is there")
    assert told or set(reasons) <= set(lawful), reasons


@cache
def photographs():
    """The same streets, of which nothing is known but their label maps."""
    plain = [(scene.id, np.array(scene.image), scene.knowledge["labels"]()) for scene in drives()]
    return [
        Scene(name, lambda image=image: image, None, {"labels": lambda labels=labels: labels})
        for name, image, labels in plain
    ]


def test_a_photograph_tells_metres_only_with_its_lens():
    text = f"If: a pedestrian appears 15 m ahead, Then: {SAME}."
    _, reasons = made(text, "pasted", photographs)
    assert set(reasons) == {
        "how many metres away anything is, the picture does not tell without rule.lens, its degrees"
    }
    pictures, _ = made(text, "pasted", photographs, lens=2 * math.degrees(math.atan(0.5 / FOCAL)))
    views = {scene.image.tobytes(): Camera.of(scene.knowledge["drive"], SIZE) for scene in drives()}
    found = []
    for before, after in pictures:
        row = np.flatnonzero(changed(before, after).any(axis=1))[-1] + 1
        found.append(views[np.asarray(before).tobytes()].ground_at(SIZE[1] / 2, float(row))[0])
    assert len(found) >= 5
    assert (
        12 < float(np.median(found)) < 18
    )  # the horizon and the camera's height are told from what stands there


def test_which_lane_is_the_opposite_one_is_told_from_the_pictures():
    pictures, reasons = made(f"If: an oncoming car appears, Then: {SAME}.", "pasted", photographs)
    assert len(pictures) >= 4
    assert all("opposite" in reason for reason in reasons)
    for before, after in pictures:
        columns = np.nonzero(changed(before, after))[1]
        assert columns.mean() < SIZE[1] / 2  # they drive on the right there


@cache
def any_air():
    found = [sample_drive(seed) for seed in range(500, 740)]
    bad = [drive for drive in found if drive.weather in ("rain", "snow", "fog") or drive.road.stop_line]
    return [scene_of(drive, f"drive-{drive.seed}", size=(80, 160)) for drive in (*bad, *found[:12])]


@pytest.mark.parametrize("engines", ["rendered", "pasted"])
@pytest.mark.parametrize(
    ("words", "was"),
    [
        ("the weather changes from rain to snow", lambda d: d.weather == "rain"),
        ("the weather changes from snow to fog", lambda d: d.weather == "snow"),
        ("the fog is dense", lambda d: d.weather == "fog"),
        ("the time changes from day to night", lambda d: d.time == "day"),
        ("the time changes from dusk to night", lambda d: d.time == "dusk"),
    ],
)
def test_what_was_before_was_so(words, was, engines):
    pictures, reasons = made(f"If: {words}, Then: {SLOW}.", engines, any_air)
    assert pictures, reasons
    assert all(was(drive_of(before)) for before, _ in pictures)
    assert len(pictures) + sum(n for reason, n in reasons.items() if "already" in reason) == sum(
        was(scene.knowledge["drive"]) for scene in any_air()
    )


def test_it_stops_raining_only_where_it_rained():
    pictures, _ = made("If: it stops raining, Then: do not slow down.", "rendered", any_air)
    assert pictures
    assert all(drive_of(before).weather == "rain" for before, _ in pictures)
    assert all(drive_of(after).weather == "clear" for _, after in pictures)


def test_what_is_given_is_there_and_what_is_excepted_is_not():
    with_line, _ = made("If: it rains, Then: stop before the stop line.", "rendered", any_air)
    assert with_line
    assert all(drive_of(before).road.stop_line is not None for before, _ in with_line)
    text = "If: it rains, Then: slow down unless there are cars on the left side of the road."
    without, reasons = made(text, "rendered", any_air)
    assert without
    assert reasons["there is a vehicle"]
    for before, _ in without:
        assert not any(t.kind == "car" and left_of_road(t, drive_of(before)) for t in drive_of(before).things)


LAWFUL = (
    "no free place", "nothing of that class is there", "too little of that class is there",
    "it is there already", "nothing of it is seen", "it already is in that state", "it already is darker",
    "there is other bad weather already", "no engine",
)  # fmt: skip


@pytest.mark.parametrize("engines", ["rendered", "pasted"])
@pytest.mark.parametrize("element", [e for e in usual_ontology().elements.values() if not e.is_environment])
def test_every_property_of_every_element_is_shown_or_named(element, engines):
    """Adding: with any single word of the ontology, the picture changes or that word is the reason."""
    for name, value, words in element.values():
        noun = words.nouns[0] if words.nouns else f"{words.adjectives[0]} {element.synonyms[0]}"
        pictures, reasons = tried(f"If: a {noun} is added, Then: {SAME}.", engines, few)
        for reason in reasons:
            said = value in reason or element.name in reason or reason.startswith(LAWFUL)
            assert said, (noun, name, reason)
        assert pictures or reasons


@cache
def few():
    return drives()[:2]
