"""The human study on a run's pictures: which pair is next (questions and counting: `instar.ratings`)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from instar.ratings import Rated
from instar.ratings.page import QUESTIONS
from instar.workbench.columns import STATUSES, Columns
from instar.workbench.reviews import Rating

__all__ = ["next_case", "sample", "sheets_of"]

SAMPLE = 40


def sample(columns: Columns, n: int = SAMPLE) -> list[str]:
    """Cases to rate: half violated, half held, the same for every rater, in an order that tells nothing."""
    cases: list[bytes] = []
    for status in ("violated", "held"):
        ids = columns.case[(columns.status == STATUSES.index(status)) & ~columns.is_null]
        if len(ids):  # ids are hashes: evenly spaced ones are a random sample
            cases += ids[np.linspace(0, len(ids) - 1, min(len(ids), n // 2)).astype(int)].tolist()
    return sorted((case.decode() for case in cases), key=lambda case: hashlib.sha256(case.encode()).digest())


def next_case(cases: Sequence[str], ratings: Sequence[Rating], rater: str) -> tuple[str | None, int]:
    """The first case that a rater has not rated in full, and how many were."""
    done = defaultdict(set)
    for rating in ratings:
        if rating.rater == rater:
            done[rating.case].add(rating.question)
    left = [case for case in cases if done[case] < set(QUESTIONS)]
    return (left[0] if left else None), len(cases) - len(left)


def sheets_of(ratings: Sequence[Rating]) -> list[Rated]:
    """The ratings as one sheet for each rater."""
    sheets: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for rating in ratings:
        sheets[rating.rater][rating.case][rating.question] = rating.points
    return [Rated(rater, points) for rater, points in sorted(sheets.items())]
