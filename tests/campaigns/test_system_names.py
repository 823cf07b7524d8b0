"""A name is enough: files, models and commands, what is found out about them, and what is asked for."""

from __future__ import annotations

import json
import stat
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import instar
from instar.campaigns.plan import Use, code_named_by, make_plan
from instar.campaigns.resolve import resolve_system, tasks_of_system
from instar.campaigns.system_names import settle_name
from instar.campaigns.task_choice import choose_tasks
from instar.cli import main
from instar.core.errors import BadInput, InstarError, UnknownName
from instar.core.verdict import Status
from instar.engines.worker import WorkerSystem
from instar.store import RunStore
from instar.tasks.detection.answers import read
from instar.tasks.detection.systems.street import street_blobs
from onnx_answers import SIZE, save_network

PICTURE = np.full((*SIZE, 3), 90, np.uint8)
COCO_DOG = 16


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def yolov8_rows(classes: int, which: int) -> np.ndarray:
    """One object at 20, 10 to 60, 50 with a score of 0.9, and rows of nothing."""
    rows = np.zeros((1, 4 + classes, 200), np.float32)
    rows[0, :4, 0] = (40, 30, 40, 40)
    rows[0, 4 + which, 0] = 0.9
    return rows


def predicted(use: Use) -> tuple[list[float], str]:
    system = resolve_system(use)
    (answer,) = system.predict([PICTURE])
    if isinstance(system, WorkerSystem):
        system.close()
    found = read(PICTURE, answer)
    return found.boxes[0].round(3).tolist(), found.labels[0]


def test_an_onnx_file_of_80_classes_is_cocos_and_the_plan_says_what_was_found(capsys) -> None:
    save_network(Path("mine.onnx"), {"output0": yolov8_rows(80, COCO_DOG)})
    settled = settle_name(Use("mine.onnx", {"confidence": 0.4}))
    assert settled.name == "onnx"
    assert settled.options | {"model": "", "size": []} == {
        "head": "yolov8", "size": [], "layout": "nchw", "labels": "coco",
        "model": "", "called": "mine", "confidence": 0.4,
    }  # fmt: skip
    assert 'mine.onnx: detection, head="yolov8"' in capsys.readouterr().err
    assert predicted(Use("mine.onnx")) == ([20, 10, 60, 50], "dog")
    assert tasks_of_system(settled) == ["detection"]


def test_names_that_an_exporter_wrote_into_the_file_are_used() -> None:
    import onnx

    save_network(Path("mine.onnx"), {"output0": yolov8_rows(3, 1)})
    model = onnx.load("mine.onnx")
    onnx.helper.set_model_props(model, {"names": "{0: 'weld', 1: 'crack', 2: 'dent'}", "stride": "32"})
    onnx.save(model, "mine.onnx")
    assert predicted(Use("mine.onnx")) == ([20, 10, 60, 50], "crack")


@pytest.mark.parametrize(
    ("answers", "options", "complaint"),
    [
        ({"output0": yolov8_rows(3, 1)}, {}, r"output0 \[1, 7, 200\]: 3 classes without names; give --set"),
        (
            {"a": np.zeros((1, 9, 9, 9), np.float32)},
            {},
            r"a \[1, 9, 9, 9\]; how to read that cannot be told",
        ),
        ({"a": np.zeros((1, 1), np.float32)}, {}, r"a \[1, 1\]; how to read that cannot be told"),
        (
            {"a": np.zeros((1, 1, *SIZE), np.float32)},
            {},
            r"a \[1, 1, 96, 128\], as text locators do: give --system ppocr-v4-det --set system\.weights=",
        ),
    ],
)
def test_what_a_file_does_not_tell_is_asked_for_with_what_was_seen(answers, options, complaint) -> None:
    save_network(Path("mine.onnx"), answers)
    with pytest.raises(BadInput, match=complaint):
        settle_name(Use("mine.onnx", options))


def test_an_onnx_classifier_is_one_by_its_one_row_of_numbers(capsys) -> None:
    save_network(Path("mine.onnx"), {"logits": np.float32([[0, 4, 0]])})
    Path("names.txt").write_text("cat\ndog\ncow\n")
    use = Use("mine.onnx", {"labels": "names.txt"})
    settled = settle_name(use)
    assert (settled.name, tasks_of_system(settled)) == ("onnx-classifier", ["classification"])
    assert f"mine.onnx: classification, size={list(SIZE)}" in capsys.readouterr().err
    (answer,) = resolve_system(use).predict([PICTURE])
    assert answer["labels"][0] == "dog"
    assert answer["scores"].sum() == pytest.approx(1)
    words = ["run", "--system", "mine.onnx", "--set", "system.labels=names.txt", "--scenes", "street:1"]
    assert main([*words, "--relation", "mirrored", "--referees", "none", "--out", "run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["task"] == "classification"


@pytest.mark.parametrize(
    ("kind", "shape"), [("FLOAT", [1, *SIZE, 3]), ("UINT8", ["n", *SIZE, 3]), ("FLOAT16", [1, 3, *SIZE])]
)
def test_a_classifier_may_take_pictures_in_any_order_and_number(kind: str, shape: list[int | str]) -> None:
    answers = {"logits": np.float32([[[[0]], [[4]], [[0]]]]), "features": np.zeros((1, 9), np.float32)}
    save_network(Path("mine.onnx"), answers, kind=kind, shape=shape)
    (answer,) = resolve_system(Use("mine.onnx", {"labels": ["cat", "dog", "cow"]})).predict([PICTURE])
    assert answer["labels"][0] == "dog"
    with pytest.raises(BadInput, match=r"as classifiers do: give --system onnx-classifier --set system\.mo"):
        settle_name(Use("mine.onnx"))


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [
        ([4, 3, *SIZE], r"takes 4 pictures at a time \(picture \[4, 3, 96, 128\]\); export it for one"),
        ([1, 1, *SIZE], r"takes pictures of 1 channels .*; it must be 3"),
    ],
)
def test_a_network_for_other_pictures_is_refused(shape: list[int], complaint: str) -> None:
    save_network(Path("mine.onnx"), {"output0": yolov8_rows(80, 1)}, shape=shape)
    with pytest.raises(BadInput, match=complaint):
        settle_name(Use("mine.onnx"))


def queries(wide: int, which: int, *, nothing: float) -> dict[str, np.ndarray]:
    """DETR's outputs: one object at 20, 10 to 60, 50, and five times nothing."""
    logits = np.full((1, 6, wide), -9, np.float32)
    logits[0, 1:, -1] = nothing
    logits[0, 0, which] = 9
    boxes = np.full((1, 6, 4), 0.5, np.float32)
    boxes[0, 0] = (40 / SIZE[1], 30 / SIZE[0], 40 / SIZE[1], 40 / SIZE[0])
    return {"logits": logits, "pred_boxes": boxes}


def corners_and_scores(wide: int, height: int = 1, width: int = 1) -> dict[str, np.ndarray]:
    """SSD's outputs: probabilities, and corners as shares, or as pixels of that size."""
    scores = np.zeros((1, 6, wide), np.float32)
    scores[0, :, 0], scores[0, 0] = 1.0 * (wide > 80), 0
    scores[0, 0, COCO_DOG + (wide > 80)] = 0.9
    boxes = np.float32([[[20 / SIZE[1], 10 / SIZE[0], 60 / SIZE[1], 50 / SIZE[0]]] * 6])
    return {"boxes": boxes * np.float32([width, height] * 2), "scores": scores}


def shares_in_one_table() -> np.ndarray:
    """The outputs of RT-DETR as ultralytics exports them."""
    rows = np.zeros((1, 300, 84), np.float32)
    rows[0, 0, :4] = (40 / SIZE[1], 30 / SIZE[0], 40 / SIZE[1], 40 / SIZE[0])
    rows[0, 0, 4 + COCO_DOG] = 0.9
    return rows


TABLE = np.array([[20, 10, 60, 50, 0.9, 1], [0, 0, 9, 9, 0.01, 0]], np.float32)
FINISHED = {
    "boxes": np.float32([[20, 10, 60, 50]]), "labels": np.int64([18]), "scores": np.float32([0.9]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("answers", "options", "head"),
    [
        (queries(92, 18, nothing=9), {}, {"kind": "detr", "scores": "softmax", "first": 1}),
        (queries(91, 18, nothing=-9), {}, {"kind": "detr", "scores": "sigmoid", "first": 1}),
        (queries(80, COCO_DOG, nothing=-9), {}, {"kind": "detr", "scores": "sigmoid", "first": 0}),
        (corners_and_scores(81), {}, {"kind": "ssd", "unit": "shares", "background": True}),
        (corners_and_scores(80, *SIZE), {}, {"kind": "ssd", "unit": "pixels", "background": False}),
        ({"output0": shares_in_one_table()}, {}, {"kind": "yolov8", "unit": "shares"}),
        (FINISHED, {"labels": "coco-ids"}, "torchvision"),
        (
            {"found": TABLE},
            {"labels": ["cat", "dog"]},
            {"kind": "table", "columns": ["x1", "y1", "x2", "y2", "score", "class"]},
        ),
    ],
)
def test_networks_of_other_styles_are_recognised_by_their_outputs(answers, options, head) -> None:
    save_network(Path("mine.onnx"), answers)
    assert settle_name(Use("mine.onnx", options)).options["head"] == head
    assert predicted(Use("mine.onnx", options)) == ([20, 10, 60, 50], "dog")


def test_labels_that_are_given_are_enough_where_only_they_are_missing() -> None:
    save_network(Path("mine.onnx"), {"output0": yolov8_rows(3, 2)})
    Path("names.txt").write_text("a\nb\nc\n")
    for labels in (["a", "b", "c"], "names.txt"):
        assert predicted(Use("mine.onnx", {"labels": labels})) == ([20, 10, 60, 50], "c")


@pytest.mark.parametrize("name", ["gone.onnx", "gone.pt", "gone.jsonl"])
def test_a_file_that_is_not_there_is_told(name: str) -> None:
    with pytest.raises(BadInput, match=f"there is no file '{name}'"):
        resolve_system(Use(name))


NETS = """
import torch

class Constant(torch.nn.Module):
    def __init__(self):
        super().__init__()
        rows = torch.zeros(1, 84, 200)
        rows[0, :4, 0] = torch.tensor([40.0, 30.0, 40.0, 40.0])
        rows[0, 20, 0] = 0.9
        self.register_buffer("rows", rows)

    def forward(self, pictures):
        return (self.rows + 0 * pictures.sum(), [pictures.mean()])
"""


@pytest.mark.real
def test_torch_files_are_torch_script_or_a_state_with_its_class(monkeypatch) -> None:
    import torch

    Path("nets.py").write_text(NETS)
    monkeypatch.syspath_prepend(str(Path.cwd()))
    import nets

    module = nets.Constant().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # which is on its way out, and still what people have
        torch.jit.trace(module, torch.zeros(1, 3, 96, 128)).save("script.pt")
    torch.save(module.state_dict(), "state.pth")
    size = {"size": list(SIZE), "head": "yolov8"}
    assert predicted(Use("script.pt", size)) == ([20, 10, 60, 50], "dog")
    assert predicted(Use("state.pth", {**size, "network": "nets:Constant"})) == ([20, 10, 60, 50], "dog")
    checkpoint = {"model_state_dict": {f"module.{k}": v for k, v in module.state_dict().items()}, "epoch": 3}
    torch.save(checkpoint, "parallel.pth")
    assert predicted(Use("parallel.pth", {**size, "network": "nets:Constant"})) == ([20, 10, 60, 50], "dog")
    with pytest.raises(BadInput, match="has a state and no network; say which: --set system"):
        resolve_system(Use("state.pth", size))
    Path("page.pt").write_text("<html>")
    with pytest.raises(BadInput, match=r"page\.pt is no file that torch wrote"):
        resolve_system(Use("page.pt", size))
    for name in ("script.pt", "state.pth"):
        assert code_named_by(settle_name(Use(name)))  # so that a run folder cannot bring one along


def test_a_model_of_ultralytics_is_recognised_without_unpickling_it() -> None:
    with zipfile.ZipFile("yolo11n.pt", "w") as archive:
        archive.writestr("yolo11n/data.pkl", b"\x80\x02cultralytics.nn.tasks\nDetectionModel\n.")
    with pytest.raises(
        InstarError, match=r"model of ultralytics, which is not installed|cannot be loaded by"
    ):
        resolve_system(Use("yolo11n.pt"))


@pytest.mark.real
def test_a_model_of_ultralytics_itself_answers_and_one_that_is_an_object_too(monkeypatch) -> None:
    ultralytics = pytest.importorskip("ultralytics", reason="AGPL: no part of our environment")
    ultralytics.YOLO("yolo11n.yaml").save("mine.pt")
    (answer,) = (system := resolve_system(Use("mine.pt"))).predict([PICTURE])
    system.close()
    read(PICTURE, answer)
    assert len(answer["names"]) == 80
    Path("mymodel.py").write_text("import ultralytics\nmodel = ultralytics.YOLO('mine.pt')\n")
    (other,) = (system := resolve_system(Use("mymodel:model"))).predict([PICTURE])
    system.close()
    np.testing.assert_array_equal(other["boxes"], answer["boxes"])


@pytest.mark.real
def test_a_folder_of_hugging_face_is_a_detector_by_its_architecture() -> None:
    import transformers

    labels = {0: "person", 1: "dog", 2: "cat"}
    config = transformers.YolosConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, image_size=[64, 96],
        num_detection_tokens=8, id2label=labels, label2id={name: n for n, name in labels.items()},
    )  # fmt: skip
    transformers.YolosForObjectDetection(config).save_pretrained("tiny")
    transformers.YolosImageProcessor(size={"shortest_edge": 64, "longest_edge": 96}).save_pretrained("tiny")
    use = Use("hf:tiny")
    assert tasks_of_system(use) == ["detection"]
    (answer,) = (system := resolve_system(use)).predict([PICTURE])
    system.close()
    assert set(read(PICTURE, answer).labels) <= set(labels.values())
    assert "weights=" in system.fingerprint


@pytest.mark.real
def test_a_detector_of_torchvision_answers_by_name() -> None:
    pytest.importorskip("torchvision", reason="its wheels do not fit a torch for the CPU")
    name = "torchvision:ssdlite320_mobilenet_v3_large"
    (answer,) = (system := resolve_system(Use(name, {"weights": "none"}))).predict([PICTURE])
    system.close()
    read(PICTURE, answer)
    assert answer["boxes"].shape[1] == 4
    with pytest.raises(BadInput, match="unknown torchvision model 'ssdlite'"):
        resolve_system(Use("torchvision:ssdlite"))


COMMAND = """#!{python}
import json, sys
for path in sys.argv[1:]:
    assert open(path, "rb").read(4) == b"\\x89PNG"
    print(json.dumps({{"boxes": [[20, 10, 60, 50]], "labels": ["dog"], "scores": [0.9]}}))
"""


def test_a_command_prints_a_line_for_each_picture() -> None:
    script = Path("predict.py")
    script.write_text(COMMAND.format(python=sys.executable))
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    system = resolve_system(Use("cmd:./predict.py"))
    assert [one["labels"] for one in system.predict([PICTURE] * 3)] == [["dog"]] * 3
    script.write_text(f"#!{sys.executable}\nimport sys; sys.exit('no model')\n")
    with pytest.raises(RuntimeError, match="ended with status 1: no model"):
        system.predict([PICTURE])
    assert resolve_system(Use("cmd:./predict.py")).fingerprint != system.fingerprint
    with pytest.raises(BadInput, match=r"cmd:./nothing-there: there is no ./nothing-there, or it may not"):
        resolve_system(Use("cmd:./nothing-there"))
    with pytest.raises(BadInput, match="is no command: No closing quotation"):
        resolve_system(Use("cmd:./predict.py 'a"))


def test_what_a_command_prints_beside_its_answers_is_left_out() -> None:
    noise = "Loading model ...\n[INFO] cpu\n[1] of 2\n"
    Path("noisy.sh").write_text(f"""echo '{noise}'; echo '{{\n  "dog": 0.9\n}}'; echo done""")
    (answer,) = resolve_system(Use("cmd:sh noisy.sh")).predict([PICTURE])
    assert answer == {"dog": 0.9}
    Path("silent.sh").write_text("echo done")
    with pytest.raises(ValueError, match=r"printed 0 JSON answers to 1 pictures; .*it printed a str, 'done"):
        resolve_system(Use("cmd:sh silent.sh")).predict([PICTURE])


def test_the_task_of_a_command_is_told_by_its_answers_to_blank_pictures() -> None:
    Path("find.py").write_text(COMMAND.format(python=sys.executable))
    Path("name.py").write_text(
        COMMAND.format(python=sys.executable).replace('"boxes": [[20, 10, 60, 50]], ', "")
    )
    plans = {
        name: make_plan(
            {
                "scenes": "street:1",
                "system": [{"use": f"cmd:{sys.executable} {name}.py"}],
                "relation": [{"use": "mirrored"}],
            }
        )
        for name in ("find", "name")
    }
    chosen = {name: choose_tasks(plan).relations[0].relation.name for name, plan in plans.items()}
    assert chosen == {"find": "detection.mirrored", "name": "classification.mirrored"}


def test_the_task_of_who_answers_no_bare_picture_is_told_by_the_tasks_own_question() -> None:
    system = [{"use": "planted_interpretation:Perfect"}]
    plan = choose_tasks(make_plan({"scenes": "street:1", "system": system}))
    assert {"covered", "interpretation.mirrored"} <= {pair.relation.name for pair in plan.relations}
    broken = make_plan({"scenes": "street:1", "system": [{"use": f"{__name__}:Refuses"}]})
    with pytest.raises(BadInput, match="a black picture is answered by ValueError: not this"):
        choose_tasks(broken)


class Refuses:
    name = "refuses"

    def predict(self, images):
        raise ValueError("not this")


@pytest.mark.parametrize(
    "name", ["cmd:touch was-run", "http://127.0.0.1:9/find", "kserve://127.0.0.1:9/m", "evil.pt"]
)
def test_a_run_folder_cannot_have_a_command_a_server_or_a_pickle_used(name: str, capsys) -> None:
    words = ["run", "--system", "street-blobs", "--relation", "detection.mirrored", "--scenes", "street:1"]
    main([*words, "--out", "run", "--budget", "4"])
    Path("evil.pt").write_bytes(b"")
    plan = Path("run/plan.toml")
    plan.write_text(plan.read_text().replace('use = "street-blobs"', f'use = "{name}"'))
    capsys.readouterr()
    assert main(["run", "run/plan.toml", "--out", "run", "--resume", "--json"]) == 2
    assert "names code of its own" in json.loads(capsys.readouterr().out)["error"]
    assert not Path("was-run").exists()


def test_names_that_name_nothing_are_refused() -> None:
    with pytest.raises(BadInput, match="system 'hf:' names nothing; write it as hf:NAME"):
        resolve_system(Use("hf:"))
    with pytest.raises(BadInput, match="unknown kind of address 'htp'; did you mean 'http'"):
        resolve_system(Use("htp://localhost/find"))


TABLE = {"boxes": [[20, 10, 60, 50]], "labels": ["dog"], "scores": [0.9]}
NOTHING = {"boxes": [], "labels": [], "scores": []}
PIECE = {"bbox": [20, 10, 40, 40], "score": 0.9}


class Finder:
    name = "finder"

    def __init__(self, answer=TABLE):
        self.answer = answer

    def predict(self, images):
        return [self.answer for _ in images]


@pytest.mark.parametrize("system", ["street-blobs", street_blobs(), Finder()])
@pytest.mark.parametrize("out", [None, "run"])
def test_a_relation_of_several_tasks_is_that_of_the_system_in_python_too(system, out) -> None:
    records = list(instar.run("street:1", "mirrored", system, out=out))
    assert [one.verdict.status for one in records if one.role == "case"] != []
    assert all(one.verdict.status is not Status.FAILED for one in records)
    if out:
        with RunStore.read(out) as store:
            assert store.totals().task == "detection"


@pytest.mark.parametrize(
    ("answer", "task"),
    [
        (TABLE, "detection"),
        (NOTHING, "detection"),
        ([PIECE | {"label": "dog"}], "detection"),
        ([PIECE | {"category_id": 18}], "detection"),
        ({"labels": ["dog", "cat"], "scores": [0.9, 0.1]}, "classification"),
    ],
)
def test_the_task_is_told_by_answers_that_others_could_read_too(answer, task) -> None:
    list(instar.run("street:1", "mirrored", Finder(answer), out="told", limits=instar.Limits(queries=4)))
    with RunStore.read("told") as store:
        assert store.totals().task == task


def test_a_file_that_runs_nowhere_is_told_as_a_file(tmp_path) -> None:
    (tmp_path / "net.tflite").touch()
    for name in (tmp_path / "net.tflite", tmp_path / "none.onx"):
        with pytest.raises(BadInput, match=r"is no file of a system; known are \.json, .*\.onnx"):
            resolve_system(Use(str(name)))


def test_a_file_called_like_a_system_does_not_hide_it(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "street-blobs").touch()
    assert resolve_system(Use("street-blobs")).name == "street-blobs"


def test_of_hundreds_of_known_names_some_are_listed() -> None:
    told = str(UnknownName("layer", "zzz", [f"features.{number}" for number in range(500)]))
    assert told.endswith(" and 440 more")
    assert len(told) < 1000
