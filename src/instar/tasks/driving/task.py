"""Driving as a task: a speed and a steering angle, which stay the same within bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from instar.core.frame import Frame
from instar.core.marks import Dial, Panel
from instar.core.options import require_number
from instar.core.scene import Image, Observation
from instar.core.task import Nulls, Task
from instar.core.verdict import Finding, Verdict
from instar.imaging.nulls import Brighten, Reencode, Shift, draw_null, usual_strikers
from instar.tasks.driving.answers import QUANTITIES, UNIT_OF, Control, read
from instar.tasks.driving.judgement import judge_block
from instar.tasks.driving.rules.model import Expectation
from instar.worlds.drive.scenes import drive_of, showing

# Amounts are compared, so the source is asked under each condition too: a driver who never reacts must not be
# acquitted by noise.
NULLS = Nulls(
    draw_null, usual_strikers, conditions=(Reencode(95), Brighten(1), Shift(1, 0)), with_source=True
)
DEMANDS = {
    ("speed", "decrease"): "slow down enough",
    ("speed", "increase"): "speed up enough",
    ("speed", "same"): "keep its speed",
    ("steering", "decrease"): "steer right enough",
    ("steering", "increase"): "steer left enough",
    ("steering", "same"): "keep its course",
}
FASTEST, WIDEST = 60.0, 30.0  # km/h and degrees that dials reach at least


def driving(*, speed: float = 10.0, steering: float | None = None) -> Task:
    """The task, where answers are the same within `speed` percent and `steering` degrees.

    Without `steering` it is 20 degrees at the steering wheel, and 1.39 at the road wheels.
    """
    for name, value in (("speed", speed), ("steering", 0.0 if steering is None else steering)):
        require_number("driving", name, value, least=0)
    same = [
        (1, Expectation("speed", "same", "at most", speed, "%")),
        (1, Expectation("steering", "same")),
    ]
    if steering is not None:
        same[1] = (1, Expectation("steering", "same", "at most", steering, "degrees"))

    def compare(before: Observation, after: Observation) -> Verdict:
        return judge_controls(same, [before.answer, after.answer])

    return Task(
        "driving", read, compare, marks, carry=carry, nulls=NULLS, with_picture=with_picture, move=move
    )


def judge_controls(
    expectations: Sequence[tuple[int, Expectation]],
    answers: Sequence[Control],
    *,
    all_must_apply: bool = False,
    paper: bool = False,
) -> Verdict:
    """Whether answers, the source's first, keep expectations, each with the number of its block.

    Violated if one is broken; else inapplicable if none applies, or if one does not and all must; else held.
    A quantity that the system does not say is left out.
    """
    findings: list[Finding] = []
    margins: list[float] = []
    unfit = ""
    for number, expectation in expectations:
        quantity = expectation.quantity
        values = [getattr(answer, quantity) for answer in answers]
        if None in values:
            continue
        judged = judge_block(expectation, values, number, paper=paper, wheel=answers[0].wheel)
        if judged.held is None:
            unfit = unfit or judged.reason
        elif judged.held:
            margins.append(judged.margin)
        else:
            subject = quantity if number == 1 else f"{quantity}, block {number}"
            what = _failure_words(expectation)
            unit = UNIT_OF[quantity]
            said = f"{what}: {values[0]:.1f} {unit} before, {values[min(number, len(values) - 1)]:.1f} after"
            cause = {"what": what, "label": "the car", "words": f"the car {said}"}
            findings.append(Finding(quantity, subject, judged.margin, {"cause": cause}))
    evidence: dict[str, Any] = {
        "answers": [{name: getattr(answer, name) for name in QUANTITIES} for answer in answers]
    }
    if findings:
        return Verdict.violated(findings, **evidence)
    if not margins or (unfit and all_must_apply):
        return Verdict.inapplicable(unfit or "nothing is demanded of what the system says", **evidence)
    return Verdict.held(min(margins), **evidence)


def _failure_words(expectation: Expectation) -> str:
    """What the car did wrong; groups of failures are called by it."""
    demanded = DEMANDS.get(
        (expectation.quantity, expectation.direction), f"keep its {expectation.quantity} right"
    )
    return f"does {demanded}, which it must not" if expectation.negated else f"does not {demanded}"


def carry(before: Control, after: Control, frame: Frame) -> tuple[Control, Control]:
    """A mirrored road is steered the other way round; nothing else depends on the frame."""
    return before, _mirror(after) if frame.mirrored else after


def _mirror(control: Control) -> Control:
    return control if control.steering is None else dataclasses.replace(control, steering=-control.steering)


def with_picture(question: Image, picture: Image) -> Image:
    """The picture, which still shows the drive that the question shows unless it knows of another."""
    return picture if drive_of(picture) is not None else showing(picture, drive_of(question))


def move(picture: Image, frame: Frame) -> Image:
    """The picture, which shows a mirrored drive where its frame is mirrored."""
    drive = drive_of(picture)
    if drive is None or not frame.mirrored:
        return picture
    return showing(picture, dataclasses.replace(drive, mirrored=not drive.mirrored))


def marks(seen: Observation) -> Panel:
    """The picture with a dial for speed and one for steering, as the system said it of this picture."""
    control: Control = seen.answer
    if seen.frame is not None and seen.frame.mirrored:
        control = _mirror(control)
    dials = []
    if control.speed is not None:
        dials.append(Dial("speed", control.speed, "km/h", 0.0, FASTEST))
    if control.steering is not None:
        dials.append(Dial("steering, + is left", control.steering, "degrees", WIDEST, -WIDEST))
    return Panel("", seen.input, dials=tuple(dials))


TASK = driving()
