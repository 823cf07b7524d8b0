"""Chromium without a window, for tests that look at pages as people do.

Debian's `chromium` and `chromium-driver` are used, and installed by apt-get where they are missing and that
is possible. Nothing is fetched from anywhere else.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import cv2
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement

PACKAGES = {"chromium": "chromium", "chromedriver": "chromium-driver"}
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars",
)  # fmt: skip
LARGEST_PICTURE = 300_000  # bytes of a screenshot in docs/

AXE = "axe-core@4.10.2"  # axe-core, MPL-2.0: finds what people cannot read, reach or hear
AXE_HASH = "b511cd9dec01c76f4b2ad1723b66b6db37d4c2eb4ed199076e1829d9ee7b75e3"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

T = TypeVar("T")


def _apt_get(*words: str) -> str:
    """What it said; it waits for another one that is at work, and asks again where the network fails."""
    options = ["--quiet", "--yes", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=600"]
    done = subprocess.run(
        ["apt-get", *options, *words],
        check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )  # fmt: skip
    return done.stdout


@functools.cache
def _programs() -> tuple[str, str]:
    """Where browser and driver are; installed where they are not."""
    if not all(map(shutil.which, PACKAGES)):
        if shutil.which("apt-get") is None:
            pytest.fail("no chromium here and no apt-get to install it with")
        said = _apt_get("update") + _apt_get("install", "--no-install-recommends", *PACKAGES.values())
        if not all(map(shutil.which, PACKAGES)):
            pytest.fail(f"no chromium: apt-get install {' '.join(PACKAGES.values())} said {said[-2000:]}")
    found = [shutil.which(program) for program in PACKAGES]
    return str(found[0]), str(found[1])


@contextlib.contextmanager
def chromium(*, width: int = 1360, height: int = 860, dark: bool = False) -> Iterator[WebDriver]:
    """A browser of that size, which below 600 pixels of width is a telephone."""
    binary, driver = _programs()
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in FLAGS:
        options.add_argument(flag)
    # Names are resolved nowhere: whatever asks for another machine fails, and is seen in the log.
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        browser.set_page_load_timeout(110)
        browser.set_script_timeout(300)
        if dark or width < 600:
            look(browser, width, height, dark=dark)
        yield browser
    finally:
        browser.quit()


def look(browser: WebDriver, width: int, height: int, *, dark: bool = False) -> None:
    """The size of a laptop or a phone, by day or by night."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}  # or a click would come before its target
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})


def requests_of(browser: WebDriver) -> list[str]:
    """The address of every request since the last look."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@functools.cache
def _axe() -> str:
    """axe-core's script, which npm fetches."""
    if shutil.which("npm") is None:
        pytest.fail("npm is missing, which fetches axe-core; on Debian: apt-get install npm")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            ["npm", "pack", "--silent", "--fetch-retries=5", AXE], cwd=folder, check=True, capture_output=True
        )
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as package:
            member = package.extractfile("package/axe.min.js")
            assert member is not None
            script = member.read()
    assert hashlib.sha256(script).hexdigest() == AXE_HASH
    return script.decode()


def barriers(browser: WebDriver) -> list[str]:
    """What axe-core finds on the page as it is, with everything unfolded: rule, and where."""
    browser.execute_script("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    # Not as a script of the page, which its policy would refuse.
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": _axe()})
    return browser.execute_async_script(
        "const done = arguments[1];"
        # What is in a picture is one picture to whoever hears it.
        "axe.run({exclude: ['svg.panel *']}, {runOnly: arguments[0]})"
        ".then((found) => done(found.violations.flatMap("
        "(one) => one.nodes.map((node) => one.id + ': ' + node.html.slice(0, 200)))))",
        list(RULES),
    )


def wait_for(what: Callable[[], T], seconds: float = 600.0) -> T:
    """What it gives, once that is something; complaints meanwhile are ignored."""
    deadline = time.monotonic() + seconds
    while True:
        problem: Exception | None = None
        try:
            if found := what():
                return found
        except Exception as error:
            problem = error
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not come about within {seconds:.0f} s") from problem
        time.sleep(0.1)


def click(browser: WebDriver, element: WebElement) -> None:
    """Click where it is, without waiting for a page that scrolls smoothly."""
    browser.execute_script("arguments[0].scrollIntoView({behavior: 'instant', block: 'center'})", element)
    element.click()


def screenshot(browser: WebDriver, path: Path) -> None:
    """What is seen now, as a picture with 256 colours that is small enough for the repository."""
    raw = path.with_suffix(".raw.png")
    browser.save_screenshot(str(raw))
    image = cv2.imread(str(raw))
    raw.unlink()
    _write_small(path, image)
    assert path.stat().st_size <= LARGEST_PICTURE


def _write_small(path: Path, image: cv2.typing.MatLike) -> None:
    from PIL import Image

    whole = Image.fromarray(cv2.cvtColor(image, cv2.COLOR_BGR2RGB))
    shown = whole.quantize(256, kmeans=2, dither=Image.Dither.NONE)
    shown.save(path, optimize=True)
