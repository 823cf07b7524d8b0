"""The relations of explanations."""

from instar.tasks.interpretation.relations.moves import mirrored, shifted, zoomed
from instar.tasks.interpretation.relations.paper import delete, delete_same, insert, squeeze, truth
from instar.tasks.interpretation.relations.reactions import another_class, another_picture, random_weights

__all__ = [
    "another_class",
    "another_picture",
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
