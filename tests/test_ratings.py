"""Ratings: pages that tell nothing, and counts that are right."""

from __future__ import annotations

import base64
import dataclasses
import json
import math
import re
from itertools import pairwise

import numpy as np
import pytest

from instar.cli import main
from instar.core.change import Change
from instar.core.errors import BadInput
from instar.core.record import Record
from instar.core.verdict import Finding, Verdict
from instar.imaging.codecs import decode_picture
from instar.ratings import Item, choose_cases, read_ratings, render_page, summarise_ratings
from instar.stats.agreement import krippendorff_alpha

SLOW = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."
NIGHT = "If: the driving time changes into night, Then: slow down."


@dataclasses.dataclass(frozen=True)
class Some(Change):
    number: int


def record(case, relation, violated):
    verdict = Verdict.violated([Finding("speed", "", -1.0)]) if violated else Verdict.held(1.0)
    return Record(f"{case:016x}", f"s{case}", f"s{case}", relation, 0, Some(case), verdict)


def records(violated, held, relations=("a", "b")):
    every = [record(i, relations[i % len(relations)], True) for i in range(violated)]
    return every + [record(1000 + i, relations[i % len(relations)], False) for i in range(held)]


def statuses(chosen):
    return [one.verdict.status.value for one in chosen]


def test_violations_and_passes_are_balanced_and_so_are_relations():
    chosen = choose_cases(records(200, 300), 60)
    assert statuses(chosen).count("violated") == 30
    assert len(chosen) == 60
    assert [one.relation for one in chosen].count("a") == 30
    assert len({one.case for one in chosen}) == 60


def test_what_one_side_lacks_the_other_makes_up_for():
    assert statuses(choose_cases(records(5, 300), 60)).count("violated") == 5
    assert statuses(choose_cases(records(300, 5), 60)).count("violated") == 55
    assert len(choose_cases(records(3, 4), 60)) == 7


def test_the_order_tells_nothing_and_is_the_same_again():
    first, again = (statuses(choose_cases(records(50, 50), 60, seed=1)) for _ in range(2))
    assert first == again != statuses(choose_cases(records(50, 50), 60, seed=2))
    changes = sum(a != b for a, b in pairwise(first))
    assert 15 < changes < 45  # neither sorted nor alternating


def test_a_page_is_one_file_that_fetches_nothing():
    page = render_page(
        [Item("ab", [(b"\x89PNG..", "speed 40 km/h"), (b"jpeg", "speed </script> 30")])], title="A & B"
    )
    assert "<title>A &amp; B</title>" in page
    assert page.count("</script>") == 2  # an answer cannot end the script
    assert not re.search("https?:", page)
    assert "default-src 'none'" in page
    assert "data:image/png;base64," in page
    assert "data:image/jpeg;base64," in page


def sheet(rater, points):
    return {
        "ratings": 1,
        "rater": rater,
        "answers": [{"item": i, "case": case, **given} for i, (case, given) in enumerate(points.items(), 1)],
    }


def test_answers_are_joined_with_the_run(tmp_path):
    known = {one.case: one for one in records(2, 2)}
    cases = sorted(known)
    sheets = []
    for rater, bias in (("ann", 0), ("bob", 1)):
        points = {case: {"real": 5 + bias, "reasonable": 2 + i + bias} for i, case in enumerate(cases)}
        path = tmp_path / f"{rater}.json"
        path.write_text(json.dumps(sheet(rater, points)))
        sheets.append(read_ratings(path))
    found = summarise_ratings(sheets, known)
    assert found.raters == {"ann": 4, "bob": 4}
    (box,) = [
        b for b in found.boxes if (b.relation, b.verdict, b.question) == ("all", "violated", "reasonable")
    ]
    assert sorted(box.values) == [2, 3, 3, 4]
    assert box.quartiles == (2, 2.75, 3, 3.25, 4)
    expected = krippendorff_alpha([[2, 3, 4, 5], [3, 4, 5, 6]])
    assert found.alpha["reasonable"] == pytest.approx(expected)
    alone = summarise_ratings(sheets[:1], known)
    assert math.isnan(alone.alpha["real"])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("nonsense", "is not JSON"),
        ("{}", "must be one that the page"),
        ('{"ratings": 1, "answers": 5}', "its answers are not a list of cases"),
        ('{"ratings": 1, "answers": [5]}', "its answers are not a list of cases"),
        ('{"ratings": 1, "answers": [{"real": 5}]}', "its answers are not a list of cases"),
        (json.dumps(sheet("x", {"ab": {"real": 8}})), "real is 8; it must be 1 to 7"),
        (json.dumps(sheet("x", {"ab": {"real": True}})), "real is True; it must be 1 to 7"),
        (json.dumps(sheet("x", {"ab": {}})), "has no ratings yet; leave it out"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(tmp_path, content, complaint):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(BadInput, match=complaint):
        read_ratings(tmp_path / "a.json")


def test_cases_of_another_run_and_a_rater_twice_are_refused():
    from instar.ratings import Rated

    known = {one.case: one for one in records(1, 1)}
    with pytest.raises(BadInput, match=r"a.json rates case ffff, which is not in this run"):
        summarise_ratings([Rated("ann", {"ffff": {"real": 3}}, "a.json")], known)
    case = next(iter(known))
    twice = [Rated("ann", {case: {"real": 3}}, name) for name in ("a.json", "b.json")]
    with pytest.raises(BadInput, match=r"two files are by 'ann' \(a.json and b.json\)"):
        summarise_ratings(twice, known)


def test_who_stopped_half_way_counts_for_what_was_rated(tmp_path):
    known = {one.case: one for one in records(2, 2)}
    cases = sorted(known)
    whole = {case: {"real": 4, "reasonable": 4} for case in cases}
    part = {cases[0]: {"real": 6, "reasonable": 6}, cases[1]: {"real": 6}, cases[2]: {}, cases[3]: {}}
    sheets = []
    for rater, points in (("ann", whole), ("bob", part)):
        (tmp_path / f"{rater}.json").write_text(json.dumps(sheet(rater, points)))
        sheets.append(read_ratings(tmp_path / f"{rater}.json"))
    found = summarise_ratings(sheets, known)
    assert found.raters == {"ann": 4, "bob": 1}
    assert found.cases == 4
    counted = {(b.verdict, b.question): len(b.values) for b in found.boxes if b.relation == "all"}
    assert sum(counted.values()) == 8 + 3


def test_alpha_is_that_of_the_published_example_and_of_no_agreement():
    # Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), part D.
    n = float("nan")
    table = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, n, n, n],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, n, 3],
        [n, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, n],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, n],
    ]
    assert krippendorff_alpha(table) == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]) == 1
    rng = np.random.default_rng(0)
    assert abs(krippendorff_alpha(rng.integers(1, 8, (4, 2000)))) < 0.03
    assert math.isnan(krippendorff_alpha([[4, 4], [4, 4]]))
    assert krippendorff_alpha([[1, 7, 1, 7], [7, 1, 7, 1]]) < -0.5


def test_raters_agree_on_a_share_however_its_last_bit_was_rounded():
    share, other = 29 / 30, float(np.nextafter(29 / 30, 1))
    assert krippendorff_alpha([[share, other, 0.5], [other, share, 0.5]]) == 1


@pytest.fixture(scope="module")
def rated_run(tmp_path_factory):
    """A run with violations and passes, and the page of eight of them."""
    run = tmp_path_factory.mktemp("ratings") / "run"
    words = ["run", "--system", "street-driver", "--set", "system.fault=brakes a tenth"]
    words += ["--scenes", "street:8:4", "--rule", SLOW, "--rule", NIGHT, "--set", "search.n=1"]
    assert main([*words, "--out", str(run), "--json"]) == 1
    assert main(["ratings", "export", str(run), "--n", "8", "--json"]) == 0
    return run


def test_a_run_is_exported_rated_and_imported(rated_run, tmp_path, capsys):
    run = rated_run
    assert main(["ratings", "export", str(run), "--n", "8", "--json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (document["pairs"], document["violated"], document["passed"]) == (8, 4, 4)
    page = (run / "ratings.html").read_text()
    items = items_of(run / "ratings.html")
    assert all(item.keys() == {"case", "pictures", "answers"} for item in items)
    for hint in ("violated", "held", "passed", "pedestrian", "tenth", "street-"):
        assert hint not in json.dumps([(item["case"], item["answers"]) for item in items])
        assert hint not in page.partition("<script")[0]
    assert all(item["answers"][0].startswith("speed ") for item in items)
    files = []
    for rater in ("ann", "bob", "cy"):
        points = {item["case"]: {"real": 6, "reasonable": 1 + i % 7} for i, item in enumerate(items)}
        files.append(tmp_path / f"{rater}.json")
        files[-1].write_text(json.dumps(sheet(rater, points)))
    words = ["ratings", "import", str(run), *map(str, files), "--csv", str(tmp_path / "boxes.csv")]
    assert main([*words, "--plot", str(tmp_path / "boxes.png"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["alpha"]["reasonable"] == 1
    assert document["alpha"]["real"] is None  # nobody ever said anything but 6
    assert {box["verdict"] for box in document["boxes"]} == {"passed", "violated"}
    assert (tmp_path / "boxes.png").stat().st_size > 5000
    assert (tmp_path / "boxes.csv").read_text().startswith("relation,verdict,question,ratings")


def test_pictures_tell_nothing_but_what_they_show(rated_run):
    """Of passes and violations alike: the same size, the same kind of file, and nothing written into it."""
    for item in items_of(rated_run / "ratings.html"):
        files = [base64.b64decode(url.partition("data:image/jpeg;base64,")[2]) for url in item["pictures"]]
        assert len(files) == len(item["answers"]) == 2
        for content in files:
            assert content[:4] == b"\xff\xd8\xff\xe0"  # plain JFIF
            assert not {b"\xff\xe1", b"\xff\xfe", b"\xff\xed"} & set(segments(content))
        decoded = [decode_picture(content) for content in files]
        assert len({image.shape for image in decoded}) == 1
    names = [item["case"] for item in items_of(rated_run / "ratings.html")]
    assert names != sorted(names)
    assert all(len(name) == 16 for name in names)


def segments(content):
    """The markers of a JPEG file up to its pixels."""
    at = 2
    while content[at : at + 2] != b"\xff\xda":
        yield content[at : at + 2]
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")


def items_of(page):
    text = page.read_text()
    return json.loads(text.partition('type="application/json">')[2].partition("</script>")[0])["items"]


def test_too_few_of_one_side_are_named(rated_run, capsys):
    words = ["ratings", "export", str(rated_run), "--out", str(rated_run / "other.html"), "--n", "99"]
    assert main(words) == 0
    told = capsys.readouterr().out
    pairs, violated, passes = map(
        int, re.match(r"(\d+) pairs to rate, (\d+) violated and (\d+)", told).groups()
    )
    assert passes + 1 < violated
    assert told.splitlines()[1:] == [
        f"The run has no more than {pairs} judged cases.",
        f"They are not balanced: the run has only {passes} passes.",
    ]


def test_a_rule_of_two_steps_shows_all_its_pictures(tmp_path, capsys):
    rule = (
        "If: a pedestrian appears on the roadside, Then: slow down. If: he gets closer, Then: slow down more."
    )
    run = tmp_path / "run"
    words = ["run", "--system", "street-driver", "--rule", rule, "--scenes", "street:2:4"]
    assert main([*words, "--set", "search.n=1", "--out", str(run), "--json"]) == 0
    assert main(["ratings", "export", str(run), "--json"]) == 0
    assert {len(item["pictures"]) for item in items_of(run / "ratings.html")} == {3}


@pytest.mark.real
def test_people_rate_with_mouse_and_keyboard_and_hand_back_a_file(rated_run, tmp_path, capsys):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    from browser import chromium, click, requests_of, wait_for

    page = (rated_run / "ratings.html").resolve().as_uri()

    def press(browser, text):
        click(
            browser,
            next(e for e in browser.find_elements(By.CSS_SELECTOR, "button, nav a") if e.text == text),
        )

    def heading(browser):
        return browser.find_element(By.TAG_NAME, "h2").text

    def saved(browser, name):
        browser.execute_cdp_cmd(
            "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
        )
        press(browser, "Save my ratings")
        wait_for(lambda: (tmp_path / name).is_file() and json.loads((tmp_path / name).read_text()))

    with chromium() as browser:
        browser.get(page)
        browser.find_element(By.ID, "rater").send_keys("ann")
        press(browser, "Start")
        for number in range(1, 9):
            assert heading(browser) == f"{number} of 8"
            for question in ("real", "reasonable"):
                point = 1 + number % 7
                inputs = browser.find_elements(By.CSS_SELECTOR, f"input[name={question}]")
                assert [one.accessible_name for one in inputs[::6]] == [
                    "1 of 7, not at all",
                    "7 of 7, entirely",
                ]
                click(browser, inputs[point - 1])
            press(browser, "Next" if number < 8 else "Finish")
        saved(browser, "ratings-ann.json")
        # Somebody else at the same machine, who has only the keyboard and stops after two.
        browser.get(page)
        press(browser, "I am somebody else")
        browser.find_element(By.ID, "rater").send_keys("bo", Keys.ENTER)
        for number in (1, 2):
            assert browser.switch_to.active_element.text == f"{number} of 8"
            for question in ("real", "reasonable"):
                browser.switch_to.active_element.send_keys(Keys.TAB)
                browser.switch_to.active_element.send_keys(Keys.SPACE)
                browser.switch_to.active_element.send_keys(*[Keys.ARROW_RIGHT] * number)
                assert browser.switch_to.active_element.get_attribute("name") == question
            while browser.switch_to.active_element.text != "Next":
                browser.switch_to.active_element.send_keys(Keys.TAB)
            browser.switch_to.active_element.send_keys(Keys.ENTER)
        press(browser, "Stop here")
        saved(browser, "ratings-bo.json")
        assert {address.partition(":")[0] for address in requests_of(browser)} <= {"file", "data", "blob"}
        assert browser.get_log("browser") == []
    answers = json.loads((tmp_path / "ratings-bo.json").read_text())["answers"]
    assert [(a.get("real"), a.get("reasonable")) for a in answers[:3]] == [(2, 2), (3, 3), (None, None)]
    assert main(["ratings", "import", str(rated_run), *map(str, sorted(tmp_path.glob("*.json")))]) == 0
    told = capsys.readouterr().out
    assert told.startswith("8 cases, rated by 2: ann (8), bo (2)")


MORE = """
import instar

class System:
    name = "asked"
    def predict(self, inputs):
        return [1.0 for _ in inputs]

system = System()

def questions(scene):
    return [("a", lambda image: (image, "a"))]
    yield

task = instar.Task(
    "asking",
    read=lambda asked, answer: answer,
    compare=lambda before, after: instar.Verdict.held(1.0),
    marks=lambda seen: instar.Panel("", seen.input[0]),
    questions=questions,
    picture=lambda asked: asked[0],
    with_picture=lambda asked, picture: (picture, asked[1]),
)
relation = instar.Relation("same", task, apply=lambda picture, change: picture)
"""


def test_what_is_more_than_a_picture_is_not_rated(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_pairs_to_rate.py").write_text(MORE)
    monkeypatch.syspath_prepend(str(tmp_path))
    run = str(tmp_path / "run")
    words = ["run", "--system", "own_pairs_to_rate:system", "--relation", "own_pairs_to_rate:relation"]
    assert main([*words, "--scenes", "street:1", "--out", run, "--json"]) == 0
    capsys.readouterr()
    assert main(["ratings", "export", run, "--trust"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"instar: {run} cannot be rated: what its system is asked is more than a picture"
