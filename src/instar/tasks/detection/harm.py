"""How bad a finding is, by the class of its object: a lost person is not a lost vase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.verdict import Finding, Verdict
from instar.user_file import read_user_file

USUAL_TABLE = Path(__file__).with_name("harm.toml")


@dataclass(frozen=True, slots=True)
class HarmTable:
    """Levels from the worst down, and the level of each class."""

    levels: tuple[str, ...]
    classes: Mapping[str, str]
    default: str

    def level_of(self, finding: Finding) -> str | None:
        """The worse of what an object was and what it is now taken for; None where no object is named."""
        told = (finding.evidence.get("was"), finding.evidence.get("is"))
        labels = [str(one["label"]) for one in told if one]
        if finding.subject.startswith("class "):
            labels.append(finding.subject.removeprefix("class "))
        levels = [self.classes.get(label, self.default) for label in labels]
        return min(levels, key=self.levels.index, default=None)


def load_harm(path: Path | str | None = None) -> HarmTable:
    """The table in a TOML file; without one, instar's own."""
    return read_user_file(Path(path) if path is not None else USUAL_TABLE, "table of harms", _harm_table)


def _harm_table(content: Mapping[str, Any]) -> HarmTable:
    levels, classes = content.get("levels"), content.get("classes", {})
    default = content.get("default")
    if not (isinstance(levels, list) and levels and all(isinstance(level, str) for level in levels)):
        raise BadInput(f"levels is {levels!r}; it must be a list of names, the worst first")
    for label, level in [*classes.items(), ("default", default)]:
        if level not in levels:
            raise BadInput(f"{label} is {level!r}; it is one of {', '.join(levels)}")
    return HarmTable(tuple(levels), classes, str(default))


def with_harm(verdict: Verdict, table: HarmTable) -> Verdict:
    """The verdict with the harm of every finding in its evidence."""
    findings = []
    for finding in verdict.findings:
        level = table.level_of(finding)
        evidence = finding.evidence if level is None else {**finding.evidence, "harm": level}
        findings.append(replace(finding, evidence=evidence))
    return replace(verdict, findings=tuple(findings))
