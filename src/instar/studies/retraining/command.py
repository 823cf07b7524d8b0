"""`instar retrain RUN`: does a detector become better by pictures that it fails on?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from instar.adapters.devices import choose_device
from instar.core.errors import BadInput, UnknownName
from instar.core.options import require_whole_number, split_names
from instar.core.outcome import Outcome

if TYPE_CHECKING:
    from instar.campaigns.reader import RunReader
    from instar.core.scene import Scene
    from instar.studies.retraining.loop import Round
    from instar.tasks.detection.known_objects import KnownObjects

TRAINABLE = "yolox-nano-torch"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", metavar="RUN", help="the run whose failures are learned from")
    add("--system", default=TRAINABLE, metavar="NAME", help=f"what is trained ({TRAINABLE})")
    add("--weights", metavar="FILE", help="where to start: ONNX, such as an earlier retraining wrote")
    add("--test", metavar="SCENES", help="pictures that are never trained on; without it some are held out")
    add("--held-out", type=float, default=0.3, metavar="X", help="of the run's scenes, for the test (0.3)")
    add("--steps", type=int, default=300, metavar="N", help="of each training (300)")
    add("--batch", type=int, default=8, metavar="N", help="pictures per step (8)")
    add("--rate", type=float, default=1e-4, metavar="X", help="the highest learning rate (0.0001)")
    add("--plain", action="store_true", help="without the usual augmentation")
    add("--without-pasted", action="store_true", help="do not label what was pasted, as in the paper")
    add("--points", type=int, default=3, metavar="N", help="how often a training is measured (3)")
    add("--seeds", type=int, default=5, metavar="N", help="trainings of each configuration (5)")
    add("--seed", type=int, default=0, metavar="N", help="the first of them (0)")
    add("--questions", type=int, default=300, metavar="N", help="on fresh changes, of each network (300)")
    add("--also", default="", metavar="A,B", help="relations to test beside those of the run")
    add("--rounds", type=int, default=1, metavar="N", help="test and train again, while it gets better (1)")
    add("--device", metavar="NAME", help="cpu or cuda (a GPU where there is one)")
    add("--trust", action="store_true", help="import what the plan of the run names, which runs its code")
    add("--out", required=True, metavar="DIR", help="networks, runs and tables; what is done is kept")


def perform(args: argparse.Namespace) -> Outcome:
    for name in ("steps", "batch", "points", "seeds", "questions", "rounds"):
        require_whole_number("retrain", name, getattr(args, name), least=1)
    if args.system != TRAINABLE:
        raise UnknownName("trainable system", args.system, [TRAINABLE])
    from instar.installation import import_extra

    device = choose_device(args.device, "training")
    import_extra("onnx", "onnx", extra="torch", needed_for="training")
    from instar.campaigns.reader import Named, open_run
    from instar.campaigns.referees import find_referees
    from instar.studies.retraining.loop import Setting, go_round
    from instar.tasks.detection.known_objects import KnownObjects
    from instar.training.detection.train import TuningSettings
    from instar.zoo import fetch

    start = fetch("yolox-nano")[0] if args.weights is None else Path(args.weights)
    settings = TuningSettings(steps=args.steps, batch=args.batch, rate=args.rate, augment=not args.plain)
    with open_run(args.run, named=Named(trusted=args.trust), quiet=args.json) as reader:
        training, test = _parts(args, reader, start)
        known = KnownObjects(find_referees(reader.plan, ["detection"], reader.system))
        setting = Setting(
            test=test,
            known=known,
            settings=settings,
            seeds=range(args.seed, args.seed + args.seeds),
            points=args.points,
            questions=args.questions,
            also=split_names(args.also),
            with_pasted=not args.without_pasted,
            device=device,
            quiet=args.json,
        )
        rounds = go_round(reader, start, training, setting, Path(args.out), most=args.rounds)
    return _tell(args, rounds, training, test, known)


def _parts(
    args: argparse.Namespace, reader: RunReader, start: Path
) -> tuple[Sequence[Scene], Sequence[Scene]]:
    from instar.adapters.onnx_module import OnnxModule
    from instar.core.digest import digest
    from instar.scenes import load_scenes
    from instar.training.detection.sets import HeldOut, hold_out_scenes, require_apart

    if args.test is None:
        parts = hold_out_scenes(reader.scenes, args.held_out, args.seed)
    else:
        parts = HeldOut(reader.scenes, load_scenes(args.test))
        require_apart(parts)
    seen = OnnxModule(start).learned_from
    for scene in parts.test:
        if digest(scene.image) in seen:
            raise BadInput(
                f"{scene.id}, to be tested on, was trained on by {start}; give --test, or the --seed and "
                "--held-out of that training"
            )
    return parts.training, parts.test


def _tell(
    args: argparse.Namespace,
    rounds: Sequence[Round],
    training: Sequence[Scene],
    test: Sequence[Scene],
    known: KnownObjects,
) -> Outcome:
    from instar.studies.output import tell
    from instar.studies.retraining.tables import make_tables

    sizes = [f"{len(one.sets.failing)} failing, {len(one.sets.passing)} passing pictures" for one in rounds]
    said = [
        f"Trained on {len(training)} scenes of {args.run}, tested on {len(test)} others.",
        *(f"Round {n}: {size}." for n, size in enumerate(sizes, 1)),
    ]
    if known.asked:
        said.append(f"Labels are what referees agree on ({known.asked} questions).")
    weights = max(rounds, key=lambda one: one.precision).learned.weights
    said.append(f"Test it: instar run --system yolox-nano --set system.weights={weights} --scenes ...")
    more: dict[str, Any] = {"rounds": [one.to_json() for one in rounds], "weights": str(weights)}
    return tell("retraining", make_tables(rounds), Path(args.out), said=said, **more)
