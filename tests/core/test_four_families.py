"""The core fits all kinds of tasks: each tiny relation passes a right system and fails a wrong one."""

import inspect

import cv2
import numpy as np
import pytest

import instar
import tiny


def scenes(n=3):
    rng = np.random.default_rng(5)
    pictures = []
    for i in range(n):
        image = np.zeros((64, 64, 3), np.uint8)
        image[20:40, 20:40, 0] = 200
        image[:, :, 1] = rng.integers(0, 40, (64, 64))
        pictures.append(instar.Scene.of(f"{i}.png", image))
    return pictures


class Named:
    def __init__(self, name, answer):
        self.name = name
        self.predict = lambda inputs: [answer(one) for one in inputs]


def statuses(relation, system, n=20):
    return {r.verdict.status for r in instar.run(scenes(), relation, system, search=instar.draws(n))}


def sees_red(image):
    return ["red square"] if (image[..., 0] > 100).sum() > 100 else []


def sees_red_unless_blue(image):
    return sees_red(image) if not (image[..., 2] > 200).any() else []


def centre_of_red(image):
    moments = cv2.moments((image[..., 0] > 100).astype(np.uint8))
    return np.float32([[moments["m10"], moments["m01"]]]) / max(moments["m00"], 1) + np.float32(0.5)


def speed_falls_with_white(image):
    return 50.0 - 30.0 * float((image[:32] == 255).mean())


def explains(heat, confidence=0.9):
    """Tells which classes it is sure of, and explains each."""

    def answer(asked):
        if isinstance(asked, np.ndarray):
            return ["cat", "dog"]
        return {"confidence": confidence, "heat": heat(asked.image).astype(np.float32)}

    return answer


confident_map = explains(lambda image: image[..., 0] > 100)
map_of_low_bits = explains(lambda image: image[..., 1] & 7 > 3)
unsure_map = explains(lambda image: image[..., 0] > 100, confidence=0.4)


HELD, VIOLATED, INAPPLICABLE = instar.Status.HELD, instar.Status.VIOLATED, instar.Status.INAPPLICABLE


@pytest.mark.parametrize(
    ("relation", "right", "wrong"),
    [
        (tiny.insertion, sees_red, sees_red_unless_blue),
        (tiny.perspective, centre_of_red, lambda image: np.float32([[30, 30]])),
        (tiny.rule, speed_falls_with_white, lambda image: 50.0),
    ],
)
def test_a_right_system_holds_and_a_wrong_one_is_found(relation, right, wrong):
    assert statuses(relation, Named("right", right)) == {HELD}
    assert VIOLATED in statuses(relation, Named("wrong", wrong))


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(confident_map, HELD), (map_of_low_bits, VIOLATED), (unsure_map, INAPPLICABLE)],
)
def test_an_image_and_class_question_with_a_heat_map_and_a_premise(answer, expected):
    records = list(instar.run(scenes(2), tiny.squeeze, Named("classifier", answer)))
    assert {r.verdict.status for r in records} == {expected}
    assert sorted(r.source for r in records) == ["0.png#cat", "0.png#dog", "1.png#cat", "1.png#dog"]


def test_a_rule_of_two_blocks_asks_two_follow_ups():
    system = Named("driver", speed_falls_with_white)
    records = list(instar.run(scenes(1), tiny.rule, system, search=instar.draws(10)))
    assert {(record.role, record.queries) for record in records} == {("case", 2), ("null", 1)}


@pytest.mark.parametrize("functions", [
    ("compare_names", "draw_square", "apply_square"),
    ("carry_points", "compare_points", "draw_tilt", "apply_tilt"),
    ("compare_speed", "draw_pedestrian", "apply_pedestrian", "expect_slower"),
    ("Asked", "ask_sure_classes", "compare_maps", "apply_squeeze"),
])  # fmt: skip
def test_a_task_and_its_relation_take_fewer_than_twenty_lines(functions):
    lines = [line for name in functions for line in inspect.getsource(getattr(tiny, name)).splitlines()]
    assert sum(bool(line.strip()) for line in lines) + 4 < 20
