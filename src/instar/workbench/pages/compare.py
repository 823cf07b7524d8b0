"""Compare: two or more runs, what is newly broken and what is fixed, per relation and per scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

from fastapi import APIRouter, Request, Response

from instar.campaigns.result import compare_folders
from instar.core.errors import BadInput, InstarError
from instar.report.by_scene import FailureKey
from instar.report.causes import finding_words
from instar.report.close_up import finding_box
from instar.report.comparison import Comparison, FailureExample
from instar.report.groups import in_turns
from instar.store import RunStore
from instar.workbench.columns import stamp_of
from instar.workbench.library import LibraryRun
from instar.workbench.site import Site, view_of

AT_ONCE = 0.1  # seconds that a page waits for a comparison; later it is loaded into it
MOST_RUNS, SCENES, PICTURED = 8, 40, 24


def router(site: Site) -> APIRouter:
    routes = APIRouter()

    @routes.get("/compare")
    def compare(request: Request) -> Response:
        first, others = _chosen(site, request)
        held = [_held_against(site, first, other, AT_ONCE) for other in others] if first is not None else []
        return site.page(
            "compare.html",
            title="Compare",
            runs=site.library.readable_runs(),
            first=first,
            others=others,
            held=held,
        )

    @routes.get("/compare/with")
    def one(request: Request) -> Response:
        """One comparison alone, once it is made."""
        first, others = _chosen(site, request)
        if first is None or not others:
            raise BadInput("it takes two runs to be compared")
        other = others[0]
        return site.page("compared.html", first=first, **_held_against(site, first, other, 280.0))

    return routes


def _chosen(site: Site, request: Request) -> tuple[LibraryRun | None, list[LibraryRun]]:
    names = view_of(request).chosen.get("run", ())[:MOST_RUNS]
    runs = [site.library.run(name) for name in names]
    return (runs[0] if runs else None), runs[1:]


def _held_against(site: Site, first: LibraryRun, other: LibraryRun, seconds: float) -> dict[str, Any]:
    """What a template says of two runs; `comparison` is None while it is being made."""
    try:
        key = (first.folder, other.folder, stamp_of(first.folder), stamp_of(other.folder))
        begun = site.comparisons.get(key, compare_folders, str(first.folder), str(other.folder))
        comparison = begun.result(timeout=seconds)
    except NotYet:
        return {"other": other, "comparison": None, "error": ""}
    except InstarError as error:
        return {"other": other, "comparison": None, "error": str(error)}
    except BrokenExecutor:
        return {"other": other, "comparison": None, "error": "comparing them was broken off; reload the page"}
    return {
        "other": other,
        "comparison": comparison,
        "error": "",
        "pictured": _pictured(first, other, comparison),
        "relations": _tallied(comparison, "relation"),
        "scenes": _tallied(comparison, "scene")[:SCENES],
    }


def _pictured(
    first: LibraryRun, other: LibraryRun, comparison: Comparison
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Newly broken and fixed failures: in words, with the case in either run."""
    made = []
    for title, examples, run, against in (
        ("Newly broken", comparison.broken_examples, other, first),
        ("Fixed", comparison.fixed_examples, first, other),
    ):
        # One of each scene first: the same object is often lost under every change.
        shown = in_turns(sorted(examples), lambda key: key.scene)[:PICTURED]
        told = _told(run, [(key, examples[key].case) for key in shown])
        made.append((title, [_pair(first, run, against, key, examples[key], told) for key in shown]))
    return made


def _told(run: LibraryRun, wanted: Sequence[tuple[FailureKey, str]]) -> dict[FailureKey, tuple[str, str]]:
    """What each failure is, in words, and its place in the picture, from the case that shows it."""
    told = {}
    with RunStore.read(run.folder) as store:
        for key, case in wanted:
            for finding in store.record(case, change=False).verdict.findings:
                if (finding.subject, finding.kind) == (key.object, key.kind):
                    place = ",".join(f"{at:.0f}" for at in finding_box(finding))
                    told[key] = finding_words(finding), place
    return told


def _pair(
    first: LibraryRun, run: LibraryRun, against: LibraryRun, key: FailureKey, example: FailureExample,
    told: Mapping[FailureKey, tuple[str, str]],
) -> dict[str, Any]:  # fmt: skip
    """The case of a failure in either run, how it was before how it is, both at the failure's place."""
    sides = [(run, example.case, True), (against, example.other, False)]
    sides = sides if run is first else sides[::-1]
    words, place = told.get(key, (key.what, ""))
    return {"key": key, "words": words, "place": place, "sides": sides}


def _tallied(comparison: Comparison, field: str) -> list[tuple[str, int, int]]:
    """Newly broken and fixed failures by "relation" or "scene", where most has changed first."""
    keys = (comparison.keys_broken, comparison.keys_fixed)
    broken, fixed = (Counter(getattr(key, field) for key in some) for some in keys)
    names = sorted(broken.keys() | fixed.keys(), key=lambda name: (-broken[name] - fixed[name], name))
    return [(name, broken[name], fixed[name]) for name in names]
