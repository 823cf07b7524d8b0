"""Interpretation: can the explanation of a classifier be trusted?"""

from instar.tasks.interpretation.answers import Asked, Classes, Explanation, SeenClasses
from instar.tasks.interpretation.relations import (
    another_class,
    another_picture,
    covered,
    delete,
    delete_same,
    insert,
    mirrored,
    random_weights,
    shifted,
    squeeze,
    truth,
    zoomed,
)
from instar.tasks.interpretation.searches import distinct

__all__ = [
    "Asked",
    "Classes",
    "Explanation",
    "SeenClasses",
    "another_class",
    "another_picture",
    "covered",
    "delete",
    "delete_same",
    "distinct",
    "insert",
    "mirrored",
    "random_weights",
    "shifted",
    "squeeze",
    "truth",
    "zoomed",
]
