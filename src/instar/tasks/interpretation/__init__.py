"""Interpretation: can the explanation of a classifier be trusted?"""

from typing import TYPE_CHECKING

from instar.core.lazy import lazy_names

if TYPE_CHECKING:
    from instar.tasks.interpretation.answers import Asked, Classes, Explanation, SeenClasses
    from instar.tasks.interpretation.relations.cover import covered
    from instar.tasks.interpretation.relations.moves import mirrored, padded, shifted, zoomed
    from instar.tasks.interpretation.relations.paper import delete, delete_same, insert, squeeze, truth
    from instar.tasks.interpretation.relations.reactions import another_class, another_picture, random_weights
    from instar.tasks.interpretation.searches import distinct

__all__ = [
    "Asked", "Classes", "Explanation", "SeenClasses", "another_class", "another_picture", "covered", "delete",
    "delete_same", "distinct", "insert", "mirrored", "padded", "random_weights", "shifted", "squeeze",
    "truth", "zoomed",
]  # fmt: skip

_HOMES = {
    **dict.fromkeys(("Asked", "Classes", "Explanation", "SeenClasses"), "answers"),
    **dict.fromkeys(("mirrored", "padded", "shifted", "zoomed"), "relations.moves"),
    **dict.fromkeys(("delete", "delete_same", "insert", "squeeze", "truth"), "relations.paper"),
    **dict.fromkeys(("another_class", "another_picture", "random_weights"), "relations.reactions"),
    "covered": "relations.cover",
    "distinct": "searches",
}
__getattr__ = lazy_names(__name__, _HOMES)
