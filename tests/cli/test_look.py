"""`instar look`: what a system answers, in pictures and words, and how accurate that is."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from instar.cli import main
from instar.core.scene import Observation, Scene, SceneObject
from instar.imaging.codecs import encode_png
from instar.tasks.detection.accuracy import measure_accuracy
from instar.tasks.detection.answers import Detections


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def look(capsys, *words: str) -> tuple[int, str, str]:
    status = main(["look", *words])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_each_picture_is_drawn_and_told_in_a_line(here, capsys):
    status, out, _ = look(capsys, "street-exact", "street:3", "--out", "drawn")
    lines = out.splitlines()
    assert status == 0
    assert [line.partition(":")[0] for line in lines[:3]] == ["street-0000", "street-0001", "street-0002"]
    assert lines[0].startswith("street-0000: person 0.9")
    assert lines[4] == "AP50 1.0, best F1 1.0, at confidence 0.9, pictures 3, objects 26"
    assert lines[-1] == "drawn in drawn"
    assert sorted(path.name for path in (here / "drawn").iterdir()) == [
        "street-0000.png", "street-0001.png", "street-0002.png",
    ]  # fmt: skip
    # The marks are there: the drawing has the green of what is found, which the street has not.
    drawn = cv2.cvtColor(cv2.imread("drawn/street-0000.png"), cv2.COLOR_BGR2RGB)
    assert (drawn == (46, 160, 67)).all(axis=2).sum() > 100


def test_json_has_the_same(capsys):
    status, out, _ = look(capsys, "street-exact", "street:2", "--json")
    told = json.loads(out)
    assert status == 0
    assert (told["system"], told["task"], told["folder"]) == (
        "street-exact",
        "detection",
        "looks/street-exact",
    )
    assert [row["scene"] for row in told["pictures"]] == ["street-0000", "street-0001"]
    assert told["pictures"][0]["picture"] == "looks/street-exact/street-0000.png"
    assert told["accuracy"]["AP50"] == 1.0
    assert told["accuracy"]["labels never named"] == []


def test_text_is_measured_by_its_words(capsys):
    status, out, _ = look(capsys, "page-exact", "page:2")
    assert status == 0
    assert "page-0000: 4 found" in out
    assert "precision 1.0, recall 1.0, F 1.0, pictures 2, words 12" in out


def test_a_driver_is_told_by_its_dials(capsys):
    status, out, _ = look(capsys, "street-driver", "street:1")
    assert status == 0
    assert out.startswith("drive-0000: speed ")
    assert "AP50" not in out


def test_pictures_lie_side_by_side_whatever_their_ids_are(here, capsys):
    for folder in ("a", "b"):
        (here / "photos" / folder).mkdir(parents=True)
        (here / "photos" / folder / "one.png").write_bytes(encode_png(np.full((40, 60, 3), 90, np.uint8)))
    status, _, _ = look(capsys, "street-blobs", "photos")
    assert status == 0
    assert sorted(path.name for path in (here / "looks/street-blobs").iterdir()) == [
        "a_one.png.png",
        "b_one.png.png",
    ]


OWN = """
import numpy as np

class Blind:
    name = "blind"
    def predict(self, images):
        return [{"boxes": np.zeros((0, 4)), "labels": [], "scores": []} for _ in images]

def broken(images):
    raise RuntimeError("no weights")
"""


def test_a_system_that_finds_hardly_anything_is_told_what_to_check(here, capsys):
    (here / "blind_one.py").write_text(OWN)
    status, out, _ = look(capsys, "blind_one:Blind", "street:2", "--task", "detection")
    assert status == 0
    assert "street-0000: nothing found" in out
    assert "AP50 0.0, best F1 0.0" in out
    assert "Hardly anything was found. Check what the system is shown (order of colours" in out


@pytest.mark.parametrize(("system", "empty"), [("blind_two:Blind", 4), ("street-exact", 0)])
def test_a_run_says_so_too(here, capsys, system, empty):
    (here / "blind_two.py").write_text(OWN)
    words = ("run", "--system", system, "--relation", "insertion", "--scenes", "street:4", "--budget", "40")
    main([*words, "--out", "run"])
    assert ("nothing on 4 of 4 scenes: check what the system is shown" in capsys.readouterr().out) == bool(
        empty
    )
    main(["report", "run", "--json"])
    assert json.loads(capsys.readouterr().out)["empty"] == empty


def test_what_a_system_answers_is_found_out_by_asking_it(here, capsys):
    (here / "asked_one.py").write_text(OWN)
    status, out, _ = look(capsys, "asked_one:Blind", "street:1")
    assert (status, out.splitlines()[0]) == (0, "street-0000: nothing found")
    status, _, err = look(capsys, "asked_one:broken", "street:1")
    assert status == 2
    assert "give --task, such as --task detection: the task of 'asked_one:broken' cannot be told" in err


def test_a_system_that_only_fails_was_not_looked_at(here, capsys):
    (here / "broken_one.py").write_text(OWN)
    status, out, _ = look(capsys, "broken_one:broken", "street:1", "--task", "detection")
    assert status == 2
    assert out == "street-0000: failed: RuntimeError: no weights\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("street-exat", "street:1"), "unknown system 'street-exat'; did you mean 'street-exact'"),
        (("mine:detector", "street:1"), "cannot import mine"),
        (("street-exact", "nowhere"), "scenes 'nowhere' do not exist"),
        (("street-exact", "street:1", "--task", "detecting"), "unknown task 'detecting'; did you mean"),
        (("street-exact", "street:1", "--task", "nothing:here"), "cannot import nothing"),
        (("street-exact", "street:1", "--limit", "0"), "limit 0 leaves no scene"),
        (("street-exact", "street:1", "--set", "system.colour=red"), "unknown option 'colour'"),
        (("street-exact", "street:1", "--set", "relation.blend=hard"), "no relation was given"),
        (("street-exact",), "the following arguments are required: PICTURES"),
    ],
)
def test_bad_input_is_refused_in_one_line(words, said, capsys):
    status, out, err = look(capsys, *words)
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def scene_with(*things: tuple[str, tuple[float, ...]], crowd: tuple[float, ...] | None = None) -> Scene:
    objects = [SceneObject(label, box) for label, box in things]
    objects += [SceneObject("dog", crowd, crowd=True)] if crowd else []
    return Scene("s", lambda: np.zeros((100, 100, 3), np.uint8), tuple(objects))


def answer(*found: tuple[str, tuple[float, ...], float]) -> Detections:
    labels, boxes, scores = zip(*found)
    return Detections(np.float32(boxes), labels, np.float32(scores), 0.5)


A, B, C = (0, 0, 20, 20), (40, 40, 80, 80), (60, 0, 90, 30)


def test_accuracy_is_that_of_the_field():
    """Two dogs, one found above and one below a false box; a cat that nobody names; a box on a crowd."""
    scene = scene_with(("dog", A), ("dog", B), ("cat", A), crowd=(0, 60, 40, 100))
    found = answer(
        ("dog", A, 0.9), ("dog", C, 0.8), ("dog", (0, 60, 40, 100), 0.75), ("dog", B, 0.7), ("dog", A, 0.2)
    )
    told = measure_accuracy([Observation.of(scene.image, found, scene)])
    # Precision 1 at recall 1/2, and 2/3 at recall 1: (1 + 2/3) / 2 for dogs, 0 for cats.
    assert told["AP50"] == round((1 + 2 / 3) / 2 / 2, 3)
    assert (told["best F1"], told["at confidence"]) == (round(2 * 2 / (3 + 3), 3), 0.7)
    assert told["labels never named"] == ["cat"]
    assert (told["pictures"], told["objects"]) == (1, 3)


def test_classes_go_by_one_name():
    scene = scene_with(("tvmonitor", A))
    told = measure_accuracy([Observation.of(scene.image, answer(("tv", A, 0.9)), scene)])
    assert (told["AP50"], told["labels never named"]) == (1.0, [])


def test_pictures_without_annotations_have_no_accuracy():
    scene = Scene("s", lambda: np.zeros((9, 9, 3), np.uint8))
    assert measure_accuracy([Observation.of(scene.image, answer(("dog", A, 0.9)), scene)]) == {}
