"""How often referees are right about lost text, held against annotated words.

python benchmarks/text_referees.py RUN [RUN ...] --findings 60 --truth ../shared/data/text

RUN is a run of `instar run` or `instar study text`. Findings are taken from each at random, at most one of
a case; the usual referees of the system are asked about source and follow-up as if no word were known.
Printed is what they say beside what the words say, and which share of the findings that they call real is
about words that can be read, with an interval over pictures. The words are those of the run's own pictures,
or of those of `--truth`, so that a run may be one that knew nothing of them.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar.campaigns.plan import Plan, Use
from instar.campaigns.reader import Named, RunReader, open_run
from instar.campaigns.referees import find_referees
from instar.campaigns.resolve import build_system
from instar.core.digest import digest
from instar.core.follow_up import FollowUp, follow_ups_of, observe
from instar.core.referees import Referee
from instar.core.replay import Replay
from instar.core.scene import Image, Observation, Scene
from instar.core.system import Reply, System
from instar.core.task import Opinion
from instar.core.verdict import Finding
from instar.scenes import load_scenes
from instar.stats import clustered_rate
from instar.tasks.text.task import TASK

ASKED: dict[tuple[str, str], object] = {}  # many findings share a source
KINDS = ("lost", "resized", "drifted", "invented")
ABOUT_WORDS = ("real", "slipped", "unfair")


def answer_of(referee: Referee, picture: Image) -> object:
    key = referee.name, digest(picture)
    if key not in ASKED:
        (ASKED[key],) = referee.system.predict([picture])
    return ASKED[key]


def opinion_of(referee: Referee, source: Observation, there: FollowUp) -> Opinion:
    """What a referee finds in both pictures of a case, in the source's frame."""
    before, now = (Reply(answer_of(referee, picture)) for picture in (source.input, there.input))
    first = observe(TASK, source, [FollowUp(source.input)], [before])
    both = observe(TASK, replace(source, answer=first.follow_ups[0].answer), [there], [now])
    return Opinion(referee.name, both.befores[0], both.follow_ups[0].answer)


def say(referees: list[Referee], case: Replay, made: FollowUp, finding: Finding) -> str:
    """What referees say of a finding; where the source alone decides they are not asked about the rest."""
    source = replace(case.source, scene=replace(case.source.scene, knowledge={}))
    for there in (FollowUp(source.input), made):
        opinions = [opinion_of(referee, source, there) for referee in referees]
        said = TASK.verify(source, case.follow_ups[0], finding, opinions)
        if said != "real":
            break
    return said


def asked_referees(system: System) -> list[Referee]:
    """The usual ones, less relatives of the system and what is not installed."""
    usable = []
    for referee in find_referees(Plan(systems=(), relations=(), scenes=""), ["text"], system):
        try:
            referee.system.predict([np.zeros((64, 64, 3), np.uint8)])
            usable.append(referee)
        except Exception as reason:  # noqa: PERF203  # one may be missing
            print(f"{referee.name} is not asked: {reason}")
    return usable


def drawn(there: RunReader, most: int, rng: np.random.Generator) -> list[tuple[str, Finding]]:
    cases = [
        (record.case, told)
        for record in there.store.records(changes=False)
        if record.role == "case" and (told := [one for one in record.verdict.findings if one.kind in KINDS])
    ]
    chosen = rng.permutation(len(cases))[:most].tolist()
    return [(cases[k][0], cases[k][1][int(rng.integers(len(cases[k][1])))]) for k in chosen]


def with_truth(case: Replay, truth: dict[str, Scene]) -> Replay:
    known = truth[Path(case.source.scene.id).name].knowledge
    source = replace(case.source, scene=replace(case.source.scene, knowledge=known))
    return replace(case, source=source)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("runs", nargs="+", help="runs on pictures whose words are known")
    parser.add_argument("--findings", type=int, default=60, help="of each run (60)")
    parser.add_argument("--truth", help="pictures of the same names whose words are known")
    parser.add_argument("--system", help="the name of the system, where the runs know it by another")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    truth = {Path(scene.id).name: scene for scene in load_scenes(args.truth)} if args.truth else {}
    table: Counter[tuple[str, str]] = Counter()
    by_scene: dict[str, Counter[bool]] = defaultdict(Counter)
    rng = np.random.default_rng(0)
    for run in args.runs:
        name = args.system or plan_of(run).systems[0].name
        system: Any = build_system(Use(name))
        with open_run(run, named=Named(system=system)) as there:
            referees = asked_referees(system)
            print(f"{run}: {name}, referees {', '.join(referee.name for referee in referees)}")
            for number, finding in drawn(there, args.findings, rng):
                record = there.record(number)
                case = there.replay(record, there.remembered)
                (made,) = follow_ups_of(there.relation(record.relation), case.source.input, record.change)
                by_referees = say(referees, case, made, finding)
                known = with_truth(case, truth) if truth else case
                by_words = TASK.verify(known.source, known.follow_ups[0], finding, ())
                table[by_referees, by_words] += 1
                scene = Path(record.scene).name
                if by_referees == "real" and by_words != "disputed":
                    by_scene[scene][by_words in ABOUT_WORDS] += 1
                print(scene, record.relation, finding.kind, by_referees, "|", by_words, flush=True)
    for (by_referees, by_words), n in sorted(table.items()):
        print(f"{n:4} {by_referees:12} {by_words}")
    if by_scene:
        right = [counts[True] for counts in by_scene.values()]
        every = [counts.total() for counts in by_scene.values()]
        low, high = clustered_rate(right, every)
        print(
            f"of {sum(every)} that referees call real, in {len(every)} pictures, {sum(right)} are about "
            f"words ({sum(right) / sum(every):.2f}, {low:.2f} to {high:.2f})"
        )


def plan_of(run: str) -> Plan:
    with open_run(run) as there:
        return there.plan


if __name__ == "__main__":
    main()
