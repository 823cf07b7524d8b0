"""Association rules: what is true together more often than chance, by the Apriori algorithm.

mlxtend has it too; it would bring pandas and scikit-learn along for the thirty lines below, whose results
the tests compare with its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from instar.stats.exact_values import exact_value

Rows = npt.NDArray[np.bool_]

LONGEST = 4  # facts of a set


@dataclass(frozen=True, slots=True)
class AssociationRule:
    """Where all of `given` is true, `then` is too in a share `confidence` of the rows.

    `support` is the share of rows where all of it is true, and `lift` how many times more often `then`
    is true there than anywhere.
    """

    given: tuple[str, ...]
    then: str
    support: float
    confidence: float
    lift: float


def frequent(facts: Mapping[str, Sequence[bool] | Rows], *, support: float) -> dict[tuple[str, ...], float]:
    """Sets of facts that are true together in at least that share of rows, with the share.

    A set can be frequent only if all sets without one of its members are, so larger ones are built from
    those alone.
    """
    rows = {name: np.asarray(values, np.bool_) for name, values in facts.items()}
    if not 0 < support <= 1:
        raise ValueError(f"frequent: support is {support}; it must be above 0 and at most 1")
    found: dict[tuple[str, ...], float] = {}
    together: dict[tuple[str, ...], Rows] = {(name,): values for name, values in sorted(rows.items())}
    for length in range(1, LONGEST + 1):
        together = {names: held for names, held in together.items() if held.mean() >= support}
        found |= {names: float(held.mean()) for names, held in together.items()}
        together = {
            (*names, other[-1]): held & together[other]
            for names, held in together.items()
            for other in together
            if names[:-1] == other[:-1] and names[-1] < other[-1]
            if all(part in found for part in combinations((*names, other[-1]), length))
        }
    return found


def apriori(
    facts: Mapping[str, Sequence[bool] | Rows], *, support: float, confidence: float
) -> list[AssociationRule]:
    """The rules with a single consequence that hold often enough, most confident first.

    >>> rules = apriori({"dark": [1, 1, 1, 0], "blurred": [1, 1, 1, 1]}, support=0.5, confidence=0.9)
    >>> [(rule.given, rule.then, rule.support, rule.confidence, rule.lift) for rule in rules]
    [(('dark',), 'blurred', 0.75, 1.0, 1.0)]
    """
    shares = frequent(facts, support=support)
    rules = []
    for names, share in shares.items():
        for then in names if len(names) > 1 else ():
            given = tuple(name for name in names if name != then)
            certain = exact_value(share) / exact_value(shares[given])
            if certain >= exact_value(confidence):
                lift = certain / exact_value(shares[(then,)])  # just 1 where neither tells of the other
                rules.append(AssociationRule(given, then, share, float(certain), float(lift)))
    return sorted(rules, key=lambda rule: (-rule.confidence, -rule.support, rule.given, rule.then))
