"""`instar export RUN`: the findings of a run as a data set, or all of its cases as a table."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.campaigns.catalogue import export_formats, find_export, import_home
from instar.cli.flags import named_arguments, named_from
from instar.core.errors import BadInput, RunError, Untrusted
from instar.core.outcome import Outcome
from instar.core.task import find_task
from instar.installation import import_extra

if TYPE_CHECKING:
    from instar.campaigns.reader import RunReader
    from instar.core.record import Record
    from instar.core.replay import Replay

CASES = ("failing", "held", "both")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the run folder")
    formats = [*export_formats(), *TABLES]
    add("--format", required=True, choices=formats, help="labelled pictures, or a table of all cases")
    add("--out", required=True, metavar="DIR", help="where it is written; must not exist yet")
    add("--cases", choices=CASES, default="failing", help="one for each failure, as many that held, or both")
    add("--with-pasted", action="store_true", help="coco, yolo, fiftyone: label the pasted object too")
    add("--originals", action="store_true", help="coco, yolo, fiftyone: the unchanged pictures too")
    add(
        "--classes",
        metavar="FILE|A,B",
        help="coco, yolo, fiftyone: your classes in order, a data.yaml, or a COCO file",
    )
    add(
        "--val",
        type=float,
        metavar="X",
        help="coco, yolo, fiftyone: the share of scenes to validate with (0; yolo, which needs some: 0.2)",
    )
    named_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    from instar.campaigns.reader import open_run

    folder = Path(args.out)
    if folder.exists():
        raise BadInput(f"{folder} exists; give another --out, or remove it")
    if args.format == "parquet":
        import_extra("pyarrow", "pyarrow", extra="parquet", needed_for="parquet")
    _require_use(args)
    from instar.report.files import whole_folder

    with whole_folder(folder), open_run(args.run, named=named_from(args), quiet=args.quiet) as reader:
        if args.format in TABLES:
            written = _write_table(reader, args.format, folder)
        else:
            export = _exporter(args.format)
            records = _chosen(reader, args.cases)
            system = reader.plan.systems[0].name
            about = {"run": args.run, "system": system} | _options(args, reader, records)
            written = export(_made_again(reader, args.format, records), folder, **about)
            if not written:
                which = {"failing": "failing case", "held": "case that held", "both": "case"}[args.cases]
                raise BadInput(f"the run has no {which}: there is nothing to export")
    what = "cases" if args.format in TABLES else "pictures"
    document = {"run": args.run, "format": args.format, "out": str(folder), what: written}
    return Outcome(f"{written} {what} written to {folder}", document)


def _exporter(format: str) -> Callable[..., int]:
    exporter: Callable[..., int] = import_home(str(find_export(format)))
    return exporter


def _task_of(format: str) -> str:
    """The task whose answers a format is for."""
    return str(find_export(format)).split(".")[2]


def _require_use(args: argparse.Namespace) -> None:
    """Refuse flags that the format has no use for."""
    takes = {} if args.format in TABLES else signature(_exporter(args.format)).parameters
    if args.format in TABLES and args.cases != "failing":
        raise BadInput(f"--cases is for pictures; {args.format} has all cases")
    for flag in ("with_pasted", "originals", "classes", "val"):
        if getattr(args, flag) and "options" not in takes:
            raise BadInput(
                f"--{flag.replace('_', '-')} is for coco, yolo and fiftyone, not for {args.format}"
            )
    if args.val is not None and not 0 <= args.val < 1:
        raise BadInput(f"--val is {args.val}; it must be at least 0 and below 1")


def _options(args: argparse.Namespace, reader: RunReader, records: Sequence[Record]) -> dict[str, Any]:
    """What the flags say beyond the format."""
    if "options" not in signature(_exporter(args.format)).parameters:
        return {}
    from instar.campaigns.referees import find_referees
    from instar.stats.clusters import draw_clusters

    scenes = [record.scene for record in records]
    is_known = all(reader.scene(scene).objects is not None for scene in set(scenes))
    share = 0.2 if args.val is None and args.format == "yolo" else args.val
    kept = draw_clusters(scenes, share, 0) if share and scenes else set()
    if kept == set(scenes):
        kept = set()  # frames of one video, or one picture: nobody could be trained without them
    return {
        "referees": () if is_known else find_referees(reader.plan, [_task_of(args.format)], reader.system),
        "validation": frozenset(kept),
        "classes": args.classes,
        "with_pasted": args.with_pasted,
        "originals": args.originals,
    }


def _chosen(reader: RunReader, cases: str) -> Sequence[Record]:
    """One case for each failure, as many that held, or both."""
    from instar.campaigns.chosen_cases import failing_cases, held_cases
    from instar.campaigns.dismissals import dismisser_in

    records = list(map(dismisser_in(reader.store), reader.store.records(changes=False)))
    failing = failing_cases(records)
    held = [] if cases == "failing" else list(held_cases(records)[: len(failing) or None])
    return {"failing": failing, "held": held, "both": [*failing, *held]}[cases]


def _made_again(reader: RunReader, format: str, records: Sequence[Record]) -> Iterator[Replay]:
    """Every case, made again from its recipe and the answers that the run keeps.

    Those of a user's own relation are as the run keeps them, unless its code may be run.
    """
    task = _task_of(format)
    for bare in records:
        case = bare.case
        try:
            record = reader.record(case)
        except Untrusted:
            yield reader.kept_case(bare, find_task(task))
            continue
        if reader.relation(record.relation).resolved_task.name != task:
            raise BadInput(f"{format} is for {task}, and {record.relation} is not about that")
        again = reader.replay(record, reader.remembered)
        if again.source is None or not again.follow_ups:
            raise BadInput(f"case {case} cannot be made again: {again.verdict.reason}")
        yield again


def _write_table(reader: RunReader, format: str, folder: Path) -> int:
    rows = (_row(reader, record) for record in reader.store.records(changes=False))
    try:
        folder.mkdir(parents=True)
        return TABLES[format](rows, folder)
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror or error}; choose another --out") from error


def _csv(rows: Iterator[dict[str, Any]], folder: Path) -> int:
    written = 0
    with (folder / "cases.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(COLUMNS))
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            written += 1
    return written


def _parquet(rows: Iterator[dict[str, Any]], folder: Path) -> int:
    import pyarrow
    from pyarrow import parquet

    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    table = pyarrow.Table.from_pylist(list(rows), schema)
    parquet.write_table(table, folder / "cases.parquet")
    return int(table.num_rows)


COLUMNS: dict[str, type] = {
    "case": str, "role": str, "scene": str, "source": str, "relation": str, "ordinal": int, "status": str,
    "kind": str, "margin": float, "reason": str, "naturalness": float, "queries": int, "change": str,
    "findings": str, "evidence": str,
}  # fmt: skip


def _row(reader: RunReader, record: Record) -> dict[str, Any]:
    verdict, recipe = record.verdict, reader.store.recipe(record.case)
    findings = [
        {"kind": f.kind, "subject": f.subject, "margin": f.margin, **f.evidence} for f in verdict.findings
    ]
    plain = {name: getattr(record, name) for name in COLUMNS if hasattr(record, name)}
    return plain | {
        "status": verdict.status.value,
        "kind": verdict.kind,
        "margin": verdict.margin,
        "reason": verdict.reason,
        "change": json.dumps(recipe) if recipe else "",
        "findings": json.dumps(findings),
        "evidence": json.dumps(dict(verdict.evidence)),
    }


TABLES: dict[str, Callable[[Iterator[dict[str, Any]], Path], int]] = {"csv": _csv, "parquet": _parquet}
