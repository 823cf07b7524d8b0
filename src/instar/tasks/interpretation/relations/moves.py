"""Relations that move the picture: the explanation moves along."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import cv2
import numpy as np

from instar.core.change import Change
from instar.core.frame import Moved
from instar.core.recipe import recorded
from instar.core.relation import Range, Relation, Workspace
from instar.core.scene import Image, Observation, Scene
from instar.imaging import camera
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.compare import BETA
from instar.tasks.interpretation.floor import rehearse_floor
from instar.tasks.interpretation.relations.settings import Kept, quiet_relation, settings_of

AT_640 = "pixels at 640"
BAR = 0.4  # of the picture's side
AS_LARGE = 0.45  # of what a quiet move shows that is as large as the relation's own: a third more is too much
SMALL_MOVES: Mapping[str, Callable[[Image], Moved]] = {
    "shifted by 5": lambda picture: camera.shift(picture, 5),
    "shifted by 11": lambda picture: camera.shift(picture, 11),
    "cropped by 3 %": lambda picture: camera.crop(picture, 3),
}


@dataclass(frozen=True)
class SmallMove(Change):
    """A move by less than a cell of any map, or one that favours no side."""

    name: str


Side = Literal["left", "right", "above", "below"]
ACROSS: tuple[Side, Side] = ("left", "right")
DOWN: tuple[Side, Side] = ("above", "below")


@dataclass(frozen=True)
class Bar(Change):
    """A bar of the picture's mean colour at one side of it."""

    side: Side

    def __str__(self) -> str:
        return f"a plain bar {self.side if self.side in DOWN else f'to the {self.side}'}"


@recorded
def mirrored(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """Left and right exchanged: the explanation is mirrored too."""
    return _moving("mirrored", beta, kept, lambda picture, _: camera.mirror(picture))


@recorded
def shifted(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The camera turned a little right and down: the explanation moves left and up."""
    return _moving("shifted", beta, kept, camera.shift, severity=Range(40, 100, AT_640))


@recorded
def zoomed(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """The middle of the picture in its full size: the explanation grows along."""
    return _moving("zoomed", beta, kept, camera.crop, severity=Range(4, 10, "percent of each side"))


@recorded
def padded(*, beta: float = BETA, kept: float = KEPT_SHARE) -> Relation:
    """A plain bar at one side of the picture: the explanation stays on what it was on.

    It tells maps that are turned over, or drawn in another shape than the picture's, and always were.
    """

    def draw(sides: Sequence[Side], source: Observation, rng: np.random.Generator) -> Bar:
        return Bar(sides[int(rng.integers(len(sides)))])

    ways = {"across": partial(draw, ACROSS), "down": partial(draw, DOWN)}
    # The network sees the picture smaller, whatever the map does: bars at both sides tell how much that is.
    moves = {
        "across": lambda picture: add_bars(picture, ACROSS),
        "down": lambda picture: add_bars(picture, DOWN),
    }
    more: dict[str, Any] = {"ways": ways, "draw": partial(draw, ACROSS + DOWN)}
    more |= {"quiet": "bars at both sides", "moves": moves, "share": AS_LARGE}
    return _moving("padded", beta, kept, lambda picture, bar: add_bars(picture, [bar.side]), **more)


def add_bars(picture: Image, sides: Sequence[Side]) -> Moved:
    """A wider or higher picture, of which the bars are two sevenths together."""
    height, width = picture.shape[:2]
    bar = round(BAR / len(sides) * (width if sides[0] in ACROSS else height))
    above, below, left, right = (bar * (side in sides) for side in (*DOWN, *ACROSS))
    colour = picture.reshape(-1, 3).mean(axis=0).round().tolist()
    made = cv2.copyMakeBorder(picture, above, below, left, right, cv2.BORDER_CONSTANT, value=colour)
    return Moved(np.asarray(made, np.uint8), [[1, 0, left], [0, 1, above], [0, 0, 1]])


def _moving(
    name: str,
    beta: float,
    kept: float,
    apply: Callable[[Image, Any], Moved],
    *,
    quiet: str = "small moves",
    moves: Mapping[str, Callable[[Image], Moved]] = SMALL_MOVES,
    share: float = 1.0,
    **more: Any,
) -> Relation:
    asked = Kept(name, settings_of(name, beta=beta, kept=kept))

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        # A network's cells fall on other pixels when it moves: what that does is learnt from quiet moves.
        how = asked.with_floor(workspace)
        ways = {one: lambda source, rng, one=one: SmallMove(one) for one in moves}
        move = quiet_relation(
            quiet, how.settings, how.known, lambda image, change: moves[change.name](image), ways=ways
        )
        floor = rehearse_floor(workspace, move, n=1)
        floor = how.settings.floor.or_more(floor, share=share)
        how = replace(how, settings=replace(how.settings, floor=floor))
        return how.relation(apply, **more)

    return replace(asked.relation(apply, **more), prepare=prepare)
