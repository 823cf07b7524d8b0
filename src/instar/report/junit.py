"""A run as JUnit XML: a suite for each relation, in it a test for each scene."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from instar.report.by_scene import FailureKey, Result
from instar.report.summary import Summary
from instar.report.words import counted, readable, reason_words, replay_command

LONGEST = 500


def render_junit(
    summary: Summary,
    results: Sequence[Result],
    *,
    known: frozenset[FailureKey] = frozenset(),
    now: datetime | None = None,
) -> str:
    """The XML; a scene whose failures are all in `known` is skipped, not failed."""
    began = (now or datetime.now(timezone.utc)).strftime("%Y-%m-%dT%H:%M:%S")
    suites = Element("testsuites")
    for number, (relation, group) in enumerate(groupby(results, key=lambda result: result.relation)):
        ours = list(group)
        suite = SubElement(suites, "testsuite", name=_text(relation), package="instar", id=str(number))
        suite.attrib |= {"timestamp": began, "hostname": "localhost", "time": "0"}
        properties = SubElement(suite, "properties")
        for name, value in (("system", summary.totals.system), ("run", summary.totals.run)):
            SubElement(properties, "property", name=name, value=_text(value))
        for result in ours:
            _add_test(suite, result, summary, known)
        for tag in ("failure", "error", "skipped"):
            name = {"failure": "failures", "error": "errors"}.get(tag, tag)
            suite.set(name, str(sum(test.find(tag) is not None for test in suite.iter("testcase"))))
        suite.set("tests", str(len(ours)))
        SubElement(suite, "system-out").text = f"{counted(sum(r.judged for r in ours), 'judged case')}"
        SubElement(suite, "system-err").text = ""
    indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suites, encoding="unicode")}\n'


def _add_test(suite: Element, result: Result, summary: Summary, known: frozenset[FailureKey]) -> None:
    system, run = summary.totals.system, summary.totals.run
    test = SubElement(
        suite, "testcase", name=_text(result.source), classname=_text(f"{system}.{result.relation}")
    )
    test.set("time", "0")
    if result.violated and not result.failures.keys() <= known:
        told = f"{result.violated:,} of {counted(result.judged, 'judged case')} violated: {result.told}"
        failure = SubElement(test, "failure", type=_text(result.kind or "violated"), message=_text(told))
        margin = f"{result.margin:.3f}" if math.isfinite(result.margin) else "unknown"
        failure.text = f"margin {margin}\n{_text(replay_command(run, result.case, trust=summary.names_code))}"
    elif result.violated:
        SubElement(test, "skipped").text = _text(f"known: {result.told}")
    elif result.failed:
        SubElement(test, "error", type="failed", message=_text(result.reason))
    elif not result.judged:
        SubElement(test, "skipped").text = _text(f"not judged: {reason_words(result.reason)}")


def _text(text: str) -> str:
    """XML has no control characters, not even escaped: they are spelt out."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in readable(text, LONGEST)
    )
