"""Interpretation: can the explanation of a classifier be trusted?"""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.tasks.interpretation.answers import Asked, Explanation
    from instar.tasks.interpretation.relations import delete, delete_same, insert, squeeze, truth
    from instar.tasks.interpretation.searches import distinct

__all__ = ["Asked", "Explanation", "delete", "delete_same", "distinct", "insert", "squeeze", "truth"]

_HOMES = {
    "Asked": "answers",
    "Explanation": "answers",
    "delete": "relations",
    "delete_same": "relations",
    "distinct": "searches",
    "insert": "relations",
    "squeeze": "relations",
    "truth": "relations",
}
__getattr__ = lazy_names(__name__, _HOMES)
