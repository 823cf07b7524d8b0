"""`instar study text`: campaigns of the six relations over several locators, and what follows from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instar.campaigns.plan import RelationUse, Use
from instar.core.campaign import AnswerKey
from instar.core.digest import digest
from instar.core.errors import BadInput, UnknownName, UnreadablePicture
from instar.core.options import split_names
from instar.core.outcome import Outcome
from instar.core.scene import Scene
from instar.report.files import write_csv
from instar.scenes import load_scenes
from instar.scenes.picture_list import SUBSET_OF
from instar.store import RunStore
from instar.studies.arguments import FOLLOW_UPS
from instar.studies.campaign import find_systems, folder_of, run_campaign
from instar.studies.output import tell
from instar.studies.text.measure import (
    RELATIONS,
    Accuracy,
    LocatorStability,
    least_stable,
    measure_stability,
)
from instar.studies.text.plots import draw_figures
from instar.studies.text.tables import make_tables, picture_rows
from instar.tasks.text.accuracy import count_hits, count_words
from instar.tasks.text.answers import read
from instar.tasks.text.clarity import Look, measure_look
from instar.tasks.text.export import write_retraining_set
from instar.tasks.text.truth import truth_of
from instar.user_file import write_file

SWEEP = [float(level) for level in range(-200, 201, 5) if level]


def perform(args: argparse.Namespace) -> Outcome:
    retrained = split_names(args.retrain or "")
    for relation in retrained:
        if relation not in RELATIONS:
            raise UnknownName("relation", relation, RELATIONS)
    if args.sweep is not None and args.sweep < 0:
        raise BadInput(f"--sweep is {args.sweep}; give how many scenes to sweep, or nothing for all")
    out = Path(args.out)
    systems = find_systems(args, args.set)
    scenes = load_scenes(args.scenes, limit=args.limit, truth=args.truth)
    measured = [_measure(use, scenes, args) for use, _ in systems]
    write_csv(out / "pictures.csv", picture_rows(measured))
    worst = {scene for scenes_of in least_stable(measured).values() for scene in scenes_of}
    write_file(out / "least-stable.txt", "\n".join([SUBSET_OF + args.scenes, *sorted(worst), ""]))
    figures = draw_figures(measured, out) if args.plots else []
    written = 0
    if args.retrain is not None:
        with RunStore.read(folder_of(args, systems[0][0].name)) as store:
            by_id = {scene.id: scene for scene in scenes}
            written = write_retraining_set(store.records(), by_id, out / "retraining", retrained)
    said = [f"{written} pictures to train with are in {out / 'retraining'}."] if written else []
    tables = list(make_tables(measured))
    return tell("text", tables, out, figures=figures, said=said, retraining=written)


def _measure(use: Use, scenes: Sequence[Scene], args: argparse.Namespace) -> LocatorStability:
    """Run what is not there yet, unless told not to, and count it."""
    folder = folder_of(args, use.name)
    counts = FOLLOW_UPS[args.counts]
    settings = {"truth": args.truth, "ask": not args.as_is}
    search = Use("listed", {key: counts[key] for key in ("perspectives", "watermarks")})
    six = [RelationUse(Use(name, _options(name, counts, args.matching)), search) for name in RELATIONS]
    with run_campaign(args, use, six, folder, **settings) as store:
        measured = _count(use.name, store)
        measured.looks, measured.sources = _sources(store, scenes)
    if args.sweep is not None:
        light = Use("brightness-up", {"matching": args.matching})
        settings["limit"] = args.sweep or args.limit
        levels = [RelationUse(light, Use("sweep", {"levels": SWEEP}))]
        with run_campaign(args, use, levels, folder.with_name(f"{folder.name}-sweep"), **settings) as store:
            # On its own scenes, so that every level is measured on the same ones.
            measured.levels = _count(use.name, store).levels
    if not (measured.looks or args.as_is):
        raise BadInput(
            f"{use.name} located text in none of {len(scenes)} pictures; see why: instar report {folder}"
        )
    return measured


def _count(name: str, store: RunStore) -> LocatorStability:
    """The stability of known words, and beside it that of all boxes; the latter alone without known words."""
    of_words, of_boxes = (
        measure_stability(name, store.records(changes=False), measure=measure)
        for measure in ("word_stability", "stability")
    )
    if not any(found.scenes for found in of_words.relations.values()):
        return of_boxes
    of_words.of_boxes = of_boxes
    return of_words


def _options(relation: str, counts: dict[str, int], matching: str) -> dict[str, Any]:
    options: dict[str, Any] = {} if relation in ("watermark", "masking") else {"matching": matching}
    return options | ({"step": counts["step"]} if relation.startswith("brightness") else {})


def _sources(store: RunStore, scenes: Sequence[Scene]) -> tuple[dict[str, Look], dict[str, Accuracy]]:
    """How each scene looks around what is found in it, and how accurate that is where words are known."""
    fingerprint = store.fingerprint()
    looks: dict[str, Look] = {}
    accuracy: dict[str, Accuracy] = {}
    for scene in scenes:
        try:
            image = scene.image
        except UnreadablePicture:
            continue  # the campaign has it among the skipped
        reply = store.answer(AnswerKey(fingerprint, digest(image), 0))
        if reply is None or reply.error is not None:
            continue  # it failed
        try:
            found = read(image, reply.answer)
        except (TypeError, ValueError):
            continue  # so did this
        looks[scene.id] = measure_look(image, found.quads)
        words = scene.knowledge.get("words")
        if words is not None:
            truth = truth_of(words)
            accuracy[scene.id] = Accuracy(count_hits(found.quads, truth), count_words(found.quads, truth))
    return looks, accuracy
