"""Two runs held against each other: what is newly broken, what is fixed, and whether that is chance."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from instar.core.record import Record
from instar.core.verdict import Status
from instar.report.by_scene import FailureKey, Failures, failures_of, list_keys, recogniser
from instar.report.text import table
from instar.report.words import counted, percent, readable
from instar.stats.clusters import cluster_of
from instar.stats.paired import adjust_holm, flip_signs

Case = tuple[str, str, str, str]
"""Relation, scene, source (`scene` or `scene#part`), and the change as the run file writes it."""
Outcome = tuple[Status, Status]
Outcomes = Mapping[Case, Outcome]
BROKEN, FIXED = (Status.HELD, Status.VIOLATED), (Status.VIOLATED, Status.HELD)


@dataclass(slots=True, eq=False)
class Side:
    """One of the two runs, as far as comparing needs it: judged cases by relation, source and change.

    What was found but is no failure counts as held.
    """

    system: str
    cases: dict[Case, tuple[Status, Failures, str]] = field(default_factory=dict)
    """Each with its id."""

    @classmethod
    def of(cls, system: str, records: Iterable[tuple[Record, str]]) -> Side:
        """From judged records, each with its change as the run file writes it."""
        side = cls(system)
        for record, recipe in records:
            found = failures_of(record) if record.verdict.status is Status.VIOLATED else {}
            case = (record.relation, record.scene, record.source, recipe)
            side.cases[case] = (Status.VIOLATED if found else Status.HELD, found, record.case)
        return side


@dataclass(frozen=True, slots=True)
class RelationPairs:
    """One relation's pairs; `p_adjusted` minds that every relation of the runs was tested."""

    pairs: int
    broken: int
    fixed: int
    p: float | None
    p_adjusted: float | None


class FailureExample(NamedTuple):
    """A failure that only one of two runs has: what it is about, a case that shows it, and the case of the
    same change in the other run ("" where there is none).
    """

    label: str
    case: str
    other: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """`pairs` are cases with the same change in both runs; `broken` and `fixed` those of them that differ.

    They are in `paired_scenes`, over which signs are flipped: `p` is None where these are too few.
    The examples show each of them; one key may be in both, where two answers number objects otherwise.
    `keys_broken` and `keys_fixed` are different failures, by relation, scene, object and kind, among what
    both runs have judged. With pairs they are those of pairs, without any those of all cases. `before` and
    `after` say what each is about, and which case of its run shows it; `remark` what to mind.
    """

    first: str
    second: str
    pairs: int
    both_held: int
    both_violated: int
    broken: int
    fixed: int
    paired_scenes: int
    p: float | None
    relations: Mapping[str, RelationPairs]
    keys_broken: tuple[FailureKey, ...]
    keys_fixed: tuple[FailureKey, ...]
    places: int
    broken_examples: Mapping[FailureKey, FailureExample] = field(default_factory=dict)
    fixed_examples: Mapping[FailureKey, FailureExample] = field(default_factory=dict)
    before: Failures = field(default_factory=dict)
    after: Failures = field(default_factory=dict)
    remark: str = ""


def compare_runs(first: Side, second: Side) -> Comparison:
    """What changed from the first run to the second."""
    shared = first.cases.keys() & second.cases.keys()
    outcomes = {case: (first.cases[case][0], second.cases[case][0]) for case in shared}
    counts = Counter(outcomes.values())
    differences = _differences(outcomes)
    judged = [{(relation, source) for relation, _, source, _ in side.cases} for side in (first, second)]
    places = judged[0] & judged[1]
    cases = (shared, shared) if shared else (first.cases.keys(), second.cases.keys())
    before, after = (
        {
            key: thing
            for case in ours
            for key, thing in side.cases[case][1].items()
            if (key.relation, key.scene) in places
        }
        for side, ours in zip((first, second), cases)
    )
    broken, fixed = _only_in(after, before), _only_in(before, after)
    return Comparison(
        first=first.system,
        second=second.system,
        pairs=len(shared),
        both_held=counts[Status.HELD, Status.HELD],
        both_violated=counts[Status.VIOLATED, Status.VIOLATED],
        broken=counts[BROKEN],
        fixed=counts[FIXED],
        paired_scenes=len(differences),
        p=flip_signs(differences),
        relations=_by_relation(outcomes),
        keys_broken=broken,
        keys_fixed=fixed,
        places=len(places),
        broken_examples=_examples(broken, second, first),
        fixed_examples=_examples(fixed, first, second),
        before=before,
        after=after,
    )


def _examples(keys: Iterable[FailureKey], failing: Side, other: Side) -> dict[FailureKey, FailureExample]:
    """For each failure a case that shows it, one that the other run was asked too if there is any."""
    wanted, made = set(keys), dict[FailureKey, FailureExample]()
    for case, (_, found, id) in failing.cases.items():
        same = other.cases[case][2] if case in other.cases else ""
        for key in found.keys() & wanted:
            if key not in made or (same and not made[key].other):
                made[key] = FailureExample(found[key].label, id, same)
    return made


def _only_in(ours: Failures, others: Failures) -> tuple[FailureKey, ...]:
    find = recogniser(others)
    return tuple(sorted(key for key, thing in ours.items() if find(key, thing) is None))


def _differences(outcomes: Outcomes) -> list[int]:
    """For each scene (or video) with a pair, how many more of its cases are violated in the second run."""
    by_scene: dict[str, int] = defaultdict(int)
    for (_, scene, _, _), outcome in outcomes.items():
        by_scene[cluster_of(scene)] += (outcome == BROKEN) - (outcome == FIXED)
    return list(by_scene.values())


def _by_relation(outcomes: Outcomes) -> dict[str, RelationPairs]:
    apart: dict[str, dict[Case, Outcome]] = defaultdict(dict)
    for case, outcome in outcomes.items():
        apart[case[0]][case] = outcome
    p = {name: flip_signs(_differences(ours)) for name, ours in sorted(apart.items())}
    tested = {name: value for name, value in p.items() if value is not None}
    adjusted = dict(zip(tested, adjust_holm(list(tested.values()))))
    return {
        name: RelationPairs(
            pairs=len(apart[name]),
            broken=list(apart[name].values()).count(BROKEN),
            fixed=list(apart[name].values()).count(FIXED),
            p=value,
            p_adjusted=adjusted.get(name),
        )
        for name, value in p.items()
    }


def comparison_json(comparison: Comparison) -> dict[str, object]:
    plain = ("first", "second", "pairs", "both_held", "both_violated", "broken", "fixed", "p")
    return {
        **{name: getattr(comparison, name) for name in plain},
        "scenes": comparison.places,
        "paired_scenes": comparison.paired_scenes,
        "relations": {name: asdict(one) for name, one in comparison.relations.items()},
        "newly_broken": [_key_json(key, comparison.after) for key in comparison.keys_broken],
        "newly_fixed": [_key_json(key, comparison.before) for key in comparison.keys_fixed],
    }


def _key_json(key: FailureKey, among: Failures) -> dict[str, object]:
    thing = among[key]
    return {**key._asdict(), "label": thing.label, "words": thing.words, "case": thing.case}


def render_compared(comparison: Comparison, *, brief: bool = False) -> str:
    """The comparison as text; a `brief` one is its first lines."""
    return "\n".join(_lines(comparison, brief=brief)) + "\n"


def _lines(comparison: Comparison, *, brief: bool) -> Iterator[str]:
    first, second = readable(comparison.first, 60), readable(comparison.second, 60)
    broken, fixed = comparison.keys_broken, comparison.keys_fixed
    if not comparison.places:
        yield f"{first} and {second} cannot be compared: on no scene both were judged by the same relation"
        return
    yield f"{first} and then {second}: {counted(len(broken), 'failure')} newly broken, {len(fixed):,} fixed"
    if comparison.remark:
        yield f"mind: {comparison.remark}"
    if brief:
        return
    yield ""
    if not comparison.pairs:
        yield "No change was asked of both, so failures are matched by relation, scene, object and kind, and"
        yield "no test can be made; instar run --changes RUN_A --system B asks B the same changes."
    else:
        counts = [comparison.both_violated + n for n in (comparison.fixed, comparison.broken)]
        yield f"{counted(comparison.pairs, 'pair')} of cases with the same change"
        yield table(
            [
                ["", f"{second} held", "violated"],
                [f"{first} held", f"{comparison.both_held:,}", f"{comparison.broken:,}"],
                ["violated", f"{comparison.fixed:,}", f"{comparison.both_violated:,}"],
            ],
            right=[1, 2],
        )
        before, now = (percent(violated / comparison.pairs) for violated in counts)
        yield f"{before} of them violated before, {now} now"
        yield _test_words(comparison)
        if len(comparison.relations) > 1:
            yield ""
            yield _relations(comparison.relations)
    for title, keys, among in (
        ("newly broken", broken, comparison.after),
        ("fixed", fixed, comparison.before),
    ):
        yield ""
        yield f"{counted(len(keys), 'different failure')} {title}"
        yield from list_keys(keys, among=among)


def _test_words(comparison: Comparison) -> str:
    scenes = counted(comparison.paired_scenes, "scene")
    if comparison.p is None:
        return f"too few scenes to compare ({comparison.paired_scenes:,}; six are needed)"
    return f"sign flips over {scenes}: p = {comparison.p:.4g}"


def _relations(relations: Mapping[str, RelationPairs]) -> str:
    rows = [["relation", "pairs", "broken", "fixed", "p", "p adjusted"]]
    for name, one in relations.items():
        p = ["-" if value is None else f"{value:.4g}" for value in (one.p, one.p_adjusted)]
        rows.append([readable(name, 48), f"{one.pairs:,}", f"{one.broken:,}", f"{one.fixed:,}", *p])
    return table(rows, right=range(1, len(rows[0])))
