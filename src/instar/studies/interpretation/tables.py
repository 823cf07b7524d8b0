"""Tables 1 to 3 of the interpreters' paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from instar.studies.interpretation.measure import CHANGES, STUDIED, InterpreterMeasures
from instar.studies.output import Table, format_share
from instar.tasks.interpretation.compare import CUTS, THETA

__all__ = ["make_tables"]


def make_tables(
    normal: Sequence[InterpreterMeasures], twins: Sequence[InterpreterMeasures], classifier: str
) -> list[Table]:
    """Table 1: errors of each interpreter; Table 2: what IoMin cannot see; Table 3: errors on the twin."""
    made = [
        Table(
            "errors",
            f"Table 1. Errors on {classifier}: IoMin below {THETA:g}, with 95 % intervals over scenes",
            _errors(normal),
            "originals: against the truth boxes; the rest: against the explanation before the change. "
            "nothing: under changes that must do nothing, or other lots. believed: errors of changes that "
            "null changes do not show and that recur. Seconds are of the processor.",
        ),
        Table(
            "quality",
            f"Table 2. What IoMin does not see, on {classifier}",
            _quality(normal),
            "covered: share of the picture inside the box; hit: the hottest pixel is on an object; "
            "the last three: errors on originals with the map cut at that share of its maximum.",
        ),
    ]
    if twins:
        made.append(
            Table(
                "backdoor",
                f"Table 3. Errors on the twin of {classifier}: the square is the truth, of stamped pictures",
                _errors(twins),
                "originals: explanations that do not point at the square.",
            )
        )
    return made


def _errors(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "originals", *CHANGES, "nothing", "believed", "s per 10 maps"]]
    for one in measured:
        believed = str(sum(one.relations[name].believed for name in CHANGES))
        seconds = "-" if np.isnan(one.seconds) else f"{one.seconds:.2f}"
        errors = [str(one.relations[name]) for name in STUDIED]
        rows.append([one.interpreter, *errors, str(one.null), believed, seconds])
    return rows


def _quality(measured: Sequence[InterpreterMeasures]) -> list[list[str]]:
    rows = [["interpreter", "maps", "covered", "IoU", "hit", *(f"cut {cut:g}" for cut in CUTS)]]
    for one in measured:
        wrong = [[float(value < THETA) for value in one.cuts.get(f"{cut:g}", [])] for cut in CUTS]
        shares = (one.covered, [float(hit) for hit in one.hits], *wrong)
        covered, hit, *errors = (format_share(sum(values), len(values)) for values in shares)
        overlap = f"{np.mean(one.overlaps) if one.overlaps else np.nan:.2f}"
        rows.append([one.interpreter, str(len(one.hits)), covered, overlap, hit, *errors])
    return rows
