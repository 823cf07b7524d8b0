"""How often referees are right about lost text, held against annotated words.

.venv/bin/python benchmarks/text_referees.py RUN --findings 60

RUN is a run of `instar run` or `instar study text` on pictures whose words are known. Findings are taken from
it at random, at most one of a case; the usual referees of the system are asked about source and follow-up as
if no word were known. Printed is what they say beside what the words say, and which share of the findings
that they call real is about words that can be read.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from instar.campaigns.plan import Plan, Use
from instar.campaigns.reader import RunReader, open_run
from instar.campaigns.referees import find_referees
from instar.campaigns.resolve import build_system
from instar.core.digest import digest
from instar.core.follow_up import FollowUp, follow_ups_of, observe
from instar.core.record import Record
from instar.core.referees import Referee
from instar.core.scene import Image
from instar.core.system import Reply
from instar.core.task import Opinion
from instar.tasks.text.task import TASK

ASKED: dict[tuple[str, str], object] = {}  # many findings share a source
KINDS = ("lost", "resized", "drifted", "invented")


def answer_of(referee: Referee, picture: Image) -> object:
    key = referee.name, digest(picture)
    if key not in ASKED:
        (ASKED[key],) = referee.system.predict([picture])
    return ASKED[key]


def ask(referee: Referee, there: RunReader, record: Record) -> tuple[Opinion, object]:
    """What a referee finds in both pictures of a case, in the source's frame, and the case made again."""
    again = there.replay(record, there.remembered)
    relation = there.relation(record.relation)
    (made,) = follow_ups_of(relation, again.source.input, record.change)
    before, after = (Reply(answer_of(referee, picture)) for picture in (again.source.input, made.input))
    first = observe(TASK, again.source, [FollowUp(again.source.input)], [before])
    both = observe(TASK, replace(again.source, answer=first.follow_ups[0].answer), [made], [after])
    return Opinion(referee.name, both.befores[0], both.follow_ups[0].answer), again


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="a run on pictures whose words are known")
    parser.add_argument("--findings", type=int, default=60)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    table: Counter[tuple[str, str]] = Counter()
    with open_run(args.run) as there:
        system = build_system(Use(there.plan.systems[0].name))
        referees = find_referees(Plan(systems=(), relations=(), scenes=""), ["text"], system)
        cases = [
            record.case
            for record in there.store.records(changes=False)
            if record.role == "case" and any(finding.kind in KINDS for finding in record.verdict.findings)
        ]
        rng = np.random.default_rng(0)
        for case in rng.permutation(cases)[: args.findings].tolist():
            record = there.record(case)
            told = [finding for finding in record.verdict.findings if finding.kind in KINDS]
            finding = told[int(rng.integers(len(told)))]
            opinions = []
            for referee in referees:
                try:
                    opinion, again = ask(referee, there, record)
                except Exception as reason:  # a relative of the system, or not installed
                    print(f"{referee.name} is not asked: {reason}")
                    referees.remove(referee)
                    continue
                opinions.append(opinion)
            source = replace(again.source, scene=replace(again.source.scene, knowledge={}))
            by_referees = TASK.verify(source, again.follow_ups[0], finding, opinions)
            by_words = TASK.verify(again.source, again.follow_ups[0], finding, ())
            table[by_referees, by_words] += 1
            print(
                Path(record.scene).name, record.relation, finding.kind, by_referees, "|", by_words, flush=True
            )
    print(f"{system.name}, referees {', '.join(referee.name for referee in referees)}")
    for (by_referees, by_words), n in sorted(table.items()):
        print(f"{n:4} {by_referees:12} {by_words}")
    real = {by_words: n for (by_referees, by_words), n in table.items() if by_referees == "real"}
    legible = sum(n for by_words, n in real.items() if by_words in ("real", "slipped", "unfair"))
    known = sum(n for by_words, n in real.items() if by_words != "disputed")
    if known:
        print(f"of {known} that referees call real, {legible} are about words ({legible / known:.2f})")


if __name__ == "__main__":
    main()
