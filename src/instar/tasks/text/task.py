"""Text localization as a task: quads around pieces of text, compared by their overlap."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from instar.core.frame import Frame, Matrix, transform
from instar.core.marks import Mark, Panel
from instar.core.options import require_one_of
from instar.core.scene import Observation
from instar.core.task import Task
from instar.core.verdict import Verdict
from instar.imaging.nulls import USUAL_NULLS
from instar.tasks.text.accuracy import with_words
from instar.tasks.text.answers import Quads, read
from instar.tasks.text.compare import LINES, Lines, same_text
from instar.tasks.text.measures import EPS, Matching, require_matching
from instar.tasks.text.naming import name_finding, with_names
from instar.tasks.text.polygons import are_inside, clip_quads, quad_areas
from instar.tasks.text.verification import verify

Floats = npt.NDArray[np.float32]


@cache  # relations with the same settings share the task, and what null changes show by it
def text(*, eps: float = EPS, matching: Matching = "one-to-one", lines: Lines = "any") -> Task:
    """The task with other settings than the usual ones (see `same_text`)."""
    require_matching("text", matching, eps)
    require_one_of("text", "lines", lines, LINES)

    def compare(before: Observation, after: Observation) -> Verdict:
        verdict = same_text(before.answer, after.answer, eps=eps, matching=matching, lines=lines)
        return with_words(with_names(verdict, before, after), before, after)

    return Task(
        "text",
        read,
        compare,
        marks,
        carry=carry,
        nulls=USUAL_NULLS,
        verify=verify,
        name_finding=name_finding,
        is_empty=_is_empty,
    )


def carry(before: Quads, after: Quads, frame: Frame) -> tuple[Quads, Quads]:
    """Both in the source's frame; what either frame does not show to 90 % is set aside.

    What is set aside is cut to the part that both frames show: a word at the edge of one picture may then be
    the partner of what is left of it in the other.
    """
    there, before_ahead, before_shown = _move(before.quads, frame.matrix, frame.source_size, frame.size)
    here, after_ahead, after_shown = _move(after.quads, frame.back, frame.size, frame.source_size)
    if frame.mirrored:
        here = here[:, [1, 0, 3, 2]]  # clockwise from the top left again
    visible, _, _ = _move(clip_quads(there, frame.size), frame.back, frame.size, frame.source_size)
    return (
        replace(
            before,
            quads=_cut(before.quads, visible, before_ahead & ~before_shown),
            aside=~(before.shown & before_shown),
        ),
        replace(
            after,
            quads=_cut(here, clip_quads(here, frame.source_size), after_ahead & ~after_shown),
            aside=~(after.shown & after_shown),
        ),
    )


def _move(
    quads: Floats, matrix: Matrix, size: tuple[int, int], new_size: tuple[int, int]
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """The quads of a picture of `size` in a frame of `new_size`, which of them are there, and which shown.

    What a steep perspective puts beyond the horizon is not there, and stays as it is. Quads may overshoot
    the picture that they were found in: only what is inside it has to be shown.
    """
    height, width = size
    depth, middle = (
        points @ matrix[2, :2] + matrix[2, 2] for points in (quads, np.array([width / 2, height / 2]))
    )
    ahead = (depth * middle > 0).all(axis=1)
    moved = quads.copy()
    moved[ahead] = transform(matrix, quads[ahead])
    shown = ahead.copy()
    shown[ahead] = are_inside(transform(matrix, clip_quads(quads[ahead], size)), new_size)
    return moved, ahead, shown


def _cut(quads: Floats, visible: Floats, which: npt.NDArray[np.bool_]) -> Floats:
    """The quads, with some of them cut to the visible part, where that is at least a pixel."""
    return np.where((which & (quad_areas(visible) >= 1))[:, None, None], visible, quads)


def marks(seen: Observation) -> Panel:
    """Every quad, with its text where the system reads."""
    found: Quads = seen.answer
    labels = found.texts or ("",) * len(found)
    return Panel(
        "",
        seen.input,
        tuple(
            Mark(tuple((x, y) for x, y in quad), label=label, subject=f"box {k}")
            for k, (quad, label) in enumerate(zip(found.quads.tolist(), labels))
        ),
    )


def _is_empty(found: Quads) -> bool:
    return len(found) == 0


TASK = text()
