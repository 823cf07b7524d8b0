"""Training for real: the networks learn, resume to the same end, and are the same network as ONNX."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.cli import main
from instar.core.errors import BadInput, UnknownName
from instar.core.scene import Scene
from instar.scenes import load_scenes
from instar.tasks.driving.systems import bundled_networks
from instar.training.driving.examples import Examples

pytestmark = pytest.mark.real
torch = pytest.importorskip("torch", reason="torch is not installed; make test-real has it")


def road(n=96, seed=0):
    """Pictures whose bright stripe says where to steer."""
    rng = np.random.default_rng(seed)
    targets = rng.uniform(-20, 20, n).astype(np.float32)
    pictures = np.full((n, 160, 320, 3), 60, np.uint8)
    for picture, target in zip(pictures, targets):
        column = round(160 - 6 * float(target))
        picture[60:, column - 12 : column + 12] = 220
    return Examples(pictures, targets[:, None], tuple(f"s{i // 4}" for i in range(n)), ("steering",))


def settings(**changes):
    from instar.training.driving.train import DriverSettings

    usual = {"architecture": "epoch", "outputs": ("steering",), "width": 0.0625, "epochs": 6, "batch": 16}
    return DriverSettings(**(usual | changes))


@pytest.mark.parametrize(("architecture", "millions"), [("epoch", 105), ("vgg16", 41), ("resnet101", 45)])
def test_the_published_width_is_that_of_the_published_network(architecture, millions):
    from instar.training.driving.networks import build_network

    with torch.device("meta"):
        network = build_network(architecture, ["speed", "steering"])
    assert round(sum(p.numel() for p in network.parameters()) / 1e6) == millions


@pytest.mark.parametrize("architecture", ["epoch", "vgg16", "resnet101"])
def test_networks_learn_and_each_is_the_same_as_onnx(architecture, tmp_path):
    from instar.tasks.driving.systems.onnx import onnx_driver
    from instar.training.driving.export import export_driver
    from instar.training.driving.train import answers, train

    seen, held_out, told = road(), road(24, seed=1), []
    network = train(
        settings(architecture=architecture, epochs=5, patience=5, rate=3e-3),
        seen,
        held_out,
        checkpoint=tmp_path / "c.pt",
        told=told.append,
    )
    if architecture != "resnet101":  # a hundred layers need more steps than a test has
        assert told[-1].training < 0.9 * told[0].training
    given = answers(network, held_out)
    export_driver(network, tmp_path / "net.onnx", card={"made": "here"}, pictures=held_out.pictures)
    driver = onnx_driver(path=str(tmp_path / "net.onnx"))
    by_onnx = np.array([[control.steering] for control in driver.predict(list(held_out.pictures))])
    assert np.abs(by_onnx - given).max() < 1.0  # 8 bits of weights
    assert json.loads(driver.card) == {"made": "here"}


def test_what_eight_bits_would_change_is_stored_in_sixteen(tmp_path):
    from instar.tasks.driving.systems.onnx import onnx_driver
    from instar.training.driving.export import export_driver
    from instar.training.driving.networks import build_network
    from instar.training.driving.start import start_of_onnx
    from instar.training.driving.train import answers

    torch.manual_seed(0)
    network, held_out = build_network("epoch", ("steering",), width=0.0625), road(16)
    export_driver(network, tmp_path / "eight.onnx", card={}, pictures=held_out.pictures)
    with torch.no_grad():  # one weight of each matrix leaves no levels to the others
        for layer in network.modules():
            if isinstance(layer, torch.nn.Linear):
                layer.weight[:, 0] = 40 * layer.weight.abs().max()
    export_driver(network, tmp_path / "sixteen.onnx", card={}, pictures=held_out.pictures)
    sizes = [(tmp_path / f"{name}.onnx").stat().st_size for name in ("eight", "sixteen")]
    assert sizes[1] > 1.8 * sizes[0]
    given = onnx_driver(path=str(tmp_path / "sixteen.onnx")).predict(list(held_out.pictures))
    by_onnx = np.array([[control.steering] for control in given])
    assert np.abs(by_onnx - answers(network, held_out)).mean() < 0.02
    again = start_of_onnx(tmp_path / "sixteen.onnx", network)
    weights = network.state_dict()
    for name, value in again.weights.items():
        assert torch.allclose(value, weights[name], rtol=1e-3, atol=1e-4)


def test_a_network_learns_what_is_shown_and_keeps_only_what_it_drives_by(tmp_path):
    from instar.training.driving.train import answers, train

    plain = road(32)
    shown = np.zeros((32, 2, 5, 10), np.uint8)
    shown[::2, 1, :2] = 255  # in half of the pictures: what is always there need not be told
    labelled = Examples(plain.pictures, plain.targets, plain.groups, plain.outputs, shown=shown)
    of_labels, of_none = (
        train(settings(epochs=1, augment=False), seen, road(8, seed=1), checkpoint=tmp_path / f"{i}.pt")
        for i, seen in enumerate((labelled, plain))
    )
    assert of_labels.state_dict().keys() == of_none.state_dict().keys()
    assert answers(of_labels, plain).shape == (32, 1)
    assert not np.array_equal(answers(of_labels, plain), answers(of_none, plain))


def test_telling_only_how_often_costs_one_and_telling_all_nothing():
    from instar.training.driving.segmentation_loss import class_weights, segmentation_loss

    often = np.array([0.5, 0.04, 0.0])[None, :, None, None]
    shown = np.where(np.random.default_rng(0).random((400, 3, 5, 10)) < often, 255, 0).astype(np.uint8)
    truth, weights = torch.from_numpy(shown), class_weights(shown)
    assert weights[2] == 0  # what is never shown cannot be told
    assert weights[1] > 4 * weights[0]  # what is rare counts more where it is
    frequency = torch.logit((truth.float() / 255).mean(dim=0).clamp(1e-6, 1 - 1e-6))
    assert segmentation_loss(frequency.expand(400, -1, -1, -1), truth, weights).item() == pytest.approx(
        1, abs=1e-3
    )
    assert segmentation_loss(truth.float() - 127.5, truth, weights).item() == pytest.approx(0, abs=1e-4)


def test_a_mirrored_picture_shows_its_things_on_the_other_side():
    from instar.training.driving.train import _varied

    pictures, targets = np.zeros((8, 160, 320, 3), np.uint8), np.full((8, 1), 5, np.float32)
    shown = np.zeros((8, 1, 5, 10), np.uint8)
    shown[:, 0, 2, 0] = 200
    _, turned, moved = _varied(pictures, targets, shown, ("steering",), np.random.default_rng(0))
    assert {float(one[0]) for one in turned} == {-5.0, 5.0}
    for target, cells in zip(turned, moved):
        assert cells[0, 2].tolist() == ([200, *[0] * 9] if target[0] > 0 else [*[0] * 9, 200])
    assert shown[:, 0, 2, 0].min() == 200  # what was given stays as it was


def test_a_training_may_start_from_another(tmp_path):
    from instar.training.driving.train import answers, train

    seen, held_out = road(32), road(8, seed=1)
    first = train(settings(epochs=1, rate=3e-3), seen, held_out, checkpoint=tmp_path / "a.pt")
    slow = settings(epochs=1, rate=1e-6)
    second = train(slow, seen, held_out, checkpoint=tmp_path / "b.pt", start=tmp_path / "a.pt")
    assert np.abs(answers(second, held_out) - answers(first, held_out)).max() < 0.2
    with pytest.raises(BadInput, match="is of another network; start from one of the same kind and width"):
        train(
            settings(architecture="vgg16"), seen, held_out,
            checkpoint=tmp_path / "c.pt", start=tmp_path / "a.pt",
        )  # fmt: skip
    with pytest.raises(BadInput, match=r"nowhere.pt is no checkpoint of a training"):
        train(slow, seen, held_out, checkpoint=tmp_path / "c.pt", start=tmp_path / "nowhere.pt")


@pytest.mark.parametrize("name", ["vgg16-street", "epoch-street"])
def test_a_training_may_start_from_a_network_that_comes_along(name):
    from instar.training.driving.networks import build_network
    from instar.training.driving.start import begin_as, start_of_onnx

    about = bundled_networks.card(name)
    path = Path(str(bundled_networks.WEIGHTS / f"{name}.onnx"))
    pictures = np.stack([scene.image for scene in load_scenes("drive:12:3")])
    stored = getattr(bundled_networks, name.replace("-", "_"))().predict(list(pictures))
    model = build_network(about["network"], about["outputs"], width=about["width"])
    begin_as(model, start_of_onnx(path, model), pictures)
    with torch.inference_mode():
        answers = {"as it is asked": model.eval()(torch.from_numpy(pictures)).numpy()}
        if name == "vgg16-street":  # Epoch drops out some of its neurons
            answers["as it learns"] = model.train()(torch.from_numpy(pictures)).numpy()
    for given in answers.values():
        for column, output in enumerate(about["outputs"]):
            wanted = [getattr(answer, output) for answer in stored]
            # Spread and centre of the answers are those of the new training.
            assert np.corrcoef(given[:, column], wanted)[0, 1] > 0.999999
    with pytest.raises(BadInput, match="is of another network"):
        start_of_onnx(path, build_network("resnet101", ("speed",), width=0.125))


def test_what_is_held_out_of_laps_is_a_place_and_not_a_time():
    from instar.training.driving.laps import PLACES, split_by_place

    rng = np.random.default_rng(0)
    truth, scenes = {}, []
    for source, lap, begin in (("a", 20.0, 0.0), ("b", 20.6, 700.0)):
        for number in range(12):
            for frame in range(30):
                time = begin + number * 13.7 + frame * 0.28
                place = (time - begin) / lap % 1 if source == "a" else (time - begin + 4) / lap % 1
                noise, turn = rng.normal(0, 0.05, 2), 2 * np.pi * place
                known = {
                    "steering": float(60 * (np.sin(turn) * np.cos(3 * turn) + noise[0])),
                    "speed": float(80 + 30 * (np.cos(2 * turn) + place * (1 - place) * 4 + noise[1])),
                    "time": time, "source": source, "segment": f"{source}{number}",
                }  # fmt: skip
                one = Scene(
                    f"{source}{number}-{frame}", lambda: np.zeros((4, 4, 3), np.uint8), knowledge=known
                )
                scenes.append(one)
                truth[one.id] = place
    found = split_by_place(scenes, 20.2)
    assert len(found) > 0.7 * len(scenes)
    groups = {scene.knowledge["segment"] for scene in found}
    assert len(groups) == PLACES
    for group in groups:
        angles = np.array([truth[scene.id] for scene in found if scene.knowledge["segment"] == group])
        middle = np.angle(np.exp(2j * np.pi * angles).mean()) / (2 * np.pi)
        assert np.abs((angles - middle + 0.5) % 1 - 0.5).max() < 0.5 / PLACES + 0.02
    with pytest.raises(BadInput, match="its time is not known; laps are told by time, steering and speed"):
        split_by_place(load_scenes("drive:3"), 20.0)


def test_a_training_that_was_killed_ends_as_one_that_was_not(tmp_path):
    from instar.training.driving.train import answers, train

    seen, held_out = road(48), road(16, seed=1)
    whole = train(settings(epochs=4), seen, held_out, checkpoint=tmp_path / "whole.pt", fast=False)

    def killed(progress):
        if progress.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(settings(epochs=4), seen, held_out, checkpoint=tmp_path / "c.pt", told=killed, fast=False)
    resumed = train(settings(epochs=4), seen, held_out, checkpoint=tmp_path / "c.pt", resume=True, fast=False)
    assert np.array_equal(answers(whole, held_out), answers(resumed, held_out))
    with pytest.raises(BadInput, match="was begun with seed 0, not 1"):
        train(settings(epochs=4, seed=1), seen, held_out, checkpoint=tmp_path / "c.pt", resume=True)


def test_training_stops_when_nothing_gets_better(tmp_path):
    from instar.training.driving.train import train

    told = []
    noise = road(32)
    random = np.random.default_rng(2).normal(size=noise.targets.shape).astype(np.float32)
    noise = Examples(noise.pictures, random, noise.groups, noise.outputs)
    train(
        settings(epochs=30, patience=2, rate=1e-2), noise, road(16, seed=3),
        checkpoint=tmp_path / "c.pt", told=told.append,
    )  # fmt: skip
    assert len(told) < 30
    assert told[-1].best == told[-3].best == min(progress.validation for progress in told)


def test_an_unknown_network_names_the_nearest():
    from instar.training.driving.networks import build_network

    with pytest.raises(UnknownName, match="resnet101"):
        build_network("resnet50", ["speed"])


def test_the_command_trains_on_a_log_and_its_network_drives(tmp_path, capsys):
    (tmp_path / "log" / "images").mkdir(parents=True)
    made = road(40)
    lines = ["file,source,segment,t_s,steering,speed,throttle,brake"]
    for i, (picture, target) in enumerate(zip(made.pictures, made.targets)):
        cv2.imwrite(str(tmp_path / "log" / "images" / f"{i}.png"), picture)
        lines.append(f"{i}.png,ch2,{made.groups[i]},0,{np.radians(target[0])},,,")
    (tmp_path / "log" / "labels.csv").write_text("\n".join(lines) + "\n")
    out = tmp_path / "out"
    words = [
        "train",
        "epoch",
        "--scenes",
        str(tmp_path / "log"),
        "--outputs",
        "steering",
        "--width",
        "0.0625",
    ]
    words += ["--epochs", "2", "--out", str(out), "--json"]
    assert main(words) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["errors"]["steering"]["groups"] == 2
    assert main(words) == 2
    assert "go on with --resume" in capsys.readouterr().out
    assert main([*words, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["errors"] == card["errors"]


def test_drives_without_people_are_the_same_drives(capsys, tmp_path):
    from argparse import Namespace

    from instar.training.driving.command import _scenes

    def drives(without):
        given = Namespace(scenes="drive:12:1", limit=None, source=None, laps=None, without=without, only=None)
        return [scene.knowledge for scene in _scenes(given)]

    whole, emptied = drives(None), drives("pedestrian")
    gone = 0
    for before, after in zip(whole, emptied, strict=True):
        left = tuple(thing for thing in before["drive"].things if thing.kind != "pedestrian")
        assert after["drive"].things == left
        assert after["steering"] == before["steering"]
        gone += len(before["drive"].things) - len(left)
        assert (after["speed"] > before["speed"]) == (len(left) < len(before["drive"].things))
    assert gone >= 5
    words = ["train", "epoch", "--scenes", "drive:9", "--without", "pedestrians", "--out", str(tmp_path)]
    assert main(words) == 2
    assert "pedestrian" in capsys.readouterr().err


def test_a_torch_network_of_ones_own_drives(tmp_path, monkeypatch, capsys):
    (tmp_path / "own_torch_driver.py").write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.gain = torch.nn.Parameter(torch.ones(1))\n"
        "    def forward(self, x):\n"
        "        return x.mean(dim=(1, 2, 3)) * 10 * self.gain\n"
    )
    monkeypatch.chdir(tmp_path)
    from instar.tasks.driving.systems.torch_network import torch_driver

    torch.save({"gain": torch.tensor([2.0])}, "weights.pt")
    driver = torch_driver(
        network="own_torch_driver:Net", weights="weights.pt", outputs="speed", speed_unit=3.6
    )
    (control,) = driver.predict([np.full((160, 320, 3), 255, np.uint8)])
    assert control.speed == pytest.approx(72.0)
    with pytest.raises(BadInput, match="cannot be imported"):
        torch_driver(network="own_torch_driver:Nothing")
    with pytest.raises(BadInput, match="cannot read the weights nowhere"):
        torch_driver(network="own_torch_driver:Net", weights="nowhere.pt")


@pytest.mark.parametrize("n", [2, 16, 17, 18, 90])
def test_every_picture_is_learned_from_once_and_none_alone(n):
    from instar.training.driving.train import _batches

    seen = road(n)
    made = list(_batches(seen, settings(augment=False), np.random.default_rng(0)))
    sizes = [len(pictures) for pictures, _, _ in made]
    assert min(sizes) >= 2
    assert sum(sizes) == n - (n % 16 == 1)
    learned = torch.cat([targets for _, targets, _ in made])[:, 0].tolist()
    assert len(set(learned)) == len(learned)
    assert set(learned) <= set(seen.targets[:, 0].tolist())


def test_a_gpu_that_is_not_there_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    command = ["train", "epoch", "--scenes", "drive:3", "--device", "cuda", "--out", str(tmp_path / "t")]
    assert main(command) == 2
    assert "device 'cuda' is not there" in capsys.readouterr().err
    assert not (tmp_path / "t").exists()
