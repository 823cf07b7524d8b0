"""`instar rule`: read a driving rule back as a relation, or say which word is not understood."""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.tasks.driving.catalogue import WORLD
from instar.tasks.driving.engine_table import USUAL, Engines, read_engines, usual_engines
from instar.tasks.driving.judgement import UNITS, Judgement, judge_block, judge_rule
from instar.tasks.driving.rules import Rule, format_rule, open_language, read_rule
from instar.tasks.driving.rules.format_rule import block_formula, rule_formula


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar='"If: ..., Then: ..."', help="one or more If/Then blocks in English")
    parser.add_argument(
        "--answers",
        metavar="X1,X2,...",
        help="judge these answers, one per picture, the source's first; in the rule's unit, "
        "else km/h and degrees with + to the left",
    )
    parser.add_argument(
        "--scenes", metavar="PATH", help="count on how many of these it can be made, and why not"
    )
    parser.add_argument(
        "--palette", metavar="NAME", help="what label maps mean: cityscapes, camvid, ..., or a file"
    )
    parser.add_argument("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    parser.add_argument(
        "--engines", metavar="FILE", help="a name, or a file of your own that adds to the engines"
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help="as in the paper: words may be guessed by similarity, and more than is at least",
    )
    parser.add_argument("--ontology", metavar="FILE", help="words of your own, added to instar's")
    # The answers of a steering system may begin with a minus sign, which is not an option.
    parser._negative_number_matcher = re.compile(r"-\.?\d")


def perform(args: argparse.Namespace) -> Outcome:
    language = open_language(args.ontology, paper=args.paper)
    rule = read_rule(args.rule, language=language)
    engines = _engines(args.engines)
    words = format_rule(rule, ontology=language.ontology)
    blocks: list[dict[str, Any]] = [
        {
            "condition": [condition.to_json() for condition in block.conditions],
            "expectation": block.expectation.to_json(),
            **({"also": [one.to_json() for one in block.also]} if block.also else {}),
            "formula": block_formula(rule, number),
            "engines": [engines.name_for(condition) for condition in block.changes],
        }
        for number, block in enumerate(rule.blocks, start=1)
    ]
    document: dict[str, Any] = {"words": words, "formula": rule_formula(rule), "blocks": blocks}
    lines = [words, *(f"  {block['formula']}" for block in blocks), _made_by(rule, engines)]
    if args.paper:
        guessed = language.guessed(args.rule)
        document["guessed"] = [{"word": w, "taken_as": known, "similarity": s} for w, known, s in guessed]
        lines += [f"guessed: {w!r} is taken as {known!r} (Wu-Palmer {s:.2f})" for w, known, s in guessed]
    if args.scenes is not None:
        made, reasons = _tried(args)
        document["scenes"] = {"made": made, "of": made + sum(reasons.values()), "reasons": dict(reasons)}
        lines.append(f"can be made on {made} of {made + sum(reasons.values())} scenes")
        lines += [f"  {count} not: {reason}" for reason, count in reasons.most_common()]
    if args.answers is not None:
        answers = _answers(rule, args.answers)
        overall = judge_rule(rule, answers, paper=args.paper)
        for number, (block, entry) in enumerate(zip(rule.blocks, blocks), start=1):
            judged = [judge_block(one, answers, number, paper=args.paper).held for one in block.expectations]
            entry["held"] = False if False in judged else None if None in judged else True
        document |= {"held": overall.held, "margin": overall.margin, "reason": overall.reason}
        lines.append(_verdict(overall))
    return Outcome("\n".join(lines), document)


def _engines(given: str | None) -> Engines:
    if given is None or given in USUAL:
        return usual_engines(given or "pasted")
    return read_engines(Path(given))


def _tried(args: argparse.Namespace) -> tuple[int, Counter[str]]:
    """On how many scenes the rule can be made, and why not on the others."""
    # Loads OpenCV, which reading a rule does not need.
    from instar.scenes import load_scenes
    from instar.tasks.driving.relations import rule, try_scenes

    world, colon, rest = args.scenes.partition(":")
    spec = f"{WORLD}:{rest}" if (world, colon) == ("street", ":") else args.scenes
    scenes = load_scenes(spec, limit=args.limit, palette=args.palette)
    return try_scenes(rule(args.rule, ontology=args.ontology, engines=args.engines, paper=args.paper), scenes)


def _made_by(rule: Rule, engines: Engines) -> str:
    """Which engine would make each change."""
    conditions = [condition for block in rule.blocks for condition in block.changes]
    made = {f"{c.op} {c.element}": engines.name_for(c) or "no engine" for c in conditions}
    return "pictures: " + ", ".join(f"{change} by {engine}" for change, engine in made.items())


def _verdict(judgement: Judgement) -> str:
    if judgement.held is None:
        return f"inapplicable: {judgement.reason}"
    return f"{'held' if judgement.held else 'violated'}, margin {judgement.margin:g}"


def _answers(rule: Rule, given: str) -> list[float]:
    """The answers in km/h or degrees."""
    expectations = [one for block in rule.blocks for one in block.expectations]
    quantities = {one.quantity for one in expectations}
    if len(quantities) > 1:
        raise BadInput("--answers has one number per picture, and this rule speaks of speed and steering")
    units = {one.unit for one in expectations} - {None, "%"}
    if len(units) > 1:
        raise BadInput(
            f"--answers has one unit, and this rule speaks of {' and '.join(sorted(map(str, units)))}"
        )
    try:
        numbers = [float(number) for number in given.split(",")]
    except ValueError:
        raise BadInput(f"--answers {given!r} are not numbers; write 50,40") from None
    if not all(map(math.isfinite, numbers)):
        raise BadInput(f"--answers {given!r} must be finite numbers")
    wanted = len(rule.blocks) + 1
    if len(numbers) != wanted:
        raise BadInput(
            f"--answers {given!r} has {len(numbers)} numbers; this rule needs {wanted}: the source's first"
        )
    factor = UNITS[units.pop() or ""] if units else 1.0
    return [number * factor for number in numbers]
