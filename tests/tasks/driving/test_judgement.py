"""Every row of the paper's Table 5, read as intended, and where a rule does not apply."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.tasks.driving.judgement import UNITS, judge_block, judge_rule
from instar.tasks.driving.rules import read_rule

PERSON = "If: a pedestrian appears on the roadside, Then: "
SPEEDS = st.floats(1.0, 200.0)
BOUNDED = ["slow down", "slow down by at least 10 km/h", "slow down by more than 20%"]


def held(then, *answers):
    return judge_rule(read_rule(PERSON + then), answers).held


@pytest.mark.parametrize(
    ("then", "cases"),
    [
        ("slow down", {(50, 49): True, (50, 50): False, (50, 51): False}),
        ("speed up", {(50, 51): True, (50, 50): False, (50, 49): False}),
        ("do not slow down", {(50, 50): True, (50, 51): True, (50, 49): False}),
        ("do not speed up", {(50, 50): True, (50, 49): True, (50, 51): False}),
        ("slow down by at least 10 km/h", {(50, 40): True, (50, 40.1): False, (50, 60): False}),
        ("do not slow down by at least 10 km/h", {(50, 40): False, (50, 40.1): True, (50, 60): True}),
        ("slow down by more than 10 km/h", {(50, 40): False, (50, 39.9): True}),
        ("do not slow down by more than 10 km/h", {(50, 40): True, (50, 39.9): False, (50, 60): True}),
        ("slow down by less than 10 km/h", {(50, 40.1): True, (50, 40): False, (50, 50): False}),
        ("do not slow down by less than 10 km/h", {(50, 40): True, (50, 41): False, (50, 51): False}),
        ("slow down by at most 10 km/h", {(50, 40): True, (50, 50): True, (50, 39): False, (50, 51): False}),
        ("slow down by 10 km/h", {(50, 40): True, (50, 39): True, (50, 41): False}),
        ("slow down by between 5 and 10 km/h", {(50, 45): True, (50, 39): False, (50, 46): False}),
        ("slow down by 10 to 20 %", {(50, 45): True, (50, 40): True, (50, 39): False, (50, 46): False}),
        ("stop", {(50, 3): True, (50, 3.1): False, (2, 0): True, (50, 0): True}),
        ("slow down but do not stop", {(50, 40): True, (50, 2): False, (50, 51): False}),
        ("slow down to 30 km/h", {(50, 30): True, (50, 31): False, (20, 25): True}),
        ("do not exceed 30 mph", {(50, 48.28): True, (50, 48.29): False}),
        ("drive at least 20 km/h", {(50, 20): True, (50, 19): False}),
        ("the speed should drop below 30 km/h", {(50, 30): False, (50, 29.9): True}),
        ("brake hard", {(50, 35): True, (50, 36): False}),
        ("yield", {(50, 49): True, (50, 50): False}),
        ("slow down by exactly 10 km/h", {(50, 40): True, (50, 39.999): False}),
        ("slow down by at least 30%", {(50, 35): True, (50, 35.1): False, (90, 63): True, (7, 4.9): True}),
        ("slow down no less than 30%", {(50, 35): True, (50, 36): False}),
        ("slow down by more than 30%", {(50, 35): False, (50, 34): True, (7, 4.9): False}),
        ("slow down by less than 30%", {(50, 35): False, (50, 36): True, (50, 50): False}),
        ("slow down by at most 30%", {(50, 35): True, (50, 34): False, (7, 4.9): True}),
        ("speed up by at least 10 km/h", {(50, 60): True, (50, 59): False}),
        ("speed up by at least 20%", {(50, 60): True, (50, 59): False, (0.5, 0.6): True}),
        ("speed up by less than 10 km/h", {(50, 59): True, (50, 60): False, (50, 50): False}),
        ("slow down by at least 10 mph", {(50, 40): False, (50, 33.90656): True, (50, 33.91): False}),
        ("slow down by at least 5 m/s", {(50, 32): True, (50, 32.1): False}),
        ("the speed should keep the same", {(50, 45): True, (50, 55): True, (50, 44.9): False}),
        ("the speed should change", {(50, 45): False, (50, 44): True}),
        ("the speed should not change by more than 2 km/h", {(50, 48): True, (50, 52.1): False}),
        ("the speed should change by at least 2 km/h", {(50, 48): True, (50, 49): False, (50, 52): True}),
        ("the steering angle should keep the same", {(0, 20): True, (0, -20): True, (3, 23.1): False}),
        ("turn left", {(0, 1): True, (0, -1): False, (-5, -4): True}),
        ("turn right by at least 3 degrees", {(2, -1): True, (2, 0): False}),
        ("turn right by at least 0.1 rad", {(0, -5.8): True, (0, -5.7): False}),
        ("the steering angle should change by less than 2 degrees", {(0, 1.9): True, (0, 2): False}),
        ("turn left by at least 50%", {(-10, -5): True, (-10, -6): False, (10, 15): True}),
    ],
)  # fmt: skip
def test_expectations_hold_where_they_should(then, cases):
    assert {answers: held(then, *answers) for answers in cases} == cases


def test_a_car_that_stands_cannot_slow_down():
    assert held("slow down", 0.99, 0) is None
    assert held("slow down", 1.0, 0) is True
    assert held("slow down by at least 30%", 0.5, 0) is None
    assert held("do not slow down", 0.5, 0) is False
    assert held("speed up", 0.0, 3.0) is True


def test_a_share_of_zero_is_inapplicable():
    assert held("speed up by at least 10%", 0, 5) is None
    assert held("turn left by at least 10%", 0, 5) is None
    assert held("the speed should keep the same", 0, 0) is None
    assert held("the steering angle should keep the same", 0, 0) is True


def test_more_compares_with_the_block_before():
    rule = read_rule(f"{PERSON}slow down. If: he gets closer, Then: the speed should decrease more.")
    cases = {(50, 40, 30): True, (50, 40, 40): False, (50, 40, 45): False, (50, 55, 30): False}
    assert {answers: judge_rule(rule, answers).held for answers in cases} == cases


def test_a_block_that_does_not_apply_leaves_the_rule_open_unless_another_is_violated():
    rule = read_rule(f"{PERSON}slow down. If: he gets closer, Then: the speed should decrease more.")
    assert judge_rule(rule, (50, 0, 0)).held is None
    assert judge_rule(rule, (50, 0, 0)).reason == "the ego-vehicle already stands"
    assert judge_rule(rule, (0.5, 30, 40)).held is False


def test_less_means_still_but_less_than_the_block_before():
    rule = read_rule(f"{PERSON}slow down. If: he gets farther away, Then: slow down less.")
    cases = {(50, 30, 40): True, (50, 30, 30): False, (50, 30, 20): False, (50, 30, 50): False}
    assert {answers: judge_rule(rule, answers).held for answers in cases} == cases


def test_a_later_block_without_more_compares_with_the_source():
    rule = read_rule(f"{PERSON}slow down. If: he gets closer, Then: slow down by at least 10 km/h.")
    assert judge_rule(rule, (50, 30, 40)).held is True


@pytest.mark.parametrize(
    ("then", "answers", "margin"),
    [
        ("slow down", (50, 40), 10),
        ("slow down", (50, 60), -10),
        ("slow down by at least 30%", (50, 25), 0.2),
        ("slow down by at most 10 km/h", (50, 43), 3),
        ("slow down by at most 10 km/h", (50, 55), -5),
        ("the steering angle should keep the same", (0, 1), 19),
        ("slow down by exactly 10 km/h", (50, 45), -5),
    ],
)
def test_the_margin_is_the_slack_of_the_inequality(then, answers, margin):
    assert math.isclose(judge_rule(read_rule(PERSON + then), answers).margin, margin, abs_tol=1e-12)


@given(before=SPEEDS, amount=st.floats(0.1, 100.0), unit=st.sampled_from(["km/h", "mph", "m/s"]))
def test_a_bound_that_is_met_exactly_is_met_in_every_unit(before, amount, unit):
    rule = read_rule(f"{PERSON}slow down by at least {amount:.4f} {unit}")
    strict = read_rule(f"{PERSON}slow down by more than {amount:.4f} {unit}")
    after = before - float(f"{amount:.4f}") * UNITS[unit]
    assert judge_rule(rule, (before, after)).held is True
    assert judge_rule(strict, (before, after)).held is False


@given(before=SPEEDS, after=SPEEDS, then=st.sampled_from(BOUNDED))
def test_a_negated_bound_holds_exactly_where_the_bound_does_not(before, after, then):
    assert held(f"do not {then}", before, after) is not held(then, before, after)


def test_a_wrong_number_of_answers_is_an_error():
    rule = read_rule(f"{PERSON}slow down")
    with pytest.raises(ValueError, match="1 blocks need 2 answers, not 3"):
        judge_rule(rule, (1, 2, 3))
    assert judge_block(rule.blocks[0].expectation, (3, 2), 1).held is True
