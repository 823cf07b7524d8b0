"""The rules of the paper's experiments, in its own words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from instar.tasks.driving.distortion import KINDS
from instar.tasks.driving.rules import open_language, read_rule
from instar.user_file import load_resource

AFFINE = {f"DeepTest: {kind}": kind for kind in KINDS}
"""DeepTest's changes of the whole picture, which the paper's tables have not, by the names in ours."""


@dataclass(frozen=True, slots=True)
class StudyRule:
    """A rule of the paper, as `rules.toml` explains."""

    name: str
    text: str
    quantity: str
    part: str
    short: str = ""
    engines: str | None = None

    @property
    def label(self) -> str:
        """Its name and what changes."""
        return f"{self.name}: {self.short}" if self.short else self.name


STUDY = tuple(StudyRule(**fields) for fields in load_resource("instar.studies.driving", "rules.toml")["rule"])


def own_rules(texts: Sequence[str], ontology: str | None) -> tuple[StudyRule, ...]:
    """Rules of the user's own, under the names "own 1", "own 2"; each is read before anything is asked."""
    language = open_language(ontology)
    read = [(text, read_rule(text, language=language)) for text in texts]
    return tuple(
        StudyRule(f"own {number}", text, meaning.blocks[0].expectation.quantity, "own")
        for number, (text, meaning) in enumerate(read, start=1)
    )


def rules_for(quantities: set[str], *, drawn: bool) -> tuple[StudyRule, ...]:
    """Those that speak of what a system says. The usual rain is photometric where pictures are not drawn.

    >>> [rule.name for rule in rules_for({"steering"}, drawn=False)]
    ['Rule 5', 'Rule 6', 'CR 2', 'rain', 'rain (DeepTest)']
    """
    return tuple(
        rule for rule in STUDY if rule.quantity in quantities and (drawn or rule.engines != "pasted")
    )
