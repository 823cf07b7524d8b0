"""A campaign is ordered from what is offered, and from nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from instar.cli.view import offers_of
from instar.core.errors import BadInput
from instar.workbench.orders import Offers, read_order


@pytest.fixture(scope="module")
def offers() -> Offers:
    return offers_of(["mine:net"], [])


def form(**fields: str) -> dict[str, list[str]]:
    told = {"name": "x", "system": "street-exact", "scenes": "street", "relation": "insertion"} | fields
    return {name: value.split("|") for name, value in told.items()}


def words(offers: Offers, **fields: str) -> list[str]:
    return read_order(form(**fields), offers).words(Path("runs/x"))


def test_an_order_is_a_list_of_arguments(offers: Offers) -> None:
    assert words(offers, count="3", budget="40", seed="7") == [
        "run", "--system=street-exact", "--scenes=street:3", "--out=runs/x", "--relation=insertion",
        "--budget=40", "--seed=7",
    ]  # fmt: skip


def test_explanations_are_ordered_with_their_interpreter(offers: Offers) -> None:
    explained = {"system": "mobilenet-v2", "relation": "insert|squeeze"}
    assert "--interpreter=rise" in words(offers, **explained, interpreter="rise")
    assert not [word for word in words(offers, **explained) if word.startswith("--interpreter")]
    assert "--interpreter=lime" in words(offers, system="mine:net", relation="delete", interpreter="lime")


def test_every_interpreter_is_offered_and_none_needs_torch_to_be(offers: Offers) -> None:
    assert len(offers.interpreters) == 9
    explained = {name for name, offer in offers.systems.items() if offer.explained}
    assert explained == {
        "photo-classifier",
        "street-classifier",
        "street-classifier-twin",
        "mobilenet-v2",
        "resnet50",
        "mine:net",
    }


def test_searches_get_the_numbers_that_were_typed(offers: Offers) -> None:
    page = {"system": "page-glare", "scenes": "page", "relation": "brightness-up"}
    swept = words(offers, **page, search="sweep", **{"sweep.levels": "-50, 50,1e2"})
    assert "--set=search.levels=[-50.0, 50.0, 100.0]" in swept
    numbers = {"bisect.holds": "0", "bisect.breaks": "140", "bisect.within": "1"}
    bisected = words(offers, **page, search="bisect", **numbers)
    assert [word for word in bisected if word.startswith("--set")] == [
        "--set=search.holds=0.0", "--set=search.breaks=140.0", "--set=search.within=1.0",
    ]  # fmt: skip
    assert not [word for word in words(offers, **page, **numbers) if word.startswith("--set")]
    assert not [word for word in words(offers, **page, search="sweep") if word.startswith("--set")]


def test_what_needs_more_than_the_page_asks_for_is_not_offered(offers: Offers) -> None:
    assert not {"onnx", "onnx-driver", "torch-driver"} & offers.systems.keys()
    assert not {"rule"} & offers.relations.keys()


def test_what_several_tasks_have_is_offered_for_each(offers: Offers) -> None:
    assert "--relation=insert" in words(offers, system="mobilenet-v2", relation="insert")
    assert "--relation=rotated" in words(offers, system="mobilenet-v2", relation="rotated")


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"relation": "masking"}, "masking is for text, but street-exact is for object detection"),
        ({"relation": "insert"}, "insert is for explanations, but street-exact is for object detection"),
        ({"rules": "If: it rains, Then: slow down."}, "a driving rule is for driving, but street-exact is"),
        ({"interpreter": "grad-cam"}, "street-exact has nothing to explain"),
        (
            {"system": "mobilenet-v2", "relation": "insert", "interpreter": "gradcam"},
            "did you mean 'grad-cam'",
        ),
        ({"search": "sweep", "sweep.levels": ","}, "levels of sweep is ','; give numbers with commas"),
        ({"search": "sweep", "sweep.levels": "1, two"}, "levels of sweep is '1, two'"),
        ({"search": "sweep", "sweep.levels": "1, inf"}, "levels of sweep is '1, inf'"),
        ({"search": "bisect", "bisect.holds": "1,2"}, "holds of bisect is '1,2'; give a number"),
        ({"system": "onnx"}, "unknown system 'onnx'"),
    ],
)
def test_what_does_not_fit_is_refused_in_words(
    offers: Offers, fields: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(complaint)):
        read_order(form(**fields), offers)
