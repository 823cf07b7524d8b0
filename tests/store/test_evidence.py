"""Evidence in a form that nobody can read is passed over, and everything else is kept."""

import pytest

from instar.store.evidence import readable_evidence

THING = {"label": "dog", "score": 0.5, "box": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("was", THING),
        ("is", {"corners": [[1, 2], [3, 4]]}),
        ("was", [[1, 2], [3, 4], [5, 6], [7, 8]]),
        ("was", 41.5),
        ("cause", {"what": "new box", "label": ""}),
        ("places", [[1, 2, 3, 4]]),
        ("placebo", {"recurs": [["lost", "object 1"]]}),
        ("struck", [{"kind": "lost", "subject": "object 1", "why": "unstable"}]),
        ("level", 0.5),
        ("mine", float("nan")),
    ],
)
def test_what_can_be_read_is_kept(key: str, value: object) -> None:
    assert readable_evidence({key: value}) == {key: value}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("was", THING | {"score": "high"}),
        ("was", THING | {"box": [1, 2, 3]}),
        ("is", THING | {"box": [1, 2, 3, float("nan")]}),
        ("is", THING | {"box": [1, 2, 3, 10**400]}),
        ("was", [1, "a"]),
        ("cause", "the box"),
        ("cause", {"what": 3}),
        ("among", 3),
        ("places", [[1, 2]]),
        ("placebo", {}),
        ("struck", [{"kind": "lost"}]),
        ("level", "high"),
        ("harm", []),
    ],
)
def test_what_cannot_be_read_is_passed_over(key: str, value: object) -> None:
    assert readable_evidence({key: value, "mine": 3}) == {"mine": 3}
