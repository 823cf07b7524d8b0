"""Scenes and observations: what is shown to a system, and what it said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from instar.core.frame import Frame

Image: TypeAlias = npt.NDArray[np.uint8]
"""`uint8 (H, W, 3)`, RGB, contiguous."""

Mask: TypeAlias = npt.NDArray[np.bool_]
"""`bool (H, W)`."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneObject:
    """Something known to be in a picture, from annotations or from a helper system.

    `box` is x1, y1, x2, y2 in pixels, right and bottom exclusive. `mask` makes the whole-picture mask
    when asked, because ten thousand decoded masks would not fit into memory; None when only the box
    is known. A `crowd` is many objects under one annotation and no good as a cut-out.
    """

    label: str
    box: tuple[float, float, float, float]
    mask: Callable[[], Mask] | None = None
    crowd: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A picture under an id, with what is known about it.

    `read` decodes the picture anew on every call: a scene holds no pixels, so that a campaign over ten
    thousand scenes needs no more memory than one over a hundred. `objects` is None when nothing is
    known and an empty tuple when the picture is known to be empty. `knowledge` holds whatever else a
    task understands (a label map, words), by name.
    """

    id: str
    read: Callable[[], Image]
    objects: tuple[SceneObject, ...] | None = None
    knowledge: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # A file name need not be text; an id must be, because it is hashed, stored and printed.
        text = self.id.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        object.__setattr__(self, "id", text)

    @property
    def image(self) -> Image:
        return self.read()

    @classmethod
    def of(cls, id: str, image: Image, objects: tuple[SceneObject, ...] | None = None) -> Scene:
        """A scene around a picture that is in memory already."""
        return cls(id, lambda: image, objects)


class SceneList(list[Scene]):
    """Scenes, where they were loaded from, and how many were wanted at most."""

    def __init__(self, scenes: Iterable[Scene] = (), source: str = "", limit: int | None = None) -> None:
        super().__init__(scenes)
        self.source, self.limit = source, limit


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """An input together with the system's answer.

    The input is made by `make` when it is looked at, for the same reason that a scene holds no pixels.
    `part` tells the inputs of one scene apart where a task asks several questions (one per class, say).
    `frame` says how a follow-up's frame lies to the source's, in which its answer is given; None where
    the frame did not move.
    """

    scene: Scene
    answer: Any
    make: Callable[[], Any]
    part: str = ""
    frame: Frame | None = None

    @property
    def input(self) -> Any:
        return self.make()

    @property
    def id(self) -> str:
        """The scene's id, with the part behind a `#` where there is one."""
        return f"{self.scene.id}#{self.part}" if self.part else self.scene.id

    @classmethod
    def of(cls, input: Any, answer: Any, scene: Scene | None = None, part: str = "") -> Observation:
        """An observation around an input that is in memory already."""
        return cls(scene or Scene("", lambda: np.asarray(input)), answer, lambda: input, part)
