"""Things that were made in Python and can be named: by their factory, or by the module they are in."""

import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import instar
import planted_core as planted
from instar.core.recipe import find_name

SRC = str(Path(instar.__file__).parents[1])


@instar.recorded
def darkening(*, tolerance=30.0, name="darkening"):
    """A relation by a factory."""
    return replace(planted.plain, name=name)


@instar.recorded
def around(system, gain=1.0):
    return planted.Hashed()


def test_what_a_recorded_factory_makes_is_named_with_the_options_it_was_given():
    path = f"{__name__}:darkening"
    assert find_name(darkening()) == (path, {})
    assert find_name(darkening(tolerance=3.0)) == (path, {"tolerance": 3.0})
    assert darkening.__doc__ == "A relation by a factory."


def test_options_given_by_place_are_named_too():
    assert find_name(around("yolox-nano", 2.0)) == (
        f"{__name__}:around",
        {"system": "yolox-nano", "gain": 2.0},
    )


def test_what_was_made_of_objects_has_no_recipe():
    assert find_name(around(planted.Hashed())) is None
    assert find_name(around(system=planted.Hashed(), gain=2.0)) is None


def test_a_thing_of_a_module_is_named_by_it_and_others_are_not():
    assert find_name(planted.checked) == ("planted_core:checked", {})
    assert find_name(replace(planted.checked)) is None
    assert find_name(planted.Hashed()) is None
    assert find_name({}) is None


def test_searches_of_the_core_are_recorded():
    assert find_name(instar.draws(3)) == ("instar.core.search:draws", {"n": 3})
    assert find_name(instar.sweep([1.0, 2.0])) == ("instar.core.search:sweep", {"levels": [1.0, 2.0]})
    assert find_name(instar.bisect(within=0.5)) == ("instar.core.search:bisect", {"within": 0.5})
    assert find_name(instar.shrink(planted.Dot(1, 2, 3))) is None


@dataclass(slots=True)
class NoReferences:
    name: str = "x"


def test_what_cannot_be_referred_to_is_made_all_the_same():
    made = instar.recorded(NoReferences)
    assert made(name="y") == NoReferences("y")
    assert find_name(made(name="y")) is None


SCRIPT = """
import instar.core.recipe as recipe
from module import imported
class Thing: pass
mine, imported_too = Thing(), imported
print(recipe.find_name(mine), recipe.find_name(imported_too))
"""


@pytest.mark.parametrize(
    ("command", "mine"),
    [
        (["script.py"], "('script:mine', {})"),
        (["-m", "script"], "('script:mine', {})"),
        (["-c", SCRIPT], "None"),  # nobody can import what was typed in
    ],
)
def test_the_script_that_runs_is_named_by_its_file_and_only_where_nothing_else_has_the_thing(
    command, mine, tmp_path
):
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "module.py").write_text("imported = type('Thing', (), {})()\n")
    done = subprocess.run(
        [sys.executable, *command], cwd=tmp_path, env={"PYTHONPATH": SRC}, capture_output=True, text=True
    )
    assert done.stdout == f"{mine} ('module:imported', {{}})\n", done.stderr
