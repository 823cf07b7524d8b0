from __future__ import annotations

from dataclasses import replace

from instar.campaigns.result import _who_judged
from instar.core.record import Totals

BEFORE = Totals(run="r", system="s", seed=0, scenes=1, queries=1, asked=1, seconds=1.0, referees={"a": ""})


def test_two_runs_with_other_referees_are_compared_with_a_remark() -> None:
    assert _who_judged(BEFORE, BEFORE) == ""
    unable = replace(BEFORE, referees={"a": "", "b": "needs an extra"})
    assert _who_judged(BEFORE, unable) == ""
    told = _who_judged(BEFORE, replace(BEFORE, referees={}))
    assert told == "failures were judged by a before, and by nobody now"
