"""`instar init`: look at a folder, and write a plan with comments that runs as it stands."""

from __future__ import annotations

import argparse
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from instar.campaigns.plan import Use
from instar.campaigns.resolve import tasks_of_system
from instar.campaigns.system_names import settle_name
from instar.core.errors import BadInput, InstarError
from instar.core.outcome import Outcome
from instar.report.words import counted
from instar.scenes import load_scenes
from instar.scenes.video import is_video
from instar.user_file import write_file

PLAN = "instar.toml"
PICTURES = (".bmp", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp")
NOT_PICTURES = ("annotations", "gt", "labels", "masks")  # folders beside pictures, with what is drawn on them
MODELS = (".onnx", ".xml", ".pt", ".torchscript")
ANNOTATIONS = (".json", ".yaml", ".yml")
NOT_DATA = ("node_modules", "runs", "site-packages", "venv")
DEEPEST = 4  # folders below the one that is looked at
MOST_TRIED = 12  # places that might hold annotated pictures
YOURS = "name yours: a file, module:attr, a server"
USUAL = "yolox-nano", f"a detector that comes along; {YOURS}"
USUAL_TEXT = "ppocr-v4-det", f"a text locator that is fetched once (15 MB); {YOURS}"
MODEL_KEYS = "confidence = 0.4        # the score from which on a box counts as found"


@dataclass(frozen=True, slots=True)
class _Scenes:
    """A place with pictures, in words, and the system that is asked where no network is found."""

    path: str
    words: str
    usual: tuple[str, str] = USUAL


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="what to look at (.)")
    parser.add_argument("--out", default=PLAN, metavar="PLAN.toml", help=f"the plan to write ({PLAN})")


def perform(args: argparse.Namespace) -> Outcome:
    folder, plan = Path(args.folder), Path(args.out)
    if not folder.is_dir():
        raise BadInput(f"there is no folder {args.folder!r} to look at")
    if plan.exists():
        raise BadInput(f"{plan} is there already; give --out another name")
    files = list(_files_below(folder))
    scenes = _find_scenes(folder, files)
    models = [path for path in files if path.suffix in MODELS and _may_be_network(path)]
    use, system, refused = _find_system(models, scenes.usual)
    others = [f"# use = {_quoted(path)}" for path in models if str(path) != use]
    write_file(plan, _plan_text(plan, scenes, use, [system, *refused], others))
    said = [f"scenes  {scenes.path}: {scenes.words}", f"system  {use}: {system}", *refused]
    lines = [
        f"{plan} is written.",
        *(f"  {line}" for line in said),
        "",
        f"Run it: {_command(plan)}",
    ]
    return Outcome("\n".join(lines), {"plan": str(plan), "scenes": scenes.path, "system": use})


def _files_below(folder: Path) -> Iterator[Path]:
    """Files of a few levels, without hidden folders, environments and runs; nearest ones first."""
    for place, below, names in os.walk(folder):
        here = Path(place)
        if "run.sqlite" in names:
            below.clear()
            continue
        is_deep = len(here.relative_to(folder).parts) >= DEEPEST
        below[:] = [] if is_deep else sorted(n for n in below if not n.startswith(".") and n not in NOT_DATA)
        yield from (here / name for name in sorted(names) if not name.startswith("."))


def _find_scenes(folder: Path, files: Sequence[Path]) -> _Scenes:
    """The annotated pictures there are, else where most pictures are, else videos, else drawn streets."""
    pictured = [path for path in files if path.suffix.lower() in PICTURES]
    shown = [path for path in pictured if path.parent.name not in NOT_PICTURES]
    pictures = Counter(path.parent for path in shown)
    by_number = sorted(pictures, key=lambda place: (-pictures[place], place))
    places = [path for path in files if path.suffix in ANNOTATIONS and _may_annotate(path)]
    parents = [above for place in by_number[:3] for above in (place.parent, place.parent.parent)]
    places += [place for place in [*by_number[:3], *parents] if folder in (place, *place.parents)]
    for place in dict.fromkeys(places[:MOST_TRIED]):
        try:
            found = load_scenes(place)
        except (InstarError, OSError):
            continue
        known = sum(scene.objects is not None for scene in found)
        if known:
            has_words = any("words" in scene.knowledge for scene in found)
            return _Scenes(
                str(place),
                f"{counted(len(found), 'picture')}, {known:,} of them annotated, which says what is real",
                USUAL_TEXT if has_words else USUAL,
            )
    if shown:
        place, number = _where_most_are(folder, shown)
        return _Scenes(
            str(place), f"{counted(number, 'picture')} without annotations: other systems say what is real"
        )
    if videos := [path for path in files if is_video(path)]:
        place = videos[0] if len(videos) == 1 else videos[0].parent
        return _Scenes(str(place), f"{counted(len(videos), 'video')}, of which a frame a second is taken")
    return _Scenes("street:12", "no pictures were found here, so that drawn streets stand in; name yours")


def _where_most_are(folder: Path, pictures: Sequence[Path]) -> tuple[Path, int]:
    """The deepest folder with more than half of the pictures in it or below, and how many that are."""
    below = Counter(place for path in pictures for place in path.parents if folder in (place, *place.parents))
    most = {place: number for place, number in below.items() if 2 * number > len(pictures)}
    return max(most.items(), key=lambda one: len(one[0].parts))


def _may_annotate(path: Path) -> bool:
    """Whether the beginning of a file looks like annotations."""
    with path.open("rb") as file:
        head = file.read(4096)
    return b'"images"' in head or b'"annotations"' in head or b"names:" in head


def _may_be_network(path: Path) -> bool:
    """An OpenVINO network has its weights beside it; any other .xml is something else."""
    return path.suffix != ".xml" or path.with_suffix(".bin").is_file()


def _find_system(models: Sequence[Path], usual: tuple[str, str]) -> tuple[str, str, list[str]]:
    """The first network whose file tells how it is used, what it is, and why others were not taken."""
    refused = []
    for path in models:
        try:
            with redirect_stderr(StringIO()):
                use = settle_name(Use(str(path)))
        except InstarError as error:
            refused.append(f"{path} was not taken: {error}")
            continue
        tasks = tasks_of_system(use)
        return (
            str(path),
            f"your network, {tasks[0] if tasks else 'a task that is found out by asking'}",
            refused,
        )
    return (*usual, refused)


def _plan_text(plan: Path, scenes: _Scenes, use: str, about: Sequence[str], others: Sequence[str]) -> str:
    comments = [f"# {' '.join(line.split())}" for line in about]
    return "\n".join(
        [
            f"# A plan for instar, made by looking at this folder. Run it: {_command(plan)}",
            "# Flags override what it says: --budget 200 for a first look, --out RUN for another folder.",
            "",
            f"# {scenes.words}",
            f"scenes = {_quoted(scenes.path)}",
            "# limit = 50            # pictures, at most",
            '# referees = "none"     # systems that are asked what is there; without it, the usual ones',
            "",
            *comments,
            "[[system]]",
            f"use = {_quoted(use)}",
            *others,
            f"# {MODEL_KEYS}",
            "",
            "[limits]",
            "queries = 1000          # questions to the system, at most: more find more",
            "# seconds = 600",
            "",
            "# Without a relation the suite of the task is asked; instar relations lists all.",
            "# [[relation]]",
            '# use = "mirrored"',
            "# [[relation]]",
            '# use = "mine:defocused"   # one of your own, see docs/add-a-relation.md',
            "",
        ]
    )


def _command(plan: Path) -> str:
    return f"instar run {shlex.quote(str(plan))}"


def _quoted(value: object) -> str:
    return json.dumps(str(value), ensure_ascii=False)
