"""Runs made from Python: with names, with objects of a module, with objects that have no name."""

from __future__ import annotations

import dataclasses
import importlib
import sys
from pathlib import Path

import pytest

import instar
from instar.campaigns.plan import Plan, RelationUse, Use, make_plan
from instar.campaigns.reader import Named, open_run
from instar.campaigns.run import execute
from instar.core.errors import BadInput, RunError
from instar.store import RunStore
from instar.user_file import parse_toml

OWN_THINGS = Path(__file__).parents[1] / "cli" / "own_things.py"
VIOLATED = instar.Status.VIOLATED


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """The module of a user, in the folder where everything happens."""
    (tmp_path / "own_things.py").write_text(OWN_THINGS.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "own_things", raising=False)
    yield importlib.import_module("own_things")
    sys.modules.pop("own_things", None)


def run(*what, out="R", **how):
    return list(instar.run(*what, out=out, **how))


def replayed(records, **named):
    """Whether each case comes out the same, made again from what the run names and answered by its system."""
    with open_run("R", named=Named(**named, trusted=True)) as there, there.asking() as asking:
        return [there.replay(there.record(record.case), asking).same for record in records]


def plan_of(out="R"):
    with RunStore.read(out) as store:
        return make_plan(parse_toml(store.plan()), complete=False)


def test_a_run_by_names_is_replayed_by_its_names():
    records = run("street:2", "own_things:darker", "own_things:Grey")
    assert {record.verdict.status for record in records} >= {VIOLATED}
    assert replayed(records) == [True] * len(records)
    plan = plan_of()
    assert (plan.systems, plan.scenes) == ((Use("own_things:Grey"),), "street:2")
    assert plan.relations == (RelationUse(Use("own_things:darker"), Use("draws")),)


def test_objects_that_a_module_has_are_named_by_it(own):
    scenes = instar.load_scenes("street:2")
    records = run(scenes, own.darker, own.grey, search=instar.draws(4))
    plan = plan_of()
    assert (plan.systems, plan.scenes) == ((Use("own_things:grey"),), "street:2")
    assert plan.relations == (RelationUse(Use("own_things:darker"), Use("draws", {"n": 4})),)
    assert replayed(records) == [True] * len(records)


def test_objects_without_a_name_are_replayed_only_when_they_are_given(own):
    scenes = list(instar.load_scenes("street:2"))
    system, relation = own.Grey(), own.darkening(tolerance=5.0)
    records = run(scenes, relation, system)
    for missing, given in {
        "relation 'darkening'": {"system": system, "scenes": scenes},
        "system 'grey'": {"relations": [relation], "scenes": scenes},
        "scenes": {"relations": [relation], "system": system},
    }.items():
        name = "PATH" if missing == "scenes" else "module:attr"
        wanted = f"R was made in Python, where its {missing} had no name; give --{missing.split()[0]} {name}"
        with pytest.raises(BadInput, match=wanted):
            replayed(records, **given)
    assert replayed(records, system=system, relations=[relation], scenes=scenes) == [True] * len(records)
    other = {"system": "own_things:Grey", "relations": ["own_things:darkening"], "scenes": "street:2"}
    assert replayed(records, **other) == [False] * len(records)  # by its name it has another tolerance


def test_pictures_of_unnamed_things_are_there_all_the_same(own):
    records = run(list(instar.load_scenes("street:1")), own.darkening(tolerance=5.0), own.Grey())
    with open_run("R") as there:
        for record in records:
            shown = there.show(record.case)
            if record.verdict.status is VIOLATED:
                assert [panel.title for panel in shown.panels] == ["before", "after"]
                assert [dial.name for dial in shown.panels[0].dials] == ["grey"]
            else:
                assert shown.panels == ()
                assert "was made in Python" in shown.why


@pytest.mark.parametrize("search", [None, "draws", "object"])
def test_a_run_made_from_python_is_resumed_from_a_plan_of_the_same_names(search, own):
    by_name = {None: None, "draws": Use("draws"), "object": Use("draws", {"n": 4})}[search]
    given = instar.draws(4) if search == "object" else search
    scenes = instar.load_scenes("street:2")
    records = run(scenes, own.darker, "own_things:Grey", search=given, seed=5)
    plan = Plan(
        systems=(Use("own_things:Grey"),),
        relations=(RelationUse(Use("own_things:darker"), by_name),),
        scenes="street:2",
        seed=5,
        out="R",
        workers=1,
    )
    execute(plan, resume=True, quiet=True)
    with RunStore.read("R") as store:
        assert [r.case for r in store.records()] == sorted_cases(records)
        assert store.totals().asked == 0
    with pytest.raises(RunError, match="R was begun with seed 5, not 6"):
        execute(dataclasses.replace(plan, seed=6), resume=True, quiet=True)
    other = dataclasses.replace(plan, relations=(RelationUse(Use("own_things:darkening"), by_name),))
    with pytest.raises(RunError, match="R was begun with"):
        execute(other, resume=True, quiet=True)


def sorted_cases(records):
    return [r.case for r in sorted(records, key=lambda r: (r.source, r.relation, r.role, r.ordinal))]


def test_a_null_change_can_be_shown_and_replayed(own, monkeypatch):
    task = dataclasses.replace(own.grey_level, nulls=instar.USUAL_NULLS)
    relation = dataclasses.replace(own.darker, task=task)
    monkeypatch.setattr(own, "checked", relation, raising=False)
    records = run(instar.load_scenes("street:1"), own.checked, "own_things:Grey", search=instar.draws(10))
    (null,) = [record for record in records if record.role == "null"]
    assert (null.relation, null.verdict.status) == ("", instar.Status.HELD)
    assert replayed([null]) == [True]
    with open_run("R", named=Named(trusted=True)) as there:
        assert [panel.title for panel in there.show(null.case).panels] == ["before", "after"]
