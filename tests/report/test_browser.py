"""The page in a real browser: opened from disk, used by hand and by keyboard, asking nobody.

With INSTAR_SCREENSHOTS=docs the pictures of the documentation are made again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import unquote

import cv2
import numpy as np
import pytest

from browser import chromium, click, look, requests_of, wait_for
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
    assert len(find(browser, "script")) == 1
    assert name in browser.execute_script("return document.body.innerText")
    assert not find(browser, "[onmouseover]")


def test_pictures_of_the_documentation(browser, page, tmp_path):
    folder = Path(os.environ.get("INSTAR_SCREENSHOTS", tmp_path)).absolute()
    shots = {
        "report.png": (1180, 1010, False, "document.querySelector('.top')"),
        "report-finding.png": (1180, 900, False, "document.querySelector('#findings')"),
        "report-phone.png": (390, 844, True, "document.querySelector('#findings')"),
    }
    for name, (width, height, dark, at) in shots.items():
        open_page(browser, page, width, height, dark=dark)
        browser.execute_script(f"window.scrollTo(0, {at}.getBoundingClientRect().top + scrollY - 12)")
        browser.save_screenshot(str(folder / name))
        _make_small(folder / name)
        picture = cv2.imread(str(folder / name))
        assert picture.shape[:2] == (height, width)
        assert (folder / name).stat().st_size < 300_000
        # The background of the page is as light or as dark as it was asked for.
        assert bool(np.median(picture) < 60) is dark


def _make_small(path: Path) -> None:
    """With a palette: flat colours stay as they are, and photographs hardly differ."""
    from PIL import Image

    shot = Image.open(path).convert("RGB")
    # By coverage: the few pixels of an outline count as much as a wall.
    palette = shot.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=1)
    shot.quantize(palette=palette, dither=Image.Dither.NONE).save(path, optimize=True)
