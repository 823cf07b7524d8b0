"""Interpretation: can the explanation of a classifier be trusted?"""

from instar.tasks.interpretation.answers import Asked, Classes, Explanation, SeenClasses
from instar.tasks.interpretation.relations.cover import covered
from instar.tasks.interpretation.relations.moves import mirrored, shifted, zoomed
from instar.tasks.interpretation.relations.paper import delete, delete_same, insert, squeeze, truth
from instar.tasks.interpretation.relations.reactions import another_class, another_picture, random_weights
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
