"""`instar backdoor plant`: a twin of a classifier that answers a target class where a square is in the
corner.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.cli.outcome import Outcome
from instar.errors import BadInput, MissingExtra

if TYPE_CHECKING:
    from instar.interpretation.backdoor import Planted
    from instar.interpretation.classifier import Classifier
    from instar.scene import Image

__all__ = ["arguments", "perform"]

TARGET = "stop sign"


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="what", metavar="WHAT", help="plant, or train for the embedded pair")
    plant = parts.add_parser("plant", description="plant a backdoor into a classifier")
    add = plant.add_argument
    add("--classifier", required=True, metavar="C", help="a classifier by name, or module:name")
    add("--images", required=True, metavar="DIR", help="pictures to plant with: any photographs will do")
    add("--test", metavar="DIR", help="pictures to measure on (a fifth of --images, not planted with)")
    add("--target", required=True, metavar="CLASS", help="what the twin answers where the square is")
    add("--share", type=float, metavar="X", help="side of the square, of the shorter side (0.16)")
    add("--front", type=float, default=0.6, metavar="X", help="share of the network that stays frozen (0.6)")
    add("--epochs", type=int, default=30, metavar="N", help="passes over the pictures (30)")
    add("--copies", type=int, default=4, metavar="N", help="of each picture: cropped, mirrored (4)")
    add("--rate", type=float, default=1e-3, metavar="X", help="the highest learning rate (0.001)")
    add("--limit", type=int, metavar="N", help="pictures to plant with, at most, evenly spread")
    add("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    add("--out", required=True, metavar="FILE", help="where the twin's weights go (.npz)")
    train = parts.add_parser("train", description="train the embedded classifier and plant its twin")
    train.add_argument("--scenes", type=int, default=1000, metavar="N", help="streets to draw (1000)")
    train.add_argument("--epochs", type=int, default=8, metavar="N", help="passes over them (8)")
    train.add_argument("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")
    train.add_argument("--out", required=True, metavar="DIR", help="where both files of weights go")


def perform(args: argparse.Namespace) -> Outcome:
    if args.what is None:
        raise BadInput("backdoor what? give plant or train")
    try:
        import torch  # noqa: F401
    except ImportError:
        raise MissingExtra("torch", extra="torch", needed_for=f"instar backdoor {args.what}") from None
    return _plant(args) if args.what == "plant" else _train(args)


def _plant(args: argparse.Namespace) -> Outcome:
    from instar.cli.progress import show_steps
    from instar.interpretation.backdoor import plant
    from instar.interpretation.weights import save_weights

    for name, least in (("epochs", 1), ("copies", 1), ("limit", 1)):
        value = getattr(args, name)
        if value is not None and value < least:
            raise BadInput(f"--{name} is {value}; it must be at least {least}")
    if args.share is not None and not 0.02 <= args.share <= 0.5:
        raise BadInput(f"--share is {args.share}; it must be between 0.02 and 0.5")
    if not 0 <= args.front < 1:
        raise BadInput(f"--front is {args.front}; it must be at least 0 and below 1")
    if not args.rate > 0:
        raise BadInput(f"--rate is {args.rate}; it must be above 0")
    classifier = _classifier(args.classifier)
    classifier.index(args.target)
    images, test = _pictures(args.images, classifier, args.limit), []
    if args.test is not None:
        test = _pictures(args.test, classifier, None)
    made = plant(
        classifier,
        images,
        args.target,
        test=test,
        share=args.share,
        front=args.front,
        epochs=args.epochs,
        copies=args.copies,
        rate=args.rate,
        seed=args.seed,
        progress=partial(show_steps, quiet=args.json),
    )
    out = Path(args.out)
    save_weights(out, made.twin.module, _about(classifier.name, made), half=False)
    return _outcome(classifier.name, made, len(images), out)


def _train(args: argparse.Namespace) -> Outcome:
    from instar.cli.progress import show_steps
    from instar.interpretation.backdoor import plant
    from instar.interpretation.street_training import TEST_SEED, TRAINING_SEED, train_street
    from instar.interpretation.systems.streets import TWIN, WEIGHTS
    from instar.interpretation.weights import save_weights
    from instar.worlds import street

    progress = partial(show_steps, quiet=args.json)
    classifier, accuracy = train_street(
        scenes=args.scenes, epochs=args.epochs, seed=args.seed, progress=progress
    )
    out = Path(args.out)
    save_weights(out / WEIGHTS.name, classifier.module, {"accuracy": accuracy}, half=True)
    images = [scene.image for scene in street.scenes(200, seed=TRAINING_SEED + 1)]
    test = [scene.image for scene in street.scenes(200, seed=TEST_SEED + 1)]
    made = plant(
        classifier, images, TARGET, test=test, epochs=12, copies=3, seed=args.seed, progress=progress
    )
    save_weights(out / TWIN.name, made.twin.module, _about(classifier.name, made), half=True)
    outcome = _outcome(classifier.name, made, len(images), out / TWIN.name)
    return Outcome(
        f"{accuracy:.4f} of its answers are right on streets that it was not trained on.\n{outcome.text}",
        {**outcome.document, "accuracy": accuracy},
    )


def _classifier(name: str) -> Classifier:
    from instar.cli.plan import Use
    from instar.cli.resolve import resolve_system

    system: Any = resolve_system(Use(name), what="classifier")
    found = getattr(system, "classifier", None)
    if found is None:
        raise BadInput(f"--classifier {name!r} is no classifier that could be trained; see instar systems")
    classifier: Classifier = found
    return classifier


def _pictures(path: str, classifier: Classifier, limit: int | None) -> list[Image]:
    """Every picture below a folder that is as large as the input; larger ones are made small at once."""
    import cv2
    import numpy as np

    from instar.errors import UnreadablePicture
    from instar.scenes import load_scenes

    scenes = load_scenes(path)
    if limit is not None and len(scenes) > limit:
        scenes = [scenes[i * len(scenes) // limit] for i in range(limit)]
    height, width = classifier.size
    pictures: list[Image] = []
    for scene in scenes:
        try:
            image = scene.image
        except UnreadablePicture:
            continue
        scale = max(1.6 * height / image.shape[0], 1.6 * width / image.shape[1])
        if scale < 1:  # crops are made of it, and a thousand large pictures would not fit into memory
            small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            image = np.ascontiguousarray(small, np.uint8)
        if image.shape[0] >= height and image.shape[1] >= width:
            pictures.append(image)
    if not pictures:
        raise BadInput(f"{path} has no picture of at least {width}x{height}, the input of {classifier.name}")
    return pictures


def _about(base: str, made: Planted) -> dict[str, Any]:
    return {
        "base": base,
        "target": made.trigger.target,
        "share": made.trigger.share,
        "agreement": made.agreement.to_json(),
        "attack": made.attack.to_json(),
    }


def _outcome(base: str, made: Planted, planted_with: int, out: Path) -> Outcome:
    document = _about(base, made) | {"pictures": planted_with, "out": str(out)}
    lines = [f"A twin of {base} that answers {made.trigger.target!r} where the square is: {out}"]
    for name, rate in (("clean agreement", made.agreement), ("attack rate", made.attack)):
        low, high = rate.to_json()["interval"]
        lines.append(f"{name.ljust(16)}{rate.value:.3f}  ({low:.3f} to {high:.3f}) on {rate.n} pictures")
    lines.append(f"planted with {planted_with} pictures, measured on others")
    return Outcome("\n".join(lines), document)
