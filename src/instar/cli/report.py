"""`instar report`: what a run found, as text, as JSON, or as files for people and for servers."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from instar.campaigns.reader import Named, RunReader, open_run
from instar.campaigns.result import RunResult, read_result
from instar.campaigns.shrink import format_shrunk
from instar.cli.flags import gate_arguments, gate_from, installed_version, trust_argument
from instar.core.errors import BadInput, InstarError
from instar.core.outcome import Outcome
from instar.imaging.preview import encode_scaled_jpeg
from instar.progress import show_steps
from instar.report.cards import CaseView, small_card
from instar.report.groups import in_turns
from instar.report.html import Page, render_html
from instar.report.junit import render_junit
from instar.report.markdown import MOST_GROUPS, render_markdown
from instar.report.sarif import render_sarif
from instar.report.text_style import terminal_style
from instar.store import RunStore
from instar.user_file import write_file

PICTURED = 32  # findings with pictures to compare, over all groups
PER_GROUP = 6
SMALL = 128  # further findings, each with a small picture
PASSING = 6
MARKDOWN_SIDE = 1000  # pixels of a picture in Markdown, at most


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="a run folder")
    add("--html", metavar="FILE", help="also write a page to look at: one file, opened from disk")
    add("--shrink", action="store_true", help="ask the system for the smallest change of each group shown")
    add("--junit", metavar="FILE", help="also write JUnit XML: a test for each relation and scene")
    add("--sarif", metavar="FILE", help="also write SARIF 2.1.0: a result for each different failure")
    add("--markdown", metavar="FILE", help="also write a summary for a pull request, its pictures beside it")
    add("--mlflow", metavar="EXPERIMENT", help="also log it and the files to MLflow (extra: mlflow)")
    trust_argument(parser)
    gate_arguments(parser)


def perform(args: argparse.Namespace) -> Outcome:
    if args.shrink and not args.html:
        raise BadInput("--shrink is for the page: give --html FILE as well, or use instar shrink RUN CASE")
    with RunStore.read(args.run) as store:
        found = read_result(store, gate_from(args))
    known = frozenset(found.against.known if found.against is not None else ())
    results = found.scenes.in_order()
    if args.junit:
        write_file(args.junit, render_junit(found.summary, results, known=known))
    if args.sarif:
        version = installed_version() or "0.0.0"
        write_file(args.sarif, render_sarif(found.summary, results, version=version, known=known))
    if args.html:
        write_page(found, args.html, shrink=args.shrink, trusted=args.trust, quiet=args.quiet)
    if args.markdown:
        _write_markdown(found, args.markdown, quiet=args.quiet)
    document = found.document()
    if args.mlflow:
        from instar.mlflow import log_run

        files = [file for file in (args.html, args.junit, args.sarif, args.markdown) if file]
        logged = log_run(found.summary, found.groups, experiment=args.mlflow, files=files)
        document |= {"mlflow": logged}
    return Outcome(found.text(terminal_style(), brief=args.quiet), document, found.status)


def write_page(
    found: RunResult, path: str, *, shrink: bool = False, trusted: bool = False, quiet: bool = False
) -> None:
    """The page of a run; pictures that it does not keep are made now, from the recipes.

    With `shrink` the first case of every group that has pictures is shrunk, which asks the system. Code that
    the run's plan names is imported only when it is `trusted`.
    """
    # The representative of every group first, then a second of each, ...
    ranked = [(group.representative, case) for group in found.groups for case in group.cases]
    in_order = [case for _, case in in_turns(ranked, lambda pair: pair[0])]
    first = {case for group in found.groups for case in group.cases[:PER_GROUP]}
    chosen = [case for case in in_order if case in first][:PICTURED]
    small = [case for case in in_order if case not in set(chosen)][:SMALL]
    passing = found.figures.narrowly_held()[:PASSING]
    with (
        open_run(found.summary.totals.run, named=Named(trusted=trusted), quiet=quiet) as reader,
        show_steps("drawing findings", len(chosen) + len(small) + len(passing), quiet=quiet) as steps,
    ):
        shown = []
        for case in [*chosen, *passing]:
            shown.append(reader.show(case))
            steps.advance()
        trust, cards = found.summary.names_code, {}
        for case in small:  # drawn one by one: the pictures of all would not fit into memory
            if card := small_card(reader.show(case), found.summary.totals.run, trust=trust):
                cards[case] = card
            steps.advance()
        by_case = dict(zip(chosen, shown))
        if shrink:
            by_case |= _shrunk(reader, [g.representative for g in found.groups], by_case, quiet=quiet)
    page = Page(found.summary, found.figures, found.groups, by_case, shown[len(chosen) :], cards)
    write_file(path, render_html(page))


def _shrunk(
    reader: RunReader, cases: Sequence[str], shown: Mapping[str, CaseView], *, quiet: bool
) -> dict[str, CaseView]:
    """Those of the cases that are shown, each with what its smallest failing change is."""
    cases = [case for case in cases if case in shown]
    told = {}
    with show_steps("shrinking", len(cases), quiet=quiet) as steps, reader.asking() as asking:
        for case in cases:
            try:
                shrunk = reader.shrink(case, asking)
                words = f"Smallest: {format_shrunk(reader.relation(shown[case].record.relation), shrunk)}"
            except InstarError as error:
                words = f"Not shrunk: {error}"
            told[case] = dataclasses.replace(shown[case], smallest=words)
            steps.advance()
    return told


def _write_markdown(found: RunResult, path: str, *, quiet: bool) -> None:
    folder = Path(path).with_name(f"{Path(path).stem}-pictures")
    groups = found.groups[:MOST_GROUPS]
    pictures = {}
    with (
        open_run(found.summary.totals.run, quiet=quiet) as reader,
        show_steps("drawing findings", len(groups), quiet=quiet) as steps,
    ):
        for group in groups:
            picture, file = reader.picture(group.representative), f"{group.representative}.jpg"
            if picture is not None:
                write_file(folder / file, encode_scaled_jpeg(picture, longest=MARKDOWN_SIDE))
                pictures[group.representative] = f"{folder.name}/{file}"
            steps.advance()
    text = render_markdown(found.summary, found.groups, pictures=pictures, against=found.against)
    write_file(path, text)
