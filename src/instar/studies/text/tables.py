"""The study of text locators as tables, the same for people and for files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from instar.stats import bound_when_none, clustered_mean
from instar.stats.ranks import magnitude, signed_rank
from instar.studies.output import Table
from instar.studies.text.diagnosis import FEATURES, diagnose
from instar.studies.text.measure import (
    RELATIONS,
    Accuracy,
    LocatorStability,
    RelationStability,
    breaking_points,
    brightness_curve,
    compare_locators,
    correlate_relations,
    least_stable,
    on_pictures,
)

SIGNIFICANT = 0.1  # the paper's level
REDUNDANT = 0.8  # from this coefficient on, one relation tells what the other does
FEWEST = 10  # pictures from which on that may be said
MOST_RULES = 10
SCORES = ("precision", "recall", "F")


def make_tables(systems: Sequence[LocatorStability]) -> Iterator[Table]:
    """Everything that the study has to say about the systems."""
    yield _stability(systems)
    if any(system.of_boxes for system in systems):
        yield _paper([system.paper for system in systems])
    yield _light(systems)
    yield _believed(systems)
    yield _distribution(systems)
    if any(system.sources for system in systems):
        yield _accuracy(systems)
    if len(systems) > 1:
        yield from _comparison(systems)
    yield _correlation(systems)
    yield _curve(systems)
    yield _diagnosis(systems)
    yield _rules(systems)
    chosen = least_stable(systems)
    yield _worst(chosen)
    yield _chosen(systems, chosen)
    if any(system.sources for system in systems):
        yield _chosen_accuracy(systems, chosen)


def picture_rows(systems: Sequence[LocatorStability]) -> Iterator[Sequence[str]]:
    """A row for every system, relation and picture, with its stability (Eq. 14) and how it looks."""
    yield ["system", "relation", "picture", "follow-ups", "stability", "null", *FEATURES]
    for system, relation, found in _measured(systems):
        for scene, values in sorted(found.scenes.items()):
            look = system.looks.get(scene)
            features = ["", "", ""] if look is None else [_text(getattr(look, name)) for name in FEATURES]
            null = np.mean(system.null[scene]) if system.null.get(scene) else math.nan
            mean = _text(float(np.mean(values)))
            yield [system.system, relation, scene, str(len(values)), mean, _text(float(null)), *features]


def _stability(systems: Sequence[LocatorStability]) -> Table:
    less = [s.system for s in systems if s.stability("brightness-up") < s.stability("brightness-down")]
    note = f"Brightness up is less stable than down for {len(less)} of {len(systems)}"
    note += f": {', '.join(less)}." if less else "."
    of = "known words" if any(system.of_boxes for system in systems) else "boxes"
    title = f"Stability of {of} (set similarity; watermarks found; nothing found after masking)"
    return Table("stability", title, _stability_rows(systems), note)


def _paper(systems: Sequence[LocatorStability]) -> Table:
    title = "Stability of all boxes, on text or not, as the paper measures it (Table 4)"
    return Table("boxes", title, _stability_rows(systems))


def _stability_rows(systems: Sequence[LocatorStability]) -> list[list[str]]:
    rows = [["relation", *(system.system for system in systems)]]
    rows += [[name, *(_text(system.stability(name)) for system in systems)] for name in RELATIONS]
    return [*rows, ["null changes", *(_text(system.null_stability) for system in systems)]]


def _light(systems: Sequence[LocatorStability]) -> Table:
    rows = [["system", "up", "down", "less stable up", "alike", "less stable down", "Wilcoxon p"]]
    for system in systems:
        up, down = (system.of_scenes(name) for name in ("brightness-up", "brightness-down"))
        pairs = [(up[scene], down[scene]) for scene in up if scene in down]
        counts = [sum(a < b for a, b in pairs), sum(a == b for a, b in pairs), sum(a > b for a, b in pairs)]
        means = (system.stability(name) for name in ("brightness-up", "brightness-down"))
        p = f"{signed_rank([a for a, _ in pairs], [b for _, b in pairs]).p:.2g}"
        rows.append([system.system, *map(_text, means), *map(str, counts), p])
    note = "Pictures by which of the two is less stable; the paper found up less stable for all its systems."
    return Table("light", "Brightness up against down (section 4.5.1)", rows, note)


def _believed(systems: Sequence[LocatorStability]) -> Table:
    heading = ["system", "relation", "cases", "headline", "violated", "unstable", "inapplicable", "failed"]
    rows = [[*heading, "kinds", "findings"]]
    for system, name, found in _measured(systems):
        counts = (found.headline, found.violated, found.unstable, found.inapplicable, found.failed)
        cases = found.judged + sum(counts[2:])
        told = [
            ", ".join(f"{name} {n}" for name, n in counter.most_common()) or "-"
            for counter in (found.kinds, found.worth)
        ]
        rows.append([system.system, name, str(cases), *map(str, counts), *told])
    note = (
        "Headline: a word that is there is lost. Violated counts all findings, also those about boxes on no "
        "text. Unstable: null changes of the same picture show it too, or it does not recur."
    )
    return Table("cases", "Cases that stand", rows, note)


def _distribution(systems: Sequence[LocatorStability]) -> Table:
    rows = [
        [
            "system",
            "relation",
            "pictures",
            "least",
            "quarter",
            "median",
            "three quarters",
            "most",
            "mean, 95 %",
        ]
    ]
    for system, name, found in _measured(systems):
        if values := list(found.of_scenes().values()):
            quartiles = np.quantile(np.array(values, np.float64), [0, 0.25, 0.5, 0.75, 1]).tolist()
            low, high = _interval([float(value) for value in values])
            rows.append(
                [system.system, name, str(len(values)), *map(_text, quartiles), f"{low:.3f} to {high:.3f}"]
            )
    return Table("distribution", "Distribution over pictures (Fig. 8)", rows)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % for the mean over pictures; where all are alike, as for a share of pictures that are not."""
    if min(values) == max(values):
        bound = bound_when_none(len(values))
        return max(0.0, values[0] - bound), min(1.0, values[0] + bound)
    low, high = clustered_mean(values, [str(k) for k in range(len(values))])
    return low, min(1.0, high)


def _accuracy(systems: Sequence[LocatorStability]) -> Table:
    rows = [["system", "pictures", *(f"{name}, {how}" for how in ("matched", "by words") for name in SCORES)]]
    for system in systems:
        known = {"sources": system.sources} | {name: one.accuracy for _, name, one in _measured([system])}
        rows += [[system.system, name, *_scores(of_scenes)] for name, of_scenes in known.items() if of_scenes]
    note = (
        "Matched: boxes and words one to one (ICDAR 2015), as in the paper's Table 1; a line is no word. By "
        "words: a box is right that lies on words, and a word is found that boxes cover."
    )
    return Table("accuracy", "Accuracy where the truth is known (Table 1)", rows, note)


def _scores(of_scenes: Mapping[str, Accuracy]) -> list[str]:
    total = sum(of_scenes.values(), Accuracy())
    scores = [(hits.precision, hits.recall, hits.f_score) for hits in (total.matched, total.by_words)]
    return [_text(score) for both in scores for score in both]


def _comparison(systems: Sequence[LocatorStability]) -> Iterator[Table]:
    tests = [["relation", "pictures", "Friedman", "p"]]
    pairs = [["relation", "system", "and", "A", "effect", "Nemenyi p"]]
    differ = []
    for name in RELATIONS:
        found = compare_locators(systems, name)
        if found is None:
            continue
        if (test := found.friedman) is not None:
            tests.append([name, str(found.scenes), f"{test.statistic:.2f}", f"{test.p:.2g}"])
            if test.p < SIGNIFICANT:
                differ.append(name)
        for i, j in combinations(range(len(systems)), 2):
            p = "" if found.nemenyi is None else f"{found.nemenyi[i, j]:.2g}"
            a = float(found.effect[i, j])
            pairs.append([name, systems[i].system, systems[j].system, f"{a:.3f}", magnitude(a), p])
    if len(systems) >= 3:
        note = f"At {SIGNIFICANT} the systems differ under: {', '.join(differ) or 'none'}."
        yield Table("friedman", "Do the systems differ? (Friedman)", tests, note)
    note = "A is how likely the first is more stable than the second on a picture."
    yield Table("effects", "How much? (Vargha-Delaney A, Fig. 10; Nemenyi)", pairs, note)


def _correlation(systems: Sequence[LocatorStability]) -> Table:
    rows = [["system", "relation", *RELATIONS]]
    redundant = []
    for system in systems:
        found = correlate_relations(system)
        rows += [[system.system, name, *map(_text, row)] for name, row in zip(RELATIONS, found.tolist())]
        redundant += [
            f"{RELATIONS[i]} and {RELATIONS[j]} ({system.system})"
            for i, j in combinations(range(len(RELATIONS)), 2)
            if found[i, j] >= REDUNDANT
        ]
    note = f"Redundant (from {REDUNDANT} on): {'; '.join(redundant) or 'none'}."
    pictures = min((len(one.scenes) for s in systems for one in s.relations.values()), default=0)
    if pictures < FEWEST:
        note = f"{pictures} pictures are too few to call a relation redundant."
    return Table("correlation", "Correlation between relations over pictures (Pearson, Fig. 12)", rows, note)


def _curve(systems: Sequence[LocatorStability]) -> Table:
    curves = [brightness_curve(system) for system in systems]
    levels = sorted({level for curve in curves for level in curve})
    rows = [["grey levels", *(system.system for system in systems)]]
    rows += [[f"{level:+g}", *(_text(curve.get(level, math.nan)) for curve in curves)] for level in levels]
    first = []
    for system in systems:
        points = breaking_points(system).values()
        for word, side in (("down", 0), ("up", 1)):
            broken = [level for point in points if (level := point[side]) is not None]
            if broken:
                median = f"{float(np.median(broken)):+g}"
                first.append(f"{system.system} {word} {median} in {len(broken)} of {len(points)}")
    note = f"First breaks at (median of the pictures that break): {'; '.join(first) or 'nowhere'}."
    return Table("brightness", "Stability by brightness (Fig. 13)", rows, note)


def _diagnosis(systems: Sequence[LocatorStability]) -> Table:
    rows = [["system", "pictures", "fit", *FEATURES, "R2", "R2 of unseen"]]
    for system in systems:
        found = diagnose(system)
        for name, fit in (("linear", found.linear), ("ridge", found.ridge)):
            if fit is not None:
                weights = [f"{weight:+.3f}" for weight in fit.weights]
                shares = [f"{fit.r2:.3f}", f"{fit.r2_unseen:.3f}"]
                rows.append([system.system, str(found.scenes), name, *weights, *shares])
    note = "Mean stability on what a picture looks like, per standard deviation."
    return Table("diagnosis", "What goes with stability (regression, Fig. 15)", rows, note)


def _rules(systems: Sequence[LocatorStability]) -> Table:
    rows = [["system", "where", "then", "support", "confidence", "lift"]]
    for system in systems:
        for rule in diagnose(system).rules[:MOST_RULES]:
            numbers = (rule.support, rule.confidence, rule.lift)
            rows.append([system.system, " and ".join(rule.given), rule.then, *(f"{n:.2f}" for n in numbers)])
    note = (
        "Unstable, dark, few and low are the lowest third of the pictures; bright, many and high the highest."
    )
    return Table("rules", "What goes with instability (association rules)", rows, note)


def _worst(chosen: Mapping[str, Sequence[str]]) -> Table:
    rows = [["relation", "least stable pictures"]]
    rows += [[name, ", ".join(scenes)] for name, scenes in chosen.items()]
    union = {scene for scenes in chosen.values() for scene in scenes}
    note = f"{len(union)} pictures together, for services with a quota; --scenes takes least-stable.txt."
    return Table("least-stable", "Least stable pictures over all systems (Table 5)", rows, note)


def _chosen(systems: Sequence[LocatorStability], chosen: Mapping[str, Sequence[str]]) -> Table:
    """Table 6 and Fig. 11: how stable each system is on the pictures chosen, and how far from on all."""
    rows = [["relation", "pictures", *(s.system for s in systems), *(f"{s.system}, less" for s in systems)]]
    selected = [on_pictures(system, chosen) for system in systems]
    for name in RELATIONS:
        here = [one.stability(name) for one in selected]
        less = [one.stability(name) - value for one, value in zip(systems, here)]
        rows.append([name, str(len(chosen[name])), *map(_text, here), *map(_text, less)])
    note = "Less: by how much lower than on all pictures (Fig. 11)."
    return Table("chosen", "Stability on the least stable pictures (Table 6)", rows, note)


def _chosen_accuracy(systems: Sequence[LocatorStability], chosen: Mapping[str, Sequence[str]]) -> Table:
    """Fig. 9: F-scores of the pictures chosen, and of their follow-ups."""
    rows = [["pictures", *(system.system for system in systems)]]
    selected = [on_pictures(system, chosen) for system in systems]
    rows.append(["sources", *(_scores(one.sources)[-1] for one in selected)])
    for name in RELATIONS:
        found = [one.relations.get(name) for one in selected]
        rows.append([name, *("-" if one is None else _scores(one.accuracy)[-1] for one in found)])
    return Table("chosen-accuracy", "F-score by words on the least stable pictures (Fig. 9)", rows)


def _measured(
    systems: Sequence[LocatorStability],
) -> Iterator[tuple[LocatorStability, str, RelationStability]]:
    """Each system with each relation that it was asked about, in the paper's order."""
    for system in systems:
        for name in RELATIONS:
            if name in system.relations:
                yield system, name, system.relations[name]


def _text(value: float) -> str:
    return "-" if not math.isfinite(value) else f"{value:.3f}" if isinstance(value, float) else str(value)
