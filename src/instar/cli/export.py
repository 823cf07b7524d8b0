"""`instar export RUN`: the findings of a run as a data set, or all of its cases as a table."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.cli.outcome import Outcome
from instar.core.errors import BadInput, MissingExtra, RunError

if TYPE_CHECKING:
    from instar.cli.run_reader import OpenedRun
    from instar.core.record import Record
    from instar.tasks.detection.export import Exported

__all__ = ["arguments", "perform"]

FORMATS = ("coco", "yolo", "icdar", "csv", "parquet")


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the run folder")
    add(
        "--format",
        required=True,
        choices=FORMATS,
        help="coco, yolo or icdar pictures; or a table of all cases",
    )
    add("--out", required=True, metavar="DIR", help="where it is written; must not exist yet")
    add("--with-pasted", action="store_true", help="coco, yolo: label the pasted object too")


def perform(args: argparse.Namespace) -> Outcome:
    from instar.cli.run_reader import opened

    folder = Path(args.out)
    if folder.exists():
        raise BadInput(f"{folder} exists; give another --out, or remove it")
    if args.format == "parquet":
        _pyarrow()
    if args.with_pasted and args.format not in ("coco", "yolo"):
        raise BadInput(f"--with-pasted is for coco and yolo, not for {args.format}")
    with opened(args.run, quiet=args.json) as there:
        written = WRITERS[args.format](there, folder, args)
    what = "cases" if args.format in ("csv", "parquet") else "pictures"
    return Outcome(
        f"{written} {what} written to {folder}",
        {"run": args.run, "format": args.format, "out": str(folder), what: written},
    )


def _pictures(there: OpenedRun, args: argparse.Namespace) -> Iterator[Exported]:
    """The follow-up of every violated insertion, with what is known to be in it."""
    from instar.core.verdict import Status
    from instar.tasks.detection.changes import Insertion
    from instar.tasks.detection.export import labelled

    for record in there.store.records():
        if record.verdict.status is Status.VIOLATED and isinstance(record.change, Insertion):
            again = there.again(record, there.remembered)
            if again.source is None:
                raise BadInput(f"case {record.case} cannot be made again: {again.verdict.reason}")
            yield labelled(record, again.source, again.follow_ups[0].input, with_pasted=args.with_pasted)


def _coco(there: OpenedRun, folder: Path, args: argparse.Namespace) -> int:
    from instar.tasks.detection.export import write_coco

    return _some(write_coco(_pictures(there, args), folder, run=args.run, system=there.plan.systems[0].name))


def _yolo(there: OpenedRun, folder: Path, args: argparse.Namespace) -> int:
    from instar.tasks.detection.export import write_yolo

    return _some(write_yolo(_pictures(there, args), folder, run=args.run, system=there.plan.systems[0].name))


def _some(written: int) -> int:
    if not written:
        raise BadInput("the run has no violated insertion: there is nothing to export")
    return written


def _icdar(there: OpenedRun, folder: Path, args: argparse.Namespace) -> int:
    from instar.core.verdict import Status
    from instar.tasks.text.export import write_retraining_set

    violated = [r for r in there.store.records() if r.verdict.status is Status.VIOLATED]
    scenes = {scene.id: scene for scene in there.scenes}
    return write_retraining_set(
        violated, scenes, folder, {record.relation for record in violated} or {"text"}
    )


def _csv(there: OpenedRun, folder: Path, args: argparse.Namespace) -> int:
    rows = map(_row, there.store.records())
    written = 0
    try:
        folder.mkdir(parents=True)
        with (folder / "cases.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(COLUMNS))
            writer.writeheader()
            for row in rows:
                writer.writerow(row)
                written += 1
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror or error}; choose another --out") from error
    return written


def _parquet(there: OpenedRun, folder: Path, args: argparse.Namespace) -> int:
    pyarrow = _pyarrow()
    rows = list(map(_row, there.store.records()))
    kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    from pyarrow import parquet

    try:
        folder.mkdir(parents=True)
        parquet.write_table(pyarrow.Table.from_pylist(rows, schema), folder / "cases.parquet")
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror or error}; choose another --out") from error
    return len(rows)


COLUMNS: dict[str, type] = {
    "case": str, "role": str, "scene": str, "source": str, "relation": str, "ordinal": int, "status": str,
    "kind": str, "margin": float, "reason": str, "naturalness": float, "queries": int, "change": str,
    "findings": str, "evidence": str,
}  # fmt: skip


def _row(record: Record) -> dict[str, Any]:
    verdict = record.verdict
    return {
        "case": record.case,
        "role": record.role,
        "scene": record.scene,
        "source": record.source,
        "relation": record.relation,
        "ordinal": record.ordinal,
        "status": verdict.status.value,
        "kind": verdict.kind,
        "margin": verdict.margin,
        "reason": verdict.reason,
        "naturalness": record.naturalness,
        "queries": record.queries,
        "change": "" if record.change is None else json.dumps(record.change.to_json()),
        "findings": json.dumps(
            [
                {"kind": f.kind, "subject": f.subject, "margin": f.margin, **f.evidence}
                for f in verdict.findings
            ]
        ),
        "evidence": json.dumps(dict(verdict.evidence)),
    }


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("pyarrow", extra="parquet", needed_for="parquet") from None
    return pyarrow


WRITERS: dict[str, Callable[[OpenedRun, Path, argparse.Namespace], int]] = {
    "coco": _coco,
    "yolo": _yolo,
    "icdar": _icdar,
    "csv": _csv,
    "parquet": _parquet,
}
