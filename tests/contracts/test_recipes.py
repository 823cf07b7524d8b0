"""What a built-in factory makes can be named by it, and a factory looks as it is written."""

from __future__ import annotations

import inspect

import pytest

from instar.campaigns.catalogue import catalogue_entries
from instar.campaigns.resolve import find_by_name
from instar.core.recipe import find_name
from instar.core.relation import Relation

OPTIONS = {"rule": {"text": "If: it rains, Then: slow down."}}
FACTORIES = [
    one
    for what in ("relation", "search")
    for one in catalogue_entries(what)
    if one.task != "detection" and not isinstance(find_by_name(what, one.home), Relation)
]
DRAWN = [
    one
    for one in catalogue_entries("system")
    if one.name.startswith(("page-", "street-dri", "epoch-", "vgg16-", "resnet101-"))
]


@pytest.mark.parametrize("entry", FACTORIES + DRAWN, ids=lambda one: f"{one.task}.{one.name}")
def test_what_a_factory_makes_is_named_by_it(entry):
    factory = find_by_name("relation", entry.home)
    options = OPTIONS.get(entry.name, {})
    assert find_name(factory(**options)) == (entry.home, options)
    assert factory.__doc__
    assert inspect.signature(factory) == inspect.signature(factory.__wrapped__)
