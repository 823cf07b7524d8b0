"""Imports go one way, importing instar is light, and its public names are pinned."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import instar

PACKAGE = Path(instar.__file__).parent

# Each may import what stands before it, and nothing beside or behind it.
CORE = [
    {"errors", "digest", "progress"},
    {"scene", "verdict"},
    {"panel"},
    {"relation", "system"},
    {"record", "search", "budget"},
    {"campaign", "judge"},
    {"turns"},
    {"story"},
    {"engines"},
    {"running", "replay", "testing"},
    {"shrinking"},
]
RANK = {name: rank for rank, names in enumerate(CORE) for name in names}
FAMILIES = {"detection", "text", "driving", "interpretation"}
PIXELS = {"imaging", "cutouts", "stats", "zoo", "worlds"}
MAY = {
    # what may be imported besides itself; imported lazily by `running`, which chooses a store
    "store": {"errors", "digest", "scene", "verdict", "relation", "system", "record", "search", "campaign"},
    "report": {"errors", "digest", "scene", "verdict", "panel", "relation", "system", "record", "stats"},
    "imaging": {"errors", "digest", "scene"},
    "stats": {"errors"},
    "zoo": {"errors", "progress"},
    "worlds": {"errors", "digest", "scene", "verdict", "relation", "imaging"},
    "ratings": {"errors", "digest", "scene", "verdict", "relation", "system", "record", "stats"},
    "cutouts": {"errors", "digest", "scene", "verdict", "relation", "imaging"},
    "nulls": {"errors", "scene", "relation", "imaging"},
    "answer_checks": set(),
    "studies": {"errors"},
    "scenes": {"errors", "digest", "scene", "imaging", "worlds"},
}


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
    assert {"judge", "engines.local", "store.run", "cli.program"} <= EVERY.keys()
    assert "judge" in EVERY["turns"]


def test_the_core_imports_only_what_stands_before_it():
    allowed_beside = {("running", "store"), ("testing", "store")}

    def is_allowed(importer, imported):
        if (importer, imported) in allowed_beside:
            return True
        return imported in RANK and RANK[imported] < RANK[importer]

    assert offenders(RANK.keys(), is_allowed) == []


@pytest.mark.parametrize("package", MAY)
def test_packages_around_the_core_know_only_what_they_may(package):
    beside = {"store": {"imaging.codecs"}, "report": {"imaging.preview"}}.get(package, set())
    wrong = [
        f"{name} imports {imported}"
        for name, imports in EVERY.items()
        if top(name) == package
        for imported in imports
        if top(imported) not in MAY[package] | {package} and imported not in beside
    ]
    assert wrong == []


def test_what_knows_pixels_knows_no_family():
    assert offenders(PIXELS, lambda importer, imported: imported not in FAMILIES | {"cli"}) == []


def test_families_do_not_import_each_other():
    assert offenders(FAMILIES, lambda importer, imported: imported not in FAMILIES) == []


def test_families_do_not_know_where_they_run():
    where = {"engines", "store", "story", "turns", "campaign", "running", "report", "cli"}
    assert offenders(FAMILIES, lambda importer, imported: imported not in where) == []


def test_nothing_but_the_command_line_imports_the_command_line():
    everything = {top(name) for name in EVERY} - {"cli", "__main__"}
    assert offenders(everything, lambda importer, imported: imported != "cli") == []


HEAVY = ["cv2", "scipy", "onnxruntime", "sqlite3", "rich", "torch"]


@pytest.mark.parametrize(
    "statement", ["import instar", "import instar; instar.run, instar.Relation, instar.draws"]
)
def test_importing_instar_pulls_in_nothing_heavy(statement):
    code = f"{statement}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    path = str(PACKAGE.parent)
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert loaded.stdout == "[]\n"


def test_the_public_names_are_these():
    assert instar.__all__ == [
        "Change", "Finding", "Inapplicable", "InstarError", "Limits", "Observation", "Record", "Relation",
        "Scene", "SceneObject", "Status", "System", "Temporary", "Verdict", "across_scenes", "bisect",
        "draws", "folder", "load_scenes", "run", "shrink", "sweep",
    ]  # fmt: skip
    assert dir(instar) == sorted(instar.__all__)
    assert all(getattr(instar, name) is not None for name in instar.__all__)
    with pytest.raises(AttributeError, match="module 'instar' has no attribute 'nonsense'"):
        _ = instar.nonsense
