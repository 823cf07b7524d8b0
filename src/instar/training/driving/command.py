"""`instar train NETWORK`: from scenes that know what the driver did to a driving network with its card."""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.adapters.devices import choose_device
from instar.core.errors import BadInput, UnknownName
from instar.core.options import split_names
from instar.core.outcome import Outcome
from instar.imaging.street_networks import require_weights
from instar.tasks.driving.systems.bundled_networks import BUNDLED_NETWORKS, WEIGHTS, card

if TYPE_CHECKING:
    from instar.core.scene import Scene

SHOWN = 64  # pictures by which is told whether a network may be stored in 8 bits
WHERE = ("device", "pictures", "resume")  # it is done, which does not change what is learned
LICENCES = {
    "drive": "pictures drawn by instar, Apache-2.0",
    "ch2": "pictures and labels of Udacity's challenge 2, MIT",
    "th552019,th979919": "pictures and labels of Team SoulLess (thunderhill_data), which states no licence: "
    "for research only, and so are these weights; opt-in",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--scenes", required=True, metavar="PATH", help="drive:N, or the folder of a driving log")
    add("--source", metavar="A,B", help="of a log, only the frames of these sources (ch2)")
    add("--laps", type=float, metavar="SECONDS", help="of laps that take so long: hold out places, not times")
    add("--without", metavar="A,B", help="draw drives without these kinds of things, such as pedestrian")
    add("--only", metavar="A,B", help="draw drives with these kinds of things only, such as tree,lamp")
    add("--labels", action="store_true", help="learn also what is shown where, if scenes know it")
    add("--start", metavar="DIR", help="begin with the weights of that training, or of vgg16-street")
    add("--outputs", default="speed,steering", metavar="A,B", help="speed, steering or both (both)")
    add("--width", type=float, default=1.0, metavar="X", help="times the channels of the network (1)")
    add("--grey", action="store_true", help="look at grey pictures")
    add("--epochs", type=int, default=40, metavar="N", help="passes over the pictures, at most (40)")
    add("--patience", type=int, default=8, metavar="N", help="passes without a better one, then stop (8)")
    add("--batch", type=int, default=32, metavar="N", help="pictures per step (32)")
    add("--rate", type=float, default=1e-3, metavar="X", help="the highest learning rate (0.001)")
    add("--decay", type=float, default=1e-4, metavar="X", help="weight decay (0.0001)")
    add("--plain", action="store_true", help="pictures as they are: neither mirrored nor in other light")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add("--split-seed", type=int, default=0, metavar="N", help="which stretches are held out (0)")
    add("--held-out", type=float, default=0.4, metavar="X", help="the share that is held out (0.4)")
    add("--limit", type=int, metavar="SCENES", help="scenes to use, at most")
    add("--exact", action="store_true", help="compute in 32 bits; else in bfloat16 where that is quicker")
    add("--device", metavar="NAME", help="cpu or cuda (a GPU where there is one)")
    add("--pictures", metavar="FILE.npz", help="keep the pictures there, for the next training")
    add("--out", required=True, metavar="DIR", help="where checkpoint, NETWORK.onnx and card.json go")
    add("--resume", action="store_true", help="continue an existing training")


def perform(args: argparse.Namespace) -> Outcome:
    scenes = _scenes(args)
    # torch, which neither --help nor a wrong path should wait for
    from instar.progress import show_steps
    from instar.training.driving.examples import collect_examples, errors_of, hold_out
    from instar.training.driving.export import export_driver
    from instar.training.driving.train import DriverSettings, answers, load_checkpoint, train

    device = choose_device(args.device, "training")
    out = Path(args.out)
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists() and not args.resume:
        raise BadInput(f"{out} has a training in it; go on with --resume, or choose another --out")
    start, begun = (None, None) if args.start is None else _start(args.start)
    outputs = tuple(name.strip() for name in args.outputs.split(","))
    said = vars(args) | {"outputs": outputs, "augment": not args.plain}
    settings = DriverSettings(
        **{field.name: said[field.name] for field in dataclasses.fields(DriverSettings)}
    )
    kept = None if args.pictures is None else Path(args.pictures)
    with show_steps("looking at the scenes", len(scenes), quiet=args.json) as steps:
        examples = collect_examples(
            scenes, settings.outputs, labels=args.labels, kept=kept, step=steps.advance
        )
    parts = hold_out(examples, seed=args.split_seed, share=args.held_out)
    del examples  # gigabytes, of which the parts have copies
    model = train(
        settings,
        parts.training,
        parts.validation,
        checkpoint=checkpoint,
        resume=args.resume,
        start=start,
        told=lambda result: None if args.json else print(result, file=sys.stderr, flush=True),
        fast=not args.exact and (device != "cpu" or _has_bfloat16()),
        device=device,
    )
    measured = errors_of(parts, answers(model, parts.test))
    drawn = args.scenes.startswith("drive:")
    told = {
        "network": args.architecture,
        "width": settings.width,
        "outputs": list(settings.outputs),
        "data": args.scenes if drawn else f"{Path(args.scenes).name}, source {args.source or 'all'}",
        "licence": LICENCES.get("drive" if drawn else args.source, "that of your data"),
        "without": args.without,
        "only": args.only,
        "labels": args.labels,
        "start": begun,
        "trained_on": len(parts.training),
        "best_epoch": int(load_checkpoint(checkpoint)["best_epoch"]),
        "errors": measured,
        "again": _command(args),
    }
    path = out / f"{args.architecture}.onnx"
    export_driver(model, path, card=told, pictures=parts.validation.pictures[:SHOWN])
    (out / "card.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return Outcome(_text(told, path), told | {"path": str(path)})


def _scenes(args: argparse.Namespace) -> Sequence[Scene]:
    from instar.scenes import load_scenes
    from instar.worlds.drive.render import CLASS_OF as KINDS

    scenes: list[Scene] = load_scenes(args.scenes, limit=args.limit)
    if args.source is not None:
        sources = sorted({str(scene.knowledge.get("source")) for scene in scenes})
        wanted = set(split_names(args.source))
        scenes = [scene for scene in scenes if scene.knowledge.get("source") in wanted]
        if not scenes:
            raise BadInput(f"no frame is of source {args.source!r}; there are: {', '.join(sources)}")
    if args.laps is not None:
        from instar.training.driving.laps import split_by_place

        scenes = split_by_place(scenes, args.laps)
    if args.only is not None:
        scenes = [_emptied(scene, frozenset(KINDS) - _kinds(args.only, KINDS)) for scene in scenes]
    if args.without is not None:
        scenes = [_emptied(scene, _kinds(args.without, KINDS)) for scene in scenes]
    return scenes


def _kinds(given: str, known: Collection[str]) -> frozenset[str]:
    kinds = frozenset(split_names(given))
    if unknown := kinds - set(known):
        raise UnknownName("kind of thing", min(unknown), known)
    return kinds


def _emptied(scene: Scene, kinds: frozenset[str]) -> Scene:
    """The same drive without things of these kinds, and its driver's answer to that."""
    from instar.worlds.drive.scenes import scene_of

    drive: Any = scene.knowledge.get("drive")
    if drive is None:
        raise BadInput(f"{scene.id}: it is no drawn drive, so it cannot be emptied")
    left = tuple(thing for thing in drive.things if thing.kind not in kinds)
    return scene_of(dataclasses.replace(drive, things=left), scene.id)


def _has_bfloat16() -> bool:
    """Whether the processor computes in bfloat16 itself; elsewhere it would be slower than 32 bits."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def _start(given: str) -> tuple[Path, str]:
    """The weights to begin with, of a training's folder or a network by name, and how they were trained."""
    if given in BUNDLED_NETWORKS:
        return Path(str(require_weights(WEIGHTS / f"{given}.onnx"))), str(card(given)["again"])
    start = Path(given)
    try:
        how = str(json.loads((start / "card.json").read_text(encoding="utf-8"))["again"])
    except (OSError, ValueError, KeyError):
        raise BadInput(f"{start} has no finished training to start from; it needs its card.json") from None
    return start / "checkpoint.pt", how


def _command(args: argparse.Namespace) -> str:
    """How to train it again: what was said, less where things were put."""
    parser = argparse.ArgumentParser()
    arguments(parser)
    words = ["instar", "train", args.architecture, "--scenes", args.scenes]
    for name, usual in vars(parser.parse_args([*words[3:], "--out", args.out])).items():
        value = getattr(args, name)
        if value != usual and name not in WHERE:
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [f"{value}"])
    return shlex.join(words)


def _text(card: dict[str, Any], path: Path) -> str:
    from instar.report.text import table

    rows = [["", "mean error", "95 % interval", "RMSE", "constant", "RMSE of it", "pictures", "stretches"]]
    for output, found in card["errors"].items():
        low, high = found["interval"]
        errors = [f"{found[key]:.2f}" for key in ("rmse", "constant_mae", "constant_rmse")]
        counts = [str(found[key]) for key in ("pictures", "groups")]
        mean = [f"{output} ({found['unit']})", f"{found['mae']:.2f}", f"{low:.2f} to {high:.2f}"]
        rows.append([*mean, *errors, *counts])
    lines = ["On stretches that were held out:", "", table(rows, right=range(1, 8)), ""]
    published = card["errors"].get("steering", {}).get("published_rmse", {})
    lines += [f"{name}, published, on the same pictures: RMSE {rmse:.2f}" for name, rmse in published.items()]
    return "\n".join([*lines, str(path)])
