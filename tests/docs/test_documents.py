"""What the documents show is run: Python blocks of a page share one namespace, links lead somewhere."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def blocks(page, language):
    return re.findall(
        rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )


@pytest.mark.parametrize("page", [p for p in PAGES if p.name.startswith("add-")], ids=lambda p: p.name)
def test_python_examples_run(page, monkeypatch):
    module = ModuleType("example")  # dataclasses are looked up by their module when a change is read back
    monkeypatch.setitem(sys.modules, "example", module)
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), module.__dict__)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target
