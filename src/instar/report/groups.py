"""Failures put together by cause, each group named in words; the same failures always give the same groups.

Failures of one relation are together when the same became of what they are about (kinds that come together
in the same cases count as one). Such failures are divided only where few conditions (a label, what the change
brings, a size, a side of the picture) make up nearly all of them although what stood in the scenes, or what
was tried, would have led to expect far fewer: a detector that loses whatever has a neighbour has one fault,
one that loses buses and also dogs has two, and one that loses whatever is small has one.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias, TypeVar

from instar.core.record import Record
from instar.report.causes import Failure, Traits, traits_of, what_of
from instar.report.conditions_of_failure import NEARLY_ALL, SURPRISE, explain_failures, mean_shares
from instar.report.words import FATES, counted, when_words, with_article

TOGETHER = 0.5  # of the cases with either of two kinds have both: then they are one
ENOUGH = 8  # failures, before anything is said of what their scenes have in common
SHORT = 32  # characters of a relation's name that a title can bear; a rule is a sentence of its own

T = TypeVar("T")
GroupPlace: TypeAlias = tuple[str, str, Any]
"""A relation, a source, and what of it a change goes to (its `anchor`), if it goes to anything."""
Tried: TypeAlias = Mapping[GroupPlace, Mapping[str, int]]
"""How often each kind of change was tried at each place, whatever came of it."""


@dataclass(frozen=True, slots=True)
class GroupMember:
    """What grouping needs of a failure, and no more: there may be hundreds of thousands."""

    case: str
    scene: str
    relation: str
    kind: str
    plainness: tuple[float, ...]
    place: GroupPlace
    whats: tuple[str, ...]
    traits: Traits

    @classmethod
    def of(cls, failure: Failure) -> GroupMember:
        record, verdict = failure.record, failure.record.verdict
        worst = verdict.plainest
        traits = traits_of(failure, worst)
        whats = {what_of(finding) for finding in verdict.failures or verdict.findings} | {traits.what}
        return cls(
            record.case,
            record.scene,
            record.relation,
            worst.kind,
            worst.plainness[:2],
            place_of(record, failure.recipe),
            tuple(sorted(whats)),
            traits,
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Failures of one cause; the first of `cases` stands for them.

    The plainest come first, one of each scene before a second of any.
    """

    title: str
    relation: str
    kind: str
    cases: tuple[str, ...]
    scenes: int

    @property
    def representative(self) -> str:
        return self.cases[0]


def group_failures(failures: Iterable[Failure], tried: Tried | None = None) -> list[Group]:
    """The groups, largest first, and of equal ones the plainest."""
    return group_members(map(GroupMember.of, failures), tried)


def group_members(found: Iterable[GroupMember], tried: Tried | None = None) -> list[Group]:
    """The same, of failures that were looked at in passing."""
    members = sorted(found, key=lambda member: (member.plainness, member.case))
    by_relation: dict[str, list[GroupMember]] = defaultdict(list)
    for member in members:
        by_relation[member.relation].append(member)
    tried = tried or {}
    groups = [
        (piece[0].plainness, _group(piece, ours, tried, words))
        for ours in by_relation.values()
        for part in _by_what(ours)
        for words, piece in _divided(part, tried)
    ]
    groups.sort(key=lambda one: (-len(one[1].cases), one[0], one[1].relation, one[1].title, one[1].cases))
    return [group for _, group in groups]


def groups_headline(failing: int, groups: Sequence[Group]) -> str:
    """How many there are.

    >>> groups_headline(214, [])
    '214 failing cases, 0 groups'
    """
    return f"{counted(failing, 'failing case')}, {counted(len(groups), 'group')}"


def in_turns(things: Iterable[T], of: Callable[[T], Hashable]) -> list[T]:
    """The first of every kind, then the second of every one, else in the order that they have.

    >>> in_turns(["apple", "anise", "bean"], lambda word: word[0])
    ['apple', 'bean', 'anise']
    """
    seen: Counter[Hashable] = Counter()
    ranked = []
    for thing in things:
        seen[of(thing)] += 1
        ranked.append((seen[of(thing)], thing))
    return [thing for _, thing in sorted(ranked, key=lambda pair: pair[0])]


def _by_what(members: Sequence[GroupMember]) -> list[list[GroupMember]]:
    """Members by what became of things; whatever mostly comes together is one."""
    seen: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for member in members:
        seen.update(member.whats)
        both.update(combinations(member.whats, 2))
    pairs = [pair for pair, n in both.items() if n >= TOGETHER * (seen[pair[0]] + seen[pair[1]] - n)]
    joined = _joined(pairs)
    return _parts(members, lambda traits: joined(traits.what))


def _divided(members: Sequence[GroupMember], tried: Tried) -> Iterator[tuple[str, list[GroupMember]]]:
    """Members by what tells causes apart, in words where their labels do not say it."""
    whats = {member.traits.what for member in members}
    for part in _by_name(members, whats):
        trials = [tried.get(member.place, {}) for member in part]
        # What was mixed up is told apart by its names, and of what is not there nothing says what to expect.
        by_thing = not whats <= {"renamed", "new"}
        traits = [member.traits for member in part]
        for condition, chosen in explain_failures(traits, trials, by_thing=by_thing):
            yield str(condition or ""), [part[i] for i in chosen]


def _by_name(members: Sequence[GroupMember], whats: set[str]) -> list[list[GroupMember]]:
    if whats == {"renamed"}:
        # Labels that are taken for each other, directly or through a third, are one confusion.
        pairs = [
            member.traits.label.split(" and ", 1) for member in members if " and " in member.traits.label
        ]
        joined = _joined(pairs)
        return _parts(members, lambda traits: joined(traits.label.split(" and ", 1)[0]))
    labels = {member.traits.label for member in members}
    if whats == {"new"} and 3 * len(labels) <= len(members):
        return _parts(members, lambda traits: traits.label)
    return [list(members)]


def _parts(members: Sequence[GroupMember], key: Callable[[Traits], str]) -> list[list[GroupMember]]:
    parts: dict[str, list[GroupMember]] = defaultdict(list)
    for member in members:
        parts[key(member.traits)].append(member)
    return list(parts.values())


def place_of(record: Record, recipe: Mapping[str, Any]) -> GroupPlace:
    anchor = recipe.get("anchor")
    if isinstance(anchor, (list, dict)):  # as SQLite extracts it
        anchor = json.dumps(anchor, separators=(",", ":"))
    return (record.relation, record.source, anchor)


def _group(
    members: Sequence[GroupMember], all_of_relation: Sequence[GroupMember], tried: Tried, words: str
) -> Group:
    members = in_turns(members, lambda member: member.scene)
    return Group(
        title=", ".join(filter(None, [_title(members, all_of_relation, tried), words])),
        relation=members[0].relation,
        kind=members[0].kind,
        cases=tuple(member.case for member in members),
        scenes=len({member.scene for member in members}),
    )


def _title(members: Sequence[GroupMember], all_of_relation: Sequence[GroupMember], tried: Tried) -> str:
    """What, by what, where and among what, as far as nearly all members agree."""
    whats = Counter(member.traits.what for member in members)
    labels = _named(Counter(label for member in members for label in member.traits.label.split(" and ")))
    if not labels and whats.keys() <= FATES.keys():
        labels = "the answer"
    words = f"{labels} {' or '.join(FATES.get(what, what) for what in sorted(whats))}".strip()
    by = _shared(member.traits.by for member in members)
    expected = mean_shares(tried.get(member.place, {}) for member in members)
    brought = by if by and expected.get(by, 0.0) <= SURPRISE else ""
    relation = members[0].relation
    if len(relation) <= SHORT:
        words += f" {when_words(relation, brought)}"
    elif brought:
        words += f" of {with_article(brought)}"
    where = _shared(member.traits.where for member in members)
    content = _content(members, all_of_relation)
    return ", ".join(filter(None, [words, where, content and f"in scenes with {with_article(content)}"]))


def _named(labels: Counter[str]) -> str:
    """A few labels by name, many by their number.

    >>> _named(Counter(car=3, dog=1)), _named(Counter("abcde"))
    ('car or dog', '5 kinds of object')
    """
    named = [label for label, _ in sorted(labels.items(), key=lambda item: (-item[1], item[0])) if label]
    return " or ".join(named) if len(named) <= 3 else f"{len(named)} kinds of object"


def _shared(values: Iterable[str]) -> str:
    """The value that nearly all have; empty when there is none."""
    counts = Counter(values)
    value, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return value if count >= NEARLY_ALL * counts.total() else ""


def _content(members: Sequence[GroupMember], all_of_relation: Sequence[GroupMember]) -> str:
    """A label that nearly all scenes of the group have and few scenes of the other groups."""
    own_label = {label for member in members for label in member.traits.label.split(" and ")}
    ours = _scenes_with(members)
    cases = {member.case for member in members}
    others = _scenes_with([m for m in all_of_relation if m.case not in cases])
    if len(members) < ENOUGH or not others:
        return ""
    telling = [
        (others.get(label, 0.0) - share, label)
        for label, share in ours.items()
        if share >= NEARLY_ALL and others.get(label, 0.0) <= TOGETHER and label not in own_label
    ]
    return min(telling)[1] if telling else ""


def _scenes_with(members: Sequence[GroupMember]) -> dict[str, float]:
    """For each label the share of the scenes that have it."""
    scenes = {member.scene: member.traits.among for member in members if member.traits.among}
    counts = Counter(label for among in scenes.values() for label in {thing[0] for thing in among})
    return {label: count / len(scenes) for label, count in counts.items()}


def _joined(pairs: Iterable[Sequence[str]]) -> Callable[[str], str]:
    """From a name to the first name of all that are joined with it."""
    first: dict[str, str] = {}

    def find(name: str) -> str:
        while first.get(name, name) != name:
            name = first[name]
        return name

    for a, b in pairs:
        a, b = sorted([find(a), find(b)])
        first[b] = a
    return find
