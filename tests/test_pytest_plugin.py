"""The plugin, used as a user would: in a test file of its own."""

from __future__ import annotations

import sys
import textwrap
from importlib.metadata import entry_points
from xml.etree import ElementTree

import pytest

pytest_plugins = ["pytester"]

FILE = """
import numpy as np
import instar
from dataclasses import dataclass
from pathlib import Path
from instar.pytest_plugin import metamorphic

@dataclass(frozen=True)
class Gain(instar.Change):
    gain: float

def draw(source, rng):
    return Gain(float(rng.uniform(0.5, 0.7)))

def apply(image, change):
    return np.clip(image * np.float32(change.gain), 0, 255).astype(np.uint8)

def read(asked, answer):
    return answer

def compare(before, after):
    return instar.Verdict.at_most(abs(before.answer - after.answer), 50.0, "grey levels")

def marks(seen):
    return instar.Panel("", seen.input)

grey_level = instar.Task("grey level", read, compare, marks)

class Grey:
    name = "grey"
    batch = 8
    def predict(self, images):
        with open(Path(__file__).with_name("batches.txt"), "a") as log:
            log.write(f"{len(images)}\\n")
        return [float(image.mean()) for image in images]

darker = instar.Relation("darker", grey_level, apply, draw=draw)
scenes = [instar.Scene.of(f"{name}.png", np.uint8(np.arange(192).reshape(8, 8, 3) % 50 + level))
          for name, level in [("dim", 20), ("dusk", 60), ("bright", 200), ("<script>", 10)]]
test_darker = metamorphic(darker, Grey, scenes, search=instar.draws(6), seed=3)
"""


@pytest.fixture
def tests(pytester, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_TESTRUNUID", raising=False)
    pytester.makeini("[pytest]\nfilterwarnings =\n    default")
    pytester.makepyfile(test_mine=textwrap.dedent(FILE))
    return pytester


def run(tests, *words):
    # An installed instar brings its plugin along; from a source tree it has to be named.
    installed = any(one.name == "instar" for one in entry_points(group="pytest11"))
    return tests.runpytest_subprocess(*([] if installed else ["-p", "instar.pytest_plugin"]), *words)


def batches(tests):
    return [int(line) for line in (tests.path / "batches.txt").read_text().split()]


def test_scenes_are_tests_and_a_failure_tells_what_was_found_and_saves_a_picture(tests):
    result = run(tests, "-v", "--instar-pictures", "pictures", "--junitxml", "out.xml")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_darker[[]dim.png[]] PASSED*", "*test_darker[[]bright.png[]] FAILED*",
         "grey contradicts itself on bright.png in 6 of 6 judged cases",
         "  darker, Gain(gain=0.5*): grey levels (-*)", "  and 1 more", "picture: pictures*.png"]
    )  # fmt: skip
    assert len(list((tests.path / "pictures").iterdir())) == 1
    sizes = batches(tests)
    assert sum(sizes) == 4 + 4 * 6 + 4  # the sources are asked again
    assert sizes.count(8) >= 2, "the batches are not full"
    suite = ElementTree.parse(tests.path / "out.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("4", "1")
    names = [case.get("name") for case in suite.iter("testcase")]
    assert names == [f"test_darker[{name}.png]" for name in ("dim", "dusk", "bright", "<script>")]
    assert "contradicts itself on bright.png" in suite.find("testcase/failure").get("message")


def test_only_what_is_selected_is_asked(tests):
    run(tests, "-k", "dim").assert_outcomes(passed=1, deselected=3)
    assert sum(batches(tests)) == 1 + 6 + 1


def test_workers_of_xdist_share_one_campaign(tests):
    run(tests, "-n", "2").assert_outcomes(passed=3, failed=1)
    assert sum(batches(tests)) == 4 + 4 * 6 + 4  # the sources are asked again


def test_a_system_that_fails_fails_the_test_and_what_cannot_be_judged_skips_it(tests):
    path = tests.path / "test_mine.py"
    more = """
class Broken(Grey):
    def predict(self, images):
        raise RuntimeError("no device")

def no_draw(source, rng):
    return instar.Inapplicable("too dark")

test_broken = metamorphic(darker, Broken(), scenes[:1])
test_unfit = metamorphic(instar.Relation("unfit", grey_level, apply, draw=no_draw), Grey(), scenes[:1])
"""
    path.write_text(path.read_text() + more)
    result = run(tests, "-k", "broken or unfit", "-rs")
    result.assert_outcomes(failed=1, skipped=1, deselected=4)
    result.stdout.fnmatch_lines(["grey on dim.png: too many failures: *: RuntimeError: no device"])
    result.stdout.fnmatch_lines(["*nothing could be judged on dim.png: too dark*"])


def test_loading_the_plugin_is_light():
    import subprocess

    heavy = ("numpy", "cv2", "sqlite3")
    code = f"import instar.pytest_plugin, sys; print([m for m in {heavy} if m in sys.modules])"
    path = next(p for p in sys.path if p.endswith("src"))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
