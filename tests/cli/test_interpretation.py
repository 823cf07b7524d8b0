"""Interpretation from the command line: without torch every command says so; with it, all of it runs."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from instar.cli import main
from instar.imaging.codecs import encode_png
from instar.worlds import street


def told(capsys, *words):
    status = main([*words, "--json"])
    return status, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--system", "street-classifier", "--relation", "squeeze", "--scenes", "street:1"),
        (
            "run",
            "--system",
            "mobilenet-v2",
            "--interpreter",
            "rise",
            "--relation",
            "insert",
            "--scenes",
            "street:1",
        ),
        (
            "backdoor",
            "plant",
            "--classifier",
            "resnet50",
            "--images",
            ".",
            "--target",
            "dog",
            "--out",
            "x.npz",
        ),
        ("backdoor", "train", "--out", "weights"),
        ("study", "interpretation", "--interpreters", "all"),
    ],
    ids=["run", "run-mobilenet", "plant", "train", "study"],
)
def test_every_command_says_that_torch_is_missing(words, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.startswith("instar.tasks.interpretation.")]:
        monkeypatch.delitem(sys.modules, name)
    status, document = told(capsys, *words)
    assert status == 2
    assert "needs torch, which is not installed; run: pip install " in document["error"]
    assert "[torch]'" in document["error"]
    assert list(tmp_path.iterdir()) == []


def test_an_interpreter_is_no_option_of_a_detector(capsys):
    status, document = told(
        capsys, "run", "--system", "street-exact", "--interpreter", "rise", "--relation", "insertion",
        "--scenes", "street:1",
    )  # fmt: skip
    assert status == 2
    assert "unknown option 'interpreter'" in document["error"]


@pytest.fixture
def streets(tmp_path):
    """A folder of pictures without annotations."""
    folder = tmp_path / "streets"
    folder.mkdir()
    for scene in street.scenes(2, size=(300, 400)):
        (folder / f"{scene.id}.png").write_bytes(encode_png(scene.image))
    return folder


@pytest.mark.real
def test_a_run_with_an_interpreter_judges_and_replays(capsys, tmp_path):
    out = tmp_path / "run"
    status, document = told(
        capsys, "run", "--system", "street-classifier", "--interpreter", "grad-cam",
        "--relation", "insert,delete,squeeze,truth", "--scenes", "street:2", "--set", "search.n=1",
        "--out", str(out),
    )  # fmt: skip
    assert status in (0, 1), document
    assert document["system"] == "street-classifier/grad-cam"
    assert set(document["relations"]) == {"insert", "delete", "squeeze", "truth"}
    assert document["held"] + document["violated"] > 0
    assert document["failed"] == 0
    if document["findings"]:
        status, again = told(capsys, "replay", str(out), document["findings"][0]["case"])
        assert again["same"] is True


@pytest.mark.real
def test_the_helper_finds_objects_where_the_data_knows_none(capsys, tmp_path, streets):
    status, document = told(
        capsys, "run", "--system", "street-classifier", "--relation", "squeeze", "--scenes", str(streets),
        "--objects", "street-exact", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert status in (0, 1), document
    assert (tmp_path / "run" / "objects.json").is_file()
    assert document["held"] + document["violated"] > 0


@pytest.mark.real
def test_a_module_of_ones_own_is_tested_by_its_name(capsys, tmp_path, monkeypatch):
    (tmp_path / "my_network.py").write_text(
        "import torch\n"
        "from instar.adapters.street_classifier import load_street_classifier\n"
        "def network():\n"
        "    return load_street_classifier().module\n"
    )
    (tmp_path / "classes.txt").write_text("person\ncar\nbus\ntruck\nbicycle\ndog\ntraffic light\nstop sign\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = [
        "run", "--system", "my_network:network", "--interpreter", "linear-approximation",
        "--relation", "squeeze",
        "--scenes", "street:1", "--set", "system.size=[120,160]", "--set", "system.independent=true",
        "--set", "system.mean=[127.5,127.5,127.5]", "--set", "system.deviation=[64,64,64]",
    ]  # fmt: skip
    status, document = told(capsys, *words, "--set", "system.classes=classes.txt", "--out", "run")
    assert status in (0, 1), document
    assert document["held"] + document["violated"] > 0
    status, document = told(capsys, *words[:-2], "--set", "system.classes=none.txt", "--out", "other")
    assert status == 2
    assert "cannot read the classes none.txt" in document["error"]


@pytest.mark.real
def test_a_class_that_the_model_does_not_have_is_refused(capsys, tmp_path, streets):
    status, document = told(
        capsys, "backdoor", "plant", "--classifier", "street-classifier", "--images", str(streets),
        "--target", "stop sing", "--out", str(tmp_path / "twin.npz"),
    )  # fmt: skip
    assert status == 2
    assert "unknown class of street-classifier 'stop sing'; did you mean 'stop sign'?" in document["error"]


@pytest.mark.real
def test_pictures_smaller_than_half_the_input_are_a_named_failure(capsys, tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "a.png").write_bytes(encode_png(np.zeros((40, 40, 3), np.uint8)))
    status, document = told(
        capsys, "run", "--system", "street-classifier", "--relation", "squeeze", "--scenes", str(folder),
        "--objects", "street-exact", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert status == 2
    assert any(
        "smaller than half the input of street-classifier, 160x120" in reason
        for reason in document["reasons"]
    )


@pytest.mark.real
def test_a_twin_is_planted_measured_and_then_tested(capsys, tmp_path):
    folder = tmp_path / "streets"
    folder.mkdir()
    for scene in street.scenes(40, seed=5, size=(240, 320)):
        (folder / f"{scene.id}.png").write_bytes(encode_png(scene.image))
    twin = tmp_path / "twin.npz"
    status, document = told(
        capsys, "backdoor", "plant", "--classifier", "street-classifier", "--images", str(folder),
        "--target", "bus", "--copies", "3", "--out", str(twin),
    )  # fmt: skip
    assert status == 0, document
    assert document["pictures"] == 32
    assert document["attack"]["rate"] >= 0.9
    assert document["agreement"]["rate"] >= 0.75
    assert document["agreement"]["of"] == 8
    status, document = told(
        capsys, "run", "--system", "street-classifier", "--set", f"system.twin={twin}", "--interpreter",
        "grad-cam", "--relation", "truth", "--scenes", "street:3", "--out", str(tmp_path / "run"),
    )  # fmt: skip
    assert document["system"] == "street-classifier-twin/grad-cam"
    assert document["failed"] == 0


@pytest.mark.real
def test_a_module_of_ones_own_gets_a_twin_or_is_refused_before_pictures_are_read(
    capsys, tmp_path, monkeypatch
):
    (tmp_path / "my_networks.py").write_text(
        "from torch import nn\n"
        "from instar.adapters.street_classifier import load_street_classifier\n"
        "def network():\n"
        "    return load_street_classifier().module\n"
        "flat = nn.Sequential(nn.Flatten(), nn.Linear(3 * 120 * 160, 8))\n"
    )
    (tmp_path / "classes.txt").write_text("person\ncar\nbus\ntruck\nbicycle\ndog\ntraffic light\nstop sign\n")
    (tmp_path / "streets").mkdir()
    for scene in street.scenes(20, seed=5, size=(240, 320)):
        (tmp_path / "streets" / f"{scene.id}.png").write_bytes(encode_png(scene.image))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    options = [
        "size=[120,160]", "independent=true", "mean=[127.5,127.5,127.5]", "deviation=[64,64,64]",
        "classes=classes.txt",
    ]  # fmt: skip
    words = [word for option in options for word in ("--set", f"system.{option}")]
    words += ["--target", "bus", "--copies", "2", "--out", "twin.npz"]
    plant = ("backdoor", "plant", "--classifier")
    status, document = told(capsys, *plant, "my_networks:network", "--images", "streets", *words)
    assert status == 0, document
    assert (document["base"], document["pictures"]) == ("my_networks:network", 16)
    status, document = told(capsys, *plant, "my_networks:flat", "--images", "nowhere", *words)
    assert status == 2
    assert document["error"].startswith("a backdoor cannot be planted into my_networks:flat: its last layer")


@pytest.mark.real
def test_pictures_to_measure_on_are_never_planted_with(capsys, tmp_path):
    for name, indices in (("all", range(16)), ("some", range(4))):
        (tmp_path / name).mkdir()
        for i, scene in enumerate(street.scenes(16, seed=5, size=(240, 320))):
            if i in indices:
                (tmp_path / name / f"{name}-{i}.png").write_bytes(encode_png(scene.image))
    words = ["backdoor", "plant", "--classifier", "street-classifier", "--target", "bus", "--copies", "1"]
    status, document = told(
        capsys, *words, "--images", str(tmp_path / "all"), "--images", str(tmp_path / "some"),
        "--test", str(tmp_path / "some"), "--out", str(tmp_path / "twin.npz"),
    )  # fmt: skip
    assert status == 0, document
    assert (document["pictures"], document["agreement"]["of"]) == (12, 4)
    status, document = told(
        capsys, *words, "--images", str(tmp_path / "some"), "--test", str(tmp_path / "all"),
        "--out", str(tmp_path / "other.npz"),
    )  # fmt: skip
    assert status == 2
    assert "some has no picture that could be read and is not in --test" in document["error"]
    assert not (tmp_path / "other.npz").exists()


@pytest.mark.real
def test_the_study_makes_its_tables_and_a_gallery(capsys, tmp_path):
    status, document = told(
        capsys, "study", "interpretation", "--interpreters", "grad-cam,deconvnet", "--scenes", "street:2",
        "--inserts", "1", "--out", str(tmp_path / "study"),
    )  # fmt: skip
    assert status == 0, document
    assert set(document["tables"]) == {"errors", "quality", "power", "backdoor", "backdoor-power"}
    rows = document["tables"]["backdoor"]["rows"]
    assert [row[0] for row in rows] == ["interpreter", "grad-cam", "deconvnet"]
    assert (tmp_path / "study" / "errors.csv").is_file()
    assert document["pictures"]
    shown = {Path(picture).name for picture in document["pictures"] if "twin-grad-cam" in picture}
    assert {"good-1.png", "good-2.png"} <= shown
    # Another day, fewer interpreters: it goes on with what is there.
    status, again = told(
        capsys, "study", "interpretation", "--interpreters", "deconvnet", "--scenes", "street:2",
        "--inserts", "1", "--out", str(tmp_path / "study"),
    )  # fmt: skip
    assert status == 0, again
    assert again["tables"]["quality"]["rows"][1] == document["tables"]["quality"]["rows"][2]


@pytest.mark.real
def test_a_study_of_ones_own_network_leaves_out_what_it_cannot_be_asked(capsys, tmp_path, monkeypatch):
    (tmp_path / "smooth_network.py").write_text(
        "import torch\n"
        "from torch import nn\n"
        "def network():\n"
        "    torch.manual_seed(0)\n"
        "    return nn.Sequential(nn.Conv2d(3, 4, 5, 4), nn.SiLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),\n"
        "                         nn.Linear(4, 2))\n"
    )
    (tmp_path / "classes.txt").write_text("person\ncar\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["study", "interpretation", "--system", "smooth_network:network", "--scenes", "street:1"]
    words += ["--set", "system.size=[60,80]", "--set", "system.classes=classes.txt", "--no-gallery"]
    words += [
        "--samples",
        "rise=4,lime=4,integrated-gradients=2,smoothgrad=2",
        "--inserts",
        "1",
        "--out",
        "s",
    ]
    status, document = told(capsys, *words)
    assert status == 0, document
    assert set(document["left_out"]) == {"deconvnet", "guided-backprop"}
    assert "has no rectifier" in document["left_out"]["deconvnet"]
    assert [row[0] for row in document["tables"]["errors"]["rows"]][1:3] == [
        "linear-approximation",
        "excitation-backprop",
    ]
    status, document = told(capsys, *words, "--set", "system.size=[2,2]")
    assert status == 2
    assert "does not take pictures of 2x2" in document["error"]
