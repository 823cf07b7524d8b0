"""Imports go one way, importing instar is light, and its public names are pinned."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import instar

PACKAGE = Path(instar.__file__).parent

PIXELS = {"imaging", "cutouts", "zoo", "scenes", "stats", "worlds"}
FIND_TASKS_BY_NAME = {
    "campaigns", "cli", "ratings", "report", "workbench", "__main__", "mlflow", "pytest_plugin", "testing",
}  # fmt: skip
ABOVE = {"workbench", "studies", "training", "mlflow"}
MAY = {  # what each package may import besides itself
    "core": set(),
    "stats": {"core"},
    "imaging": {"core"},
    "cutouts": {"core", "imaging"},
    "zoo": {"core"},
    "worlds": {"core", "imaging"},
    "scenes": {"core", "imaging", "worlds"},
    "adapters": {"core", "imaging", "zoo"},
    "store": {"core", "imaging"},
    "engines": {"core", "store"},
    "report": {"core", "imaging", "stats"},
    "ratings": {"core", "stats", "report"},
    "tasks": PIXELS | {"core", "adapters"},
    "training": PIXELS | {"core", "adapters", "tasks", "report", "campaigns"},
    "studies": PIXELS | {"core", "adapters", "tasks", "report", "campaigns", "store", "training"},
    "cli": PIXELS | ABOVE | {"core", "store", "adapters", "report", "ratings", "campaigns"},
    "workbench": {"core", "imaging", "store", "stats", "report", "ratings", "campaigns", "scenes"},
    "campaigns": {
        "core",
        "engines",
        "store",
        "stats",
        "report",
        "scenes",
        "imaging",
        "cutouts",
        "zoo",
        "adapters",
    },
}
FOR_ALL = (
    "installation",
    "progress",
    "user_file",
)  # but the core, which reads no files and tells nobody how far it is
MAY |= {name: {"core"} for name in FOR_ALL}
ABOVE_CAMPAIGNS = ABOVE | {"cli", "notebook", "pytest_plugin", "testing", "__main__"}


def modules():
    """Every module of the package with what of instar it imports, as dotted names without `instar.`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").strip(".")
        imported = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has a relative import, which this test does not follow"
                imported.add(node.module)
        yield name, {full[len("instar.") :] for full in imported if full.startswith("instar.")}


def top(name):
    return name.split(".")[0]


EVERY = dict(modules())


def offenders(importers, is_allowed):
    return [
        f"{name} imports {imported}"
        for name, imports in EVERY.items()
        if top(name) in importers
        for imported in sorted(imports)
        if top(imported) != top(name) and not is_allowed(top(name), top(imported))
    ]


def test_every_module_was_found():
    assert {"core.case", "engines.local", "store.run", "cli.program"} <= EVERY.keys()
    assert "core.case" in EVERY["core.schedule"]


@pytest.mark.parametrize("package", MAY)
def test_a_package_imports_only_what_it_may(package):
    allowed = MAY[package] | (set(FOR_ALL) if package != "core" else set())
    assert offenders({package}, lambda importer, imported: imported in allowed) == []


def test_nothing_below_imports_campaigns():
    assert "campaigns" in {top(name) for name in EVERY}
    below = {top(name) for name in EVERY} - ABOVE_CAMPAIGNS - {"campaigns", ""}
    assert offenders(below, lambda importer, imported: imported != "campaigns") == []


def test_tasks_do_not_import_each_other():
    wrong = [
        f"{name} imports {imported}"
        for name, imports in EVERY.items()
        for imported in sorted(imports)
        if name.startswith("tasks.") and imported.startswith("tasks.")
        if name.split(".")[1] != imported.split(".")[1]
    ]
    assert wrong == []


def test_what_finds_tasks_by_name_knows_none():
    """A task registers in its catalogue what others need of it."""
    assert offenders(FIND_TASKS_BY_NAME, lambda importer, imported: imported != "tasks") == []
    named = [name for name in FIND_TASKS_BY_NAME for path in sources_of(name) if names_a_task(path)]
    assert named == ["campaigns"]  # `campaigns/catalogue.py`, by the name that it is given


def sources_of(name):
    folder = PACKAGE / name
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{name}.py"]


def names_a_task(path):
    return "instar.tasks." in path.read_text(encoding="utf-8")


def test_nothing_but_studies_and_the_command_line_imports_the_command_line():
    everything = {top(name) for name in EVERY} - {"cli", "__main__", "studies"}
    assert offenders(everything, lambda importer, imported: imported != "cli") == []


HEAVY = ["cv2", "scipy", "onnxruntime", "sqlite3", "rich", "torch"]


@pytest.mark.parametrize(
    "statement", ["import instar", "import instar; instar.Relation, instar.Task, instar.Moved, instar.draws"]
)
def test_importing_instar_pulls_in_nothing_heavy(statement):
    code = f"{statement}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    path = str(PACKAGE.parent)
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert loaded.stdout == "[]\n"


def test_naming_what_is_built_in_imports_only_catalogues():
    code = """
import sys
from instar.campaigns.catalogue import catalogue_entries
assert catalogue_entries("relation")
print(*sorted(name for name in sys.modules if name.count(".") > 2 and name.startswith("instar.tasks.")))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.rpartition(".")[2] for name in loaded.stdout.split()} == {"catalogue"}


def test_the_public_names_are_these():
    assert instar.__all__ == [
        "USUAL_NULLS", "Change", "Dial", "Finding", "Frame", "Inapplicable", "InstarError", "Limits", "Mark",
        "Moved", "Null", "Nulls", "Observation", "Panel", "Range", "Record", "Relation", "Run", "Scene",
        "SceneObject", "Status", "System", "Task", "Temporary", "Variant", "Verdict", "across_scenes",
        "bisect", "draws", "folder", "load_scenes", "recorded", "representative", "run", "shrink",
        "sweep",
    ]  # fmt: skip
    assert dir(instar) == sorted(instar.__all__)
    assert all(getattr(instar, name) is not None for name in instar.__all__)
    with pytest.raises(AttributeError, match="module 'instar' has no attribute 'nonsense'"):
        _ = instar.nonsense


SAME_PLAN = {  # what modules of one plan have alike, so that they can be looked up by name
    "arguments", "perform", "router", "scenes", "MEANINGS", "make", "plan", "alter", "less", "move", "camvid",
    "drawn", "migan",
}  # fmt: skip


def test_a_public_name_has_one_home():
    """But for tasks beside each other, which say the same of other answers and never import each other."""
    homes = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8")).body
        folder = path.relative_to(PACKAGE).parts[:2]
        for name in public_names(tree, imported_from(path)) & own_names(tree) - SAME_PLAN:
            homes.setdefault(name, []).append(folder if folder[0] in ("tasks", "studies") else (str(path),))
    assert {name: found for name, found in homes.items() if len(found) > len({*found})} == {}
    beside = {"tasks", "studies"}
    two = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in two.items() if not {home[0] for home in found} <= beside} == {}


def public_names(tree, imported):
    """What `__all__` lists; without it every function and class, and what other modules import."""
    listed = [node.value for node in tree if isinstance(node, ast.Assign) and unparsed(node) == ["__all__"]]
    if listed:
        return {name for value in listed for name in ast.literal_eval(value)}
    made = {node.name for node in tree if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return {name for name in made | imported if not name.startswith("_")}


@cache
def imports_by_module():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                found.setdefault(node.module, set()).update(one.name for one in node.names)
    return found


def imported_from(path):
    return imports_by_module().get(
        ".".join(["instar", *path.relative_to(PACKAGE).with_suffix("").parts]), set()
    )


def own_names(tree):
    named = [node.name for node in tree if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    named += [name for node in tree if isinstance(node, ast.Assign) for name in unparsed(node)]
    return {*named, *(unparsed(node)[0] for node in tree if isinstance(node, ast.AnnAssign))}


def unparsed(node):
    return list(map(ast.unparse, node.targets if isinstance(node, ast.Assign) else [node.target]))


def lines_of(*paths):
    return {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}


def test_the_core_is_small_enough_to_be_read():
    core = lines_of(*(PACKAGE / "core").glob("*.py"))
    assert sum(core.values()) <= 4000
    assert max(core.values()) <= 300


def test_a_task_is_at_most_150_lines_without_its_systems():
    names = ("__init__", "catalogue", "relations", "task")
    task = lines_of(*(PACKAGE / "tasks" / "classification" / f"{name}.py" for name in names))
    assert sum(task.values()) <= 150
