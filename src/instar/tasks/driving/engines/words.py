"""Every word of a condition is carried out, or the case is inapplicable with that word as the reason."""

from __future__ import annotations

from collections.abc import Collection

from instar.core.change import Inapplicable
from instar.tasks.driving.rules.model import Condition

SIZE_FACTORS = {"large": 1.3, "small": 0.75}
"""How many times the usual size a thing is that the sentence calls large or small."""


def unshown(
    condition: Condition,
    *,
    own: Collection[str] = (),
    new: Collection[str] = (),
    reference: Collection[str] = (),
    distance: bool = False,
) -> Inapplicable | None:
    """The first word for which an engine has no means, if there is one.

    `own`, `new` and `reference` are the properties that it can show or find: of the thing, of what takes its
    place, and of what it stands by.
    """
    described = [(condition.properties, own), (condition.reference_properties, reference)]
    if condition.new is not None:
        described.append((condition.new.properties, new))
    for properties, known in described:
        for name, value in properties.items():
            if name not in known:
                return Inapplicable(f"nothing here can show {value!r}")
    if condition.distance is not None and not distance:
        return Inapplicable("how many metres away anything is, the picture does not tell")
    return None


def not_there(condition: Condition) -> Inapplicable:
    """The refusal of a place that an engine cannot find or fill, in the words of the sentence."""
    side = " ".join(condition.reference_properties.values())
    where = " ".join(filter(None, (condition.position or "from", "the", side, condition.reference)))
    return Inapplicable(f"nothing here can tell {where!r}")
