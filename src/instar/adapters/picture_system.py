"""A system out of a function that answers pictures, and what most of these functions begin with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from instar.core.options import require_picture
from instar.core.scene import Image

Answer = TypeVar("Answer")


class PictureSystem(Generic[Answer]):
    """Answers pictures by a function of all of them.

    What a network is run by cannot be pickled: a worker process makes its own system, by the `recipe`.
    `classes` are all labels that it can give, None where it does not say: a referee is asked about no others.
    """

    def __init__(
        self,
        name: str,
        answer: Callable[[Sequence[Image]], list[Answer]],
        *,
        fingerprint: str,
        recipe: Callable[[], PictureSystem[Answer]] | None,
        batch: int = 8,
        concurrent: bool | int = True,
        classes: Sequence[str] | None = None,
    ) -> None:
        self.name, self.fingerprint, self.batch, self.concurrent = name, fingerprint, batch, concurrent
        self.classes, self._answer, self._recipe = classes, answer, recipe

    def __reduce__(self) -> tuple[Callable[[], PictureSystem[Answer]], tuple[()]]:
        if self._recipe is None:
            raise TypeError(f"{self.name} was made in this process and cannot go to another one")
        return self._recipe, ()

    def predict(self, images: Sequence[Image]) -> list[Answer]:
        """The answer to each picture `uint8 (H, W, 3)` RGB."""
        for image in images:
            require_picture(image)
        return self._answer(images)


def one_by_one(answer: Callable[[Image], Answer]) -> Callable[[Sequence[Image]], list[Answer]]:
    """Every picture is asked on its own, so its neighbours do not matter."""
    return lambda images: [answer(image) for image in images]


def hash_state(module: Any, *, as_floats: bool = False) -> str:
    """The content hash of a torch module's parameters, in short."""
    state = hashlib.sha256()
    for key, tensor in module.state_dict().items():
        values = tensor.detach().cpu()
        state.update(key.encode() + (values.float() if as_floats else values).numpy().tobytes())
    return state.hexdigest()[:16]


def hash_files(*paths: Path) -> str:
    """The content hash of files, in short."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]
