"""From the answers of several raters to what they say, per relation and question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.verdict import Status
from instar.ratings.page import POINTS, QUESTIONS
from instar.stats.agreement import krippendorff_alpha
from instar.user_file import read_json


@dataclass(frozen=True, slots=True)
class Rated:
    """One rating sheet: who, for each case the points to each question, and the file that it came in."""

    rater: str
    points: Mapping[str, Mapping[str, int]]
    source: str = ""

    @property
    def complete(self) -> int:
        """How many cases have all their points."""
        return sum(len(points) == len(QUESTIONS) for points in self.points.values())


@dataclass(frozen=True, slots=True)
class BoxStatistics:
    """What a box plot shows: some ratings of one question, those of one relation and verdict."""

    relation: str
    verdict: str
    question: str
    values: tuple[int, ...]

    @property
    def quartiles(self) -> tuple[float, float, float, float, float]:
        """Least, lower quartile, median, upper quartile, most."""
        least, lower, middle, upper, most = np.quantile(self.values, [0, 0.25, 0.5, 0.75, 1]).tolist()
        return least, lower, middle, upper, most

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))


@dataclass(frozen=True, slots=True)
class Ratings:
    """All of it. `alpha` is Krippendorff's, ordinal, by question; NaN with a single rater.

    `raters` have, by name, how many cases they rated completely.
    """

    raters: Mapping[str, int]
    cases: int
    boxes: tuple[BoxStatistics, ...]
    alpha: Mapping[str, float]


def read_ratings(path: Path) -> Rated:
    """A file that the page saved."""
    document = read_json(path)
    if not isinstance(document, dict) or document.get("ratings") != 1:
        raise BadInput(
            f"{path} is no file of ratings; it must be one that the page of `ratings export` saved"
        )
    answers = document.get("answers")
    if not isinstance(answers, list) or not all(isinstance(a, dict) and "case" in a for a in answers):
        raise BadInput(f"{path} is no file of ratings: its answers are not a list of cases")
    points = {
        str(answer["case"]): {
            question: _point(path, answer, question)
            for question in QUESTIONS
            if answer.get(question) is not None
        }
        for answer in answers
    }
    # What was not reached is not rated; a file of nothing would count as a rater.
    rated = {case: given for case, given in points.items() if given}
    if not rated:
        raise BadInput(f"{path} has no ratings yet; leave it out")
    return Rated(str(document.get("rater") or path.stem), rated, str(path))


def summarise_ratings(sheets: Sequence[Rated], records: Mapping[str, Record]) -> Ratings:
    """Join the sheets with the run: what was rated, and what the run had found there."""
    names = [sheet.rater for sheet in sheets]
    for name in names:
        if names.count(name) > 1:
            both = " and ".join(sheet.source for sheet in sheets if sheet.rater == name)
            raise BadInput(f"two files are by {name!r} ({both}); every rater counts once, so leave one out")
    for sheet in sheets:
        for case in sheet.points:
            if case not in records:
                raise BadInput(
                    f"{sheet.source} rates case {case}, which is not in this run; give the run of its page"
                )
    cases = sorted({case for sheet in sheets for case in sheet.points})
    boxes = []
    relations = sorted({records[case].relation for case in cases})
    for relation in (*relations, "all"):
        for verdict, status in (("passed", Status.HELD), ("violated", Status.VIOLATED)):
            for question in QUESTIONS:
                values = tuple(
                    sheet.points[case][question]
                    for sheet in sheets
                    for case in cases
                    if (relation in ("all", records[case].relation))
                    and records[case].verdict.status is status
                    and question in sheet.points.get(case, {})
                )
                if values:
                    boxes.append(BoxStatistics(relation, verdict, question, values))
    alpha = {question: krippendorff_alpha(_table(sheets, cases, question)) for question in QUESTIONS}
    return Ratings({sheet.rater: sheet.complete for sheet in sheets}, len(cases), tuple(boxes), alpha)


def _table(sheets: Sequence[Rated], cases: Sequence[str], question: str) -> list[list[float]]:
    return [
        [float(sheet.points.get(case, {}).get(question, float("nan"))) for case in cases] for sheet in sheets
    ]


def _point(path: Path, answer: Mapping[str, Any], question: str) -> int:
    value = answer[question]
    if isinstance(value, bool) or not (isinstance(value, int) and 1 <= value <= POINTS):
        raise BadInput(
            f"{path}, case {answer.get('case')}: {question} is {value!r}; it must be 1 to {POINTS}"
        )
    return value
