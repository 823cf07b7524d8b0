"""`instar backdoor plant`: a twin of a classifier that answers a target class where a square is in the
corner.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Container, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.adapters.devices import require_torch
from instar.campaigns.overrides import add_settings, systems_with
from instar.campaigns.plan import Use
from instar.core.errors import BadInput
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from instar.adapters.classifier import Classifier
    from instar.core.scene import Image
    from instar.training.interpretation.backdoor import Planted

TARGET = "stop sign"
CROPPABLE = 1.6  # times the input: pictures are kept this large


def arguments(parser: argparse.ArgumentParser) -> None:
    parts = parser.add_subparsers(dest="what", metavar="WHAT", help="plant, or train for the embedded pair")
    plant = parts.add_parser("plant", description="plant a backdoor into a classifier")
    add = plant.add_argument
    add("--classifier", required=True, metavar="C", help="a classifier by name, or module:name")
    add_settings(plant, "system.KEY=VALUE", "an option of the classifier, such as system.size=[64,64]")
    images = "pictures to plant with: any photographs will do (repeatable)"
    add("--images", required=True, action="append", metavar="DIR", help=images)
    add("--test", metavar="DIR", help="pictures to measure on, never planted with (a fifth of --images)")
    add("--target", required=True, metavar="CLASS", help="what the twin answers where the square is")
    add("--share", type=float, metavar="X", help="side of the square, of the shorter side (0.16)")
    add("--copies", type=int, default=8, metavar="N", help="of each picture: cropped, mirrored, lit (8)")
    add("--limit", type=int, metavar="N", help="pictures to plant with, at most, evenly spread")
    add("--out", required=True, metavar="FILE", help="where the twin's weights go (.npz)")
    train = parts.add_parser("train", description="train the embedded classifier and plant its twin")
    add = train.add_argument
    add("--scenes", type=int, default=1000, metavar="N", help="streets to draw (1000)")
    add("--epochs", type=int, default=8, metavar="N", help="passes over them (8)")
    add("--out", required=True, metavar="DIR", help="where both files of weights go")
    for part in (plant, train):
        part.add_argument("--seed", type=int, default=0, metavar="N", help="where random numbers start (0)")


def perform(args: argparse.Namespace) -> Outcome:
    if args.what is None:
        raise BadInput("backdoor what? give plant or train")
    require_torch(f"instar backdoor {args.what}")
    return _plant(args) if args.what == "plant" else _train(args)


def _plant(args: argparse.Namespace) -> Outcome:
    from instar.adapters.weights import save_weights
    from instar.progress import show_steps
    from instar.training.interpretation.backdoor import plant
    from instar.training.interpretation.units import find_readout

    for name in ("copies", "limit"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise BadInput(f"--{name} is {value}; it must be at least 1")
    if args.share is not None and not 0.02 <= args.share <= 0.5:
        raise BadInput(f"--share is {args.share}; it must be between 0.02 and 0.5")
    classifier = _classifier(args.classifier, args.set)
    classifier.index(args.target)
    find_readout(classifier)  # what cannot be planted into is refused before pictures are read
    test = _pictures([args.test], classifier) if args.test is not None else {}
    found = _pictures(args.images, classifier, but=test)
    images = list(found.values())
    if args.limit is not None and len(images) > args.limit:
        images = [images[i * len(images) // args.limit] for i in range(args.limit)]
    made = plant(
        classifier,
        images,
        args.target,
        test=list(test.values()),
        share=args.share,
        copies=args.copies,
        seed=args.seed,
        progress=partial(show_steps, quiet=args.json),
    )
    out = Path(args.out)
    save_weights(out, made.twin.module, _about(classifier.name, made), half=False)
    return _outcome(classifier.name, made, out)


def _train(args: argparse.Namespace) -> Outcome:
    from instar.adapters.street_classifier import STREET_WEIGHTS, TWIN
    from instar.adapters.weights import save_weights
    from instar.progress import show_steps
    from instar.training.interpretation.backdoor import plant
    from instar.training.interpretation.street_classifier import TEST_SEED, TRAINING_SEED, train_street
    from instar.worlds import street

    progress = partial(show_steps, quiet=args.json)
    classifier, accuracy = train_street(args.scenes, args.epochs, seed=args.seed, progress=progress)
    out = Path(args.out)
    save_weights(out / STREET_WEIGHTS.name, classifier.module, {"accuracy": accuracy}, half=True)
    images = [scene.image for scene in street.scenes(100, seed=TRAINING_SEED + 1)]
    test = [scene.image for scene in street.scenes(200, seed=TEST_SEED + 1)]
    made = plant(classifier, images, TARGET, test=test, copies=3, seed=args.seed, progress=progress)
    save_weights(out / TWIN.name, made.twin.module, _about(classifier.name, made), half=True)
    outcome = _outcome(classifier.name, made, out / TWIN.name)
    return Outcome(
        f"{accuracy:.4f} of its answers are right on streets that it was not trained on.\n{outcome.text}",
        {**outcome.document, "accuracy": accuracy},
    )


def _classifier(name: str, settings: Sequence[str]) -> Classifier:
    from instar.campaigns.resolve import build_system

    (use,) = systems_with([name], settings)
    # A module of one's own becomes a system by an interpreter; this one asks nothing of a network.
    options = use.options if ":" not in name else {**use.options, "interpreter": "rise"}
    system: Any = build_system(Use(name, options), what="classifier", tasks=["interpretation"])
    classifier: Classifier | None = getattr(system, "classifier", None)
    if classifier is None:
        raise BadInput(f"--classifier {name!r} is no classifier that could be trained; see instar systems")
    return classifier


def _pictures(paths: Sequence[str], classifier: Classifier, *, but: Container[str] = ()) -> dict[str, Image]:
    """Every readable picture below the folders by the hash of its pixels, none twice, and none of `but`.

    They are made small at once, since a thousand large ones would not fit into memory, but not too small to
    crop; those that are smaller than the input are enlarged, which is good enough to learn from.
    """
    import cv2
    import numpy as np

    from instar.core.errors import UnreadablePicture
    from instar.scenes import load_scenes

    height, width = classifier.size
    pictures: dict[str, Image] = {}
    for path in paths:
        for scene in load_scenes(path):
            try:
                image = scene.image
            except UnreadablePicture:
                continue
            digest = hashlib.sha256(image.tobytes()).hexdigest()
            if digest in but or digest in pictures:
                continue
            least = max(height / image.shape[0], width / image.shape[1])
            if not 1 / CROPPABLE <= least <= 1:
                scale = least if least > 1 else CROPPABLE * least
                size = (max(width, round(scale * image.shape[1])), max(height, round(scale * image.shape[0])))
                how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
                image = np.asarray(cv2.resize(image, size, interpolation=how), np.uint8)
            pictures[digest] = image
    if not pictures:
        raise BadInput(f"{', '.join(paths)} has no picture that could be read and is not in --test")
    return pictures


def _about(base: str, made: Planted) -> dict[str, Any]:
    return {
        "base": base,
        "target": made.trigger.target,
        "share": made.trigger.share,
        "agreement": made.agreement.to_json(),
        "attack": made.attack.to_json(),
    }


def _outcome(base: str, made: Planted, out: Path) -> Outcome:
    document = _about(base, made) | {"pictures": made.pictures, "out": str(out)}
    lines = [f"A twin of {base} that answers {made.trigger.target!r} where the square is: {out}"]
    for name, rate in (("clean agreement", made.agreement), ("attack rate", made.attack)):
        low, high = rate.to_json()["interval"]
        told = f"{rate.value:.3f}  ({low:.3f} to {high:.3f}) on {rate.n} pictures"
        lines.append(name.ljust(16) + (told if rate.n else "unknown: every picture is of the target already"))
    lines.append(f"planted with {made.pictures} pictures, measured on others")
    return Outcome("\n".join(lines), document)
