"""Violated cases of planted faults, shrunk as `instar shrink` does it."""

from __future__ import annotations

from functools import partial

import instar
from instar.core.shrink import shrink_case
from instar.core.system import ask
from instar.core.verdict import Status


def observed(relation, system, scene, part="", image=None):
    """The source with its answer; `image` is what the relation makes of the scene, if that is no picture."""
    input = scene.image if image is None else image
    (reply,) = ask(system, [input])
    return instar.Observation.of(input, relation.accept(input, reply.answer), scene, part)


def every_violated(scenes, relation, system, *, search):
    """Each violated case with its source."""
    by_id = {scene.id: scene for scene in scenes}
    for record in instar.run(scenes, relation, system, search=search):
        if record.role == "case" and record.verdict.status is Status.VIOLATED:
            yield record, source_of(relation, system, by_id[record.scene], record)


def source_of(relation, system, scene, record):
    part = record.source[len(record.scene) + 1 :]
    if relation.expand is None:
        return observed(relation, system, scene)
    (build,) = [build for name, build in relation.expand(scene, system) if name == part]
    return observed(relation, system, scene, part, build(scene.image))


def shrunk_case(relation, system, record, source):
    keys = [finding.key for finding in record.verdict.findings]
    return shrink_case(relation, source, record.change, keys, partial(ask, system))


def fails(relation, system, source, record, change):
    """Whether a change shows the same finding, also under every condition that must not matter."""
    keys = {finding.key for finding in record.verdict.findings}

    def shown(one):
        made = relation.apply(source.input, one)
        if isinstance(made, instar.Inapplicable):
            return set()
        answers = [relation.accept(input, reply.answer) for input, reply in zip(made, ask(system, made))]
        seen = [instar.Observation.of(input, answer) for input, answer in zip(made, answers)]
        return {finding.key for finding in relation.check(source, seen, one).findings}

    return all(keys & shown(one) for one in [change, *relation.again(source, change)])
