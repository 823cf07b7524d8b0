"""The words of the If half, as plain tables."""

from __future__ import annotations

from instar.tasks.driving.rules.english import invert, listed

__all__ = [
    "ADD", "APPEAR", "APPROACH", "BECOME", "BE_OUTSIDE", "BRING", "CROSS", "DEPART", "DURING", "FALL",
    "GONE", "GROW", "HARDER", "HAVE", "INCREASE", "IS_DOING", "LEAVE", "REMOVE", "REPLACE", "SEE", "SEEN",
    "SHRINK", "STOP", "TAKE_OVER", "THERE", "TURN", "VANISH", "WITH", "WITHOUT",
]  # fmt: skip

APPEAR = listed(
    "appear, emerge, show up, turn up, pop up, arrive, come into view, come into sight, come out, "
    "stand, walk, "
    "wait, sit, run, step, jog, exist, drive, ride, park, move, stay, jump, rush, pass, pass by, "
    "linger, loiter, stroll, wander, remain, come up, come along, pull up, pull over, pop out, "
    "jump out, step out, run out, walk out, pull out, drive out, move out"
)
ADD = listed(
    "add, place, put, insert, draw, introduce, position, paste, paint, install, plant, park, set, "
    "set up, erect, put up, mount, station, superimpose, overlay"
)
SEEN = listed("see, show, locate, detect, observe, spot, notice, build")
THERE = listed("present, visible, there, in sight, in view")
CROSS = listed(
    "cross, enter, step onto, walk across, run across, walk onto, run onto, jump onto, rush onto, block"
)
SEE = listed("see, meet, encounter, detect, notice, spot, observe, come across")
HAVE = listed("have, contain, include, show")

VANISH = listed("disappear, vanish, go away, fade away, fade out, fade")
DEPART = listed("leave, exit, quit")
GONE = listed(
    "gone, missing, absent, invisible, no longer visible, no longer there, no longer present, out of sight"
)
REMOVE = listed(
    "remove, erase, delete, take away, take out, eliminate, clear away, clear, wipe out, wipe off, take off, "
    "get rid of, strip, omit, drop, hide"
)

REPLACE = {
    "replace": listed("with, by"),
    "swap": listed("for, with"),
    "swap out": listed("for"),
    "exchange": listed("for, with, by"),
    "substitute": listed("by, with"),
    "change": listed("to, into"),
    "turn": listed("into, to"),
    "convert": listed("to, into"),
    "transform": listed("into, to"),
    "switch": listed("to, with, for"),
}
"""Each verb with what may stand between it and the new thing."""
BECOME = listed("become, turn into, change into, change to, turn to, transform into, switch to, convert to")
TAKE_OVER = listed("replace, take the place of, supersede")
TURN = listed(
    "become, turn, get, change to, turn to, switch to, go, change into, be, change color to, change colour to"
)

GROW = listed("get, become, be, come, move, go, grow, walk, step, drive, stand, run, ride, look")
BRING = listed("move, bring, put, place, make, shift")
APPROACH = listed("approach, come up to")
LEAVE = listed("move away, go away, walk away, back away, drive away, step away, get away")
INCREASE = listed("increase, grow, rise, go up, intensify")
SHRINK = listed("decrease, shrink, fall, go down, drop, reduce, get shorter, become shorter")

WITH = listed("with, given, in case of, in the case of, in the event of, in the presence of, in presence of")
WITHOUT = listed("without, in the absence of, in absence of")

# Weather and time of day.
DURING = listed("at, in, during, under, through, on")
FALL = listed("fall, start, begin, set in, come, come down, come up, start falling, roll in")
STOP = listed("stop, clear up, lift, clear, end, cease")
BE_OUTSIDE = listed("be, become, get, turn, grow, turn into, change to, change into, turn to")
IS_DOING = listed(
    "is, 's, was, starts, begins, starts to, begins to, started, began, has started, is starting to, keeps, "
    "continues to"
)
"""May stand in front of a verb of weather."""
HARDER = invert(
    {
        "more": listed(
            "harder, more heavily, more strongly, more, even harder, even more heavily, even more"
        ),
        "less": listed("less heavily, less, more lightly"),
    }
)
