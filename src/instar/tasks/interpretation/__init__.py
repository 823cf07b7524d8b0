"""Interpretation: can the explanation of a classifier be trusted?"""

from instar.tasks.interpretation.answers import Asked, Classes, Explanation, SeenClasses
from instar.tasks.interpretation.relations import delete, delete_same, insert, squeeze, truth
from instar.tasks.interpretation.searches import distinct

__all__ = [
    "Asked",
    "Classes",
    "Explanation",
    "SeenClasses",
    "delete",
    "delete_same",
    "distinct",
    "insert",
    "squeeze",
    "truth",
]
