"""The site of the documentation has every page and every public name; `make check` builds it."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

import instar

ROOT = Path(__file__).parents[2]


def pages(nav):
    """The files of a navigation."""
    for entry in nav:
        for target in entry.values():
            yield from [target] if isinstance(target, str) else pages(target)


def test_every_page_can_be_reached():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert set(pages(nav)) == there


def test_the_reference_has_every_public_name_once_at_its_home():
    named = re.findall(r"^::: instar\.([\w.]+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert sorted(name.rpartition(".")[2] for name in named) == sorted(instar.__all__)
    for name in named:
        home, _, attribute = name.rpartition(".")
        assert attribute in instar._HOMES[home]


def test_every_network_is_in_the_wheel_of_weights():
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "src").rglob("weights/*.onnx")}
    listed = re.findall(
        r'^"\.\./([^"]+)" = "([^"]+)"$', (ROOT / "weights" / "pyproject.toml").read_text(), re.MULTILINE
    )
    assert {source for source, _ in listed} == there
    assert all(source == f"src/{target}" for source, target in listed)
