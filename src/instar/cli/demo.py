"""`instar demo`: a failure of each kind of system that needs no explanation, and what to do next.

On photographs and with networks out of packages where these can be had, else on what the package draws
itself. What is shown is the plainest that the runs found; nothing is chosen by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from instar import zoo
from instar.campaigns.plan import Plan, RelationUse, Use, make_plan
from instar.campaigns.reader import open_run
from instar.campaigns.result import read_result
from instar.campaigns.run import execute
from instar.cli.report import write_page
from instar.core.errors import BadInput, FetchFailed, RunError
from instar.core.marks import Panel
from instar.core.outcome import Outcome
from instar.core.scene import Image
from instar.imaging.sheets import FONT, INK, PAPER
from instar.installation import MissingExtra
from instar.report import Summary
from instar.report.case_picture import draw_case
from instar.report.close_up import close_ups, cut_out
from instar.report.document import summary_to_json
from instar.report.files import write_picture
from instar.report.groups import in_turns
from instar.report.summary import Violation
from instar.report.text import headline_words
from instar.report.words import readable
from instar.store import RunStore
from instar.user_file import parse_toml

DRIVERS = ("vgg16-street", "vgg16-blind")
SHOWN = 3  # findings of each run
TITLE = 32  # pixels of the bar over the first finding of each
KINDS = {"photographs": "photograph", "pages": "page"}
FIRST = """Pictures were changed in ways that must not matter, and these systems answered otherwise.
Nobody labelled anything."""
TRY = "If: a bicyclist appears ahead, Then: the ego-vehicle should slow down at least 20%."

Fetch = Callable[[str], tuple[Path, ...]]
Tables = Mapping[str, Any]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", default="demo", metavar="DIR", help="where everything is put (demo)")
    parser.add_argument("--rule", metavar="TEXT", help='only this driving rule: "If: ..., Then: ..."')


def perform(args: argparse.Namespace) -> Outcome:
    folder = Path(args.out)
    if args.rule is not None:
        return _drive(folder, args.rule, args.quiet)
    missing: dict[str, str] = {}
    texts, documents = [FIRST], {}
    firsts: dict[str, Image] = {}
    plans = parse_toml(files("instar.cli").joinpath("demo_plans.toml").read_text("utf-8"))
    for task, tables in plans.items():
        chosen = choose(tables, folder, zoo.fetch, missing)
        plan = replace(make_plan(chosen["plan"]), out=str(folder / f"run-{task}"))
        try:
            (run,) = execute(plan, resume=True, quiet=args.quiet)
        except MissingExtra as lacking:
            documents[task] = {"missing": str(lacking)}
            texts.append(f"{chosen['title']}\n  {lacking}")
            continue
        text, documents[task], first = _show(run, folder, task, args.quiet, by_change=task == "driving")
        remark = [f"  {chosen['remark']}"] if "remark" in chosen else []
        texts.append("\n".join([chosen["title"], text, *remark]))
        if first is not None:
            firsts[chosen["title"]] = first
    if firsts:
        write_picture(folder / "first.png", _stacked(firsts))
        texts[0] += f"\nThe plainest failure of each in one picture: {folder / 'first.png'}"
    if missing:
        names = ", ".join(missing)
        texts.append(f"Could not be fetched: {names}; `instar models fetch NAME` says why.")
    texts.append(_what_next(folder))
    return Outcome("\n\n".join(texts), {**documents, "not_fetched": missing})


def choose(tables: Tables, folder: Path, fetch: Fetch, missing: dict[str, str]) -> dict[str, Any]:
    """What to run of a family, given what can be fetched; `missing` is told what cannot, and why."""
    real = tables.get("real")
    if real is None:
        return dict(tables["drawn"])
    if any(_fetched(name, fetch, missing) is None for name in real["fetch"]):
        return dict(tables["drawn"])
    scenes = _copied(real["scenes"], folder, fetch, missing)
    return dict(tables["drawn"]) if not scenes else real | {"plan": real["plan"] | {"scenes": scenes}}


def _fetched(name: str, fetch: Fetch, missing: dict[str, str]) -> tuple[Path, ...] | None:
    """The files of an entry; None where they cannot be had, which is tried once."""
    if name not in missing:
        try:
            return fetch(name)
        except (FetchFailed, BadInput) as error:
            missing[name] = str(error)
    return None


def _copied(what: str, folder: Path, fetch: Fetch, missing: dict[str, str]) -> str:
    """A folder with a copy of every photograph or page that could be had; empty text when there is none."""
    found: list[Path] = []
    for entry in zoo.MANIFEST:
        if entry.kind == KINDS[what]:
            found += _fetched(entry.name, fetch, missing) or ()
    if not found:
        return ""
    into = folder / what
    try:
        into.mkdir(parents=True, exist_ok=True)
        for path in found:
            shutil.copyfile(path, into / path.name)
    except OSError as error:
        raise RunError(f"cannot write {into}: {error.strerror or error}; choose another --out") from error
    return str(into)


def _show(
    run: str, folder: Path, name: str, quiet: bool, *, by_change: bool = False
) -> tuple[str, dict[str, Any], Image | None]:
    """Draw the plainest that a run found, and say it: as text, as a document, and the first picture."""
    with RunStore.read(run) as store:
        result = read_result(store)
    shown = list(_draw_findings(result.summary, folder / name, quiet, by_change=by_change))
    page = str(folder / f"{name}.html")
    write_page(result, page, quiet=quiet)
    lines = [f"  {headline_words(result.summary)}"]
    for number, (finding, sentence, path, _) in enumerate(shown, 1):
        lines += [f"  {number}. {readable(finding.scene)}, {readable(sentence, 200)}", f"     {path}"]
    lines.append(f"  All of it as a page, for the browser: {page}")
    pictures = [str(path) for _, _, path, _ in shown]
    document = summary_to_json(result.summary) | {"pictures": pictures, "page": page}
    return "\n".join(lines), document, shown[0][-1] if shown else None


def _draw_findings(
    summary: Summary, folder: Path, quiet: bool, *, by_change: bool
) -> Iterator[tuple[Violation, str, Path, Image]]:
    """The plainest failures, one of each scene before a second of any: each in words and as a picture.

    What nothing says where to look for, such as a speed, is to be seen best where the picture changes most.
    """
    findings = [finding for finding in summary.findings if finding.headline]
    if not findings:
        return
    with open_run(summary.totals.run, quiet=quiet) as reader:
        if by_change:
            seen = {finding.case: _visible_change(reader.panels(finding.case)) for finding in findings}
            findings.sort(key=lambda finding: (finding.relation, -seen[finding.case]))
            # Night changes more than a person does, so that relations take turns too.
            findings = in_turns(findings, lambda finding: finding.relation)
        once: dict[tuple[str, ...], Violation] = {}
        for finding in findings:
            once.setdefault(finding.identity, finding)
        for finding in in_turns(once.values(), lambda finding: finding.scene)[:SHOWN]:
            shown, sentence = reader.show(finding.case), reader.sentence(finding.case)
            parts = [] if by_change else close_ups(shown.record, shown.panels)
            panels = [cut_out(one, part) for one, part in zip(shown.panels, parts)] or shown.panels
            picture = draw_case(panels, sentence, beside=True)
            if picture is not None:
                path = folder / f"{finding.case}.png"
                write_picture(path, picture)
                yield finding, sentence, path, picture


def _visible_change(panels: Sequence[Panel]) -> float:
    """How much of the picture is changed, and how much: pixels, each by its largest difference of 255."""
    before, *after = (np.asarray(panel.picture, np.int16) for panel in panels)
    return max((float(np.abs(one - before).max(axis=2).sum()) / 255 for one in after), default=0.0)


def _stacked(firsts: Mapping[str, Image]) -> Image:
    """One below the other, each under its title."""
    width = max(one.shape[1] for one in firsts.values())
    rows = []
    for title, one in firsts.items():
        bar = np.full((TITLE, width, 3), INK, np.uint8)
        cv2.putText(bar, title, (8, TITLE - 10), FONT, 0.6, PAPER, 1, cv2.LINE_AA)
        right = width - one.shape[1]
        rows += [bar, cv2.copyMakeBorder(one, 0, 12, 0, right, cv2.BORDER_CONSTANT, value=PAPER)]
    return np.ascontiguousarray(np.vstack(rows), np.uint8)


def _drive(folder: Path, rule: str, quiet: bool) -> Outcome:
    """Run the rule on drawn drives for two networks, which takes some seconds, and show what each does."""
    number = hashlib.sha256(rule.encode()).hexdigest()[:8]
    plan = Plan(
        systems=tuple(Use(name) for name in DRIVERS),
        relations=(RelationUse(Use("rule", {"text": rule}), Use("draws", {"n": 1})),),
        scenes="drive:6:7",
        out=str(folder / f"run-driving-{number}"),
    )
    runs = execute(plan, resume=True, quiet=quiet)
    texts = [f"On {plan.scenes}, drawn here; {DRIVERS[1]} was trained where nobody walks:"]
    documents = []
    for name, run in zip(DRIVERS, runs):
        text, document, _ = _show(run, folder, name, quiet, by_change=True)
        texts.append(text)
        documents.append(document)
    return Outcome("\n\n".join(texts), {"rule": rule, "runs": documents})


def _what_next(folder: Path) -> str:
    return "\n".join(
        [
            "Now yours:",
            "  instar init                                   looks at this folder and writes a plan to run",
            "  instar run --system model.onnx --scenes photos/   tests a detector of yours on your pictures",
            f"  instar view {folder}".ljust(52) + "looks at these runs in the browser",
            f'  instar demo --rule "{TRY}"',
        ]
    )
