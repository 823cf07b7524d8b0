"""A classifier together with an interpreter: the system under test."""

from __future__ import annotations

import contextlib
import copy
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from instar.adapters.classifier import Classifier, limit_threads
from instar.adapters.own_classifier import load_classifier
from instar.adapters.picture_system import hash_files
from instar.adapters.street_classifier import TWIN
from instar.adapters.weights import load_weights
from instar.core.errors import BadInput, InstarError
from instar.core.system import describe_error
from instar.tasks.interpretation.answers import Asked, Classes, Explanation, SeenClasses
from instar.tasks.interpretation.interpreters import ROWS, SAMPLES, make_interpreter
from instar.tasks.interpretation.trigger import Trigger

ASKED = ("interpreter", "layer", "samples", "threads", "batch")
VERSION = 4
"""Counts up whenever the code gives other heat maps for the same weights."""


class Explained:
    """Asked about (picture, class), it answers with a confidence and a heat map; asked for the classes of a
    picture, with the confidence of each.

    On the CPU every question is answered by itself, so that an answer does not depend on its neighbours; on
    a GPU `batch` questions share their passes, and answers agree within rounding.
    """

    def __init__(
        self,
        classifier: Classifier,
        interpreter: str,
        *,
        layer: str | None = None,
        samples: int | None = None,
        trigger: Trigger | None = None,
        threads: int = 1,
        batch: int | None = None,
        recipe: Callable[[], Explained] | None = None,
    ) -> None:
        for name, value in (("threads", threads), ("batch", batch)):
            if value is not None and value < 1:
                raise BadInput(f"{classifier.name}: {name} is {value}; it must be at least 1")
        on_gpu = classifier.device != "cpu"
        self.classifier, self.interpreter, self.trigger = classifier, interpreter, trigger
        self.name = f"{classifier.name}/{interpreter}"
        self.batch = batch or (64 if on_gpu else 1)
        self.concurrent = 2 if on_gpu else 0  # pictures are made ready and maps read while the GPU works
        self._threads, self._recipe = threads, recipe
        self._options: dict[str, Any] = {
            "layer": layer,
            "samples": samples,
            "threads": threads,
            "batch": batch,
        }
        with limit_threads(threads):
            self._explain = make_interpreter(
                classifier, interpreter, layer=layer, samples=samples, rows=256 if on_gpu else ROWS
            )
            if interpreter not in SAMPLES:
                self._try_out()
        self.fingerprint = (
            f"{self.name} {classifier.fingerprint} layer={layer} samples={samples} trigger={trigger} "
            f"device={classifier.device} batch={self.batch} threads={threads} version={VERSION}"
        )

    def __reduce__(self) -> tuple[Callable[[], Explained], tuple[()]]:
        # A worker process makes its own rather than have a network sent through a pipe.
        if self._recipe is None:
            raise TypeError(f"{self.name} was made in this process and cannot go to another one")
        return self._recipe, ()

    def variant(self, name: str) -> Explained:
        """The same with a share of the network's weights shuffled, those of the last layers first: "weights
        0.5" shuffles those of the second half.
        """
        share = float(name.removeprefix("weights "))
        classifier = replace(
            self.classifier,
            module=shuffle_weights(self.classifier.module, share),
            name=f"{self.classifier.name} ({name})",
            fingerprint=f"{self.classifier.fingerprint} {name}",
        )
        return Explained(classifier, self.interpreter, trigger=self.trigger, **self._options)

    def _try_out(self) -> None:
        """Explain an empty picture: what a network cannot be asked is refused now, not case by case."""
        blank = np.zeros((*self.classifier.size, 3), np.uint8)
        try:
            self._explain([Asked(blank, self.classifier.labels[0])])
        except InstarError:
            raise
        except Exception as error:  # whatever a user's network raises
            raise BadInput(
                f"{self.interpreter} cannot explain {self.classifier.name}: {describe_error(error)}; "
                "choose another interpreter"
            ) from error

    def predict(self, questions: Sequence[Asked | Classes]) -> list[Explanation | SeenClasses]:
        if not all(isinstance(one, (Asked, Classes)) for one in questions):
            raise BadInput(
                f"{self.name} explains a class of a picture; use relations such as insert or squeeze"
            )
        asked = [one for one in questions if isinstance(one, Asked) and one.explain]
        others = [one for one in questions if not (isinstance(one, Asked) and one.explain)]
        explanations: list[Explanation] = []
        found: list[Any] = []
        on_gpu = self.classifier.device != "cpu"
        at_once = self.batch if on_gpu else 1
        with contextlib.nullcontext() if on_gpu else limit_threads(self._threads):
            for start in range(0, len(asked), self.batch):
                explanations += self._explain(asked[start : start + self.batch])
            for start in range(0, len(others), at_once):
                found += list(self.classifier.classify([q.image for q in others[start : start + at_once]]))
        explained = dict(zip(map(id, asked), explanations))
        seen = {id(one): self._seen(one, confidences) for one, confidences in zip(others, found)}
        answers = explained | seen
        return [answers[id(one)] for one in questions]

    def _seen(self, question: Asked | Classes, found: Any) -> Explanation | SeenClasses:
        if isinstance(question, Asked):
            sure = float(found[self.classifier.index(question.label)])
            return Explanation(sure, np.zeros((1, 1), np.float32))
        return SeenClasses(dict(zip(self.classifier.labels, found.tolist())), self.trigger)


def shuffle_weights(module: Any, share: float) -> Any:
    """A copy of which the last `share` of the layers with weights have them in a random order.

    Shuffled, they keep their size and spread, so that no layer falls silent or shouts.
    """
    found = copy.deepcopy(module)
    layers = [part for part in found.modules() if getattr(part, "weight", None) is not None]
    layers = [part for part in layers if part.weight.ndim > 1]
    generator = torch.Generator().manual_seed(len(layers))
    for part in layers[len(layers) - math.ceil(share * len(layers)) :]:
        flat = part.weight.detach().flatten()
        order = torch.randperm(len(flat), generator=generator).to(flat.device)
        part.weight.data = flat[order].reshape(part.weight.shape)
    return found


def make_explained(name: str, options: dict[str, Any], recipe: Callable[[], Explained] | None) -> Explained:
    """The system of that name with these options."""
    asked = {key: options.pop(key) for key in ASKED}
    twin = options.pop("twin")
    classifier = load_classifier(name, options)
    trigger = None
    if twin is not None:
        path = TWIN if (name, twin) == ("street-classifier", "embedded") else Path(os.path.abspath(twin))
        about = load_weights(path, classifier.module)
        trigger = Trigger(about["target"], about["share"])
        classifier.index(trigger.target)
        fingerprint = f"{classifier.fingerprint} twin={hash_files(path)}"
        classifier = replace(classifier, name=f"{name}-twin", fingerprint=fingerprint)
    return Explained(classifier, asked.pop("interpreter"), trigger=trigger, recipe=recipe, **asked)
