"""What explanations cost beside bare passes through the same network; ratios taken in one run.

    python benchmarks/interpretation_cost.py              # VGG-16 with random weights, on the CPU
    python benchmarks/interpretation_cost.py --device cuda --batch 64
    python benchmarks/interpretation_cost.py --scenes photos/ --classes voc  # whole questions

Weights do not matter for the time, so nothing is fetched. On a GPU it tells maps per second of each
interpreter with a batch of 64 against the bare passes that it cannot do without. RISE is timed a hundred
masks at a time, in turns with the bare passes of as many pictures. In the end it tells how far the answers of
the embedded classifier there are from those on the CPU.

With --scenes it asks each interpreter about the classes that a classifier is sure of, as a campaign does, and
tells seconds of one core for a map, maps a minute, and how many bare passes a map costs. With --samples too
it tells how alike maps of RISE and LIME are that drew other lots (the correlation of their pixels).
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import nn

from instar.adapters.classifier import Classifier
from instar.adapters.street_classifier import load_street_classifier
from instar.campaigns.plan import Use
from instar.campaigns.resolve import build_system
from instar.scenes import load_scenes
from instar.tasks.interpretation import Asked, Classes
from instar.tasks.interpretation.compare import BETA
from instar.tasks.interpretation.interpreters import GRID, INTERPRETERS, ROWS, make_interpreter
from instar.tasks.interpretation.interpreters.excitation import SignedWeights, excitation
from instar.tasks.interpretation.interpreters.gradients import layer_attribution, rectified_gradient
from instar.tasks.interpretation.interpreters.inference import for_inference
from instar.tasks.interpretation.interpreters.masks import rise
from instar.worlds.street import scenes

VGG16 = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)


def vgg16() -> Any:
    layers: list[Any] = []
    inside = 3
    for outside in VGG16:
        if not outside:
            layers.append(nn.MaxPool2d(2))
            continue
        layers += [nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU()]
        inside = outside
    torch.manual_seed(0)
    head = [nn.Linear(25088, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)]
    return nn.Sequential(*layers, nn.Flatten(), *head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--masks", type=int, default=200, help="of RISE (200)")
    parser.add_argument("--scenes", help="photographs: whole questions about them, instead of all that")
    parser.add_argument("--system", default="photo-classifier", help="with --scenes (photo-classifier)")
    parser.add_argument("--classes", help="with --scenes: the names of its classes")
    parser.add_argument("--interpreters", default=",".join(INTERPRETERS), help="with --scenes (all)")
    parser.add_argument("--maps", type=int, default=20, help="with --scenes: of each interpreter (20)")
    parser.add_argument("--seconds", type=float, default=120.0, help="with --scenes: for each at most (120)")
    many = "with --scenes: instead, how alike maps by other lots are, with at most so many masks"
    parser.add_argument("--samples", metavar="N,N,...", help=many)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.scenes and args.samples:
        seeds(args)
        return
    if args.scenes:
        questions(args)
        return
    net = Classifier(
        name="vgg16",
        module=vgg16().to(args.device).eval(),
        labels=("a", "b"),
        outputs=((0,), (1,)),
        size=(224, 224),
        fingerprint="random",
        device=args.device,
    )
    x = torch.randn((args.batch, 3, 224, 224), device=args.device)
    labels = [i % 2 for i in range(args.batch)]
    weights = SignedWeights()

    def forward() -> None:
        with torch.no_grad():
            net.module(x)

    rows_of, outputs = torch.arange(args.batch, device=args.device), torch.tensor(labels, device=args.device)

    def forward_backward() -> None:
        own = x.detach().requires_grad_()
        torch.autograd.grad(net.module(own)[rows_of, outputs].sum(), own)

    rows = ROWS if args.device == "cpu" else 256
    turn = min(args.masks, 100)

    quick = for_inference(net)

    def masked() -> None:
        with torch.no_grad():
            for i in range(args.batch):
                for start in range(0, turn, rows):
                    quick(x[i : i + 1].expand(min(rows, turn - start), -1, -1, -1))

    def rising() -> None:
        rise(net, quick, x, labels, [0] * args.batch, masks=turn, grid=GRID, rows=rows)

    timed: dict[str, Callable[[], Any]] = {
        "forward": forward,
        "forward and backward": forward_backward,
        "grad-cam": lambda: layer_attribution(net, x, labels, "29", "grad-cam"),
        "linear-approximation": lambda: layer_attribution(net, x, labels, "29", "linear-approximation"),
        "guided-backprop": lambda: rectified_gradient(net, x, labels, "guided-backprop"),
        "deconvnet": lambda: rectified_gradient(net, x, labels, "deconvnet"),
        "excitation-backprop": lambda: excitation(net, x, labels, "9", weights),
    }
    spent = {name: median(work, args.device, args.rounds) for name, work in timed.items()}
    # In turns, because a machine that others use is not equally fast for minutes.
    turns = [(seconds(masked, args.device), seconds(rising, args.device)) for _ in range(args.masks // turn)]
    spent["forwards of masks"], spent["rise"] = (sum(one) for one in zip(*turns))
    against = {
        "grad-cam": "forward and backward",
        "linear-approximation": "forward and backward",
        "guided-backprop": "forward and backward",
        "deconvnet": "forward and backward",
        "excitation-backprop": "forward",
        "rise": "forwards of masks",
    }
    print(f"VGG-16, {args.device}, {args.batch} pictures at once, median of {args.rounds} rounds")
    for name, bare in against.items():
        print(told(name, spent[name], bare, spent[bare], args.batch))  # of RISE with all of its masks
    whole(net, args, spent["forward and backward"])
    if args.device != "cpu":
        differences(args.device)


def told(name: str, spent: float, bare: str, of_bare: float, batch: int) -> str:
    ratio, pace = spent / of_bare, batch / spent
    return f"{name:22}{ratio:6.2f} of {bare:22}{pace:10.2f} maps/s   {1 / ratio:5.2f} of the bare pace"


def whole(net: Classifier, args: argparse.Namespace, bare: float) -> None:
    """A question as a campaign asks it: picture in, heat map out."""
    rng = np.random.default_rng(0)
    asked = [Asked(rng.integers(0, 256, (480, 640, 3), np.uint8), "a") for _ in range(args.batch)]
    explain = make_interpreter(net, "grad-cam")
    spent = median(lambda: explain(asked), args.device, args.rounds)
    print(told("a whole question", spent, "forward and backward", bare, args.batch), "(grad-cam, 640x480)")


def differences(device: str) -> None:
    """How far heat maps and confidences are from those that the CPU gives."""
    streets = scenes(8)
    asked = [Asked(scene.image, "car", seed=i) for i, scene in enumerate(streets)]
    for name in INTERPRETERS:
        there, here = (
            make_interpreter(load_street_classifier(device=one), name)(asked) for one in (device, "cpu")
        )
        off = [float(np.abs(a.heat - b.heat).max()) for a, b in zip(there, here)]
        sure = [abs(a.confidence - b.confidence) for a, b in zip(there, here)]
        print(f"{name:22}a map at most {max(off):.4f} from the CPU's, a confidence {max(sure):.6f}")


def questions(args: argparse.Namespace) -> None:
    """Whole questions of each interpreter: picture in, heat map out, in seconds of one core."""
    options = {"device": args.device} | ({"classes": args.classes} if args.classes else {})
    asked: list[Asked] = []
    print("| interpreter | maps | s for a map (quartiles) | maps a minute | a bare pass | passes for a map |")
    print(f"|{'---|' * 6}", flush=True)
    for name in args.interpreters.split(","):
        system: Any = build_system(
            Use(args.system, options | {"interpreter": name}), tasks=["interpretation"]
        )
        asked = asked or list(islice(sure_questions(system, args.scenes), args.maps))
        net = system.classifier
        x = net.preprocess([asked[0].image])

        system.predict(asked[:1])
        bare = median(partial(pass_once, net.module, x), args.device, 20)
        began, spent = time.perf_counter(), []
        for one in asked:
            spent.append(seconds(partial(system.predict, [one]), args.device))
            if time.perf_counter() - began > args.seconds:
                break
        low, middle, high = np.quantile(spent, (0.25, 0.5, 0.75))
        mean = statistics.mean(spent)
        cells = (f"{middle:.3f} ({low:.3f} to {high:.3f})", f"{60 / mean:.0f}", f"{1000 * bare:.1f} ms")
        print(f"| {name} | {len(spent)} | {' | '.join(cells)} | {mean / bare:.1f} |", flush=True)


def seeds(args: argparse.Namespace) -> None:
    """How alike two maps of one question are that drew other lots, and what a map costs."""
    asked: list[Asked] = []
    print("| interpreter | at most | maps | s for a map (quartiles) | from seed to seed | least |")
    print(f"|{'---|' * 6}", flush=True)
    for name in args.interpreters.split(","):
        for most in map(int, args.samples.split(",")):
            options = {"device": args.device, "interpreter": name, "samples": most}
            options |= {"classes": args.classes} if args.classes else {}
            system: Any = build_system(Use(args.system, options), tasks=["interpretation"])
            asked = asked or list(islice(sure_questions(system, args.scenes), args.maps))
            spent, alike = [], []
            for one in asked:
                maps = []
                for seed in (0, 11):
                    began = time.process_time() if args.device == "cpu" else time.perf_counter()
                    (answer,) = system.predict([replace(one, seed=seed)])
                    ended = time.process_time() if args.device == "cpu" else time.perf_counter()
                    maps.append(answer.heat.ravel())
                    spent.append(ended - began)
                alike.append(float(np.corrcoef(*maps)[0, 1]))
            low, middle, high = np.quantile(spent, (0.25, 0.5, 0.75))
            cells = (f"{middle:.3f} ({low:.3f} to {high:.3f})", f"{np.mean(alike):.3f}", f"{min(alike):.3f}")
            print(f"| {name} | {most} | {len(spent)} | {' | '.join(cells)} |", flush=True)


def pass_once(module: Any, x: Any) -> None:
    with torch.no_grad():
        module(x)


def sure_questions(system: Any, scenes: str) -> Iterator[Asked]:
    """A picture and each class that the classifier is sure of, picture by picture."""
    for scene in load_scenes(scenes):
        (seen,) = system.predict([Classes(scene.image)])
        for label, confidence in seen.confidences.items():
            if confidence >= BETA:
                yield Asked(scene.image, label)


def median(work: Callable[[], Any], device: str, rounds: int) -> float:
    return statistics.median([seconds(work, device) for _ in range(rounds + 1)][1:])


def seconds(work: Callable[[], Any], device: str) -> float:
    """Of the processor, or by the clock where a GPU works."""
    if device == "cpu":
        began = time.process_time()
        work()
        return time.process_time() - began
    torch.cuda.synchronize()
    began = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
