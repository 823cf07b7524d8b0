"""`instar demo`: the main job on real photographs, or on drawn streets where those cannot be had.

Then the other families, on what the package draws itself: a text locator that fears glare, on pages of words,
a network that never saw a person, on drives through a town, and, where torch is installed, explanations that
are the same whatever they are to explain.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

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
from instar.core.system import Limits
from instar.installation import MissingExtra
from instar.report import Summary, render_text
from instar.report.document import summary_to_json
from instar.report.files import write_picture
from instar.report.groups import in_turns
from instar.report.summary import Violation
from instar.store import RunStore
from instar.user_file import parse_toml

__all__ = ["arguments", "perform"]

DETECTOR = "yolox-nano"
EXPLAINED = "mobilenet-v2"  # the network under the classifier of photographs
DRIVERS = ("vgg16-street", "vgg16-blind")
PICTURES = 6
CHANGES = (
    "mirrored", "shifted", "cropped", "brightened", "darkened", "flattened", "defocused", "shaken", "noisy",
    "compressed", "hazy",
)  # fmt: skip
SEARCH = Use("adaptive")
TRY = "If: a bicyclist appears ahead, Then: the ego-vehicle should slow down at least 20%."

Fetch = Callable[[str], tuple[Path, ...]]


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", default="demo", metavar="DIR", help="where everything is put (demo)")
    parser.add_argument(
        "--rule", metavar="TEXT", help='only drive, under a rule of your own: "If: ..., Then: ..."'
    )


def perform(args: argparse.Namespace) -> Outcome:
    folder = Path(args.out)
    if args.rule is not None:
        return _drive(folder, args.rule, args.json)
    missing: list[str] = []
    plan = choose(folder, zoo.fetch, missing)
    for complaint in missing:
        print(f"instar: {complaint}", file=sys.stderr)
    (system,) = plan.systems
    if system.name != DETECTOR:
        print(f"instar: showing {system.name} on {plan.scenes} instead, all drawn here", file=sys.stderr)
    photographs = plan.scenes if system.name == DETECTOR else ""
    (run,) = execute(plan, resume=True, quiet=args.json)
    text, document = _show(run, folder, "", args.json)
    if missing:
        text += "\n".join(["", "Could not be fetched:", *(f"  {complaint}" for complaint in missing)])
    texts, documents = [text], {**document, "not_fetched": missing}
    for task, shown in parse_toml(files("instar.cli").joinpath("demo_plans.toml").read_text("utf-8")).items():
        tables = shown["plan"]
        if "photographs" in shown and _can_explain(photographs, missing):
            tables = shown["photographs"] | {"scenes": photographs}
        plan = make_plan(tables)
        plan = replace(plan, out=str(folder / f"run-{plan.systems[0].name}"))
        try:
            (run,) = execute(plan, resume=True, quiet=args.json)
            text, documents[task] = _show(run, folder, f"-{task}", args.json, plainest=task == "driving")
            texts.append(f"{shown['title']}\n\n{text}")
        except MissingExtra as lacking:
            documents[task] = {"missing": str(lacking)}
            texts.append(f"{shown['title']} {lacking}")
        if task == "driving":
            texts.append(f'Drive under a rule of your own: instar demo --rule "{TRY}"')
    return Outcome("\n\n".join(texts), documents)


def _can_explain(photographs: str, missing: list[str]) -> bool:
    """Whether there are photographs, and the network of their classifier."""
    try:
        return bool(photographs and zoo.fetch(EXPLAINED))
    except (FetchFailed, BadInput) as error:
        missing.append(str(error))
        return False


def _show(
    run: str, folder: Path, suffix: str, quiet: bool, *, plainest: bool = False
) -> tuple[str, dict[str, Any]]:
    """Draw what a run found, and say so: as text and as a document."""
    with RunStore.read(run) as store:
        result = read_result(store)
    found = _draw_findings(result.summary, folder / f"findings{suffix}", quiet, plainest=plainest)
    pictures = [str(path) for path in found]
    page = str(folder / f"report{suffix}.html")
    write_page(result, page, quiet=quiet)
    lines = [render_text(result.summary)]
    if pictures:
        which = "what is to be seen best first" if plainest else "the largest things first"
        lines += [f"Pictures of findings, before and after, {which}:", *(f"  {path}" for path in pictures)]
    lines.append(f"All of it as a page, to be opened in a browser: {page}")
    return "\n".join(lines), summary_to_json(result.summary) | {"pictures": pictures, "page": page}


def choose(folder: Path, fetch: Fetch, missing: list[str]) -> Plan:
    """What to run, given what can be fetched; `missing` is told in words what cannot."""
    scenes = ""
    try:
        fetch(DETECTOR)
        scenes = _photographs(folder / "photographs", fetch, missing)
    except (FetchFailed, BadInput) as error:
        missing.append(str(error))
    if scenes:  # few photographs and a good detector under the whole suite: about two minutes
        system, queries, relations = DETECTOR, 800, tuple(RelationUse(Use(name), SEARCH) for name in CHANGES)
    else:  # a planted fault on what the package draws itself: a few seconds
        system, queries, scenes = "street-blobs", 300, "street:8"
        relations = (RelationUse(Use("insertion"), Use("guided")),)
    return Plan(
        systems=(Use(system),),
        relations=relations,
        scenes=scenes,
        out=str(folder / f"run-{system}"),
        limits=Limits(queries=queries),
    )


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
    texts = [f"Driving, on {plan.scenes}, drawn here; {DRIVERS[1]} learned where nobody walks:"]
    documents = []
    for name, run in zip(DRIVERS, runs):
        text, document = _show(run, folder, f"-{name}", quiet, plainest=True)
        texts.append(text)
        documents.append(document)
    return Outcome("\n\n".join(texts), {"rule": rule, "runs": documents})


def _photographs(folder: Path, fetch: Fetch, missing: list[str]) -> str:
    """A folder with a copy of every photograph that could be had; empty text when there is none."""

    def try_to_fetch(name: str) -> tuple[Path, ...]:
        try:
            return fetch(name)
        except FetchFailed as error:
            missing.append(str(error))
            return ()

    found = [path for entry in zoo.photographs() for path in try_to_fetch(entry.name)]
    if not found:
        return ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in found:
            shutil.copyfile(path, folder / path.name)
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror or error}; choose another --out") from error
    return str(folder)


def _draw_findings(summary: Summary, folder: Path, quiet: bool, *, plainest: bool = False) -> Iterator[Path]:
    """Pictures of failures, one of each scene before a second of any: the largest first, or the plainest.

    How bad a finding is says nothing of how well it can be seen: far off in the dark, somebody hardly is.
    """
    if not summary.findings:
        return
    with open_run(summary.totals.run, quiet=quiet) as there:
        findings = [finding for finding in summary.findings if finding.headline]
        findings.sort(key=_size, reverse=True)  # a large thing that goes wrong needs no explanation
        if plainest:
            seen = {finding.case: _visible_change(there.panels(finding.case)) for finding in findings}
            findings.sort(key=lambda finding: (finding.relation, -seen[finding.case]))
            # Night changes more than a person does, so that relations take turns too.
            findings = in_turns(findings, lambda finding: finding.relation)
        for finding in in_turns(findings, lambda finding: finding.scene)[:PICTURES]:
            picture = there.picture(finding.case)
            if picture is not None:
                path = folder / f"{finding.case}.png"
                write_picture(path, picture)
                yield path


def _size(finding: Violation) -> float:
    """The area of the object that it is about; 0 where there is none."""
    x1, y1, x2, y2 = finding.box or (0, 0, 0, 0)
    return (x2 - x1) * (y2 - y1)


def _visible_change(panels: Sequence[Panel]) -> float:
    """How much of the picture is changed, and how much: pixels, each by its largest difference of 255."""
    before, *after = (np.asarray(panel.picture, np.int16) for panel in panels)
    return max((float(np.abs(one - before).max(axis=2).sum()) / 255 for one in after), default=0.0)
