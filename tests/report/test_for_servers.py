"""JUnit, SARIF and Markdown: as their schemas want them, with every name as text."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
import xmlschema
from markdown_it import MarkdownIt

from instar.core.record import Record, Totals
from instar.core.verdict import Finding, Verdict
from instar.report.by_scene import ByScene, FailureKey
from instar.report.causes import Failure
from instar.report.gate import Against
from instar.report.groups import group_failures
from instar.report.junit import render_junit
from instar.report.markdown import literal, render_markdown
from instar.report.sarif import render_sarif
from instar.report.summary import Summary, summarise

from .hostile import BACKWARDS, CONTROL, HOSTILE, LONG, PATH, QUOTES, SCRIPT
from .schemas import junit_schema, sarif_schema
from .test_html import Reader


def run_of(name: str) -> tuple[Summary, ByScene, list[Record]]:
    """A scene of every outcome, and everything in it called the same."""
    lost = Finding(name, name, -0.4, {"was": {"label": name, "score": 0.9, "box": [1, 2, 3, 4]}})
    verdicts = {
        name: Verdict.violated([lost]),
        "held": Verdict.held(0.2),
        "raised": Verdict.failed(name),
        "unfit": Verdict.inapplicable(name),
    }
    records = [
        Record(f"{i:016x}", scene, scene, name, i, None, verdict)
        for i, (scene, verdict) in enumerate(verdicts.items())
    ]
    scenes = ByScene()
    return summarise(scenes.watch(records), Totals(name, name, 0, 4, 9, 9, 1.0)), scenes, records


@pytest.fixture(scope="module")
def junit(tmp_path_factory):
    return xmlschema.XMLSchema(str(junit_schema(tmp_path_factory.mktemp("junit"))))


@pytest.fixture(scope="module")
def sarif(tmp_path_factory):
    schema = sarif_schema(tmp_path_factory.mktemp("sarif"))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def xml_of(name: str, **settings: object) -> str:
    summary, scenes, _ = run_of(name)
    return render_junit(summary, scenes.in_order(), now=datetime(2026, 1, 2, 3, 4, 5), **settings)


@pytest.mark.parametrize("name", ["a.jpg", *HOSTILE], ids=lambda name: ascii(name)[:24])
def test_junit_is_as_its_schema_wants_it(junit, name):
    junit.validate(xml_of(name))


def test_the_schema_of_junit_refuses_what_is_wrong(junit):
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        junit.validate(xml_of("a").replace("<testcase name=", "<testcase title="))


def test_junit_tells_failed_skipped_and_held_apart():
    suite = ElementTree.fromstring(xml_of("a.jpg")).find("testsuite")
    outcome = {test.get("name"): [child.tag for child in test] for test in suite.iter("testcase")}
    assert outcome == {"a.jpg": ["failure"], "held": [], "raised": ["error"], "unfit": ["skipped"]}
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4", "failures": "1", "errors": "1", "skipped": "1",
    }  # fmt: skip
    failure = suite.find("testcase/failure")
    assert failure.get("message") == "1 of 1 judged case violated: a.jpg 0.90 is lost"
    assert failure.text == "margin -0.400\ninstar replay a.jpg 0000000000000000"


def test_junit_skips_what_is_known():
    text = xml_of("a.jpg", known=frozenset({FailureKey("a.jpg", "a.jpg", "a.jpg", "a.jpg")}))
    suite = ElementTree.fromstring(text).find("testsuite")
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "2")


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_a_reader_of_junit_sees_names_as_text(name):
    tests = list(ElementTree.fromstring(xml_of(name)).iter("testcase"))
    assert len(tests) == 4
    shown = {test.get("name") for test in tests} - {"held", "raised", "unfit"}
    assert len(shown) == 1
    assert max(map(len, shown)) <= 600
    if name in (SCRIPT, PATH, QUOTES):
        assert shown == {name}


def sarif_of(name: str, **settings: object) -> dict:
    summary, scenes, _ = run_of(name)
    return json.loads(render_sarif(summary, scenes.in_order(), version="0.1.0", **settings))


@pytest.mark.parametrize("name", ["street/a b.jpg", *HOSTILE], ids=lambda name: ascii(name)[:24])
def test_sarif_is_as_its_official_schema_wants_it(sarif, name):
    sarif.validate(sarif_of(name))
    sarif.validate(sarif_of(name, known=frozenset({FailureKey(name, name, name, name)})))


def test_the_schema_of_sarif_refuses_what_is_wrong(sarif):
    document = sarif_of("a")
    document["runs"][0]["results"][0]["level"] = "loud"
    with pytest.raises(jsonschema.ValidationError):
        sarif.validate(document)


def test_sarif_says_what_where_and_how_to_see_it_again():
    (run,) = sarif_of("street/a b.jpg")["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    location = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert location == "street/a%20b.jpg"
    assert "instar replay 'street/a b.jpg' 0000000000000000" in result["message"]["text"]
    assert result["baselineState"] == "new"


def test_servers_are_told_in_the_words_of_the_report():
    lost = Finding("invented", "object 1", -0.4, {"is": {"label": "dog", "box": [1, 2, 3, 4]}})
    wavers = Verdict.inapplicable("unstable: it does not recur")
    verdicts = {"a": Verdict.violated([lost]), "b": wavers}
    records = [Record(str(i), s, s, "cropped", i, None, v) for i, (s, v) in enumerate(verdicts.items())]
    scenes = ByScene()
    summary = summarise(scenes.watch(records), Totals("run", "net", 0, 2, 9, 9, 1.0))
    (run,) = json.loads(render_sarif(summary, scenes.in_order(), version="0.1.0"))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == "newly found when cropped"
    assert rule["id"] == "cropped/invented"


def test_an_address_in_sarif_leads_nowhere_else():
    for name, address in [
        (PATH, "%2E%2E/%2E%2E/etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        (LONG, LONG[:2000]),
    ]:
        (result,) = sarif_of(name)["runs"][0]["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == address


def markdown_of(name: str, **settings: object) -> str:
    summary, _, records = run_of(name)
    groups = group_failures([Failure(records[0], {"label": name})])
    return render_markdown(summary, groups, pictures={records[0].case: "p/0.jpg"}, **settings)


def parsed(text: str) -> list[Any]:
    """What a reader of Markdown makes of it: blocks, and what is inside of them."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    return [one for token in tokens for one in (token, *(token.children or ()))]


def test_markdown_has_the_numbers_the_groups_and_a_picture():
    text = markdown_of("a.jpg")
    for part in ["### instar: a.jpg", "**1** of 2 judged cases", "1 failing case, 1 group",
                 "![before and after](p/0.jpg)", "    instar replay a.jpg 0000000000000000"]:  # fmt: skip
        assert part in text


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: ascii(name)[:24])
def test_names_in_markdown_are_text(name):
    key = FailureKey(name, name, name, name)
    text = markdown_of(name, against=Against((key,), (), (key,), ()))
    harmless = markdown_of("harmless", against=Against((key,), (), (key,), ()))
    told, usual = (parsed(one) for one in (text, harmless))
    assert [token.type for token in told] == [token.type for token in usual]
    links = [token.attrs for token in told if token.type in ("link_open", "image")]
    assert links == [token.attrs for token in usual if token.type in ("link_open", "image")]
    # What stands inside a tag is HTML.
    tags, usual_tags = (
        [Reader.of(t.content).tags for t in one if t.type == "html_block" and "summary" in t.content]
        for one in (told, usual)
    )
    assert [[tag for tag, _ in ours] for ours in tags] == [[tag for tag, _ in ours] for ours in usual_tags]
    assert len(text) < 6000


@pytest.mark.parametrize(
    "name", [SCRIPT, QUOTES, "a | b", "# title", "- item", "@somebody", "https://example.org"]
)
def test_literal_text_is_read_back_by_a_reader_of_markdown(name):
    (inline,) = [token for token in parsed(f"x {literal(name)}") if token.type == "inline"]
    assert {child.type for child in inline.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in inline.children)
    assert shown.replace("\u2060", "") == f"x {name}"


def test_control_and_direction_characters_are_spelt_out_everywhere():
    for name in (CONTROL, BACKWARDS):
        for text in (xml_of(name), json.dumps(sarif_of(name)), markdown_of(name)):
            assert not {"\x00", "\x1b", "\x07", "\u202e"} & set(text)
