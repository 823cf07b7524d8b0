"""The rules of the paper's experiments, in its own words."""

from __future__ import annotations

from dataclasses import dataclass

from instar.tasks.driving.distortion import KINDS

__all__ = ["AFFINE", "STUDY", "StudyRule", "rules_for"]

AFFINE = {f"DeepTest: {kind}": kind for kind in KINDS}
"""DeepTest's changes of the whole picture, which the paper's tables have not, by the names in ours."""


@dataclass(frozen=True, slots=True)
class StudyRule:
    """A rule under the name that the tables give it.

    `short` says in a few words what changes, for figures. `part` is the table that it belongs to.
    `engines` is a mapping that comes with instar, if not the usual.
    """

    name: str
    short: str
    text: str
    quantity: str
    part: str
    engines: str | None = None

    @property
    def label(self) -> str:
        """Its name and what changes."""
        return f"{self.name}: {self.short}" if self.short else self.name


_PERSON = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down"
_SIGN = "If: a speed limit sign appears on the roadside, Then: the ego-vehicle should slow down."
_NIGHT = "If: the driving time changes into night, Then: the ego-vehicle should slow down."
_STEADY = "Then: the steering angle of ego-vehicle should keep the same."
_RAIN = "If: the weather changes to a rainy day"
_MORE = "If: a pedestrian appears on the roadside, Then: the speed should decrease more."

STUDY: tuple[StudyRule, ...] = (
    StudyRule("Rule 1", "a pedestrian", f"{_PERSON}.", "speed", "rules"),
    StudyRule("Rule 2", "a speed limit sign", _SIGN, "speed", "rules"),
    StudyRule("Rule 3", "a pedestrian, 30 % slower", f"{_PERSON} at least 30%.", "speed", "rules"),
    StudyRule(
        "Rule 4",
        "a pedestrian, then closer",
        f"{_PERSON}. If: he gets closer to the ego-vehicle, Then: the speed should decrease more.",
        "speed",
        "rules",
    ),
    StudyRule(
        "Rule 5", "no lane lines", f"If: lane lines are removed from the road, {_STEADY}", "steering", "rules"
    ),
    StudyRule(
        "Rule 6",
        "trees for buildings",
        f"If: the buildings are replaced with trees, {_STEADY}",
        "steering",
        "rules",
    ),
    StudyRule("Rule 7", "night", _NIGHT, "speed", "rules"),
    StudyRule(
        "CR 1",
        "a sign, then closer",
        f"{_SIGN} If: it gets closer to the ego-vehicle, Then: the speed should decrease more.",
        "speed",
        "compound",
    ),
    StudyRule(
        "CR 2",
        "no lines, and trees",
        f"If: lane lines are removed from the road and the buildings are replaced with trees, {_STEADY}",
        "steering",
        "compound",
    ),
    StudyRule("CR 3", "night, then a pedestrian", f"{_NIGHT} {_MORE}", "speed", "compound"),
    StudyRule("rain", "", f"{_RAIN}, {_STEADY}", "steering", "rain"),
    StudyRule("rain (photometric)", "", f"{_RAIN}, {_STEADY}", "steering", "rain", "pasted"),
    StudyRule("rain (DeepTest)", "", f"{_RAIN}, {_STEADY}", "steering", "rain", "deeptest"),
    StudyRule("rain, slow down", "", f"{_RAIN}, Then: slow down.", "speed", "rain-person"),
    StudyRule("rain, then a person", "", f"{_RAIN}, Then: slow down. {_MORE}", "speed", "rain-person"),
    StudyRule(
        "rain, slow down (DeepTest)", "", f"{_RAIN}, Then: slow down.", "speed", "rain-person", "deeptest"
    ),
    StudyRule(
        "rain, then a person (DeepTest)",
        "",
        f"{_RAIN}, Then: slow down. {_MORE}",
        "speed",
        "rain-person",
        "deeptest",
    ),
)


def rules_for(quantities: set[str], *, drawn: bool) -> tuple[StudyRule, ...]:
    """Those that speak of what a system says. The usual rain is photometric where pictures are not drawn.

    >>> [rule.name for rule in rules_for({"steering"}, drawn=False)]
    ['Rule 5', 'Rule 6', 'CR 2', 'rain', 'rain (DeepTest)']
    """
    return tuple(
        rule for rule in STUDY if rule.quantity in quantities and (drawn or rule.engines != "pasted")
    )
