"""What instar reads, kind by kind: valid examples, how they are spoilt, and the command that reads them.

`feed` gives a spoilt file to instar. It returns where the file is accepted, having seen that what came out
makes sense, and raises InstarError where it is refused. Anything else is a defect.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from data_sets import FILES
from fuzz_mutations import (
    VALUES,
    Mutate,
    spoil_bytes,
    spoil_json,
    spoil_picture,
    spoil_text,
    spoil_toml,
    spoil_xml,
)
from instar.campaigns.plan import make_plan, plan_to_toml, read_tables
from instar.cli import main
from instar.core.errors import BadInput, InstarError
from instar.core.scene import Scene
from instar.imaging.codecs import picture_size
from instar.imaging.headers import MAX_PIXELS
from instar.scenes import load_scenes, require_one_readable
from instar.tasks.driving.rules.ontology import usual_ontology
from instar.user_file import parse_toml
from instar.worlds.street import scenes as streets


@dataclass(frozen=True)
class Kind:
    """`examples(folder)` may also write there what lies around the file; `count` is how many are tried."""

    name: str
    count: int
    examples: Callable[[Path], list[bytes]]
    spoil: Mutate
    feed: Callable[[Path, bytes], None]


def command(*words: str, made: Sequence[Path] = ()) -> dict[str, Any]:
    """The JSON document of a command. Refused, it says so in one line and leaves nothing of what it makes."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([*words, "--json"])
    said = out.getvalue()
    assert "Traceback" not in err.getvalue(), err.getvalue()
    assert said.count("\n") == 1, f"{said.count(chr(10))} lines"
    document: dict[str, Any] = json.loads(said)
    if "error" not in document:
        assert status in (0, 1, 2)
        return document
    assert status == 2
    assert "unexpected error" not in document["error"], document["error"]
    assert len(document["error"]) < 2000, f"a line of {len(document['error'])} characters"
    left = [path for path in made if path.exists()]
    assert not left, f"left behind: {left}"
    raise BadInput(document["error"])


# --- pictures and annotations ----------------------------------------------------------------------


@cache
def street(width: int = 64, height: int = 48) -> Any:
    return cv2.resize(streets(1)[0].read(), (width, height), interpolation=cv2.INTER_AREA)


def _encoded(suffix: str, picture: Any, *settings: int) -> bytes:
    return bytes(cv2.imencode(suffix, picture, list(settings))[1].tobytes())


def pictures(folder: Path) -> list[bytes]:
    from PIL import Image

    rgb = street()
    grey, wide = rgb[..., 0], rgb.astype(np.uint16) * 257
    clear = np.dstack([rgb, grey])
    kept = [
        _encoded(".png", rgb), _encoded(".png", grey), _encoded(".png", clear), _encoded(".png", wide),
        _encoded(".jpg", rgb), _encoded(".jpg", grey), _encoded(".jpg", rgb, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
        _encoded(".bmp", rgb), _encoded(".webp", rgb),
        _encoded(".webp", clear, cv2.IMWRITE_WEBP_QUALITY, 101),
        _encoded(".tiff", rgb), _encoded(".ppm", rgb), _encoded(".pgm", grey),
    ]  # fmt: skip
    for how in (
        {"format": "GIF"},
        {"format": "PNG", "optimize": True},
        {"format": "JPEG", "exif": _turned()},
    ):
        file = io.BytesIO()
        picture = Image.fromarray(rgb)
        (picture.quantize(16) if "optimize" in how else picture).save(file, **how)  # type: ignore[arg-type]
        kept.append(file.getvalue())
    return kept


def _turned() -> Any:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def feed_picture(folder: Path, data: bytes) -> None:
    (folder / "a.png").write_bytes(data)
    scenes = load_scenes(str(folder), format="folder")
    require_one_readable(scenes)
    image = scenes[0].read()
    assert image.dtype == np.uint8
    assert image.ndim == 3
    assert image.shape[2] == 3
    assert image.flags.c_contiguous
    assert 0 < image.shape[0] * image.shape[1] <= MAX_PIXELS
    assert picture_size(folder / "a.png") == image.shape[:2]


def check_scenes(scenes: Sequence[Scene]) -> None:
    """Everything known of the scenes is text, finite, and made when asked for."""
    assert scenes
    assert len({scene.id for scene in scenes}) == len(scenes)
    for scene in scenes:
        scene.id.encode()
        for thing in scene.objects or ():
            assert isinstance(thing.label, str)
            assert len(thing.box) == 4
            assert all(math.isfinite(side) for side in thing.box), thing.box
            if thing.mask is not None:
                mask = thing.mask()
                assert mask.dtype == np.bool_
                assert mask.ndim == 2
        for word in scene.knowledge.get("words", ()):
            assert np.isfinite(word.outline).all()
            assert isinstance(word.text, str)
        for name in ("speed", "steering"):
            number = scene.knowledge.get(name)
            assert number is None or math.isfinite(number), number
        if "labels" in scene.knowledge:
            labels = scene.knowledge["labels"]()
            assert int(labels.ids.max()) < len(labels.names)
    require_one_readable(scenes)


def feed_annotations(name: str, format: str | None, folder: Path, data: bytes) -> None:
    """The file of that name, loaded as that format; by what it looks like where none is said."""
    path = folder / name
    path.write_bytes(data)
    file = format in ("coco", "panoptic", "coco-text")
    check_scenes(load_scenes(str(path if file else folder), format=format))


def around(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(_encoded(Path(name).suffix, street()))


def coco(folder: Path) -> list[bytes]:
    around(folder, "a.png", "b.png")
    image = {"width": 64, "height": 48}
    thing = {"image_id": 1, "category_id": 3, "bbox": [4, 5, 10.5, 12], "iscrowd": 0}
    document = {
        "images": [{"id": 1, "file_name": "a.png", **image}, {"id": 2, "file_name": "b.png", **image}],
        "categories": [{"id": 3, "name": "car"}, {"id": 4, "name": "dog"}],
        "annotations": [
            {**thing, "id": 1, "segmentation": [[4, 5, 14, 5, 14, 17, 4, 17]]},
            {**thing, "id": 2, "segmentation": {"size": [48, 64], "counts": [100, 20, 2952]}, "iscrowd": 1},
            {**thing, "id": 3, "segmentation": {"size": [48, 64], "counts": "T3d0Xl2"}, "image_id": 2},
            {**thing, "id": 4, "category_id": 4},
        ],
    }
    return [json.dumps(document).encode(), json.dumps({"images": document["images"]}).encode()]


def panoptic(folder: Path) -> list[bytes]:
    around(folder, "a.png")
    segments = np.zeros((48, 64, 3), np.uint8)
    segments[10:20, 10:30, 2] = 7
    (folder / "p").mkdir(exist_ok=True)
    (folder / "p" / "a.png").write_bytes(_encoded(".png", segments))
    segment = {"id": 7, "category_id": 3, "bbox": [10, 10, 20, 10], "iscrowd": 0, "area": 200}
    document = {
        "images": [{"id": 1, "file_name": "a.png", "width": 64, "height": 48}],
        "categories": [{"id": 3, "name": "car", "isthing": 1}, {"id": 4, "name": "sky", "isthing": 0}],
        "annotations": [
            {"image_id": 1, "file_name": "a.png", "segments_info": [segment, {**segment, "category_id": 4}]}
        ],
    }
    return [json.dumps(document).encode()]


def feed_panoptic(folder: Path, data: bytes) -> None:
    """The list, or the picture of its segments."""
    if data[:4] == b"\x89PNG"[:4]:
        (folder / "p" / "a.png").write_bytes(data)
        check_scenes(load_scenes(str(folder / "p.json"), format="panoptic"))
    else:
        feed_annotations("p.json", "panoptic", folder, data)


def coco_text(folder: Path) -> list[bytes]:
    around(folder, "a.png")
    word = {"image_id": 1, "bbox": [1, 2, 10, 5], "utf8_string": "EXIT", "legibility": "legible"}
    document = {
        "imgs": {"1": {"id": 1, "file_name": "a.png", "width": 64, "height": 48}},
        "anns": {
            "5": {**word, "mask": [1, 2, 11, 2, 11, 7, 1, 7]},
            "6": {**word, "legibility": "illegible"},
        },
        "imgToAnns": {"1": [5, 6]},
    }
    return [json.dumps(document).encode()]


def voc(folder: Path) -> list[bytes]:
    around(folder, "JPEGImages/a.jpg")
    (folder / "Annotations").mkdir(exist_ok=True)
    box = "<bndbox><xmin>5</xmin><ymin>6</ymin><xmax>20.5</xmax><ymax>30</ymax></bndbox>"
    thing = f"<object>\n<name>car</name>\n{box}\n</object>\n"
    return [f"<annotation>\n<filename>a.jpg</filename>\n{thing}{thing}</annotation>\n".encode()]


def yolo(folder: Path) -> list[bytes]:
    around(folder, "images/a.jpg")
    (folder / "labels").mkdir(exist_ok=True)
    (folder / "labels" / "a.txt").write_bytes(b"0 0.5 0.5 0.2 0.2\n")
    (folder / "data.yaml").write_text("names: [car, dog]\n", encoding="utf-8")
    return [b"0 0.5 0.5 0.2 0.2\n1 0.1 0.1 0.4 0.1 0.4 0.4\n1 0.5 0.5 1 1\n"]


def yolo_names(folder: Path) -> list[bytes]:
    yolo(folder)
    return [
        b"path: .\nnames: [car, 'dog']\n",
        b"names:\n  0: car\n  1: dog # x\nnc: 2\n",
        b"names:\n- car\n- dog\n",
    ]


def icdar(folder: Path) -> list[bytes]:
    around(folder, "a.jpg")
    return [b"1,2,30,2,30,10,1,10,EXIT\n3,4,9,4,9,9,3,9,###\n", b'1, 2, 30, 10, "EXIT"\n38 43 49 47 "A, B"\n']


def total_text(folder: Path) -> list[bytes]:
    around(folder, "a.jpg")
    word = "x: [[1 10 10 1]], y: [[2 2 8\n 8]], ornt: [u'm'], transcriptions: [u'{}']\n"
    return [(word.format("EXIT") + word.format("#")).encode()]


def driving_log(folder: Path) -> list[bytes]:
    around(folder, "images/a.jpg", "images/b.jpg")
    (folder / "labels.csv").write_bytes(b"file,source,segment,steering,speed\na.jpg,ch2,1,0.25,\n")
    return [b"file,source,segment,steering,speed\na.jpg,ch2,1,0.25,\nb.jpg,ch2,1,-0.1,12.5\n"]


def published(folder: Path) -> list[bytes]:
    driving_log(folder)
    return [b"file,truth,epoch,chauffeur\na.jpg,0.25,0.2,0.24\nb.jpg,-0.1,0,-0.2\n"]


def label_maps(folder: Path) -> list[bytes]:
    around(folder, "images/a.jpg")
    ids = np.zeros((48, 64), np.uint8)
    ids[20:] = 1
    (folder / "labels").mkdir(exist_ok=True)
    (folder / "classes.json").write_text('{"classes": ["Sky", "Road"], "colours": [[9, 9, 0], [1, 2, 3]]}')
    colours = np.where(ids[..., None] == 1, np.uint8([3, 2, 1]), np.uint8([0, 9, 9]))
    return [_encoded(".png", ids), _encoded(".png", colours)]


def palettes(folder: Path) -> list[bytes]:
    (folder / "labels").mkdir(exist_ok=True)
    (folder / "labels" / "a.png").write_bytes(label_maps(folder)[0])
    return [
        b'[[class]]\nname = "Sky"\nid = 0\n'
        b'[[class]]\nname = "Street"\nis = "road"\nid = 1\ncolour = [1, 2, 3]\n'
    ]


def palettes_json(folder: Path) -> list[bytes]:
    palettes(folder)
    return [b'{"classes": ["Sky", "Road"], "colours": [[9, 9, 0], [1, 2, 3]]}']


def feed_palette(name: str, folder: Path, data: bytes) -> None:
    with fresh(folder) as place:
        (place / name).write_bytes(data)
        check_scenes(load_scenes(str(place), palette=str(place / name)))


def feed_label_map(folder: Path, data: bytes) -> None:
    with fresh(folder) as place:
        (place / "labels" / "a.png").write_bytes(data)
        check_scenes(load_scenes(str(place)))


@contextlib.contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """A copy under another name: maps and palettes are remembered by their paths."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        yield shutil.copytree(folder, Path(place, "set"))


def _data_set(name: str, count: int = 150) -> Kind:
    """A data set in one of the layouts that people have, its annotations spoilt."""
    write, file = FILES[name]
    binary = dict.fromkeys((".tar", ".parquet", ".avi"), spoil_bytes)
    spoil = ({".json": spoil_json, ".xml": spoil_xml} | binary).get(Path(file).suffix, spoil_text)
    format = {"nuscenes": "nuimages", "cityscapes": "label-maps"}.get(name, name.removesuffix("-masks"))

    def examples(folder: Path) -> list[bytes]:
        write(folder)
        return [(folder / file).read_bytes()]

    def feed(folder: Path, data: bytes) -> None:
        (folder / file).write_bytes(data)
        is_file = name in ("bdd100k", "open-images", "list", "video")
        check_scenes(load_scenes(str(folder / file if is_file else folder), format=format))

    return Kind(name, count, examples, spoil, feed)


# --- plans and rules -------------------------------------------------------------------------------

PLAN = b"""scenes = "street:1"
seed = 3
objects = "street-exact"
limit = 1
workers = 1
batch = 2

[[system]]
use = "street-exact"
name = "mine"

[[relation]]
use = "insertion"
name = "close"
blend = "feather"
least_natural = 0.1
search = {use = "guided", per_object = 1}

[limits]
queries = 6
seconds = 20.0
retries = 1
"""


def plans(folder: Path) -> list[bytes]:
    return [PLAN, b'scenes = {path = "street:1"}\n[[system]]\nuse = "street-exact"\n']


def feed_plan(folder: Path, data: bytes) -> None:
    """Read, written and read again as the same plan; one in eight is also carried out."""
    path = folder / "plan.toml"
    path.write_bytes(data)
    tables = read_tables(path)
    plan = make_plan(tables)
    again = make_plan(parse_toml(plan_to_toml(plan)))
    assert repr(again) == repr(plan)
    if zlib.crc32(data) % 8 == 0 and "/" not in (plan.out or ""):
        with inside(folder):
            out = Path(plan.out or "run")
            command("run", "plan.toml", "--out", str(out), "--budget", "6", "--max-seconds", "10", made=[out])
            shutil.rmtree(out, ignore_errors=True)


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


RULES = (
    b"If: a pedestrian appears on the roadside, Then: the ego-vehicle should slow down.",
    b"If: the weather changes to rainy, Then: the ego-vehicle should decrease its speed by at least 10%.",
    b"If: it rains heavily, Then: keep the steering angle.",
    b"If: 2 trucks are added in front of the ego-vehicle, Then: the speed should decrease at least 10 km/h.",
    b"If: a pedestrian appears on the roadside, Then: slow down. If: he gets closer, Then: slow down more.",
)


def rules(folder: Path) -> list[bytes]:
    return list(RULES)


def spoil_rule(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    how = rng.random()
    if how < 0.05:
        return b" ".join([data] * rng.choice((3, 50, 2000)))
    if how < 0.1:
        words = data.split()
        return b" ".join(rng.choice(words) for _ in range(rng.choice((10, 300, 5000))))
    return spoil_text(rng, data, others)


def feed_rule(folder: Path, data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape").replace("\0", "")
    document = command("rule", text, *(("--paper",) if zlib.crc32(data) % 4 == 0 else ()))
    # What a rule is read back as says the same again.
    assert command("rule", document["words"])["formula"] == document["formula"]


def ontologies(folder: Path) -> list[bytes]:
    from importlib.resources import files

    usual_ontology()
    return [files("instar.tasks.driving.rules").joinpath("ontology.toml").read_bytes()]


def engines(folder: Path) -> list[bytes]:
    from importlib.resources import files

    package = files("instar.tasks.driving")
    return [package.joinpath(f"{name}.toml").read_bytes() for name in ("pasted", "rendered")]


def feed_file_of_rules(flag: str, folder: Path, data: bytes) -> None:
    path = folder / "file.toml"
    path.write_bytes(data)
    command("rule", RULES[zlib.crc32(data) % len(RULES)].decode(), flag, str(path))


# --- runs ------------------------------------------------------------------------------------------


@cache
def kept_run() -> Path:
    """A run of this process: what every damaged one is a copy of."""
    folder = Path(tempfile.mkdtemp(prefix="instar-fuzz-")) / "run"
    words = [
        "--system",
        "street-blobs",
        "--relation",
        "insertion",
        "--scenes",
        "street:3",
        "--search",
        "guided",
    ]
    settings = ["--referees", "none", "--set", "search.per_object=2"]  # their networks need much memory
    command("run", *words, *settings, "--out", str(folder))
    with contextlib.closing(sqlite3.connect(folder / "run.sqlite")) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    return folder


@cache
def kept_report() -> dict[str, Any]:
    return command("report", str(kept_run()))


def copy_run(folder: Path) -> Path:
    run = folder / "run"
    if not run.exists():
        shutil.copytree(kept_run(), run)
    else:
        for name in ("run.sqlite", "plan.toml", "provenance.json"):
            shutil.copy(kept_run() / name, run / name)
        for name in ("run.sqlite-wal", "run.sqlite-shm", "run.sqlite-journal"):
            (run / name).unlink(missing_ok=True)
    return run


ORDER = (0, 0, 0, 0, 0, 0, 1, 2, 2, 3, 4, 4, 5, 6, 7, 7)
"""How often each command is given, the slow ones seldom."""


def read_run(run: Path, data: bytes) -> dict[str, Any] | None:
    """One of the commands that read a run; the report's document where it is that."""
    outs = [
        run.parent / name for name in ("page.html", "a.xml", "a.sarif", "a.md", "table", "known.json", "set")
    ]
    for out in outs:
        shutil.rmtree(out, ignore_errors=True)
        out.unlink(missing_ok=True)
    html, junit, sarif, markdown, table, known, data_set = map(str, outs)
    case = str(kept_report()["findings"][0]["case"])
    which = ORDER[zlib.crc32(data) % len(ORDER)]
    if which < 3:
        words = [[], ["--html", html], ["--junit", junit, "--sarif", sarif, "--markdown", markdown]][which]
        document = command("report", str(run), *words, made=outs)
        check_report(document)
        return document
    if which == 3:
        command("compare", str(kept_run()), str(run))
    elif which == 4:
        command("known", str(run), "--out", known, made=outs)
    elif which == 5:
        command("export", str(run), "--format", "csv", "--out", table, made=outs)
    elif which == 6:
        command("export", str(run), "--format", "coco", "--out", data_set, made=outs)
    else:
        command("replay", str(run), case)
    return None


def check_report(document: dict[str, Any]) -> None:
    """No two counts contradict each other."""
    ends = ("held", "violated", "inapplicable", "failed")
    tables = [document, *document["relations"].values()]
    for counts in tables:
        assert counts["cases"] == sum(counts[end] for end in ends)
    for end in ("cases", *ends):
        assert document[end] == sum(one[end] for one in document["relations"].values())
    assert len(document["findings"]) == document["violated"] == sum(document["kinds"].values())
    assert document["unstable"] <= document["inapplicable"]
    assert document["headline"] <= document["violated"]
    assert document["scenes_violated"] <= document["scenes_judged"] <= document["scenes"]
    assert sum(document["reasons"].values()) == document["inapplicable"] + document["failed"]
    assert 0 <= document["asked"] <= document["queries"]
    for one in document["relations"].values():
        assert one["rate"] is None or 0 <= one["rate"] <= 1


def run_files(folder: Path) -> list[bytes]:
    return [(kept_run() / "run.sqlite").read_bytes()]


def feed_run_file(folder: Path, data: bytes) -> None:
    run = copy_run(folder)
    (run / "run.sqlite").write_bytes(data)
    document = read_run(run, data)
    if document is not None:
        for name in ("cases", "held", "violated"):
            assert document[name] == kept_report()[name], f"{name} {document[name]}"


JSON_COLUMNS = ("change", "findings", "evidence", "panels", "value")


def rows(folder: Path) -> list[bytes]:
    """Which value of which table becomes what: there is nothing to spoil, all is drawn."""
    return [b'{"table": "meta", "column": "value", "key": "nothing", "value": 0}']


def spoil_row(rng: random.Random, data: bytes, others: Sequence[bytes]) -> bytes:
    with contextlib.closing(sqlite3.connect(kept_run() / "run.sqlite")) as database:
        tables = (
            "records",
            "records",
            "records",
            "meta",
            "sources",
            "skipped",
            "answers",
            "panels",
            "systems",
        )
        table = rng.choice(tables)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = rng.choice([*columns, *(c for c in columns if c in JSON_COLUMNS)])
        keys = [row[0] for row in database.execute(f"SELECT {columns[0]} FROM {table} ORDER BY 1")]
        violated = "SELECT case_id FROM records WHERE status = 'violated' ORDER BY 1"
        if table == "records" and rng.random() < 0.7:
            keys = [row[0] for row in database.execute(violated)]
        key = rng.choice(keys) if keys else None
        where = f"SELECT {column} FROM {table} WHERE {columns[0]} = ?"
        before = database.execute(where, (key,)).fetchone()
        value: Any = rng.choice(VALUES)
        if before is not None and isinstance(before[0], bytes):
            value = {"hex": spoil_bytes(rng, before[0], [before[0]]).hex()}
        elif (
            before is not None
            and column in JSON_COLUMNS
            and isinstance(before[0], str)
            and rng.random() < 0.9
        ):
            value = spoil_json(rng, before[0].encode(), [b"[]"]).decode("utf-8", "replace")
        elif isinstance(value, (list, dict)):
            value = json.dumps(value)
    return json.dumps({"table": table, "column": column, "key": key, "value": value}).encode()


def feed_row(folder: Path, data: bytes) -> None:
    told = json.loads(data)
    value = told["value"]
    if isinstance(value, dict):
        value = bytes.fromhex(value["hex"])
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value) if abs(value) < 1e300 else str(value)
    elif isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()
    run = copy_run(folder)
    with contextlib.closing(sqlite3.connect(run / "run.sqlite")) as database:
        first = database.execute(f"PRAGMA table_info({told['table']})").fetchone()[1]
        change = f"UPDATE OR REPLACE {told['table']} SET {told['column']} = ? WHERE {first} = ?"
        with contextlib.suppress(sqlite3.IntegrityError):
            database.execute(change, (value, told["key"]))
        database.commit()
    read_run(run, data)


def run_plans(folder: Path) -> list[bytes]:
    return [(kept_run() / "plan.toml").read_bytes()]


def feed_run_plan(folder: Path, data: bytes) -> None:
    run = copy_run(folder)
    (run / "plan.toml").write_bytes(data)
    (run / "provenance.json").write_bytes(data)
    if zlib.crc32(data) % 3:
        command("replay", str(run), str(kept_report()["findings"][0]["case"]))
    else:
        read_run(run, data)


def run_pictures(folder: Path) -> list[bytes]:
    files = sorted((kept_run() / "pictures").rglob("*.*"))
    return [file.read_bytes() for file in files[:12]]


def feed_run_picture(folder: Path, data: bytes) -> None:
    """All pictures of the run are this one."""
    run = copy_run(folder)
    for file in sorted((run / "pictures").rglob("*.*")):
        file.write_bytes(data)
    outs = [folder / "page.html"]
    outs[0].unlink(missing_ok=True)
    if zlib.crc32(data) % 2:
        check_report(command("report", str(run), "--html", str(outs[0]), made=outs))
    else:
        command("replay", str(run), str(kept_report()["findings"][0]["case"]))


def known_failures(folder: Path) -> list[bytes]:
    command("known", str(kept_run()), "--out", str(folder / "known.json"))
    return [(folder / "known.json").read_bytes()]


def feed_known(folder: Path, data: bytes) -> None:
    (folder / "known.json").write_bytes(data)
    out = folder / "a.xml"
    out.unlink(missing_ok=True)
    words = ["--junit", str(out)] if zlib.crc32(data) % 4 == 0 else []
    document = command("report", str(kept_run()), "--known", str(folder / "known.json"), *words, made=[out])
    check_report(document)
    known = document["known"]
    assert len(known["new"]) + len(known["known"]) == len(kept_keys())


@cache
def kept_keys() -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        known: list[Any] = command("known", str(kept_run()), "--out", str(Path(folder, "k.json")))["failures"]
    return known


def pools(folder: Path) -> list[bytes]:
    pool = folder / "pool"
    if not pool.exists():
        shutil.copytree(kept_run() / "pool", pool)
    return [(pool / "index.json").read_bytes()]


def feed_pool(folder: Path, data: bytes) -> None:
    (folder / "pool" / "index.json").write_bytes(data)
    out = folder / "sheet.png"
    out.unlink(missing_ok=True)
    command("pool", "show", str(folder / "pool"), "--out", str(out), made=[out])
    assert out.exists()


def ratings(folder: Path) -> list[bytes]:
    cases = [finding["case"] for finding in kept_report()["findings"]]
    answers = [{"case": case, "real": 3, "reasonable": 5} for case in cases]
    return [json.dumps({"ratings": 1, "rater": "ann", "answers": answers}).encode()]


def feed_ratings(folder: Path, data: bytes) -> None:
    (folder / "ann.json").write_bytes(data)
    out = folder / "boxes.csv"
    out.unlink(missing_ok=True)
    command("ratings", "import", str(kept_run()), str(folder / "ann.json"), "--csv", str(out), made=[out])


# --- recorded answers ------------------------------------------------------------------------------

SERVICES = ("rekognition", "google-vision", "azure-read", "tencent-ocr")


def recordings(folder: Path) -> list[bytes]:
    square = [{"X": 0.1, "Y": 0.1}, {"X": 0.5, "Y": 0.1}, {"X": 0.5, "Y": 0.3}, {"X": 0.1, "Y": 0.3}]
    corners = [{"x": 4, "y": 4}, {"x": 30, "y": 4}, {"x": 30, "y": 12}, {"x": 4, "y": 12}]
    large = [{"X": c["x"], "Y": c["y"]} for c in corners]
    found = {"DetectedText": "EXIT", "Confidence": 99.1}
    word = {"boundingBox": {"vertices": corners}, "symbols": [{"text": "EXIT"}], "confidence": 0.9}
    pages = [{"blocks": [{"paragraphs": [{"words": [word]}]}]}]
    documents: list[Any] = [
        {"TextDetections": [{"Type": "WORD", "Geometry": {"Polygon": square}, **found}]},
        {"responses": [{"fullTextAnnotation": {"pages": pages}}]},
        {"readResult": {"blocks": [{"lines": [{"words": [{"text": "A", "boundingPolygon": corners}]}]}]}},
        {"Response": {"TextDetections": [{"Polygon": large, **found}]}},
    ]
    return [json.dumps(document).encode() for document in documents]


def feed_recording(folder: Path, data: bytes) -> None:
    from instar.core.digest import digest

    image = street()
    for name in SERVICES:
        (folder / f"{name}-png").mkdir(exist_ok=True)
        (folder / f"{name}-png" / f"{digest(image)}.json").write_bytes(data)
    answers = [_asked(name, folder) for name in SERVICES]
    refused = [answer for answer in answers if isinstance(answer, InstarError)]
    if len(refused) == len(SERVICES):
        raise refused[0]


def _asked(name: str, folder: Path) -> Any:
    """What a service that answers from its recordings finds, or why it does not."""
    from instar.tasks.text.answers import read

    try:
        quads = read(street(), service(name, str(folder)).predict([street()])[0]).quads
    except InstarError as error:
        return error
    except ValueError as error:  # an answer that makes no sense is a failed answer
        return BadInput(str(error))
    assert np.isfinite(quads).all()
    return quads


def service(name: str, folder: str) -> Any:
    from instar.campaigns.plan import Use
    from instar.campaigns.resolve import resolve_system

    return resolve_system(Use(name, {"recorded": folder}), tasks=["text"])


def conditions(folder: Path) -> list[bytes]:
    return [b"rate>0.05", b"violated >= 3", b"unstable>5%", b"new > 0"]


def feed_condition(folder: Path, data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape").replace("\0", "")
    check_report(command("report", str(kept_run()), f"--fail-on={text}"))


def settings(folder: Path) -> list[bytes]:
    return [
        b"insertion.blend=feather",
        b"search.per_object=1",
        b"limits.queries=3",
        b"insertion.iou=[0.5, 1]",
    ]


def feed_setting(folder: Path, data: bytes) -> None:
    from instar.campaigns.overrides import put_settings

    tables = read_tables_of(PLAN)
    plan_to_toml(make_plan(put_settings(tables, [data.decode("utf-8", "surrogateescape")])))


def read_tables_of(data: bytes) -> dict[str, Any]:
    return parse_toml(data.decode())


def _annotated(name: str, count: int, examples: Any, spoil: Mutate, file: str, format: str | None) -> Kind:
    return Kind(name, count, examples, spoil, partial(feed_annotations, file, format))


KINDS = {
    kind.name: kind
    for kind in (
        Kind("picture", 2500, pictures, spoil_picture, feed_picture),
        _annotated("coco", 1000, coco, spoil_json, "c.json", "coco"),
        Kind("panoptic", 700, panoptic, spoil_json, feed_panoptic),
        _annotated("coco-text", 400, coco_text, spoil_json, "t.json", "coco-text"),
        _annotated("voc", 700, voc, spoil_xml, "Annotations/a.xml", None),
        _annotated("yolo", 600, yolo, spoil_text, "labels/a.txt", None),
        _annotated("yolo-names", 300, yolo_names, spoil_text, "data.yaml", None),
        _annotated("icdar", 700, icdar, spoil_text, "gt_a.txt", None),
        _annotated("total-text", 400, total_text, spoil_text, "poly_gt_a.txt", None),
        _annotated("driving-log", 300, driving_log, spoil_text, "labels.csv", None),
        _annotated("published", 200, published, spoil_text, "ch2_model_predictions.csv", None),
        Kind("label-map", 300, label_maps, spoil_picture, feed_label_map),
        Kind("palette", 200, palettes, spoil_toml, partial(feed_palette, "palette.toml")),
        Kind("palette-json", 200, palettes_json, spoil_json, partial(feed_palette, "own.json")),
        *map(_data_set, FILES),
        Kind("plan", 700, plans, spoil_toml, feed_plan),
        Kind("setting", 200, settings, spoil_text, feed_setting),
        Kind("rule", 500, rules, spoil_rule, feed_rule),
        Kind("ontology", 400, ontologies, spoil_toml, partial(feed_file_of_rules, "--ontology")),
        Kind("engines", 200, engines, spoil_toml, partial(feed_file_of_rules, "--engines")),
        Kind("run-file", 600, run_files, spoil_bytes, feed_run_file),
        Kind("run-row", 900, rows, spoil_row, feed_row),
        Kind("run-plan", 200, run_plans, spoil_toml, feed_run_plan),
        Kind("run-picture", 60, run_pictures, spoil_picture, feed_run_picture),
        Kind("known", 400, known_failures, spoil_json, feed_known),
        Kind("pool", 200, pools, spoil_json, feed_pool),
        Kind("ratings", 200, ratings, spoil_json, feed_ratings),
        Kind("recording", 400, recordings, spoil_json, feed_recording),
        Kind("condition", 100, conditions, spoil_text, feed_condition),
    )
}
