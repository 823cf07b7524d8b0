"""The words of the Then half, as plain tables."""

from __future__ import annotations

from instar.tasks.driving.rules.english import invert, listed

__all__ = [
    "ALTER", "BOUNDS", "BOUNDS_BEHIND", "CHANGE", "DRIVE", "EMPTY", "EXCEED", "FALL", "FAST", "KEEP",
    "KEPT", "KINDS", "LESS", "LOWER", "MODALS", "MORE", "NOUNS", "OF_BEFORE", "PACE", "RAISE", "RISE",
    "SAME", "SIDE", "SIZE", "SLOW", "SPEED", "SPEED_UNITS", "STAY", "STEERING", "STEERING_UNITS", "TURN",
    "UNITS",
]  # fmt: skip

SPEED_UNITS = {
    "km/h": listed(
        "km/h, km/hr, kmh, kph, kmph, km per hour, kilometers per hour, kilometres per hour, "
        "kilometer per hour, kilometre per hour, kilometers an hour, kilometres an hour"
    ),
    "mph": listed("mph, mi/h, miles per hour, mile per hour, miles an hour"),
    "m/s": listed("m/s, mps, meters per second, metres per second, meter per second, metre per second"),
}
STEERING_UNITS = {"degrees": listed("degrees, degree, deg, °"), "radians": listed("radians, radian, rad")}
UNITS = invert({**SPEED_UNITS, **STEERING_UNITS, "%": listed("%, percent, per cent, percents")})

BOUNDS = invert(
    {
        "at least": listed(
            "at least, no less than, not less than, a minimum of, no fewer than, at the very least, at "
            "minimum, minimum, more than or equal to, greater than or equal to"
        ),
        "more than": listed("more than, greater than, over, larger than, in excess of"),
        "at most": listed(
            "at most, no more than, not more than, a maximum of, up to, at the most, at maximum, maximum, "
            "no greater than, less than or equal to, not over"
        ),
        "less than": listed("less than, under, fewer than, smaller than"),
        "exactly": listed("exactly, precisely"),
    }
)
"""In front of an amount."""
BOUNDS_BEHIND = invert(
    {
        "at least": listed(
            "or more, at least, at minimum, or greater, minimum, at the very least, or higher, or above, "
            "and more"
        ),
        "at most": listed("or less, at most, at maximum, or fewer, maximum, at the most, or lower"),
        "exactly": listed("exactly"),
    }
)

OF_BEFORE = listed(
    "of its speed, of the speed, of its current speed, of the current speed, of the original speed, "
    "of its original speed, of its initial speed, compared to before, compared with before, "
    "relative to before, compared to the source, compared to the original"
)
"""May stand behind an amount and say nothing new: it is always compared with what was before."""

SPEED = listed("speed, velocity, speed prediction, speed value")
STEERING = listed(
    "steering angle, steering, angle of steering, steering angles, steering direction, steering wheel angle, "
    "angle of the steering wheel, steering wheel, wheel angle, heading angle"
)
KINDS = listed("driving, vehicle, travel, predicted, current, original, car, travelling, traveling")
"""May stand in front of the quantity and say nothing new."""
MODALS = listed(
    "should, must, shall, will, would, has to, have to, needs to, need to, ought to, is to, is expected to, "
    "is supposed to, is required to, are expected to, are supposed to, is going to, had better, "
    "is obliged to, are to, are required to"
)
EMPTY = listed("also, still, then, now, always")
"""May stand in front of the verb and say nothing new."""

# What the ego-vehicle does.
SLOW = listed(
    "slow down, slow, decelerate, brake, lose speed, hit the brakes, apply the brakes, apply the brake"
)
FAST = listed("speed up, accelerate, gain speed, pick up speed")
DRIVE = listed("drive, go, move, travel, be, become, get, run, proceed")
PACE = invert(
    {
        -1: listed(
            "slower, more slowly, at a lower speed, at a slower speed, at lower speed, at a reduced speed, "
            "with a lower speed, at reduced speed"
        ),
        1: listed(
            "faster, more quickly, at a higher speed, at higher speed, at a faster speed, with a higher speed"
        ),
    }
)
TURN = listed("turn, steer, veer, swerve, move, go, head, bear, shift, pull, drift, be steered")
SIDE = invert(
    {
        1: listed("left, to the left, leftwards, leftward, towards the left, toward the left, to left"),
        -1: listed(
            "right, to the right, rightwards, rightward, towards the right, toward the right, to right"
        ),
    }
)
LOWER = listed("reduce, decrease, lower, cut, drop, lessen, diminish, cut down, bring down")
RAISE = listed("increase, raise, boost")
KEEP = listed(
    "keep, maintain, hold, retain, preserve, stay at, keep to, stick to, continue at, drive at, keep "
    "driving at, "
    "continue driving at, remain at, drive with, move with, go at, travel at, move at, continue with, "
    "keep going at, keep moving at, continue to drive at, keep on driving at"
)
KEPT = listed(
    "the same, a constant, constant, the current, its current, its original, the original, an "
    "unchanged, a steady, "
    "same, its same"
)
ALTER = listed("change, alter, adjust, modify, vary, affect")

# What happens to the speed or the steering angle.
FALL = listed(
    "decrease, drop, fall, decline, reduce, go down, lessen, diminish, slow down, shrink, slow, come down"
)
RISE = listed("increase, rise, grow, go up, climb, speed up")
SIZE = invert({-1: listed("lower, slower, smaller"), 1: listed("higher, faster, larger, greater, bigger")})
STAY = listed("keep, stay, remain, be, hold, be kept, continue to be, be held, be maintained")
SAME = listed(
    "the same, same, unchanged, constant, steady, stable, unaffected, unaltered, as it is, as before, equal, "
    "the same as before, identical, fixed, the same value, at the same value, as it was, the same as it was, "
    "roughly the same, about the same, approximately the same, almost the same, nearly the same, "
    "more or less the same, almost unchanged, nearly unchanged, nearly constant, almost constant"
)
CHANGE = listed(
    "change, vary, differ, deviate, alter, be changed, be affected, be altered, be different, be influenced"
)
EXCEED = listed("exceed, exceeds, surpass, surpasses")
"""Said of a change; a speed that exceeds something is no change."""
NOUNS = invert(
    {
        -1: listed("decrease, reduction, drop, deceleration, slowdown, fall, decline"),
        1: listed("increase, rise, acceleration"),
        0: listed("change, difference, variation, deviation"),
    }
)

# Compared with the block before.
MORE = listed(
    "more, further, even more, even further, still more, still further, again, once more, more than before, "
    "even more than before, further than before, yet more, some more"
)
LESS = listed("less, even less, still less, less than before")
