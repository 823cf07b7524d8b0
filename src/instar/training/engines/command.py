"""`instar train engine`: from street pictures with label maps to a network with its card."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from instar.adapters.devices import choose_device
from instar.core.errors import BadInput
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from torch import nn

    from instar.core.scene import Scene
    from instar.training.engines.networks import Painter, Segmenter
    from instar.training.engines.steps import EngineSettings, Told
    from instar.training.engines.streets import Streets
    from instar.training.engines.translator import Translator

SIZE = (360, 480)
USUAL = {"painter": (32, 14000, 32, 2e-4), "segmenter": (16, 4000, 32, 1.5e-3)}  # width, steps, batch, rate
USUAL["translator"] = (16, 8000, 32, 2e-4)
MEANT_FOR = {"weather": ("segmenter",), "whole": ("painter",), "start": ("painter", "segmenter")}
WHERE = ("out", "resume", "minutes", "device")  # it is done, which does not change what is learned


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "kind",
        choices=sorted(USUAL),
        metavar="KIND",
        help="painter, which fills holes, segmenter, or translator",
    )
    add("--scenes", required=True, action="append", metavar="PATH", help="drive:N or a folder; repeat it")
    add("--palette", metavar="NAME", help="what label maps mean, where their folder does not say")
    add("--height", type=int, default=SIZE[0], metavar="N", help="of the pictures in training (360)")
    add("--width", type=int, metavar="N", help="channels of the first layer (32; others: 16)")
    add("--steps", type=int, metavar="N", help="in all (14000; segmenter: 4000; translator: 8000)")
    add("--batch", type=int, metavar="N", help="crops per step (32)")
    add("--rate", type=float, metavar="X", help="the highest learning rate (0.0002; segmenter: 0.0015)")
    add("--side", type=int, default=256, metavar="N", help="pixels of a crop (256)")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    for time in ("night", "dusk"):
        add(f"--{time}s", metavar="DIR", help=f"photographs of streets at {time}, for a translator")
    weather = "the share of a segmenter's crops at night, in rain, snow or fog (0)"
    add("--weather", type=float, default=0.0, metavar="X", help=weather)
    whole = "the share of a painter's steps on whole pictures (0)"
    add("--whole", type=float, default=0.0, metavar="X", help=whole)
    add("--start", metavar="FILE", help="an exported network of that kind and width to go on from")
    add("--held-out", type=float, default=0.15, metavar="X", help="of each video, the last frames (0.15)")
    add("--minutes", type=float, metavar="N", help="stop then; go on with --resume")
    add("--device", metavar="NAME", help="cpu or cuda (a GPU where there is one)")
    add("--out", required=True, metavar="DIR", help="where checkpoint, KIND.onnx and card.json go")
    add("--resume", action="store_true", help="continue an existing training")


def perform(args: argparse.Namespace) -> Outcome:
    if not 0 < args.held_out < 1:
        raise BadInput(f"--held-out is {args.held_out}; it must be between 0 and 1")
    if not 0 <= args.weather < 1:
        raise BadInput(f"--weather is {args.weather}; it must be at least 0 and less than 1")
    photographs = [Path(folder) for folder in (args.nights, args.dusks) if folder is not None]
    if len(photographs) != (2 if args.kind == "translator" else 0):
        raise BadInput("--nights and --dusks are for a translator, which needs both")
    if not 0 <= args.whole <= 1:
        raise BadInput(f"--whole is {args.whole}; it must be from 0 to 1")
    for option, kinds in MEANT_FOR.items():
        if getattr(args, option) and args.kind not in kinds:
            raise BadInput(f"--{option} is for a {' or a '.join(kinds)}")
    size = (args.height, round(args.height * SIZE[1] / SIZE[0]))
    scenes = [scene for path in args.scenes for scene in _load(path, args.palette, size)]
    # torch, which neither --help nor a wrong path should wait for
    from instar.progress import show_steps
    from instar.training.engines import checkpoint
    from instar.training.engines.export import export_engine
    from instar.training.engines.scores import score
    from instar.training.engines.steps import EngineSettings
    from instar.training.engines.streets import collect_streets, split_videos
    from instar.training.engines.train import train_painter, train_segmenter
    from instar.training.engines.weather import WEATHER, in_weather

    device = choose_device(args.device, "training")
    width, steps, batch, rate = (
        usual if given is None else given
        for usual, given in zip(USUAL[args.kind], (args.width, args.steps, args.batch, args.rate))
    )
    seconds = float("inf") if args.minutes is None else 60 * args.minutes
    settings = EngineSettings(
        int(width),
        int(steps),
        int(batch),
        args.side,
        float(rate),
        args.seed,
        seconds,
        device,
        args.weather,
        None if args.start is None else Path(args.start),
        args.whole,
    )
    out = Path(args.out)
    with show_steps("looking at the scenes", len(scenes), quiet=args.json) as shown:
        streets = collect_streets(scenes, size, step=shown.advance)
    kept, held = split_videos(streets.names, args.held_out)
    if not kept or not held:
        raise BadInput(f"{len(streets)} scenes leave none to train on or none to hold out; name more")

    model: Painter | Segmenter | Translator
    scores: dict[str, float] | None = None

    def told(line: str) -> None:
        if not args.json:
            print(line, file=sys.stderr, flush=True)

    def weather_of(rows: list[int], *, varied: bool) -> Streets:
        with show_steps("making weather", len(rows) * len(WEATHER), quiet=args.json) as shown:
            return in_weather(streets.of(rows), varied=varied, seed=args.seed, step=shown.advance)

    if args.kind == "translator":
        parts = (streets.of(kept), streets.of(held))
        model, scores = _translator(args, parts, photographs, settings, told)
    elif args.kind == "painter":
        model = train_painter(streets.of(kept), settings, out, told, args.resume)
    else:
        changed = weather_of(kept, varied=True) if args.weather else None
        model = train_segmenter(streets.of(kept), settings, out, told, args.resume, changed=changed)
    card = {
        "network": args.kind,
        "width": width,
        "data": ", ".join(path if path.startswith("drive:") else Path(path).name for path in args.scenes),
        "licence": "pictures drawn by instar, Apache-2.0"
        if all(path.startswith("drive:") for path in args.scenes)
        else "that of your data",
        "trained_on": len(kept),
        "held_out": len(held),
        "steps": int(checkpoint.load(out)["done"]),
        "scores": scores or score(model, streets.of(held)),
        **({"weather": _by_kind(model, weather_of(held, varied=False), WEATHER)} if args.weather else {}),
        "again": _command(args),
    }
    path = out / f"{args.kind}.onnx"
    export_engine(model, path, card=card)
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    text = (
        f"step {card['steps']} of {steps}; on {len(held)} pictures held out: {_words(card['scores'])}\n{path}"
    )
    return Outcome(text, card | {"path": str(path)})


def _translator(
    args: argparse.Namespace,
    streets: tuple[Streets, Streets],
    photographs: Sequence[Path],
    settings: EngineSettings,
    told: Told,
) -> tuple[Translator, dict[str, float]]:
    """A translator that learned from the first streets, and its scores on the second."""
    from instar.progress import show_steps
    from instar.training.engines.nights import make_nights
    from instar.training.engines.translation import score_translator, train_translator

    with show_steps("making nights", len(streets[0]) + len(streets[1]), quiet=args.json) as shown:
        seen = make_nights(streets[0], photographs, seed=args.seed, step=shown.advance)
        unseen = make_nights(streets[1], seed=args.seed, step=shown.advance)
    model = train_translator(seen, settings, Path(args.out), told, args.resume)
    return model, score_translator(model, unseen)


def _load(path: str, palette: str | None, size: tuple[int, int]) -> Sequence[Scene]:
    """The scenes of a folder, or drives drawn at the size of training."""
    from instar.scenes import load_scenes
    from instar.worlds.drive.scenes import scene_of

    if not path.startswith("drive:"):
        return load_scenes(path, palette=palette)
    drives: list[Scene] = list(load_scenes(path))
    return [scene_of(cast(Any, scene.knowledge["drive"]), scene.id, size=size) for scene in drives]


def _by_kind(model: nn.Module, changed: Streets, kinds: Sequence[str]) -> dict[str, float]:
    """The mean IoU in each weather, of pictures that lie one kind after the other."""
    from instar.training.engines.scores import score

    count = len(changed) // len(kinds)
    return {
        kind: score(model, changed.of(range(number * count, (number + 1) * count)))["mean_iou"]
        for number, kind in enumerate(kinds)
    }


def _words(scores: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in scores.items())


def _command(args: argparse.Namespace) -> str:
    """How to train it again: what was said, less where things were put."""
    words = ["instar", "train", "engine", args.kind]
    parser = argparse.ArgumentParser()
    arguments(parser)
    usual: dict[str, Any] = vars(parser.parse_args([args.kind, "--scenes", "x", "--out", "x"]))
    for name, value in usual.items():
        given = getattr(args, name)
        if name in (*WHERE, "kind") or (name != "scenes" and given == value):
            continue
        for one in given if isinstance(given, list) else [given]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    return shlex.join(words)
