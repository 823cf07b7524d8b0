"""Classification as a task: labels with scores; the label that the classifier is sure of must stay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from instar.core.answer_values import numbers, plain_list, require_in_unit, short
from instar.core.marks import Panel
from instar.core.options import require_fraction
from instar.core.scene import Image, Observation
from instar.core.task import Task
from instar.core.verdict import Finding, Verdict
from instar.imaging.nulls import USUAL_NULLS


@dataclass(frozen=True, eq=False)
class Labels:
    """`scores` `float32 (n,)` in [0, 1], best first; from `confidence` on the classifier counts as sure."""

    labels: tuple[str, ...]
    scores: npt.NDArray[np.float32]
    confidence: float = 0.5

    def __post_init__(self) -> None:
        if self.scores.shape != (len(self.labels),):
            raise ValueError(f"there are {len(self.labels)} labels for scores of shape {self.scores.shape}")
        require_in_unit("score", self.scores)
        require_in_unit("confidence", numbers("confidence", [self.confidence]))
        order = np.argsort(-self.scores, kind="stable")
        object.__setattr__(self, "labels", tuple([str(self.labels[i]) for i in order.tolist()]))
        object.__setattr__(self, "scores", self.scores[order])

    @property
    def best(self) -> dict[str, Any]:
        """The first label and its score; without any it is sure of nothing."""
        label = self.labels[0] if self.labels else "nothing"
        return {"label": label, "score": self.score_of(label)}

    def score_of(self, label: str) -> float:
        return round(float(self.scores[self.labels.index(label)]), 4) if label in self.labels else 0.0


def read(image: Image, answer: Any) -> Labels:
    """Takes {label: score}, {"labels", "scores", "confidence"}, [(label, score)], [{"label", "score"}], the
    label alone, or an array with the score of each class. `names` beside them are those of numbered labels.
    """
    if isinstance(answer, Labels):
        return answer
    if isinstance(answer, (str, int, np.integer)) and not isinstance(answer, bool):
        return Labels((str(answer),), np.ones(1, np.float32))
    if isinstance(answer, np.ndarray) and answer.ndim == 1 and len(answer) > 1:
        return Labels(tuple(f"class {i}" for i in range(len(answer))), numbers("scores", answer))
    if isinstance(answer, Mapping) and "objects" in answer and "names" in answer:
        return _named(read(image, answer["objects"]), answer["names"])
    if isinstance(answer, Mapping) and {"labels", "scores"} <= answer.keys():
        labels = tuple(plain_list("labels", answer["labels"], "names"))
        found = Labels(labels, numbers("scores", answer["scores"]), answer.get("confidence", 0.5))
        return _named(found, answer.get("names"))
    pairs = list(answer.items()) if isinstance(answer, Mapping) else plain_list("the answer", answer, "pairs")
    try:
        pairs = [(one["label"], one["score"]) if isinstance(one, Mapping) else one for one in pairs]
        return Labels(tuple(label for label, _ in pairs), numbers("scores", [score for _, score in pairs]))
    except (LookupError, TypeError, ValueError) as error:
        raise TypeError(f"the answer is {short(answer)}; give labels with scores ({error})") from None


def _named(found: Labels, names: Any) -> Labels:
    """With the names of labels that are numbers; a label that is none keeps its own."""
    if not isinstance(names, (list, tuple)):
        return found
    known = {str(number): str(name) for number, name in enumerate(names)}
    labels = tuple(known.get(label.removeprefix("class "), label) for label in found.labels)
    return Labels(labels, found.scores, found.confidence)


def classification(*, hysteresis: float = 0.1) -> Task:
    """The task; a label that was sure is gone only when it scores `hysteresis` less than the confidence."""
    require_fraction("classification", "hysteresis", hysteresis)

    def compare(before: Observation, after: Observation) -> Verdict:
        was, now, sure = before.answer.best, after.answer.best, before.answer.confidence
        if was["score"] < sure:
            return Verdict.inapplicable("the classifier is not sure")
        left = after.answer.score_of(was["label"])
        if left >= sure - hysteresis:
            return Verdict.held(left - sure + hysteresis)
        renamed = now["score"] >= sure
        margin = -min(was["score"], now["score"]) if renamed else left - was["score"]
        finding = Finding("renamed" if renamed else "lost", "label", margin, {"was": was, "is": now})
        return Verdict.violated([finding])

    return Task("classification", read, compare, marks, nulls=USUAL_NULLS)


def marks(seen: Observation) -> Panel:
    """The picture, and in words what it is taken for."""
    return Panel("{label} {score:.2f}".format(**seen.answer.best), seen.input)


TASK = classification()
