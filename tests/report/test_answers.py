from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from instar.core.verdict import Finding, Verdict
from instar.report.answers import answer_text, answer_to_json, verdict_text, verdict_to_json
from instar.tasks.detection.answers import Detections

TWO = Detections(np.float32([[0, 0, 9, 5.25], [2, 2, 4, 4]]), ("dog", "cat"), np.float32([0.875, 0.125]))


@dataclass
class Heat:
    confidence: np.float32
    map: np.ndarray


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (41.5, 41.5),
        (float("nan"), None),
        (np.float32(0.5), 0.5),
        ((1, [2.0, "a"]), [1, [2.0, "a"]]),
        ({"speed": np.int64(3)}, {"speed": 3}),
        (Heat(np.float32(0.5), np.zeros((2, 1))), {"confidence": 0.5, "map": [[0.0], [0.0]]}),
        (np.zeros((200, 200), np.float32), "float32 (200, 200)"),
        (3 + 1j, "(3+1j)"),
    ],
)
def test_an_answer_becomes_json(answer: Any, expected: Any) -> None:
    assert answer_to_json(answer) == expected
    json.dumps(answer_to_json(answer), allow_nan=False)


def test_lists_of_one_length_are_shown_as_a_table() -> None:
    assert answer_text(TWO) == (
        "confidence: 0.5\nboxes       labels  scores\n0 0 9 5.25  dog     0.875\n2 2 4 4     cat     0.125"
    )


def test_of_a_long_table_the_first_rows_are_told() -> None:
    assert answer_text(TWO, most=1).endswith("0.875\nand 1 more, all of them with --json")
    assert answer_text(TWO, most=2) == answer_text(TWO)


def test_a_bare_answer_is_shown_as_it_is() -> None:
    assert answer_text(41.5) == "41.5"


def test_a_verdict_is_told_with_its_findings_or_its_reason() -> None:
    violated = Verdict.violated([Finding("lost", "object 1", -0.25)])
    assert verdict_text(violated) == "violated by 0.250 (object 1 is lost)"
    assert verdict_text(Verdict.inapplicable("no free place")) == "inapplicable: no free place"
    assert verdict_text(Verdict.held()) == "held"
    assert verdict_to_json(violated) == {
        "status": "violated",
        "kind": "lost",
        "margin": -0.25,
        "reason": "",
        "findings": [{"kind": "lost", "subject": "object 1", "margin": -0.25}],
    }
