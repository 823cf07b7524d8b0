"""Every command line of the documents: the program reads it, and what is quick is run, with few questions.

Pictures, modules and runs that a page takes for granted are put where it wants them.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import cv2
import numpy as np
import pytest

from instar.campaigns.result import read_result
from instar.cli import main
from instar.cli.program import EVERYWHERE, _parse
from instar.core.errors import BadInput
from instar.imaging.codecs import encode_png, read_picture
from instar.store import RunStore
from instar.worlds import street
from instar.zoo import fetch

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
A_CASE = re.compile(r"[0-9a-f]{16}")
FENCE = re.compile(r"^( *)```\w*\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def words_of(line: str) -> list[str]:
    """What a shell would pass on, without what stands for more of the same."""
    words = [
        word.split("|")[0] for word in shlex.split(line.removeprefix("$ "), comments=True) if word != "..."
    ]
    return words[: words.index(">")] if ">" in words else words


def typed(page: Path) -> list[str]:
    """The command lines in the blocks of a page."""
    blocks = "\n".join(block for _, block in FENCE.findall(page.read_text(encoding="utf-8")))
    lines = [line.strip() for line in blocks.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"\$\((instar [^)]*)\)", blocks)
    return [line for line in lines if line.removeprefix("$ ").startswith("instar ")]


def named(page: Path) -> list[str]:
    """Those in its sentences, which may leave out what the sentence is not about."""
    told = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = [" ".join(line.split()) for line in re.findall(r"`(instar [a-z][^`]*)`", told)]
    return [re.sub(r"\[[^]]*\]", "", line) for line in lines]


NOT_RUN = {
    "instar view": "it serves until it is ended: tests/workbench/test_view.py",
    "instar demo": "minutes: tests/cli/test_demo.py",
    "instar train": "minutes to hours: tests/training",
    "instar study": "hours: tests/cli/test_study.py",
    "instar retrain": "an hour of a core: tests/cli/test_retrain.py",
    "instar backdoor": "many minutes: tests/cli/test_interpretation.py",
    "instar pool fetch": "out of a Debian package: tests/cutouts/test_tuxpaint.py",
    "instar answers": "in rounds: tests/docs/test_systems_page.py",
    "instar ratings import": "people's sheets: tests/test_ratings.py",
    "--on ray": "a cluster of yours: tests/core/test_ray.py",
    "rekognition": "a paid service: tests/tasks/text/systems/test_services.py",
    "instar look onnx": "a network of DETR's form: tests/tasks/detection/systems/test_heads.py",
    "onnx-driver": "a network of yours: tests/tasks/driving/systems/test_own.py",
    "torch-driver": "a network of yours: tests/tasks/driving/systems/test_own_torch.py",
    "--interpreter rise": "a thousand masks a picture: tests/tasks/interpretation/interpreters",
    "twin.npz": "the twin is planted in minutes: tests/cli/test_interpretation.py",
    "../shared/data": "data that is not ours to pass on: tests/scenes/test_voc.py",
    "$ ": "what it prints is shown: tests/docs/test_rules_page.py",
    "--referee-labels": "two more detectors: tests/tasks/detection/test_verification.py",
}
"""Commands that are only read, each with where the same is run."""
SLOW = ("--interpreter", "mobilenet-v2", "ppocr", "pool ", "--pool", "copy,removal", "drive:", "vgg16")
"""Those that need torch, larger networks or more than a few seconds: `make test-real` runs them."""
SAID = (
    "--relation",
    "--rule",
    "--interpreter",
    "--changes",
)  # else a suite, which may outline objects by SAM 2
FEW = ["--budget", "16", "--referees", "none"]
MORE_OF_THE_SAME = {
    "detection": "--system street-blobs --scenes street:2 --relation insertion",
    "text": "--system page-glare --scenes page:2",
    "text-locators": "--scenes page:2 --relation brightness-up",
}
"""What `...` stands for on a page."""


def is_run(line: str) -> bool:
    return not any(part in line for part in NOT_RUN)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_program_reads_every_command(page):
    for line in typed(page):
        _parse(plain(line))
    for line in filter(lambda line: not is_read(line), named(page)):
        with pytest.raises(BadInput, match="arguments are required"):
            _parse(plain(line))


def plain(line: str) -> list[str]:
    return [word for word in words_of(line)[1:] if word not in EVERYWHERE]


def is_read(line: str) -> bool:
    try:
        return bool(_parse(plain(line)))
    except BadInput:
        return False


def test_whatever_is_only_read_is_there_and_run_elsewhere():
    every = [line for page in PAGES for line in typed(page)]
    for part, reason in NOT_RUN.items():
        assert any(part in line for line in every), part
        assert (ROOT / reason.rpartition(" ")[2]).exists(), reason


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory):
    """A folder with what the pages take for granted."""
    home = tmp_path_factory.mktemp("furnished")
    for folder in ("photos", "other-photos"):
        (home / folder).mkdir()
        for name in ("person", "bus"):
            picture = cv2.resize(read_picture(fetch(name)[0]), (320, 240), interpolation=cv2.INTER_AREA)
            cv2.imwrite(str(home / folder / f"{name}.jpg"), picture[..., ::-1])
    (home / "photos" / "street.png").write_bytes(encode_png(street.scenes(1, size=(240, 320))[0].image))
    (home / "worst.txt").write_text("photos/bus.jpg\n")
    video = cv2.VideoWriter(str(home / "drive.mp4"), cv2.VideoWriter.fourcc(*"mp4v"), 30, (320, 240))
    for _ in range(31):
        video.write(np.asarray(picture[..., ::-1]))
    video.release()
    relation, system, task = (blocks(f"add-a-{what}.md", "python") for what in ("relation", "system", "task"))
    (home / "mine.py").write_text("\n".join([relation[0], system[0]]))
    (home / "segment.py").write_text("\n".join(task[:2]))
    own = "from instar.tasks.detection.systems.street import street_blobs as MyDetector\n"
    (home / "my_module.py").write_text(own)
    (home / "rules.txt").write_text("If: it rains, Then: slow down.\n")
    words, cones, program = blocks("rules-extension.md", "(?:toml|python)")[:3]
    (home / "words.toml").write_text(words)
    (home / "engines.toml").write_text(cones.replace("python", sys.executable, 1))
    (home / "cone.py").write_text(program)
    shutil.copyfile(ROOT / "src/instar/tasks/detection/harm.toml", home / "my-harm.toml")
    (first,) = [line for line in typed(ROOT / "docs" / "tour.md") if line.endswith("--out runs/blobs")]
    main([*plain(first)[:-1], str(home / "runs" / "blobs"), "--json"])
    for name in ("old", "vgg16"):
        shutil.copytree(home / "runs" / "blobs", home / "runs" / name)
    return home


@pytest.fixture
def home(furnished, tmp_path, monkeypatch):
    """A copy of it to work in."""
    home = shutil.copytree(furnished, tmp_path / "home")
    monkeypatch.chdir(home)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", ".")])
    for module in ("mine", "segment", "my_module"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return home


def plainest_case() -> str:
    """The pages name the case that comes first; drawing may differ in the last bit on another machine."""
    with RunStore.read("runs/blobs") as store:
        return read_result(store).summary.findings[0].case


def to_run(page: Path, number: int, line: str) -> list[str]:
    """A command as it is run: with few questions, and where nothing is yet."""
    line = line.replace("...", MORE_OF_THE_SAME.get(page.stem, "..."))
    words = plain(line.replace("export runs/yolox", "export runs/blobs"))
    words = [plainest_case() if word == "CASE" or A_CASE.fullmatch(word) else word for word in words]
    words = [word.replace("runs/page-glare", "runs/blobs") for word in words]
    if words[0] not in ("run", "questions"):
        return words
    few = FEW if words[0] == "run" else FEW[:2]
    return [*words, *few, *([] if "--out" in words else ["--out", f"runs/{number}"])]


def is_slow(line: str) -> bool:
    is_suite = line.startswith("instar run") and not any(flag in line for flag in SAID)
    return is_suite or any(part in line for part in SLOW)


def run_all(page: Path, home: Path, capsys, *, slow: bool) -> None:
    later: list[str] = []  # runs that only slow commands make
    for number, line in enumerate(typed(page)):
        is_made = any(line.endswith(f"--out runs/{path.name}") for path in (home / "runs").iterdir())
        if is_made or not is_run(line):
            continue
        if not slow and (is_slow(line) or any(run in line for run in later)):
            later += re.findall(r"--out (\S+)", line)
            continue
        words = to_run(page, number, line)
        capsys.readouterr()
        status = main([*words, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert status in (0, 1, 2), line
        assert "error" not in document, f"{line}: {document}"


WITH_COMMANDS = [page for page in PAGES if any(map(is_run, typed(page)))]
WITH_QUICK_ONES = [page for page in PAGES if any(is_run(one) and not is_slow(one) for one in typed(page))]


@pytest.mark.parametrize("page", WITH_QUICK_ONES, ids=lambda page: page.stem)
def test_the_quick_commands_of_a_page_run(page, home, capsys):
    run_all(page, home, capsys, slow=False)


@pytest.mark.real
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_all_commands_of_a_page_run(page, home, capsys):
    run_all(page, home, capsys, slow=True)
