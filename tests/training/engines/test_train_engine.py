"""`instar train engine`: small on a CPU, and on again from where it stopped."""

import json

import numpy as np
import pytest

from instar.cli.program import main

pytestmark = pytest.mark.real

SMALL = [
    "--scenes",
    "drive:6",
    "--height",
    "96",
    "--side",
    "64",
    "--width",
    "8",
    "--batch",
    "2",
    "--held-out",
    "0.34",
]


def trained(kind, out, *more):
    return main(["train", "engine", kind, *SMALL, "--out", str(out), "--device", "cpu", *more])


def test_a_painter_is_trained_in_pieces_and_paints_as_onnx(tmp_path, capsys):
    assert trained("painter", tmp_path, "--steps", "4", "--minutes", "0.0001") == 0
    assert "step 1 of 4" in capsys.readouterr().out  # the time was up after the first
    assert trained("painter", tmp_path, "--steps", "4") == 2  # it does not begin anew by mistake
    assert "--resume" in capsys.readouterr().err
    assert trained("painter", tmp_path, "--steps", "4", "--resume") == 0
    assert "step 4 of 4" in capsys.readouterr().out
    pieces = list(tmp_path.glob("checkpoint-*"))
    assert pieces
    assert all(piece.stat().st_size < 16 * 2**20 for piece in pieces)
    card = json.loads((tmp_path / "card.json").read_text())
    assert (card["steps"], card["trained_on"], card["held_out"]) == (4, 4, 2)
    assert card["again"].startswith(
        "instar train engine painter --scenes drive:6 --height 96 --width 8 --steps 4"
    )
    import onnxruntime
    import torch

    from instar.training.engines import checkpoint
    from instar.training.engines.networks import Painter

    model = Painter(8).eval()
    model.load_state_dict(checkpoint.load(tmp_path)["average"])
    rng = np.random.default_rng(0)
    shown = [rng.normal(size=(1, n, 32, 48)).astype(np.float32) for n in (3, 1, 13)]
    session = onnxruntime.InferenceSession(str(tmp_path / "painter.onnx"))
    (painted,) = session.run(None, dict(zip(("picture", "hole", "labels"), shown)))
    with torch.no_grad():
        expected = model(*map(torch.from_numpy, shown)).numpy()
    assert np.abs(painted - expected).max() < 0.02


def test_a_painter_goes_on_from_an_exported_one_and_learns_whole_pictures(tmp_path, capsys):
    assert trained("painter", tmp_path / "first", "--steps", "30", "--rate", "0.002") == 0
    first = json.loads((tmp_path / "first/card.json").read_text())["scores"]
    start = ["--start", str(tmp_path / "first/painter.onnx"), "--whole", "0.5"]
    assert trained("painter", tmp_path / "second", "--steps", "1", *start) == 0
    second = json.loads((tmp_path / "second/card.json").read_text())
    assert second["scores"]["grey_levels_off"] == pytest.approx(first["grey_levels_off"], abs=1.0)
    assert "--whole 0.5" in second["again"]
    more = ["--steps", "40", "--rate", "0.002", *start[:2], "--whole", "1"]
    assert trained("painter", tmp_path / "third", *more) == 0
    third = json.loads((tmp_path / "third/card.json").read_text())["scores"]
    assert third["whole_grey_levels_off"] < second["scores"]["whole_grey_levels_off"] - 3
    assert trained("painter", tmp_path / "fourth", "--steps", "1", *start, "--width", "16") == 2
    assert "no network of this kind and width" in capsys.readouterr().err


def test_a_painter_of_before_light_was_told_goes_on_as_it_was():
    import torch

    from instar.imaging.street_networks import WEIGHTS, session
    from instar.training.engines.exported import take_painter
    from instar.training.engines.networks import Painter

    model = Painter(20).eval()
    take_painter(model, WEIGHTS / "painter-drawn.onnx")
    rng = np.random.default_rng(0)
    shown = [rng.normal(size=(1, n, 64, 96)).astype(np.float32) for n in (3, 1, 13)]
    (painted,) = session("painter-drawn").run(None, dict(zip(("picture", "hole", "labels"), shown)))
    with torch.no_grad():
        assert np.abs(model(*map(torch.from_numpy, shown)).numpy() - painted).max() < 0.02


def test_cells_are_told_in_training_as_they_are_when_painting():
    import torch

    from instar.imaging import painter
    from instar.training.engines.crops import show_cells
    from instar.training.engines.train import CELLS, NOISE

    rng = np.random.default_rng(0)
    picture = rng.integers(0, 256, (64, 96, 3), np.uint8)
    lost = rng.random((64, 96)) < np.linspace(0, 1, 96)
    light = torch.from_numpy(picture.transpose(2, 0, 1)[None] / np.float32(127.5) - 1)
    expected = show_cells(light, torch.from_numpy(lost[None, None].astype(np.float32)), painter.CELL)
    for found, told in zip(painter.in_cells(picture, lost), expected):
        np.testing.assert_allclose(found, told[0].numpy().transpose(1, 2, 0), atol=1e-5)
    assert painter.CELL in CELLS
    assert painter.NOISE == NOISE


def test_a_segmenter_learns_and_is_scored_on_what_was_held_out(tmp_path, capsys):
    assert trained("segmenter", tmp_path, "--steps", "60", "--rate", "0.004") == 0
    card = json.loads((tmp_path / "card.json").read_text())
    assert card["scores"]["road"] > 0.3  # after a minute: the largest class, where nothing would be 0
    assert 0 < card["scores"]["mean_iou"] < 1


def test_a_segmenter_goes_on_from_an_exported_one_and_is_shown_weather(tmp_path, capsys):
    assert trained("segmenter", tmp_path / "first", "--steps", "60", "--rate", "0.004") == 0
    first = json.loads((tmp_path / "first/card.json").read_text())["scores"]
    start = ["--start", str(tmp_path / "first/segmenter.onnx")]
    assert trained("segmenter", tmp_path / "second", "--steps", "1", *start, "--weather", "0.5") == 0
    second = json.loads((tmp_path / "second/card.json").read_text())
    assert second["scores"]["mean_iou"] == pytest.approx(first["mean_iou"], abs=0.02)  # one gentle step
    assert set(second["weather"]) == {"night", "rain", "snow", "fog", "dusk"}
    assert "--weather 0.5" in second["again"]
    wider = ["--steps", "1", *start, "--width", "16"]
    assert trained("segmenter", tmp_path / "third", *wider) == 2
    assert "no network of this kind and width" in capsys.readouterr().err


def test_a_translator_is_trained_in_pieces_and_tells_light_as_onnx(tmp_path, capsys):
    import cv2
    import onnxruntime
    import torch

    from instar.training.engines import checkpoint
    from instar.training.engines.translator import CHANNELS, Translator

    rng = np.random.default_rng(0)
    for time in ("nights", "dusks"):
        (tmp_path / time).mkdir()
        for number in range(2):
            cv2.imwrite(str(tmp_path / time / f"{number}.png"), rng.integers(0, 99, (120, 200, 3)))
    photographs = ["--nights", str(tmp_path / "nights"), "--dusks", str(tmp_path / "dusks")]
    out = tmp_path / "out"
    assert trained("translator", out, "--steps", "2") == 2
    assert "needs both" in capsys.readouterr().err
    assert trained("translator", out, "--steps", "3", "--minutes", "0.0001", *photographs) == 0
    assert "step 1 of 3" in capsys.readouterr().out
    assert trained("translator", out, "--steps", "3", "--resume", *photographs) == 0
    assert all(piece.stat().st_size < 16 * 2**20 for piece in out.glob("checkpoint-*"))
    scores = json.loads((out / "card.json").read_text())["scores"]
    assert scores["night_changed"] > 0
    assert set(scores) == {f"{time}_{what}" for time in ("night", "dusk") for what in ("changed", "iou_kept")}
    model = Translator(8).eval()
    model.load_state_dict(checkpoint.load(out)["average"])
    shown = rng.normal(size=(1, CHANNELS, 64, 96)).astype(np.float32)
    (told,) = onnxruntime.InferenceSession(str(out / "translator.onnx")).run(None, {"shown": shown})
    with torch.no_grad():
        expected = model(torch.from_numpy(shown)).numpy()
    assert np.abs(told - expected).max() < 0.02


def test_pictures_in_weather_are_changed_and_keep_their_label_maps():
    from instar.scenes import load_scenes
    from instar.training.engines.streets import collect_streets
    from instar.training.engines.weather import in_weather

    streets = collect_streets(load_scenes("drive:2"), (96, 128))
    changed = in_weather(streets, ("night", "snow"), workers=1, seed=3)
    assert changed.names == tuple(f"{name} {kind}" for kind in ("night", "snow") for name in streets.names)
    assert (changed.ids == np.concatenate([streets.ids, streets.ids])).all()
    light, night, snow = streets.pictures.mean(), changed.pictures[:2].mean(), changed.pictures[2:].mean()
    assert night < 0.6 * light
    assert snow > light
    again = in_weather(streets, ("night", "snow"), workers=2, seed=3)
    assert (again.pictures == changed.pictures).all()


def test_scenes_without_label_maps_are_refused(tmp_path, capsys):
    import cv2

    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((96, 128, 3), np.uint8))
    words = ["train", "engine", "painter", "--scenes", str(tmp_path), "--out", str(tmp_path / "out")]
    assert main([*words, "--weather", "0.5"]) == 2
    assert "for a segmenter" in capsys.readouterr().err
    assert main(["train", "engine", "segmenter", *words[3:], "--whole", "0.5"]) == 2
    assert "for a painter" in capsys.readouterr().err
    assert main(words) == 2
    assert "no label map to learn from" in capsys.readouterr().err
