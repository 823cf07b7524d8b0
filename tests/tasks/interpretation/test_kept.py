"""What is kept about a source changes no record, whatever is remembered and in whatever order things come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import instar
from instar.core.picture_cache import PictureCache
from instar.imaging.by_identity import by_identity
from instar.store.rows import row_from_record
from instar.tasks.interpretation.answers import Asked, Explanation
from instar.tasks.interpretation.searches import distinct
from instar.worlds import street


def test_results_are_found_by_identity_and_value() -> None:
    asked: list[tuple[Any, int]] = []

    @by_identity(2)
    def total(array: Any, power: int) -> int:
        asked.append((array, power))
        return int((array**power).sum())

    one, same = np.array([1, 2]), np.array([1, 2])
    assert [total(one, 2), total(one, 2), total(same, 2), total(one, 3)] == [5, 5, 5, 9]
    assert len(asked) == 3
    assert total(same, 3) == 9  # by now the first is forgotten
    assert total(one, 2) == 5
    assert len(asked) == 5


def test_results_of_few_objects_may_be_many() -> None:
    asked: list[int] = []

    @by_identity(1, each=2)
    def total(array: Any, power: int) -> int:
        asked.append(power)
        return int((array**power).sum())

    one, other = np.array([1, 2]), np.array([1, 3])
    assert [total(one, 2), total(one, 3), total(one, 2), total(one, 4), total(one, 3)] == [5, 9, 5, 17, 9]
    assert asked == [2, 3, 4, 3]  # 3 was looked at least recently when 4 came
    assert [total(other, 2), total(one, 4)] == [10, 17]
    assert asked == [2, 3, 4, 3, 2, 4]


class Looking:
    """Explains by what is bright, so that maps differ between pictures."""

    name = fingerprint = "looking"

    def predict(self, questions: list[Any]) -> list[Any]:
        return [self._answer(one) for one in questions]

    def _answer(self, one: Any) -> Any:
        if not isinstance(one, Asked):
            return {"car": 0.9, "person": 0.8}
        map_ = one.image[::40, ::40].astype(np.float32).mean(2)
        return Explanation(0.9, (map_ - map_.min()) / max(1e-6, float(np.ptp(map_))))


@pytest.mark.parametrize("relation", ["insert", "delete", "squeeze"])
def test_records_are_those_of_nothing_kept(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def records() -> list[Any]:
        scenes = street.scenes(3, size=(240, 320))
        found = instar.run(scenes, f"interpretation.{relation}", Looking(), search=distinct(n=4), workers=2)
        return sorted(repr(row_from_record(record)) for record in found)

    kept = records()
    # Nothing is kept of any result from here on; pictures of scenes go through the same class.
    monkeypatch.setattr(PictureCache, "get", lambda self, key, make: make())
    assert records() == kept
    assert len(kept) > 6
