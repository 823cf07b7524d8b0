"""Cases counted as all studies count them: what was judged and what failed, by scene."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from instar.core.record import Record
from instar.core.verdict import Status
from instar.stats import clustered_rate

__all__ = ["CaseCounts"]


@dataclass(eq=False)
class CaseCounts:
    """Cases `by_scene`, those of them that `failed_by_scene`, and those that could not be judged.

    `unstable` cases show what null changes show too, or what does not recur; `kinds` are those of violations.
    """

    by_scene: Counter[str] = field(default_factory=Counter)
    failed_by_scene: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    unstable: int = 0
    inapplicable: int = 0
    failed: int = 0

    @property
    def judged(self) -> int:
        return self.by_scene.total()

    @property
    def violated(self) -> int:
        return self.failed_by_scene.total()

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % for the violated share, over scenes; None where nothing was judged."""
        if not self.judged:
            return None
        scenes = sorted(self.by_scene)
        violated = [self.failed_by_scene[scene] for scene in scenes]
        return clustered_rate(violated, [self.by_scene[scene] for scene in scenes])

    def judge(self, scene: str, *, violated: bool) -> None:
        """Count one case that was judged."""
        self.by_scene[scene] += 1
        self.failed_by_scene[scene] += violated

    def add(self, record: Record) -> None:
        """Count one case, whatever came of it."""
        status, kind = record.verdict.status, record.verdict.kind
        if status in (Status.HELD, Status.VIOLATED):
            self.judge(record.scene, violated=status is Status.VIOLATED)
        if status is Status.VIOLATED:
            self.kinds[kind] += 1
        self.unstable += kind == "unstable"
        self.failed += status is Status.FAILED
        self.inapplicable += status is Status.INAPPLICABLE and kind != "unstable"
