"""docs/rules-extension.md: the words and the engines on it work as they stand, and are short."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from instar import Observation
from instar.core.change import Inapplicable
from instar.core.workspace import Folder
from instar.tasks.driving import Control, rule
from instar.worlds.drive import scenes

PAGE = (Path(__file__).parents[2] / "docs" / "rules-extension.md").read_text(encoding="utf-8")
BLOCKS = [block for _, block in re.findall(r"```(toml|python)\n(.*?)```", PAGE, re.DOTALL)]
WORDS, CONES, PROGRAM, GREY, MODULE = BLOCKS


def made(relation, folder):
    """How many of some drives have pictures, and the first of them with its source."""
    every = scenes(6, seed=5, size=(160, 320))
    relation = relation.prepare(every, Folder(folder)) if relation.prepare else relation
    found = []
    for number, scene in enumerate(every):
        change = relation.draw(Observation.of(scene.image, Control(), scene), np.random.default_rng(number))
        pictures = change if isinstance(change, Inapplicable) else relation.apply(scene.image, change)
        if not isinstance(pictures, Inapplicable):
            found.append((np.asarray(scene.image), [np.asarray(picture) for picture in pictures]))
    return found


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", ".")])
    return tmp_path


def test_every_example_is_at_most_twenty_lines_long():
    assert all(len(block.splitlines()) <= 20 for block in BLOCKS)


def test_a_program_adds_and_compares_what_a_new_word_says(here):
    (here / "words.toml").write_text(WORDS)
    (here / "engines.toml").write_text(CONES.replace("python", sys.executable, 1))
    (here / "cone.py").write_text(PROGRAM)
    text = "If: a cone appears ahead, Then: slow down. If: it gets closer, Then: slow down more."
    found = made(rule(text, ontology="words.toml", engines="engines.toml"), here)
    assert found
    for before, (far, near) in found:
        orange = [
            (np.abs(one.astype(int) - (240, 110, 30)).sum(axis=2) < 30).sum() for one in (before, far, near)
        ]
        assert orange[0] < orange[1] < orange[2]


def test_a_word_is_added_to_an_element_that_is_there(here):
    (here / "words.toml").write_text(WORDS)
    relation = rule("If: a jogger appears on the roadside, Then: slow down.", ontology="words.toml")
    assert made(relation, here)


def test_a_module_in_the_current_folder_changes_and_compares(here):
    (here / "engines.toml").write_text(GREY)
    (here / "grey_weather.py").write_text(MODULE)
    text = "If: it rains, Then: slow down. If: the rain gets heavier, Then: slow down more."
    found = made(rule(text, engines="engines.toml"), here)
    assert found
    for before, (some, more) in found:
        colour = [np.ptp(one.astype(int), axis=2).mean() for one in (before, some, more)]
        assert colour[0] > colour[1] > colour[2]
