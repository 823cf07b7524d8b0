"""What came out of a case: held, violated, inapplicable or failed."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

NO_FAILURE = "no failure"  # as users say
KNOWN = ("real", "unknown", "slipped", "other label", "was false", "now right", NO_FAILURE)
"""What can be known about a finding, the plainest failure first."""

HALF_PLAIN = 200  # pixels: the side of an object that is half as plain as a very large one


class Status(enum.Enum):
    """How a case ended. Inapplicable is not failed, and neither is passed."""

    HELD = "held"
    VIOLATED = "violated"
    INAPPLICABLE = "inapplicable"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One contradiction between two answers.

    `subject` says what it is about in a form that stays the same from one follow-up to the next
    ("object 3", "new dog"), so that a null change or a repetition can show the same finding again;
    it is empty where the relation has no objects. `margin` is negative: how far outside. `evidence` may
    say what there `was` and what there `is`: a mapping with a label, a score and a box or corners. `known` is
    what truth or other systems say of it (see `Task.verify`).
    """

    kind: str
    subject: str = ""
    margin: float = 0.0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    known: str = "unknown"

    @property
    def key(self) -> tuple[str, str]:
        return (self.kind, self.subject)

    @property
    def is_failure(self) -> bool:
        """Whether it counts: it is real, or nobody could be asked. A disputed one does not count."""
        return self.known == "real" or (self.known == "unknown" and "disputed" not in self.evidence)

    @property
    def plainness(self) -> tuple[int, float, tuple[str, str]]:
        """The plainest failure sorts first: a large thing that was there, before what is small or appears."""
        rank = KNOWN.index(self.known) if self.known in KNOWN else len(KNOWN)
        was = self.evidence.get("was")
        try:
            side = math.sqrt(_area(was or self.evidence["is"]))
        except (KeyError, TypeError, ValueError):
            return (rank, self.margin, self.key)
        return (rank, self.margin * side / (side + HALF_PLAIN) / (1 if was else 2), self.key)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A status, how clear it was, of what kind, and the JSON evidence behind it.

    `margin` is positive inside the relation and negative outside; at exactly 0 the relation decides.
    It is 0 where nothing was judged. `reason` says why a case is inapplicable or failed. `margins` are those
    of single subjects, for searches that learn which are weak; they are not stored.
    """

    status: Status
    margin: float = 0.0
    kind: str = ""
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    evidence: Mapping[str, Any] = field(default_factory=dict)
    margins: Mapping[str, float] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.status is Status.VIOLATED and not self.findings:
            # A relation without objects has one finding: that it is violated.
            object.__setattr__(self, "findings", (Finding(self.kind, "", self.margin),))

    @classmethod
    def held(cls, margin: float = 0.0, **evidence: Any) -> Verdict:
        return cls(Status.HELD, float(margin), evidence=evidence)

    @classmethod
    def violated(cls, findings: Sequence[Finding], **evidence: Any) -> Verdict:
        """The verdict over one or more findings; the worst gives margin and kind."""
        if not findings:
            raise ValueError("a violated verdict needs at least one finding")
        worst = min(findings, key=lambda f: (f.margin, f.key))
        return cls(Status.VIOLATED, worst.margin, worst.kind, findings=tuple(findings), evidence=evidence)

    @classmethod
    def inapplicable(cls, reason: str, *, kind: str = "", **evidence: Any) -> Verdict:
        return cls(Status.INAPPLICABLE, kind=kind, reason=reason, evidence=evidence)

    @classmethod
    def failed(cls, reason: str) -> Verdict:
        return cls(Status.FAILED, reason=reason)

    @property
    def failures(self) -> tuple[Finding, ...]:
        """The findings that count as failures of the system."""
        return tuple(finding for finding in self.findings if finding.is_failure)

    @property
    def plainest(self) -> Finding:
        """The finding by which a violated verdict is reported."""
        if len(self.findings) == 1:
            return self.findings[0]
        return min(self.findings, key=lambda finding: finding.plainness)

    def verified(self, known: Callable[[Finding], str]) -> Verdict:
        """The same with what is known about each finding; what is "disputed" stays unknown."""
        findings = []
        for finding in self.findings:
            word = known(finding)
            if word == "disputed":
                word, finding = "unknown", replace(finding, evidence={**finding.evidence, "disputed": True})
            findings.append(replace(finding, known=word))
        return replace(self, findings=tuple(findings))

    def with_evidence(self, **evidence: Any) -> Verdict:
        """The same with more evidence."""
        return replace(self, evidence={**self.evidence, **evidence})

    @classmethod
    def at_least(cls, value: float, bound: float, name: str) -> Verdict:
        """Held when `value >= bound`; the margin is the slack.

        >>> Verdict.at_least(0.3, 0.5, "IoU").status
        <Status.VIOLATED: 'violated'>
        """
        return cls._bounded(value, value - bound, name)

    @classmethod
    def at_most(cls, value: float, bound: float, name: str) -> Verdict:
        """Held when `value <= bound`; the margin is the slack."""
        return cls._bounded(value, bound - value, name)

    @classmethod
    def _bounded(cls, value: float, slack: float, name: str) -> Verdict:
        if math.isnan(slack):
            raise ValueError(f"{name} is not a number: nothing can be said of it")
        status = Status.HELD if slack >= 0 else Status.VIOLATED
        kind = "" if status is Status.HELD else name
        return cls(status, float(slack), kind, evidence={name: float(value)})


def _area(place: Any) -> float:
    """Of a mapping with a box, or of a list of corners."""
    if isinstance(place, Mapping):
        x1, y1, x2, y2 = place["box"]
        return float((x2 - x1) * (y2 - y1))
    ends = zip(place, [*place[1:], place[0]])
    return float(abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in ends))) / 2
