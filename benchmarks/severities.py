"""From which severity on do photographs break, under each change of the whole picture?

.venv/bin/python benchmarks/severities.py --scenes ../shared/data/voc/objects --limit 175

Each photograph is shown at the full severity of each relation. Where that gives a real failure by the
annotations, confirmed like any other, the least of eight levels that still does is found by halving. So a
curve, the share of photographs that have broken up to a severity, needs few questions. It supposes that what
breaks goes on breaking as the change grows. Each detector is kept in OUT as soon as it is done.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import instar
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.scenes import load_scenes
from instar.studies.output import make_axes, save_figures
from instar.tasks.detection.catalogue import WHOLE_PICTURE
from instar.tasks.detection.relations.whole_picture import RELATIONS

LEVELS = 8


def is_real(verdict: instar.Verdict) -> bool:
    return any(finding.known == "real" for finding in verdict.findings)


def least_level(
    relation: instar.Relation, source: instar.Observation, rng: np.random.Generator
) -> Generator[Sequence[Any], Sequence[instar.Verdict], None]:
    """The full severity; where it breaks, the least level that does, by halving."""
    severity = relation.severity
    if severity is None:
        yield [relation.drawn(source, rng)]
        return
    levels = np.linspace(severity.low, severity.high, LEVELS + 1).tolist()
    holds, middle, breaks = 0, LEVELS, LEVELS
    while breaks - holds > 1:
        (verdict,) = yield [severity.change(source, levels[middle])]
        if is_real(verdict):
            breaks = middle
        elif middle == LEVELS:
            return
        else:
            holds = middle
        middle = (holds + breaks) // 2


def measure(scenes: Sequence[instar.Scene], name: str) -> dict[str, dict[str, int]]:
    """For each relation the least level that breaks each photograph that was judged; 0 for none."""
    suite = [getattr(RELATIONS, one) for one in WHOLE_PICTURE]
    found: dict[str, dict[str, int]] = {one: {} for one in WHOLE_PICTURE}
    for record in instar.run(scenes, suite, build_system(Use(name)), search=least_level, workers=2):
        verdict = record.verdict
        judged = verdict.status in (instar.Status.HELD, instar.Status.VIOLATED) or verdict.kind == "unstable"
        if record.role != "case" or not judged:
            continue
        severity, level = getattr(RELATIONS, record.relation).severity, verdict.evidence.get("level")
        share = 1.0 if severity is None else (level - severity.low) / (severity.high - severity.low)
        least = found[record.relation].setdefault(record.scene, 0)
        if is_real(verdict):
            found[record.relation][record.scene] = min(least or LEVELS, round(share * LEVELS))
    return found


def broken(levels: dict[str, int], up_to: int) -> float:
    """The percent of photographs that have broken up to a level."""
    return 100 * sum(0 < one <= up_to for one in levels.values()) / max(1, len(levels))


def draw_curves(results: dict[str, dict[str, dict[str, int]]]) -> Any:
    """A panel for each relation that has a severity, a line for each detector."""
    shown = [name for name in WHOLE_PICTURE if getattr(RELATIONS, name).severity is not None]
    figure, panels = make_axes(len(shown), width=4.2, height=2.4)
    most = max(broken(levels, LEVELS) for one in results.values() for levels in one.values())
    for panel, relation in zip(panels, shown):
        severity = getattr(RELATIONS, relation).severity
        ends = np.linspace(severity.low, severity.high, LEVELS + 1)
        for name, one in results.items():
            rates = [broken(one[relation], level) for level in range(LEVELS + 1)]
            panel.plot(ends, rates, marker="o", markersize=2.5, linewidth=1, label=name)
        panel.set(title=relation, ylim=(0, 1.05 * most))
        panel.set_xlabel(severity.unit, fontsize=7)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("% of photographs broken")
    panels[0].legend(frameon=False, fontsize=6)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", required=True)
    parser.add_argument("--systems", default="yolox-nano,yolov4-tiny,efficientdet-lite0,ssd-mobilenet-v2")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path, default=Path("runs/severities"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    scenes, names = load_scenes(args.scenes, limit=args.limit), args.systems.split(",")
    results = {}
    for name in names:
        kept = args.out / f"{name}-{len(scenes)}.json"
        if not kept.is_file():
            kept.write_text(json.dumps(measure(scenes, name)))
        results[name] = json.loads(kept.read_text())
    print(f"percent of photographs broken up to half | all of the range\n| relation | {' | '.join(names)} |")
    print("|---|" + "--:|" * len(names))
    for relation in WHOLE_PICTURE:
        cells = []
        for one in results.values():
            half, whole = (broken(one[relation], level) for level in (LEVELS // 2, LEVELS))
            has_severity = getattr(RELATIONS, relation).severity is not None
            cells.append(f"{half:.1f} / {whole:.1f}" if has_severity else f"{whole:.1f}")
        print(f"| {relation} | {' | '.join(cells)} |")
    print(*save_figures({"severities": draw_curves(results)}, args.out))


if __name__ == "__main__":
    main()
