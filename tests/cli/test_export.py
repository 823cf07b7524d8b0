"""`instar export`: what was found, as data that the usual loaders read again, each picture with its case."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from pyarrow import parquet

from instar.cli import main
from instar.scenes import load_scenes

RUN = ["run", "--system", "street-blobs", "--relation", "insertion", "--scenes", "street:5"]
RUN += ["--budget", "150", "--out"]


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("export") / "run"
    assert main([*RUN, str(folder), "--json"]) == 1
    return folder


def told(capsys, *words: str) -> dict:
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def findings(run: Path, capsys) -> set[str]:
    found = told(capsys, "report", str(run))["findings"]
    return {finding["case"] for finding in found if finding["headline"]}


def require_one_for_each(run: Path, cases: list[str], capsys) -> None:
    """Each different failure has one case, and no case is there for anything else."""
    found = [one for one in told(capsys, "report", str(run))["findings"] if one["headline"]]
    different = {(one["scene"], *one["box"]) for one in found}
    shown = {(one["scene"], *one["box"]) for one in found if one["case"] in cases}
    assert shown == different
    assert len(different) == len(cases) == len(set(cases)) < len(found)


def test_coco_is_read_again_and_tells_the_case_of_every_picture(run, tmp_path, capsys):
    out = tmp_path / "coco"
    written = told(capsys, "export", str(run), "--format", "coco", "--out", str(out), "--with-pasted")
    document = json.loads((out / "annotations.json").read_text())
    require_one_for_each(run, [image["instar"]["case"] for image in document["images"]], capsys)
    assert written["pictures"] == len(document["images"]) > 3
    origins = [annotation["instar"]["origin"] for annotation in document["annotations"]]
    assert origins.count("pasted") == len(document["images"])
    assert set(origins) == {"annotated", "pasted"}
    scenes = load_scenes(str(out / "annotations.json"))
    assert len(scenes) == len(document["images"])
    truth = {scene.id: scene for scene in load_scenes("street:5")}
    image = document["images"][0]
    change = image["instar"]["change"]
    (read,) = [scene for scene in scenes if scene.id.endswith(image["file_name"])]
    unchanged = truth[image["instar"]["scene"]].image
    differs = np.argwhere((read.image != unchanged).any(axis=2))
    top, left = differs.min(axis=0)
    assert change["y"] <= top < change["y"] + change["height"]
    assert change["x"] <= left < change["x"] + change["width"]
    assert read.objects[-1].box == (
        change["x"], change["y"], change["x"] + change["width"], change["y"] + change["height"]
    )  # fmt: skip


def test_yolo_is_read_again_and_has_its_lineage(run, tmp_path, capsys):
    out = tmp_path / "yolo"
    told(capsys, "export", str(run), "--format", "yolo", "--out", str(out))
    lineage = json.loads((out / "lineage.json").read_text())
    require_one_for_each(run, [entry["case"] for entry in lineage.values()], capsys)
    scenes = load_scenes(str(out))
    assert {Path(scene.id).name for scene in scenes} == set(lineage)
    assert "val: images/val" in (out / "data.yaml").read_text()  # nobody said so, and yolo needs some
    parts = [
        {lineage[path.name]["scene"] for path in (out / "images" / part).iterdir()}
        for part in ("train", "val")
    ]
    assert all(parts)
    assert not parts[0] & parts[1]
    truth = {scene.id: scene for scene in load_scenes("street:5")}
    for scene in scenes:
        known = truth[lineage[Path(scene.id).name]["scene"]].objects
        assert [one.label for one in scene.objects] == [one.label for one in known]
        np.testing.assert_allclose([o.box for o in scene.objects], [o.box for o in known], atol=0.01)


def test_a_set_is_split_by_scene_with_the_users_classes_and_originals(run, tmp_path, capsys):
    classes = tmp_path / "classes.json"
    listed = [
        {"id": 7, "name": "traffic light"},
        {"id": 3, "name": "pedestrian"},
        {"id": 90, "name": "zebra"},
    ]
    classes.write_text(json.dumps({"categories": listed}))
    out = tmp_path / "coco"
    flags = ["--cases", "both", "--originals", "--val", "0.4", "--classes", str(classes)]
    told(capsys, "export", str(run), "--format", "coco", "--out", str(out), *flags)
    parts = [json.loads((out / f"{name}.json").read_text()) for name in ("train", "val")]
    train, val = ({image["instar"]["scene"] for image in part["images"]} for part in parts)
    assert train
    assert val
    assert not train & val
    images = [image for part in parts for image in part["images"]]
    status = [image["instar"].get("status", "original") for image in images]
    assert status.count("original") == len(train | val)
    assert status.count("held") == status.count("violated") > 3
    labels = {one["category_id"] for part in parts for one in part["annotations"]}
    assert labels == {7, 3}  # a person is a pedestrian here; cars and the like are left out
    assert [one["id"] for one in parts[0]["categories"]] == [7, 3, 90]
    assert all(load_scenes(str(out / f"{name}.json")) for name in ("train", "val"))
    failing = sum(image["instar"].get("status") == "violated" for image in parts[0]["images"])
    assert f"| train | violated | {failing} |" in (out / "README.md").read_text()

    yolo, names = tmp_path / "yolo", tmp_path / "data.yaml"
    names.write_text("names: {0: car, 1: person}\n")
    told(
        capsys,
        "export",
        str(run),
        "--format",
        "yolo",
        "--out",
        str(yolo),
        "--val",
        "0.4",
        "--classes",
        str(names),
    )
    told_by = yaml.safe_load((yolo / "data.yaml").read_text())
    assert told_by["names"] == ["car", "person"]
    for part in ("train", "val"):
        assert told_by[part] == f"images/{part}"
        pictures = {path.stem for path in (yolo / "images" / part).iterdir()}
        assert pictures == {path.stem for path in (yolo / "labels" / part).iterdir()} != set()


def test_tables_have_a_row_for_every_case(run, tmp_path, capsys):
    cases = told(capsys, "report", str(run))["cases"]
    told(capsys, "export", str(run), "--format", "csv", "--out", str(tmp_path / "csv"))
    with (tmp_path / "csv" / "cases.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert sum(row["role"] == "case" for row in rows) == cases
    violated = [row for row in rows if row["status"] == "violated" and row["role"] == "case"]
    assert {row["case"] for row in violated} > findings(run, capsys)  # not all of them are failures
    assert json.loads(violated[0]["change"])["label"]
    told(capsys, "export", str(run), "--format", "parquet", "--out", str(tmp_path / "parquet"))
    table = parquet.read_table(tmp_path / "parquet" / "cases.parquet")
    assert table.num_rows == len(rows)
    assert table.column("case").to_pylist() == [row["case"] for row in rows]
    assert table.schema.field("margin").type == "double"


def test_words_are_exported_as_icdar(tmp_path, capsys):
    run = str(tmp_path / "run")
    words = ["run", "--system", "page-glare", "--relation", "brightness-up", "--scenes", "page:3"]
    words += ["--budget", "80", "--out"]
    assert main([*words, run, "--json"]) == 1
    capsys.readouterr()
    written = told(capsys, "export", run, "--format", "icdar", "--out", str(tmp_path / "icdar"))
    assert written["pictures"] == len(list((tmp_path / "icdar" / "gt").iterdir())) > 0


def test_fiftyone_is_read_again_with_the_boxes_that_coco_has(run, tmp_path, capsys):
    for format in ("coco", "fiftyone"):
        told(capsys, "export", str(run), "--format", format, "--out", str(tmp_path / format))
    boxes = {}
    for format, spec in (("coco", "coco/annotations.json"), ("fiftyone", "fiftyone")):
        scenes = load_scenes(str(tmp_path / spec))
        boxes[format] = {Path(scene.id).name: scene.objects for scene in scenes}
    assert boxes["coco"].keys() == boxes["fiftyone"].keys()
    for name, known in boxes["coco"].items():
        other = boxes["fiftyone"][name]
        assert [thing.label for thing in known] == [thing.label for thing in other]
        assert np.allclose([thing.box for thing in known], [thing.box for thing in other], atol=0.01)


def test_what_cannot_be_is_refused(run, tmp_path, capsys):
    def error(*words: str) -> str:
        return told(capsys, "export", str(run), *words)["error"]

    assert "exists; give another --out" in error("--format", "csv", "--out", str(tmp_path))
    out = ("--out", str(tmp_path / "new"))
    assert "invalid choice: 'voc'" in error("--format", "voc", *out)
    assert "--with-pasted is for coco, yolo and fiftyone" in error("--format", "csv", *out, "--with-pasted")
    assert "icdar is for text" in error("--format", "icdar", *out)
    assert "--classes is for coco, yolo and fiftyone" in error("--format", "icdar", *out, "--classes", "a,b")
    assert "names no class, or one of them twice" in error(
        "--format", "coco", *out, "--classes", "tv,television"
    )
    assert "has no categories" in error("--format", "coco", *out, "--classes", str(tmp_path / "no.json"))
    for words in (("--classes", str(tmp_path / "no.txt")), ("--classes", "no.names")):
        assert "cannot read the list of classes" in error("--format", "coco", *out, *words)
    assert "no picture has an object of these classes" in error(
        "--format", "yolo", *out, "--classes", "zebra"
    )
    assert "--val is 1.0" in error("--format", "yolo", *out, "--val", "1")
    assert not (tmp_path / "new").exists()
