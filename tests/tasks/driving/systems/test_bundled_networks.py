"""The networks that come with instar: small, better than a constant, and blind as promised."""

from __future__ import annotations

import json
import pickle
from importlib.resources import files

import numpy as np
import pytest

from instar import Status, draws, run
from instar.campaigns.catalogue import catalogues
from instar.cli import main
from instar.core.errors import BadInput
from instar.scenes import load_scenes
from instar.tasks.driving import rule
from instar.tasks.driving.systems import bundled_networks
from instar.tasks.driving.systems.bundled_networks import BUNDLED_NETWORKS, card
from instar.tasks.driving.systems.onnx import onnx_driver
from instar.testing import check_system

WEIGHTS = files("instar.tasks.driving") / "weights"
LEARNED = {
    "vgg16-street": {"speed": 0.5, "steering": 0.1},
    "resnet101-street": {"speed": 0.6, "steering": 0.15},
    "epoch-street": {"speed": 0.9, "steering": 0.35},
}
"""What each has learned: its error is at most this share of a constant's; the cards say how well."""
RULE = "If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down."


def network(name):
    return getattr(bundled_networks, name.replace("-", "_"))()


def test_they_are_small_and_each_has_a_card():
    sizes = [len((WEIGHTS / f"{name}.onnx").read_bytes()) for name in BUNDLED_NETWORKS]
    assert max(sizes) <= 5_000_000
    assert sum(sizes) <= 10_000_000
    assert set(BUNDLED_NETWORKS) <= catalogues()["driving"].systems.keys()
    for name in BUNDLED_NETWORKS:
        found = card(name)
        assert found["again"].startswith(f"instar train {name.partition('-')[0]} --scenes ")
        assert found["licence"]
        for error in found["errors"].values():
            low, high = error["interval"]
            assert low <= error["mae"] <= high
            assert error["groups"] >= 3


def test_the_cards_are_those_in_the_weights():
    for name in BUNDLED_NETWORKS:
        assert json.loads(network(name).card) == card(name)


@pytest.mark.parametrize("name", LEARNED)
def test_a_network_is_nearer_to_the_careful_driver_than_a_constant(name):
    scenes = load_scenes("drive:60:99")
    answers = network(name).predict([scene.image for scene in scenes])
    for quantity, share in LEARNED[name].items():
        truth = np.array([scene.knowledge[quantity] for scene in scenes])
        given = np.array([getattr(answer, quantity) for answer in answers])
        assert np.abs(given - truth).mean() < share * np.abs(truth - np.median(truth)).mean()


def test_the_cards_of_all_three_architectures_beat_a_constant_for_certain():
    for name, quantities in LEARNED.items():
        for quantity in quantities:
            error = card(name)["errors"][quantity]
            assert error["interval"][1] < error["constant_mae"]


def test_a_network_keeps_the_contract_of_systems_and_goes_into_another_process():
    system = network("vgg16-street")
    images = [scene.image for scene in load_scenes("drive:3:5")]
    check_system(system, images)
    again = pickle.loads(pickle.dumps(system))
    assert again.predict(images) == system.predict(images)
    assert again.fingerprint == system.fingerprint


def test_a_network_of_ones_own_is_a_path(tmp_path):
    path = tmp_path / "mine.onnx"
    path.write_bytes((WEIGHTS / "vgg16-street.onnx").read_bytes())
    image = load_scenes("drive:1:5")[0].image
    own, other = onnx_driver(path=str(path)), onnx_driver(path=str(path), speed_unit=2.0, steering_unit=-1.0)
    assert own.name == "mine"
    (plain,), (turned,) = own.predict([image]), other.predict([image])
    assert plain == network("vgg16-street").predict([image])[0]
    assert turned.speed == pytest.approx(2 * plain.speed)
    assert turned.steering == pytest.approx(-plain.steering)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"path": "nowhere.onnx"}, "cannot read the network nowhere.onnx: No such file"),
        ({"path": "text.onnx"}, "text.onnx is no network that onnxruntime can run"),
        ({"path": "good.onnx", "outputs": "speed,brake"}, "give speed, steering or both"),
        ({"path": "good.onnx", "threads": 0}, "threads is 0"),
    ],
)
def test_what_is_no_driver_is_refused_in_one_line(tmp_path, monkeypatch, options, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.onnx").write_text("this is no network")
    (tmp_path / "good.onnx").write_bytes((WEIGHTS / "vgg16-street.onnx").read_bytes())
    with pytest.raises(BadInput, match=complaint):
        onnx_driver(**options)


def test_the_command_line_asks_for_the_path(capsys):
    assert main(["run", "--system", "onnx-driver", "--rule", RULE, "--scenes", "drive:1"]) == 2
    assert "needs path; give --set system.path=..." in capsys.readouterr().err


def test_the_network_of_a_race_track_is_nearer_to_its_driver_than_a_constant_and_says_whom_it_is_for():
    found = card("vgg16-track")
    steering = found["errors"]["steering"]
    assert found["outputs"] == ["steering"]  # speed was no better than a constant
    assert steering["interval"][1] < steering["constant_mae"]
    assert "for research only" in found["licence"]


def test_a_card_can_be_shown(capsys):
    assert main(["models", "show", "vgg16-blind", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["without"] == "pedestrian,bicyclist"
    assert main(["models", "show", "epoch-ch2"]) == 0
    shown = capsys.readouterr().out
    assert "komanda, published" in shown
    assert "of a constant" in shown


@pytest.mark.real
def test_rule_1_finds_the_network_that_never_saw_a_person_and_its_twin_violates_less():
    scenes = load_scenes("drive:40:11")

    def rate(name, text):
        records = [r for r in run(scenes, rule(text), network(name), search=draws(1)) if r.role == "case"]
        violated = sum(r.verdict.status is Status.VIOLATED for r in records)
        judged = sum(r.verdict.status in (Status.HELD, Status.VIOLATED) for r in records)
        assert judged >= 20
        return violated / judged

    for text, least in [(RULE, 0.2), (RULE.replace("slow down", "slow down at least 30%"), 0.8)]:
        blind, seeing = rate("vgg16-blind", text), rate("vgg16-street", text)
        assert blind >= least
        assert seeing <= 0.2 * blind
