"""What a relation's `apply` may give besides a plain picture, and how frames map onto each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.scene import Image

Matrix = npt.NDArray[np.float64]
"""`float64 (3, 3)`: a homography between edge coordinates, which run from 0 to the width and the height."""


@dataclass(frozen=True, eq=False)
class Moved:
    """A follow-up picture whose frame moved: `matrix` maps the source's coordinates to the picture's."""

    picture: Image
    matrix: Any

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, np.float64)
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or abs(np.linalg.det(matrix)) < 1e-12:
            raise ValueError(f"Moved: the matrix is {self.matrix!r}; it must be 3 x 3 and invertible")
        object.__setattr__(self, "matrix", matrix)


@dataclass(frozen=True, eq=False)
class Variant:
    """A follow-up picture to be answered by `system.variant(name)`, such as one with randomised weights."""

    picture: Image
    name: str


@dataclass(frozen=True, eq=False)
class Frame:
    """How a follow-up's frame lies to the source's; sizes are `(height, width)`."""

    matrix: Matrix
    source_size: tuple[int, int]
    size: tuple[int, int]

    @property
    def mirrored(self) -> bool:
        """Whether left and right, or top and bottom, have changed places."""
        return bool(np.linalg.det(self.matrix[:2, :2]) < 0)

    @property
    def back(self) -> Matrix:
        """The matrix from the follow-up to the source."""
        return np.asarray(np.linalg.inv(self.matrix), np.float64)

    @property
    def shift(self) -> tuple[float, float] | None:
        """(right, down) where the frame was only moved; None where it was also turned, scaled or mirrored."""
        linear = self.matrix.copy()
        linear[:2, 2] = 0
        return (float(self.matrix[0, 2]), float(self.matrix[1, 2])) if (linear == np.eye(3)).all() else None

    def then(self, other: Frame) -> Frame:
        """This frame and after it another one."""
        return Frame(other.matrix @ self.matrix, self.source_size, other.size)

    def to_source(self, points: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Points `(..., 2)` of the follow-up, where they are in the source."""
        return transform(self.back, points)

    def to_follow_up(self, points: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Points `(..., 2)` of the source, where they are in the follow-up."""
        return transform(self.matrix, points)


def transform(matrix: Matrix, points: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Points `(..., 2)` through a homography."""
    flat = np.asarray(points, np.float64)
    mapped = flat @ matrix[:2, :2].T + matrix[:2, 2]
    if matrix[2, 0] or matrix[2, 1] or matrix[2, 2] != 1:
        mapped = mapped / (flat @ matrix[2, :2] + matrix[2, 2])[..., None]
    return np.asarray(mapped, np.float64)
