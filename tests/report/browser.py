"""A headless Chromium that is found, or installed where apt-get can do so, and goes nowhere by itself."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
]  # fmt: skip


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A driver of a browser with an empty profile; its log tells every request."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location, driver_path = _installed()
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


def look(driver: Any, width: int, height: int, *, dark: bool = False) -> None:
    """The size of a laptop or a phone, by day or by night."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    still = {"name": "prefers-reduced-motion", "value": "reduce"}  # or a click would come before its target
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})


def requests_of(driver: Any) -> list[str]:
    """The address of every request since the last look."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def _installed() -> tuple[str, str]:
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        if not (shutil.which("apt-get") and os.geteuid() == 0):
            pytest.skip("there is no chromium with its driver; on Debian: apt-get install chromium-driver")
        install = ["install", "-y", "-qq", "--no-install-recommends", "chromium", "chromium-driver"]
        for words in (["update", "-qq"], install):
            subprocess.run(["apt-get", *words], check=True, capture_output=True)
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    assert browser is not None
    assert driver is not None
    return browser, driver
