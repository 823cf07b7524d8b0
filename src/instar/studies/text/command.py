"""`instar study text`: campaigns of the six relations over several locators, and what follows from them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.overrides import add_settings, systems_with
from instar.campaigns.plan import Plan, RelationUse, Use
from instar.core.errors import BadInput, UnknownName
from instar.core.options import split_names
from instar.core.outcome import Outcome
from instar.studies.output import folder_name, system_names, write_csv

if TYPE_CHECKING:
    from instar.core.scene import Scene
    from instar.core.system import System
    from instar.store import RunStore
    from instar.studies import Table
    from instar.studies.text.measure import LocatorStability
    from instar.tasks.text.accuracy import Hits
    from instar.tasks.text.clarity import Look

__all__ = ["arguments", "perform"]

# Follow-ups per picture: Table 5 of the paper (10, 10, 2, 10, 10, 1) and Table 3 (20, 20, 2, 100, 20, 1).
COUNTS: dict[str, dict[str, int]] = {
    "few": {"step": 10, "perspectives": 10, "watermarks": 10},
    "full": {"step": 5, "perspectives": 100, "watermarks": 20},
}
SWEEP = [float(level) for level in range(-200, 201, 5) if level]


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--systems", required=True, metavar="A,B,C", help="the locators, by name or module:attr")
    add(
        "--scenes", required=True, metavar="PATH", help="an ICDAR folder, any folder of pictures, page:N, ..."
    )
    add("--truth", metavar="DIR", help="the folder of gt_NAME.txt, where it is not below the scenes")
    add("--counts", choices=sorted(COUNTS), default="few", help="follow-ups per picture (few: as in Table 5)")
    add("--matching", choices=("one-to-one", "paper"), default="one-to-one", help="how boxes are paired")
    add(
        "--sweep",
        type=int,
        nargs="?",
        const=0,
        metavar="SCENES",
        help="also every brightness from -200 to 200 in steps of 5, on so many scenes (all)",
    )
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add_settings(parser, "SYSTEM.KEY=VALUE", "an option of one system, or of each as system.key=value")
    add("--retrain", metavar="A,B", help="also write the follow-ups of these relations as training data")
    add("--as-is", action="store_true", help="tell what the runs in --out have so far, and ask nothing")
    add("--plots", action="store_true", help="also draw the figures; needs the extra 'plots'")
    add(
        "--out",
        default="studies/text",
        metavar="DIR",
        help="where runs, tables and figures go (studies/text)",
    )


def perform(args: argparse.Namespace) -> Outcome:
    # OpenCV, SciPy and SQLite, which --help should not wait for.
    from instar.studies.text.measure import RELATIONS

    names = system_names(args.systems)
    for relation in split_names(args.retrain or ""):
        if relation not in RELATIONS:
            raise UnknownName("relation", relation, RELATIONS)
    if args.sweep is not None and args.sweep < 0:
        raise BadInput(f"--sweep is {args.sweep}; give how many scenes to sweep, or nothing for all")
    out = Path(args.out)
    from instar.campaigns.resolve import resolve_system
    from instar.scenes import load_scenes
    from instar.studies.text.tables import picture_rows, tables

    if args.plots:
        from instar.studies import require_matplotlib

        require_matplotlib()
    scenes = load_scenes(args.scenes, limit=args.limit, truth=args.truth)
    uses = systems_with(names, args.set)
    locators = [resolve_system(use) for use in uses]  # all of them, before the first is run
    systems = [
        _measure(use.name, one, _runs(use, args, out), scenes, args) for use, one in zip(uses, locators)
    ]
    made = list(tables(systems))
    for table in made:
        write_csv(out / f"{table.name}.csv", table.rows)
    write_csv(out / "pictures.csv", picture_rows(systems))
    figures: list[str] = []
    if args.plots:
        from instar.studies.text.plots import draw_figures

        figures = [str(path) for path in draw_figures(systems, out)]
    retraining = out / "retraining"
    written = _write_retraining_set(args.retrain, out / folder_name(names[0]), scenes, retraining)
    document = {
        "study": "text",
        "retraining": written,
        "out": str(out),
        "figures": figures,
        "tables": {table.name: table.to_json() for table in made},
    }
    told = f"{written} pictures to train with are in {retraining}." if written else ""
    return Outcome(_text(made, out, figures, told), document)


def _runs(use: Use, args: argparse.Namespace, out: Path) -> list[Plan]:
    """The campaigns of one system: the six relations, and the sweep where it was asked for."""
    from instar.studies.text.measure import RELATIONS

    counts = COUNTS[args.counts]
    search = Use("listed", {key: counts[key] for key in ("perspectives", "watermarks")})

    def plan(relations: tuple[RelationUse, ...], folder: Path, limit: int | None) -> Plan:
        return Plan(
            systems=(use,),
            relations=relations,
            scenes=args.scenes,
            truth=args.truth,
            seed=args.seed,
            limit=limit,
            out=str(folder),
        )

    folder = out / folder_name(use.name)
    six = tuple(RelationUse(_use(r, counts, args.matching), search) for r in RELATIONS)
    plans = [plan(six, folder, args.limit)]
    if args.sweep is not None:
        relation = RelationUse(
            Use("brightness-up", {"matching": args.matching}), Use("sweep", {"levels": SWEEP})
        )
        limit = args.sweep or args.limit
        plans.append(plan((relation,), folder.with_name(folder.name + "-sweep"), limit))
    return plans


def _use(relation: str, counts: dict[str, int], matching: str) -> Use:
    options: dict[str, Any] = {}
    if relation not in ("watermark", "masking"):
        options["matching"] = matching
    if relation.startswith("brightness"):
        options["step"] = counts["step"]
    return Use(relation, options)


def _measure(
    name: str, system: System, plans: Sequence[Plan], scenes: Sequence[Scene], args: argparse.Namespace
) -> LocatorStability:
    """Run what is not there yet, unless told not to, and count it."""
    from instar.campaigns.run import execute
    from instar.core.system import fingerprint_of
    from instar.store import RunStore
    from instar.studies.text.measure import measure_stability

    measured: list[LocatorStability] = []
    for plan in plans:
        if not args.as_is:
            execute(plan, resume=True, quiet=args.json)
        with RunStore.read(str(plan.out)) as store:
            measured.append(measure_stability(name, store.records(changes=False)))
    main = measured[0]
    for sweep in measured[1:]:
        main.levels = sweep.levels  # on its own scenes, so that every level is measured on the same ones
    with RunStore.read(str(plans[0].out)) as store:
        main.looks, main.sources = _sources(store, fingerprint_of(system), scenes)
    if not (main.looks or args.as_is):
        raise BadInput(
            f"{name} located text in none of {len(scenes)} pictures; see why: instar report {plans[0].out}"
        )
    return main


def _sources(
    store: RunStore, fingerprint: str, scenes: Sequence[Scene]
) -> tuple[dict[str, Look], Hits | None]:
    """How each scene looks around what is found in it, and how accurate that is where words are known."""
    from instar.core.campaign import AnswerKey
    from instar.core.digest import digest
    from instar.core.errors import UnreadablePicture
    from instar.tasks.text.accuracy import Hits, count_hits, truth_of
    from instar.tasks.text.answers import read
    from instar.tasks.text.clarity import measure_look

    looks: dict[str, Look] = {}
    total: Hits | None = None
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
            total = (total or Hits(0, 0, 0)) + count_hits(found.quads, truth_of(words))
    return looks, total


def _write_retraining_set(relations: str | None, run: Path, scenes: Sequence[Scene], folder: Path) -> int:
    """How many follow-ups of the first system's run were written."""
    if relations is None:
        return 0
    from instar.store import RunStore
    from instar.tasks.text.export import write_retraining_set

    with RunStore.read(run) as store:
        by_id = {scene.id: scene for scene in scenes}
        return write_retraining_set(store.records(), by_id, folder, split_names(relations))


def _text(made: Sequence[Table], out: Path, figures: Sequence[str], retraining: str) -> str:
    from instar.report.text import table as aligned

    parts = []
    for one in made:
        numbers = range(1, len(one.rows[0])) if one.name in ("stability", "brightness") else ()
        parts.append("\n".join(filter(None, [one.title, aligned(one.rows, right=numbers), one.note])))
    parts.append("\n".join(filter(None, [f"Tables as CSV and the runs are in {out}.", *figures, retraining])))
    return "\n\n".join(parts)
