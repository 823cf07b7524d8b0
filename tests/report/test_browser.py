"""The page in a real browser: opened from disk, used by hand and by keyboard, asking nobody."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote

import cv2
import numpy as np
import pytest

from bench_runs import make_large_run
from browser import barriers, chromium, click, look, requests_of, wait_for
from instar.cli import main

from .hostile import QUOTES, SCRIPT
from .test_html import page_of, render_html

# A browser has moods: what fails three times is a failure.
pytestmark = [pytest.mark.real, pytest.mark.flaky(reruns=2)]

BLOBS = ["--system", "street-blobs", "--relation", "insertion", "--scenes", "street:12", "--budget", "600"]


@pytest.fixture(scope="module")
def browser():
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    here = Path.cwd()
    os.chdir(folder)  # so that the page names the run as a user would
    try:
        assert main(["run", *BLOBS, "--out", "runs/blobs", "--json"]) == 1
        assert main(["report", "runs/blobs", "--html", "page.html", "--shrink", "--json"]) == 1
    finally:
        os.chdir(here)
    return folder / "page.html"


def open_page(browser, page: Path, width: int = 1280, height: int = 900, *, dark: bool = False) -> None:
    """The page anew, whatever was done before, with all its pictures decoded."""
    look(browser, width, height, dark=dark)
    browser.get("about:blank")
    requests_of(browser)
    browser.get_log("browser")
    browser.get(page.as_uri())
    wait_for(lambda: browser.execute_script("return document.readyState") == "complete")
    wait_for(lambda: browser.execute_script("return innerWidth") == width)


def find(browser, selector):
    return browser.find_elements("css selector", selector)


def test_nothing_is_asked_for_and_nothing_is_complained_about(browser, page):
    open_page(browser, page)
    browser.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    for details in find(browser, "details"):
        browser.execute_script("arguments[0].open = true", details)
    asked = {address.partition(":")[0] for address in requests_of(browser)}
    assert asked <= {"file", "data"}
    assert browser.get_log("browser") == []
    pictures = (
        "return [...document.querySelectorAll('svg image')].map(image => image.href.baseVal.slice(0, 11))"
    )
    found = browser.execute_script(pictures)
    assert len(found) >= 8
    assert set(found) == {"data:image/"}


def test_the_first_picture_is_on_the_first_screen(browser, page):
    for width, height in ((1440, 900), (390, 844)):
        open_page(browser, page, width, height)
        picture = find(browser, "svg.panel")[0]
        assert picture.is_displayed()
        assert picture.rect["y"] < 0.75 * height
        assert "is lost" in find(browser, ".case h3")[0].text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_a_barrier(browser, page, dark):
    open_page(browser, page, dark=dark)
    assert barriers(browser) == []


def test_search_and_filters_leave_what_fits(browser, page):
    open_page(browser, page)
    every = shown_rows(browser)
    search = find(browser, "#search")[0]
    search.send_keys("car")
    wait_for(lambda: 0 < len(shown_rows(browser)) < len(every))
    assert all("car" in " ".join(row) for row in shown_rows(browser))
    assert " of " in find(browser, "#found")[0].text
    shown = [card for card in find(browser, "#findings .case") if card.is_displayed()]
    assert shown
    assert all("car" in card.text for card in shown)
    search.clear()
    search.send_keys("nothing is called so")
    wait_for(lambda: shown_rows(browser) == [])
    assert not [group for group in find(browser, "details.group[data-group]") if group.is_displayed()]


def test_rows_are_sorted_by_their_headings(browser, page):
    open_page(browser, page)
    button = find(browser, "[data-sort=scene]")[0]
    for order, turned in (("ascending", False), ("descending", True)):
        click(browser, button)
        assert find(browser, f"th[aria-sort={order}]")[0].text == "scene"
        scenes = [row[2] for row in shown_rows(browser)]
        assert scenes == sorted(scenes, reverse=turned)


def shown_rows(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('#all tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )


def test_findings_are_walked_and_blinked_by_keys(browser, page):
    open_page(browser, page)
    body = find(browser, "body")[0]
    cards = [card.get_attribute("id") for card in find(browser, "#findings .case") if card.is_displayed()]
    for card in cards[:2]:
        body.send_keys("n")
        assert browser.switch_to.active_element.get_attribute("id") == card
    browser.switch_to.active_element.send_keys("b")
    here = find(browser, f"#{cards[1]}")[0]
    assert here.find_element("css selector", "[value=flicker]").is_selected()
    shown = [one.is_displayed() for one in here.find_elements("css selector", "figure")]
    click(browser, here.find_element("css selector", ".pair"))
    assert [one.is_displayed() for one in here.find_elements("css selector", "figure")] == shown[::-1]
    body.send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "search"


def test_five_thousand_findings_are_one_light_page(browser, tmp_path):
    run = make_large_run(tmp_path / "run", 5_000)
    path = tmp_path / "page.html"
    assert main(["report", str(run), "--html", str(path), "--json"]) == 1
    assert path.stat().st_size < 5_000_000
    open_page(browser, path)
    wait_for(lambda: find(browser, "svg.panel")[0].is_displayed())
    assert len(shown_rows(browser)) == 100  # the others are made as they are looked at
    assert find(browser, "#rows-shown")[0].get_attribute("textContent") == "5,000 findings"
    browser.execute_script("document.querySelector('#more-rows').scrollIntoView()")
    wait_for(lambda: len(shown_rows(browser)) > 100)


def test_it_prints_what_is_folded(browser, page):
    open_page(browser, page)
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert all(group.get_attribute("open") for group in find(browser, "details.group"))
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert not is_open(browser, 2)


def test_a_small_picture_of_a_group_shows_what_is_inside_of_outlines(browser, page):
    open_page(browser, page)
    thumb = next(one for one in find(browser, ".thumb") if one.is_displayed())
    shown = cv2.imdecode(np.frombuffer(thumb.screenshot_as_png, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert (shown < 10).mean() < 0.05  # a filled outline is black


def test_groups_open_by_click_and_by_keyboard(browser, page):
    open_page(browser, page)
    assert [is_open(browser, number) for number in (1, 2)] == [True, False]
    assert not picture_in_group(browser, 2).is_displayed()
    click(browser, summary_of(browser, 2))
    wait_for(lambda: is_open(browser, 2) and picture_in_group(browser, 2).is_displayed())
    summary_of(browser, 2).send_keys(" ")
    wait_for(lambda: not is_open(browser, 2))


def is_open(browser, number):
    return bool(find(browser, f"details.group:nth-of-type({number})[open]"))


def summary_of(browser, number):
    return find(browser, f"details.group:nth-of-type({number}) summary")[0]


def picture_in_group(browser, number):
    return find(browser, f"details.group:nth-of-type({number}) .case svg.panel")[0]


def test_the_slider_shows_more_or_less_of_the_follow_up(browser, page):
    open_page(browser, page)
    case = find(browser, ".case")[0]
    slider = case.find_element("css selector", ".slider")
    assert not slider.is_displayed()
    first, last = (case.find_elements("css selector", "figure")[i] for i in (0, -1))
    assert first.rect["x"] < last.rect["x"]
    click(browser, case.find_element("css selector", "[value=over]"))
    wait_for(slider.is_displayed)
    wait_for(lambda: first.rect["x"] == last.rect["x"])
    clip = "return getComputedStyle(arguments[0].querySelector('.frame')).clipPath"
    assert browser.execute_script(clip, last) == "inset(0px 0px 0px 50%)"
    for _ in range(10):
        slider.send_keys("\ue014")  # the arrow to the right
    wait_for(lambda: browser.execute_script(clip, last) == "inset(0px 0px 0px 60%)")


def test_what_is_called_no_failure_is_saved_as_a_file_for_later_runs(browser, page, tmp_path, capsys):
    open_page(browser, page)
    bar = find(browser, "#words")[0]
    assert not bar.is_displayed()
    click(browser, find(browser, ".more summary")[0])
    form = find(browser, ".word")[0]
    form.find_element("css selector", "input").send_keys('a poster, "no" person')
    click(browser, form.find_element("css selector", "button"))
    wait_for(bar.is_displayed)
    address = bar.find_element("css selector", "a").get_attribute("href")
    words = tmp_path / "no-failures.json"
    words.write_text(unquote(address.partition(",")[2]), encoding="utf-8")
    assert main(["report", str(page.parent / "runs/blobs"), "--known", str(words), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["called_none"]["said"] == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser, page, width):
    open_page(browser, page, width)
    for details in find(browser, "details.group"):
        browser.execute_script("arguments[0].open = true", details)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", [SCRIPT, QUOTES], ids=["script", "quotes"])
def test_hostile_names_run_nothing(browser, tmp_path, name):
    path = tmp_path / "hostile.html"
    path.write_text(render_html(page_of(name)), encoding="utf-8")
    open_page(browser, path)  # an alert would make every further command fail
    assert len(find(browser, "script:not([type])")) == 1
    assert name in browser.execute_script("return document.body.innerText")
    assert not find(browser, "[onmouseover]")
