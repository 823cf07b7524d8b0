"""`instar ratings`: let people judge the cases of a run, and count what they say."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.cli.flags import trust_argument
from instar.core.errors import BadInput
from instar.core.outcome import Outcome
from instar.report.answers import answer_text
from instar.report.files import write_csv
from instar.user_file import write_file

if TYPE_CHECKING:
    from instar.ratings.counts import Ratings

QUALITY = 92  # of the page's JPEG pictures


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="export or import")
    export = actions.add_parser("export", description="write a page that people rate cases of a run on")
    export.add_argument("run", metavar="RUN", help="a run folder")
    export.add_argument("--n", type=int, default=60, metavar="N", help="pairs of pictures (60)")
    export.add_argument("--seed", type=int, default=0, metavar="N", help="which, and in which order (0)")
    export.add_argument("--title", default="What do you think?", metavar="TEXT", help="heading of the page")
    export.add_argument("--out", metavar="FILE", help="the page (RUN/ratings.html)")
    trust_argument(export)
    read = actions.add_parser("import", description="count the answers of several raters")
    read.add_argument("run", metavar="RUN", help="the run folder that was exported")
    read.add_argument("answers", nargs="+", metavar="FILE", help="files that raters saved, one each")
    read.add_argument("--csv", metavar="FILE", help="also write the boxes as CSV")
    read.add_argument("--plot", metavar="FILE", help="also draw the box plots; needs the extra 'plots'")


def perform(args: argparse.Namespace) -> Outcome:
    if args.action is None:
        raise BadInput("ratings: say export or import")
    return _export(args) if args.action == "export" else _import(args)


def _export(args: argparse.Namespace) -> Outcome:
    if args.n < 1:
        raise BadInput(f"--n {args.n} leaves nothing to rate; give 1 or more")
    import numpy as np

    from instar.campaigns.reader import Named, open_run
    from instar.core.verdict import Status
    from instar.imaging.codecs import encode_jpeg
    from instar.progress import show_steps
    from instar.ratings import Item, choose_cases, render_page
    from instar.store import RunStore

    with RunStore.read(args.run) as store:
        chosen = choose_cases(store.records(changes=False), args.n, seed=args.seed)
    if not chosen:
        raise BadInput(f"{args.run} has no judged case to rate")
    items = []
    with (
        open_run(args.run, named=Named(trusted=args.trust), quiet=args.quiet) as reader,
        show_steps("making the pictures", len(chosen), quiet=args.quiet) as steps,
    ):
        for record in chosen:
            again = reader.replay(reader.record(record.case), reader.remembered)
            if again.source is None or not again.follow_ups:
                raise BadInput(f"case {record.case} cannot be made again; see instar replay")
            if not isinstance(again.source.input, np.ndarray):
                raise BadInput(f"{args.run} cannot be rated: what its system is asked is more than a picture")
            # All the same way, so that nothing but the change tells them apart.
            seen = (again.source, *again.follow_ups)
            shown = [(encode_jpeg(one.input, QUALITY), answer_text(one.answer)) for one in seen]
            items.append(Item(record.case, shown))
            steps.advance()
    path = Path(args.out) if args.out else Path(args.run) / "ratings.html"
    write_file(path, render_page(items, title=args.title))
    violated = sum(record.verdict.status is Status.VIOLATED for record in chosen)
    counts = {"pairs": len(items), "violated": violated, "passed": len(items) - violated}
    text = f"{len(items)} pairs to rate, {violated} violated and {len(items) - violated} passes mixed: {path}"
    if len(items) < args.n:
        text += f"\nThe run has no more than {len(items)} judged cases."
    if abs(violated - counts["passed"]) > 1:
        lacking = "violations" if violated < counts["passed"] else "passes"
        text += f"\nThey are not balanced: the run has only {min(violated, counts['passed'])} {lacking}."
    return Outcome(text, {"page": str(path), "run": args.run, **counts})


def _import(args: argparse.Namespace) -> Outcome:
    from instar.ratings import read_ratings, summarise_ratings
    from instar.store import RunStore

    sheets = [read_ratings(Path(path)) for path in args.answers]
    with RunStore.read(args.run) as store:
        records = {record.case: record for record in store.records(changes=False)}
    ratings = summarise_ratings(sheets, records)
    if args.csv:
        write_csv(Path(args.csv), _rows(ratings))
    if args.plot:
        from instar.ratings.plots import draw_boxes

        draw_boxes(ratings, Path(args.plot))
    return Outcome(_text(ratings, args.plot), _document(args.run, ratings))


def _rows(ratings: Ratings) -> list[list[str]]:
    heading = ["relation", "verdict", "question", "ratings", "least", "quarter", "median", "three quarters"]
    rows = [[*heading, "most", "mean"]]
    for box in ratings.boxes:
        numbers = [f"{value:g}" for value in box.quartiles]
        rows.append(
            [box.relation, box.verdict, box.question, str(len(box.values)), *numbers, f"{box.mean:.2f}"]
        )
    return rows


def _text(ratings: Ratings, plot: str | None) -> str:
    from instar.report.text import table

    heading, *rows = _rows(ratings)
    alpha = ", ".join(f"{question} {_number(value)}" for question, value in ratings.alpha.items())
    raters = ", ".join(f"{rater} ({n})" for rater, n in ratings.raters.items())
    parts = [f"{ratings.cases} cases, rated by {len(ratings.raters)}: {raters}"]
    for relation in dict.fromkeys(row[0] for row in rows):
        mine = [row[1:] for row in rows if row[0] == relation]
        name = "All relations" if relation == "all" else relation
        parts.append(f"{name}\n{table([heading[1:], *mine], right=range(2, 9))}")
    parts.append(f"Krippendorff's alpha (ordinal): {alpha}")
    if plot:
        parts.append(f"Box plots: {plot}")
    return "\n\n".join(parts)


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _document(run: str, ratings: Ratings) -> dict[str, Any]:
    return {
        "run": run,
        "raters": list(ratings.raters),
        "rated": dict(ratings.raters),
        "cases": ratings.cases,
        "alpha": {q: None if math.isnan(a) else a for q, a in ratings.alpha.items()},
        "boxes": [
            {name: getattr(box, name) for name in ("relation", "verdict", "question", "quartiles", "mean")}
            | {"ratings": len(box.values)}
            for box in ratings.boxes
        ],
    }
