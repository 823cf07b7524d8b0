"""The workbench as people use it: a real server, a real browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select

from bench_runs import SCRIPT, make_street_run
from browser import barriers, chromium, click, look, wait_for
from instar.imaging.codecs import encode_png
from instar.scenes import load_scenes

# A browser has moods: what fails three times is a failure.
pytestmark = [pytest.mark.real, pytest.mark.flaky(reruns=2)]

RULE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    make_street_run(root / "blobs")
    make_street_run(root / "exact", system="street-exact")
    make_street_run(root / "other", "--seed", "1")
    return root


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    """`instar view` as it is started by hand; the address that it prints."""
    words = [sys.executable, "-m", "instar", "view", str(root), "--no-browser"]
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    printed = ""
    for line in server.stderr:
        if found := re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line):
            printed = found[0]
            break
    yield printed
    server.terminate()
    assert server.wait(120) == 0
    server.stderr.close()


@pytest.fixture(scope="module")
def window(address: str) -> Iterator[WebDriver]:
    with chromium() as browser:
        browser.get(address)
        yield browser


@pytest.fixture
def page(window: WebDriver, address: str) -> Iterator[WebDriver]:
    """The browser on the first page; afterwards nothing was refused by the policy or asked elsewhere."""
    window.get_log("browser"), window.get_log("performance")
    window.get(base(address))
    yield window
    assert [
        entry["message"] for entry in window.get_log("browser") if "Content Security" in entry["message"]
    ] == []
    asked = [json.loads(entry["message"])["message"] for entry in window.get_log("performance")]
    urls = [m["params"]["request"]["url"] for m in asked if m["method"] == "Network.requestWillBeSent"]
    assert {urlsplit(url).hostname for url in urls if not url.startswith(("data:", "blob:"))} <= {"127.0.0.1"}


def base(address: str) -> str:
    return address.partition("/?")[0]


def go(page: WebDriver, path: str) -> None:
    page.get("/".join(page.current_url.split("/")[:3]) + path)


def one(page: WebDriver, selector: str) -> WebElement:
    return wait_for(lambda: page.find_element(By.CSS_SELECTOR, selector))


def every(page: WebDriver, selector: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, selector)


def press(page: WebDriver, keys: str) -> None:
    page.find_element(By.TAG_NAME, "body").send_keys(keys)


def free_name(root: Path, name: str) -> str:
    """That name, or another where an earlier attempt has left a run."""
    return next(n for n in (name, *(f"{name}-{i}" for i in range(9))) if not (root / n).exists())


def open_worst(page: WebDriver) -> None:
    go(page, "/explore?status=violated&run=blobs")
    click(page, one(page, ".card"))
    wait_for(lambda: every(page, "svg.panel image"))


def test_the_token_is_gone_from_the_address(page: WebDriver) -> None:
    assert "token" not in page.current_url


def test_filter_open_mark_reload_and_the_mark_is_kept(page: WebDriver) -> None:
    go(page, "/explore")
    total = int(one(page, "#count").text)
    page.find_element(
        By.LINK_TEXT, next(a.text for a in every(page, ".facet a") if a.text.startswith("violated"))
    ).click()
    wait_for(lambda: "status=violated" in page.current_url)
    violated = int(one(page, "#count").text)
    assert 0 < violated < total
    page.find_element(
        By.LINK_TEXT, next(a.text for a in every(page, ".facet a") if a.text.startswith("lost"))
    ).click()
    wait_for(lambda: "kind=lost" in page.current_url)
    assert int(one(page, "#count").text) <= violated
    click(page, one(page, ".card"))
    note = one(page, "#note")
    note.clear()
    note.send_keys(f"seen by hand {SCRIPT}")
    click(page, one(page, "button[value='real defect']"))
    wait_for(lambda: every(page, ".history li"))
    page.refresh()
    assert one(page, "button[value='real defect']").get_attribute("aria-pressed") == "true"
    assert SCRIPT in one(page, ".history").text
    assert "status=violated" in page.current_url
    assert "kind=lost" in page.current_url
    go(page, "/explore?mark=real+defect")
    assert one(page, "#count").text == "1"
    page.back()
    assert SCRIPT in one(page, ".history").text


def test_slider_blink_and_drawing(page: WebDriver) -> None:
    open_worst(page)
    click(page, one(page, ".how [value=over]"))
    slider = one(page, ".slider")
    clip = "return getComputedStyle(document.querySelector('figure:last-child .frame')).clipPath"
    before = page.execute_script(clip)
    slider.send_keys(Keys.ARROW_RIGHT * 20)
    assert page.execute_script(clip) != before
    click(page, one(page, ".how [value=flicker]"))
    shown = "return getComputedStyle(document.querySelector('figure:last-child')).visibility"
    assert {wait_for(lambda v=v: page.execute_script(shown) == v) for v in ("visible", "hidden")} == {True}
    click(page, one(page, ".how [value=drawing]"))
    wait_for(lambda: page.execute_script("return document.querySelector('.drawing img').naturalWidth > 300"))


def test_keys_walk_mark_and_explain(page: WebDriver) -> None:
    open_worst(page)
    first = page.current_url
    press(page, "n")
    wait_for(lambda: page.current_url != first)
    press(page, "p")
    wait_for(lambda: page.current_url == first)
    press(page, "2")
    wait_for(lambda: one(page, "button[value=acceptable]").get_attribute("aria-pressed") == "true")
    press(page, "b")
    assert one(page, ".how [value=flicker]").is_selected()
    press(page, "?")
    assert one(page, "#keys").is_displayed()
    press(page, Keys.ESCAPE)
    press(page, "0")
    wait_for(lambda: not every(page, "button[aria-pressed=true]"))
    press(page, "e")
    wait_for(lambda: "/explore" in page.current_url)


def test_everything_is_reached_without_a_mouse(page: WebDriver) -> None:
    go(page, "/explore")
    body = page.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert page.switch_to.active_element.text == "Skip to the content"
    press(page, "/")
    search = page.switch_to.active_element
    assert search.get_attribute("name") == "text"
    search.send_keys("street-0001", Keys.ENTER)
    wait_for(lambda: "text=street-0001" in page.current_url)
    one(page, "#facet-status")
    for _ in range(60):
        focused = page.switch_to.active_element
        if focused.get_attribute("class") == "card":
            break
        focused.send_keys(Keys.TAB)
    page.switch_to.active_element.send_keys(Keys.ENTER)
    wait_for(lambda: "/case/" in page.current_url)


def test_replay_shrink_and_export(page: WebDriver) -> None:
    open_worst(page)
    click(page, one(page, "[data-do*=replay]"))
    wait_for(lambda: "The same came out." in one(page, "#done").text)
    click(page, one(page, "[data-do*=shrink]"))
    wait_for(lambda: "suffices" in one(page, "#done").text, 120)
    fetched = page.execute_async_script(
        "const done = arguments[0];"
        "fetch(document.querySelector('a[download]').href)"
        ".then((answer) => answer.blob()).then((blob) => done([blob.type, blob.size]))"
    )
    assert fetched[0] == "application/zip"
    assert fetched[1] > 10_000


def test_the_naturalness_slider_changes_the_figures_at_once(page: WebDriver) -> None:
    go(page, "/summary?run=blobs")
    before = wait_for(lambda: one(page, "#violated").text)
    slider = one(page, "#natural")
    wait_for(lambda: not one(page, "form.natural button").is_displayed())  # the script is at work
    slider.send_keys(Keys.END)
    wait_for(lambda: int(one(page, "#violated").text) < int(before))  # the figures are put in anew
    assert "natural=1" in page.current_url
    assert len(every(page, ".chart")) >= 2
    slider.send_keys(Keys.HOME)
    wait_for(lambda: one(page, "#violated").text == before)

    def follow() -> bool:
        click(page, one(page, ".group-line"))  # which the last of the figures may have replaced
        return True

    wait_for(follow)
    wait_for(lambda: "/explore" in page.current_url)
    assert "group=" in page.current_url


def test_a_wrong_word_of_a_rule_is_underlined_and_a_right_rule_pictured(page: WebDriver) -> None:
    go(page, "/campaign/new")
    Select(one(page, "[name=system]")).select_by_value("street-driver")
    rules = one(page, "#rules")
    rules.send_keys(RULE.replace("pedestrian", "pedestrain"))
    wrong = one(page, ".behind .wrong")
    assert (
        wrong.text == "pedestrain"
        or page.execute_script("return arguments[0].textContent", wrong) == "pedestrain"
    )
    line = page.execute_script("return getComputedStyle(arguments[0]).textDecorationLine", wrong)
    assert line == "underline"
    assert "'pedestrain' is not known" in one(page, "#readings").text
    click(page, one(page, "#readings button"))
    wait_for(lambda: "add(1 pedestrian, on, sidewalk)" in one(page, "#readings").text)
    assert "add pedestrian by paste" in one(page, "#readings").text
    assert every(page, ".behind .wrong") == []
    wait_for(lambda: len(every(page, "#readings img")) == 2)
    wait_for(
        lambda: page.execute_script(
            "return [...document.querySelectorAll('#readings img')].every((i) => i.naturalWidth)"
        )
    )
    rules.send_keys(Keys.END, Keys.ENTER, "If: it rains heavyly, Then: slow down by at least 10 mph.")
    wait_for(lambda: every(page, ".behind .wrong") and len(every(page, "#readings img")) == 2)
    rules.clear()
    rules.send_keys(f"If: a {SCRIPT} appears, Then: slow down.")
    wait_for(lambda: "cannot be read" in one(page, "#readings").text)
    assert (
        page.execute_script("return document.querySelectorAll('#readings script, .behind script').length")
        == 0
    )


def order(page: WebDriver, name: str, *, system: str, count: int, budget: int) -> None:
    """Fill in the form of a new campaign of insertions on the street, and run it."""
    go(page, "/campaign/new")
    Select(one(page, "[name=system]")).select_by_value(system)
    for field, value in (("name", name), ("count", str(count)), ("budget", str(budget))):
        one(page, f"[name={field}]").clear()
        one(page, f"[name={field}]").send_keys(value)
    click(page, one(page, "[name=relation][value=insertion]"))
    click(page, one(page, "button.strong"))
    wait_for(lambda: f"/campaign?of={name}" in page.current_url)


def test_a_campaign_on_the_street_is_started_and_watched_to_its_end(page: WebDriver, root: Path) -> None:
    name = free_name(root, "from-the-page")
    order(page, name, system="street-blobs", count=5, budget=120)
    wait_for(lambda: "It has finished." in one(page, "#state").text, 200)
    assert int(one(page, "#violated").text) > 0
    wait_for(lambda: page.execute_script("return document.querySelector('.card img')?.naturalWidth > 0"))
    assert (root / name / "plan.toml").is_file()
    click(page, one(page, ".card"))
    wait_for(lambda: every(page, "svg.panel image"))


def test_a_campaign_is_stopped_and_resumed(page: WebDriver, root: Path) -> None:
    # More than any machine does in the meantime.
    order(page, free_name(root, "long"), system="street-exact", count=900, budget=90_000)
    wait_for(lambda: int(every(page, ".tiles dd")[0].text.replace(",", "")) > 0, 200)
    for button, then in [
        ("Stop", "It was stopped"),
        ("Resume", "It is running."),
        ("Stop", "It was stopped"),
    ]:
        # In one breath: the page renews itself every second.
        wait_for(
            lambda button=button: page.execute_script(
                "const buttons = [...document.querySelectorAll('button')];"
                "const it = buttons.find((b) => b.textContent === arguments[0]); it?.click(); return !!it",
                button,
            )
        )
        wait_for(lambda then=then: then in one(page, "#state").text)


def test_explanations_are_ordered_with_an_interpreter(page: WebDriver, root: Path) -> None:
    go(page, "/campaign/new")
    interpreter = one(page, "[name=interpreter]")
    Select(one(page, "[name=system]")).select_by_value("street-exact")
    wait_for(lambda: not interpreter.is_displayed())  # the script is at work
    assert one(page, "[name=relation][value=insertion]").is_enabled()
    one(page, "[name=system] option[value=street-classifier][data-explained]").click()
    assert not one(page, "[name=relation][value=insertion]").is_enabled()
    assert "needs torch" in one(page, "#about").text
    Select(interpreter).select_by_value("guided-backprop")
    name = free_name(root, "explained")
    for field, value in (("name", name), ("count", "2"), ("budget", "16")):
        one(page, f"[name={field}]").clear()
        one(page, f"[name={field}]").send_keys(value)
    for relation in ("delete", "squeeze"):
        click(page, one(page, f"[name=relation][value={relation}]"))
    click(page, one(page, "button.strong"))
    wait_for(lambda: "It has finished." in one(page, "#state").text, 200)
    assert one(page, ".crumbs").text == "street-classifier/guided-backprop"


def test_a_search_asks_for_the_numbers_it_needs(page: WebDriver) -> None:
    go(page, "/campaign/new")
    levels = one(page, "[name='sweep.levels']")
    wait_for(lambda: not levels.is_displayed())
    Select(one(page, "[name=search]")).select_by_value("sweep")
    assert levels.is_displayed()
    assert not one(page, "[name='bisect.within']").is_displayed()


def test_two_runs_are_compared(page: WebDriver) -> None:
    go(page, "/runs")
    for run in ("exact", "blobs"):
        one(page, f"[name=run][value={run}]")
    go(page, "/compare")
    was, now = (Select(select) for select in every(page, "select[name=run]"))
    was.select_by_value("exact")
    now.select_by_value("blobs")
    click(page, one(page, ".chosen button"))
    broken = wait_for(lambda: int(one(page, ".broken").text))
    assert broken > 5
    assert one(page, ".fixed").text == "0"
    assert {"Per relation", "Per scene", "Newly broken"} <= {h.text for h in every(page, ".compared h3")}
    pair = one(page, ".pairs li")
    assert re.search(r"\w+ 0\.\d\d is lost|is newly found|has moved|is taken for", pair.text)
    assert [c.text for c in pair.find_elements(By.TAG_NAME, "figcaption")] == [
        "exact: does not",
        "blobs: fails",
    ]
    shown = "return [...arguments[0].querySelectorAll('img')].map((one) => one.naturalWidth > 100)"
    wait_for(lambda: page.execute_script(shown, pair) == [True, True])
    go(page, "/compare?run=blobs&run=exact&run=other")
    wait_for(lambda: len(every(page, ".broken")) == 2)
    assert int(every(page, ".fixed")[0].text) == broken


def shown_pair(page: WebDriver) -> int:
    """Which pair is to be rated, from 0 on."""
    return wait_for(lambda: int(re.findall(r"Pair (\d+) of", one(page, "main").text)[0])) - 1


def test_two_raters_rate_and_their_agreement_is_shown(page: WebDriver) -> None:
    for rater in ("ann", "bob"):
        go(page, "/rate?of=blobs")
        name = one(page, "[name=rater]")
        name.clear()
        name.send_keys(rater, Keys.ENTER)
        for pair in range(shown_pair(page), 3):  # an earlier attempt may have rated some
            wait_for(lambda pair=pair: shown_pair(page) == pair)
            wait_for(
                lambda: page.execute_script(
                    "return [...document.querySelectorAll('.rated')].every((i) => i.naturalWidth)"
                )
            )
            click(page, one(page, f"[name=real][value='{6 - pair}']"))
            click(page, one(page, f"[name=reasonable][value='{1 + pair}']"))
            click(page, one(page, "button.strong"))
        wait_for(lambda: shown_pair(page) == 3)
    wait_for(lambda: "What 2 raters said" in page.find_element(By.TAG_NAME, "main").text)
    assert [alpha.text for alpha in every(page, ".alpha")] == ["1.00", "1.00"]


PAGES = [
    "/runs",
    "/explore?status=violated",
    "/summary",
    "/summary?run=blobs",
    "/compare?run=blobs&run=exact",
    "/campaign?of=blobs",
    "/campaign/new",
    "/rate?of=blobs&rater=eve",
    "/words",
]


def test_pages_fit_a_telephone_in_the_dark(address: str, page: WebDriver) -> None:
    open_worst(page)
    case = page.current_url
    with chromium(width=390, height=844, dark=True) as phone:
        phone.get(address)
        for path in [*PAGES, case[len(base(address)) :]]:
            phone.get(base(address) + path)
            wait_for(lambda: not every(phone, "[aria-busy]"))
            wide = phone.execute_script("return document.documentElement.scrollWidth")
            assert wide <= 390, path
            colour = phone.execute_script("return getComputedStyle(document.body).backgroundColor")
            assert max(map(int, re.findall(r"\d+", colour)[:3])) < 60, path
        wait_for(lambda: every(phone, "svg.panel image"))


def test_runs_on_a_telephone_are_not_broken_letter_by_letter(address: str, page: WebDriver) -> None:
    with chromium(width=390, height=844) as phone:
        phone.get(address)
        phone.get(base(address) + "/runs")
        heights = phone.execute_script(
            "return [...document.querySelectorAll('.runs tbody td:not([colspan])')]"
            ".filter((e) => e.offsetParent).map((e) => e.getBoundingClientRect().height)"
        )
        assert len(heights) >= 3 * 6
        assert max(heights) < 40  # one line each


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_a_barrier_on_any_page(page: WebDriver, *, dark: bool) -> None:
    open_worst(page)
    case = page.current_url
    look(page, 1360, 860, dark=dark)
    try:
        for path in [*PAGES, "/" + case.split("/", 3)[3]]:
            go(page, path)
            wait_for(lambda: not every(page, "[aria-busy]"))
            assert barriers(page) == [], path
    finally:
        look(page, 1360, 860)


def test_pictures_are_brought_in_and_a_run_of_them_is_told_until_it_ends(
    page: WebDriver, root: Path, tmp_path: Path
) -> None:
    files = []
    for number, scene in enumerate(load_scenes("street:2")):
        files.append(tmp_path / f"photo {number}.png")
        files[-1].write_bytes(encode_png(scene.image))
    files.append(tmp_path / "fake.png")
    files[-1].write_bytes(b"no picture")
    go(page, "/campaign/new")
    chooser = page.find_element(By.CSS_SELECTOR, "#drop input[accept]")
    chooser.send_keys("\n".join(map(str, files)))
    wait_for(lambda: "1 refused, the last: fake.png" in one(page, "#drop [role=status]").text)
    scenes = Select(one(page, "[name=scenes]"))
    assert scenes.first_selected_option.get_attribute("value") == "pictures/pictures"
    assert len(list((root / "pictures" / "pictures").iterdir())) >= 2
    name = free_name(root, "brought")
    Select(one(page, "[name=system]")).select_by_value("street-exact")
    one(page, "[name=name]").clear()
    one(page, "[name=name]").send_keys(name)
    click(page, one(page, ".task:not(.unfit) [value=mirrored]"))
    click(page, one(page, "button.strong"))
    wait_for(lambda: one(page, "#state").text not in ("It is running.", ""), 200)
    wait_for(lambda: "is running" not in one(page, ".bar").text)


def test_a_stranger_in_the_browser_sees_nothing(address: str) -> None:
    with chromium() as stranger:
        stranger.get(base(address) + "/explore")
        assert "instar view printed" in stranger.find_element(By.TAG_NAME, "body").text
