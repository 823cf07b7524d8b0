"""Test, retrain, test again: a round, and as many as make the detector better."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from instar.campaigns.reader import Named, RunReader, open_run
from instar.campaigns.result import compare_folders
from instar.campaigns.run import resolve_relations, run
from instar.core.digest import digest
from instar.core.errors import BadInput
from instar.core.relation import Relation
from instar.core.scene import Scene
from instar.core.system import Limits
from instar.core.verdict import Status
from instar.progress import show_steps
from instar.tasks.detection.class_names import canonical_class
from instar.tasks.detection.coco_names import COCO_NAMES
from instar.tasks.detection.known_objects import KnownObjects
from instar.tasks.detection.systems.onnx import yolox
from instar.training.detection.examples import class_numbers
from instar.training.detection.retrain import Trained, measure_precision, retrain
from instar.training.detection.sets import Sets, collect_sets
from instar.training.detection.train import TuningSettings
from instar.user_file import read_json, whole_file

SIZE = (416, 416)
Rates = Mapping[str, tuple[int, int]]
"""Cases with a real failure and judged cases, by relation."""
Pairs = Mapping[str, int]
"""Changes that both networks were judged by: all, `fixed` ones, those `still` failing, and `broken` ones."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is the same in every round."""

    test: Sequence[Scene]
    known: KnownObjects
    settings: TuningSettings
    seeds: Sequence[int]
    points: int
    questions: int
    also: Sequence[str]
    with_pasted: bool
    device: str
    quiet: bool


@dataclass(frozen=True)
class Round:
    """What was trained on, the trainings, and the rates of each on fresh changes; `before` are those of the
    network that the round began with, and `compared` holds each against it, change by change. `relations` are
    those whose failures were learned from.
    """

    relations: Sequence[str]
    sets: Sets
    trained: Sequence[Trained]
    rates: Sequence[Rates]
    before: Rates
    compared: Sequence[Pairs]

    @property
    def learned(self) -> Trained:
        """Of those that learned from failures, the first: the test is not there to choose by."""
        return next(one for one in self.trained if one.configuration == "failing")

    @property
    def precision(self) -> float:
        """mAP after learning from failures, the mean over seeds."""
        own = [_last(one) for one in self.trained if one.configuration == "failing"]
        return sum(own) / len(own)

    @property
    def gain(self) -> float:
        return self.precision - self.trained[0].curve[0][0]

    def to_json(self) -> dict[str, Any]:
        return {
            "cases": {name: list(cases) for name, cases in self.sets.cases.items()},
            "before": dict(self.before),
            "trained": [
                {
                    "configuration": one.configuration,
                    "seed": one.seed,
                    "weights": str(one.weights),
                    "curve": {str(step): list(pair) for step, pair in one.curve.items()},
                    "fresh": dict(rates),
                    "compared": dict(pairs),
                }
                for one, rates, pairs in zip(self.trained, self.rates, self.compared)
            ],
        }


def go_round(
    reader: RunReader, start: Path, training: Sequence[Scene], setting: Setting, out: Path, *, most: int
) -> list[Round]:
    """The first round learns from the run, each further one from what the network before it fails on; a round
    that gains nothing is the last.
    """
    relations = resolve_relations(reader.plan, {})
    rounds = [_one_round(reader, relations, start, training, setting, out / "round-1")]
    while len(rounds) < most and rounds[-1].gain > 0:
        number, weights = len(rounds) + 1, rounds[-1].learned.weights
        folder = out / f"round-{number}"
        system = yolox(weights=str(weights))
        tests = run(
            training,
            relations,
            system,
            seed=reader.plan.seed + number,
            limits=reader.plan.limits,
            referees=reader.plan.referees or "",
            out=folder / "run",
            resume=True,
        )
        for _ in tests:
            pass
        named = Named(system=system, relations=relations, scenes=training)
        with open_run(str(folder / "run"), named=named, quiet=setting.quiet) as again:
            rounds.append(_one_round(again, relations, weights, training, setting, folder))
    return rounds


def _one_round(
    reader: RunReader,
    relations: Sequence[Relation],
    start: Path,
    training: Sequence[Scene],
    setting: Setting,
    folder: Path,
) -> Round:
    numbers = class_numbers(COCO_NAMES)
    sets = collect_sets(
        reader,
        training,
        setting.known,
        numbers,
        SIZE,
        with_pasted=setting.with_pasted,
        seed=setting.seeds[0],
    )
    seen, tested = ([digest(scene.image) for scene in scenes] for scenes in (training, setting.test))
    lesson = {
        "weights": digest(start.read_bytes()),
        "pictures": digest(sets),
        "test pictures": digest(tested),
        "points": setting.points,
    }
    _require_same(folder, lesson)
    classes = _annotated(training, numbers)
    measure = partial(measure_precision, test=setting.test, known=setting.known)
    steps = 3 * len(setting.seeds) * setting.settings.steps
    with show_steps("training", steps, quiet=setting.quiet) as shown:
        trained = retrain(
            start,
            sets,
            seen,
            classes,
            setting.settings,
            seeds=setting.seeds,
            points=setting.points,
            measure=measure,
            folder=folder,
            device=setting.device,
            told=shown.advance,
        )
    asked: list[Relation | str] = [*relations, *setting.also]
    with show_steps("testing on fresh changes", len(trained) + 1, quiet=setting.quiet) as shown:
        rates = []
        for place, weights in [
            (folder / "start", start),
            *((one.weights.parent, one.weights) for one in trained),
        ]:
            rates.append(_fresh_rates(weights, asked, setting, reader.plan.referees or "", place / "fresh"))
            shown.advance()
    compared = [_compare(folder / "start" / "fresh", one.weights.parent / "fresh") for one in trained]
    return Round([one.name for one in relations], sets, trained, rates[1:], rates[0], compared)


def _require_same(folder: Path, lesson: Mapping[str, Any]) -> None:
    """Refuse to go on in a folder whose trainings had other pictures or settings."""
    path = folder / "lesson.json"
    before = read_json(path) if path.exists() else lesson
    changed = [name for name, value in lesson.items() if before.get(name) != value]
    if changed:
        raise BadInput(f"{folder} was trained with other {', '.join(changed)}; choose another --out")
    with whole_file(path) as unfinished:
        unfinished.write_text(json.dumps(lesson, indent=1))


def _compare(before: Path, after: Path) -> Pairs:
    found = compare_folders(str(before), str(after))
    return {"pairs": found.pairs, "fixed": found.fixed, "still": found.both_violated, "broken": found.broken}


def _annotated(scenes: Sequence[Scene], numbers: Mapping[str, int]) -> list[int]:
    """The classes that the labels tell of: those that the data names, or else all."""
    named = {
        canonical_class(label)
        for scene in scenes
        if scene.objects is not None
        for label in (*scene.knowledge.get("classes", ()), *(one.label for one in scene.objects))
    }
    return sorted(numbers[name] for name in named & set(numbers)) or sorted(numbers.values())


def _fresh_rates(
    weights: Path, relations: Sequence[Relation | str], setting: Setting, referees: str, out: Path
) -> Rates:
    """On the scenes of the test, with changes that nobody has seen: the same for every network."""
    judged: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    records = run(
        list(setting.test),
        list(relations),
        yolox(weights=str(weights)),
        seed=1_000 + setting.seeds[0],
        limits=Limits(queries=setting.questions),
        referees=referees,
        out=out,
        resume=True,
    )
    for record in records:
        if record.role == "case" and record.verdict.status in (Status.HELD, Status.VIOLATED):
            judged[record.relation] += 1
            failed[record.relation] += bool(record.verdict.failures)
    return {name: (failed[name], judged[name]) for name in sorted(judged)}


def _last(one: Trained) -> float:
    return one.curve[max(one.curve)][0]
