"""Makes the pictures of report and workbench in docs/ anew, on drawn streets: python docs/make_screenshots.py

It takes Chromium (Debian: apt-get install chromium chromium-driver) and the extras `dev` and `workbench`.
With an argument the pictures go to that folder, to be looked at first.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from selenium.webdriver.remote.webdriver import WebDriver  # noqa: E402
from selenium.webdriver.support.select import Select  # noqa: E402

from browser import chromium, look, screenshot, wait_for  # noqa: E402
from instar.cli import main  # noqa: E402

RUNS = (
    [
        "--system",
        "street-blobs",
        "--relation",
        "insertion,cropped,shifted",
        "--scenes",
        "street:12",
        "--budget",
        "600",
        "--out",
        "runs/blobs",
    ],
    ["--system", "street-exact", "--changes", "runs/blobs", "--out", "runs/exact"],
)
RULE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down at least 30%."
LAPTOP, PHONE = (1180, 900), (390, 844)
READY = """
const seen = [...document.images].filter((one) => one.getBoundingClientRect().top < innerHeight && one.src);
return document.readyState === "complete" && seen.every((one) => one.complete);
"""


def shoot(browser: WebDriver, path: Path, address: str, size: tuple[int, int], *, dark: bool = False) -> None:
    look(browser, *size, dark=dark)
    browser.get(address)
    wait_for(lambda: not browser.find_elements("css selector", "[aria-busy]"))
    wait_for(lambda: browser.execute_script(READY))
    screenshot(browser, path)


def shoot_report(browser: WebDriver, folder: Path) -> None:
    page = Path("blobs.html").absolute().as_uri()
    shoot(browser, folder / "report.png", page, LAPTOP)
    shoot(browser, folder / "report-phone.png", page, PHONE, dark=True)
    look(browser, *LAPTOP)
    browser.get(page)
    for name, place in (("report-finding.png", ".group"), ("report-numbers.png", "#numbers")):
        browser.execute_script(f"document.querySelector('{place}').scrollIntoView({{behavior: 'instant'}})")
        screenshot(browser, folder / name)


def shoot_workbench(browser: WebDriver, folder: Path, address: str) -> None:
    base = address.partition("/?")[0]
    browser.get(address)
    shoot(browser, folder / "workbench-explore.png", f"{base}/explore?run=blobs&known=real", LAPTOP)
    case = browser.find_element("css selector", ".card").get_attribute("href")
    shoot(browser, folder / "workbench-case.png", case, LAPTOP)
    shoot(browser, folder / "workbench-phone.png", case, PHONE, dark=True)
    shoot(browser, folder / "workbench-runs-phone.png", f"{base}/runs", PHONE)
    shoot(browser, folder / "workbench-compare.png", f"{base}/compare?run=exact&run=blobs", LAPTOP)
    browser.execute_script("document.querySelector('.pairs').scrollIntoView({behavior: 'instant'})")
    wait_for(lambda: browser.execute_script(READY))
    screenshot(browser, folder / "workbench-compare.png")
    look(browser, *LAPTOP)
    browser.get(f"{base}/campaign/new")
    Select(browser.find_element("css selector", "[name=system]")).select_by_value("street-driver")
    rules = browser.find_element("css selector", "#rules")
    rules.send_keys(RULE)
    pictures = (
        "return [...document.querySelectorAll('#readings img')].filter((one) => one.naturalWidth).length"
    )
    wait_for(lambda: browser.execute_script(pictures) == 2)
    browser.execute_script("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", rules)
    screenshot(browser, folder / "workbench-rule.png")


def make(folder: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        for words in RUNS:
            main(["run", *words, "--json"])
        main(["report", "runs/blobs", "--html", "blobs.html", "--json"])
    server = subprocess.Popen(
        [sys.executable, "-m", "instar", "view", "runs", "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},  # the same instar, from another folder
    )
    assert server.stderr is not None
    try:
        found = (re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line) for line in server.stderr)
        address = next(one[0] for one in found if one)
        with chromium(width=LAPTOP[0], height=LAPTOP[1]) as browser:
            shoot_report(browser, folder)
            shoot_workbench(browser, folder, address)
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else HERE).absolute()
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        make(target)
