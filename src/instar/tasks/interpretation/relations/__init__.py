"""The relations of explanations."""

from instar.tasks.interpretation.relations.covering import covered
from instar.tasks.interpretation.relations.moves import mirrored, shifted, zoomed
from instar.tasks.interpretation.relations.paper import delete, delete_same, insert, squeeze, truth
from instar.tasks.interpretation.relations.reactions import another_class, another_picture, random_weights

__all__ = [
    "another_class",
    "another_picture",
    "covered",
    "delete",
    "delete_same",
    "insert",
    "mirrored",
    "random_weights",
    "shifted",
    "squeeze",
    "truth",
    "zoomed",
]
