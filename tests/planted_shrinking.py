"""Violated cases of planted faults, shrunk as `instar shrink` does it."""

from __future__ import annotations

from dataclasses import replace

import instar
from instar.campaigns.shrink import shrink_case
from instar.core.follow_up import FollowUp, follow_ups_of, judge, observe, under_null
from instar.core.replay import find_source
from instar.core.system import ask, variant_of
from instar.core.verdict import Status


def asking(system):
    """From queries to replies."""

    def ask_all(queries):
        chosen = [variant_of(system, query.variant) if query.variant else system for query in queries]
        return [ask(one, [query.input])[0] for one, query in zip(chosen, queries)]

    return ask_all


def observed(relation, system, scene, part=""):
    """A question of the scene with its answer."""
    id = f"{scene.id}#{part}" if part else scene.id
    source = find_source(relation.resolved_task, id, scene, asking(system))
    seen = _seen(relation, system, source, [FollowUp(source.input)])
    return replace(source, answer=seen.follow_ups[0].answer)


def every_violated(scenes, relation, system, *, search):
    """Each violated case with its source."""
    by_id = {scene.id: scene for scene in scenes}
    for record in instar.run(scenes, relation, system, search=search):
        if record.role == "case" and record.verdict.status is Status.VIOLATED:
            yield record, source_of(relation, system, by_id[record.scene], record)


def source_of(relation, system, scene, record):
    return observed(relation, system, scene, record.source[len(record.scene) + 1 :])


def shrunk_case(relation, system, record, source):
    keys = [finding.key for finding in record.verdict.findings]
    return shrink_case(relation, source, record.change, keys, asking(system))


def fails(relation, system, source, record, change):
    """Whether a change shows the same finding, also under every condition that must not matter."""
    task, keys = relation.resolved_task, {finding.key for finding in record.verdict.findings}
    made = follow_ups_of(relation, source.input, change)
    if isinstance(made, instar.Inapplicable):
        return False

    def shown(condition):
        if condition is None:
            seen = _seen(relation, system, source, made)
        else:
            under = under_null(task, condition, made, source.input)
            seen = _seen(relation, system, source, under, with_source=task.nulls.with_source)
        return {finding.key for finding in judge(relation, seen, change).findings}

    conditions = task.nulls.conditions if task.nulls is not None else ()
    return all(keys & shown(condition) for condition in [None, *conditions])


def _seen(relation, system, source, made, **options):
    replies = asking(system)([one.query() for one in made])
    return observe(relation.resolved_task, source, made, replies, **options)
