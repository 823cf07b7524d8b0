"""Relations that move the picture: the explanation moves along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from instar.core.change import Change
from instar.core.frame import Moved
from instar.core.recipe import recorded
from instar.core.relation import Range, Relation, Workspace
from instar.core.scene import Image, Scene
from instar.imaging import camera
from instar.tasks.interpretation.boxes import KEPT_SHARE
from instar.tasks.interpretation.compare import BETA
from instar.tasks.interpretation.floor import rehearse_floor
from instar.tasks.interpretation.relations.settings import Kept, quiet_relation, settings_of

__all__ = ["mirrored", "shifted", "zoomed"]

AT_640 = "pixels at 640"
SMALL_MOVES: dict[str, Callable[[Image], Moved]] = {
    "shifted by 5": lambda picture: camera.shift(picture, 5),
    "shifted by 11": lambda picture: camera.shift(picture, 11),
    "cropped by 3 %": lambda picture: camera.crop(picture, 3),
}


@dataclass(frozen=True)
class SmallMove(Change):
    """A move by less than a cell of any map."""

    name: str


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


def _moving(
    name: str, beta: float, kept: float, apply: Callable[[Image, Any], Moved], **more: Any
) -> Relation:
    asked = Kept(name, settings_of(name, beta=beta, kept=kept))

    def prepare(scenes: Sequence[Scene], workspace: Workspace) -> Relation:
        # A network's cells fall on other pixels when it moves: what that does is learnt from small moves.
        how = asked.with_floor(workspace)
        ways = {one: lambda source, rng, one=one: SmallMove(one) for one in SMALL_MOVES}
        quiet = quiet_relation(
            "small moves",
            how.settings,
            how.known,
            lambda image, change: SMALL_MOVES[change.name](image),
            ways=ways,
        )
        floor = rehearse_floor(workspace, quiet, n=1)
        how = replace(how, settings=replace(how.settings, floor=how.settings.floor.or_more(floor)))
        return how.relation(apply, **more)

    return replace(asked.relation(apply, **more), prepare=prepare)
