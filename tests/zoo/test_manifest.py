"""The manifest is sound and says what a user wants to know."""

from __future__ import annotations

import re

import pytest

from instar.core.errors import UnknownName
from instar.zoo import MANIFEST, entry, photographs


def test_names_and_cached_files_are_never_shared():
    names = [e.name for e in MANIFEST]
    files = [m.file for e in MANIFEST for m in e.members]
    assert len(set(names)) == len(names)
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("one", MANIFEST, ids=lambda e: e.name)
def test_every_entry_is_pinned_and_states_licence_and_origin(one):
    assert one.licence
    assert one.origin
    assert one.what
    assert re.fullmatch(r"\d+(\.\d+)+", one.package.version)
    for member in one.members:
        assert re.fullmatch(r"[0-9a-f]{64}", member.sha256)
    assert one.megabytes < 3 * one.package.megabytes  # wheels are compressed


def test_the_photographs_are_listed():
    assert [e.name for e in photographs()] == [
        "street",
        "person",
        "bus",
        "cat",
        "coffee",
        "astronaut",
        "motorcycle",
    ]


def test_a_misspelt_name_gets_the_nearest():
    with pytest.raises(UnknownName, match="unknown model 'yolox-nanno'; did you mean 'yolox-nano'"):
        entry("yolox-nanno")


def test_weights_under_the_gpl_wait_until_they_are_demanded():
    assert [e.name for e in MANIFEST if e.on_demand] == ["east"]
    assert all(e.on_demand == e.licence.startswith("GPL") for e in MANIFEST)
