"""How near campaigns and whole questions come to the bare pace of networks on a GPU; ratios of one run.

    python benchmarks/gpu_speed.py [--device cuda] [--seconds 10]

A ResNet-50 as classifier, VGG-16 explained by Grad-CAM and by guided backpropagation, and yolox-nano in
torch. Bare are forward passes of 64 inputs that lie on the GPU (of guided backpropagation, forward and
backward passes). A whole question is a picture of 640 x 480 in and the answer out, as many calls at once as a
campaign makes; a campaign draws, makes, asks, judges and keeps. Weights are random but for yolox: they do not
matter for the time.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from interpretation_cost import vgg16
from torch import nn

import instar
from instar.adapters.classifier import Classifier
from instar.tasks.classification.systems import own
from instar.tasks.detection.systems.onnx import yolox_torch
from instar.tasks.interpretation.answers import Asked
from instar.tasks.interpretation.searches import distinct
from instar.tasks.interpretation.systems.explained import Explained
from instar.worlds import street

BATCH, SCENES = 64, 48


class Bottleneck(nn.Module):
    """One block of a ResNet-50."""

    def __init__(self, inside: int, width: int, stride: int) -> None:
        super().__init__()
        made = 4 * width
        self.way = nn.Sequential(
            nn.Conv2d(inside, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(True),
            nn.Conv2d(width, made, 1, bias=False), nn.BatchNorm2d(made),
        )  # fmt: skip
        same = inside == made and stride == 1
        self.past: nn.Module = nn.Identity() if same else nn.Conv2d(inside, made, 1, stride, bias=False)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.way(x) + self.past(x))


def resnet50() -> Any:
    torch.manual_seed(0)
    layers: list[Any] = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True)]
    layers.append(nn.MaxPool2d(3, 2, 1))
    inside = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(inside, width, 2 if width > 64 and not block else 1))
            inside = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inside, 1000)]
    return nn.Sequential(*layers)


def explained(device: str, interpreter: str, batch: int) -> Explained:
    """VGG-16 that is sure of each of four classes, so that all are asked about."""
    module = vgg16()
    module[-1].bias.data += 4.0
    classes = ("car", "person", "bus", "dog")
    net = Classifier(
        name="vgg16", module=module.to(device).eval(), labels=classes, outputs=((0,), (1,), (2,), (3,)),
        size=(224, 224), fingerprint="random", device=device, independent=True,
    )  # fmt: skip
    return Explained(net, interpreter, batch=batch)


class Counting:
    """The system, which also counts what it is asked."""

    def __init__(self, system: Any) -> None:
        self._system, self.name, self.asked, self.calls = system, system.name, 0, 0
        self.began = self.ended = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def predict(self, inputs: Sequence[Any]) -> Any:
        self.began = self.began or time.perf_counter()
        self.asked, self.calls = self.asked + len(inputs), self.calls + 1
        return self._system.predict(inputs)


def per_second(work: Callable[[], Any], amount: int, device: str, seconds: float) -> float:
    """So many of them a second, after warming up."""
    work()
    work()
    wait(device)
    began, turns = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        work()
        turns += 1
        if turns % 8 == 0:
            wait(device)
    wait(device)
    return amount * turns / (time.perf_counter() - began)


def wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def whole_questions(system: Any, inputs: Sequence[Any], seconds: float) -> float:
    """Answers a second, of so many calls at once as the system takes."""
    system.predict(inputs)
    until, counts = time.perf_counter() + seconds, []

    def ask() -> None:
        while time.perf_counter() < until:
            system.predict(inputs)
            counts.append(len(inputs))

    began = time.perf_counter()
    threads = [threading.Thread(target=ask) for _ in range(max(1, int(system.concurrent)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - began)


def campaign(system: Any, relation: str, search: Any, scenes: list[instar.Scene], args: Any) -> Counting:
    counting = Counting(system)
    with tempfile.TemporaryDirectory() as folder:
        records = instar.run(
            scenes,
            relation,
            counting,
            search=search,
            out=Path(folder) / "run",
            workers=args.workers,
            limits=instar.Limits(seconds=args.seconds),
        )
        for _ in records:
            pass
        counting.ended = time.perf_counter()  # to remove the folder is no part of it
    return counting


def measure(
    name: str, system: Any, bare: Callable[[], Any], inputs: Sequence[Any], relation: str, search: Any,
    scenes: list[instar.Scene], args: Any,
) -> None:  # fmt: skip
    device, short = args.device, args.seconds / 4
    pace = per_second(bare, args.batch, device, short)
    asked = whole_questions(system, inputs, short)
    pace = (pace + per_second(bare, args.batch, device, short)) / 2
    ran = campaign(system, relation, search, scenes, args)
    asking = ran.asked / (ran.ended - ran.began)
    print(
        f"{name:24}bare {pace:8.1f}/s   whole questions {asked:8.1f}/s ({asked / pace:.2f})   "
        f"campaign {asking:8.1f}/s ({asking / pace:.3f}; "
        f"{relation}, {ran.asked} questions in {ran.calls} calls)",
        flush=True,
    )


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each campaign (10)")
    parser.add_argument("--batch", type=int, default=BATCH)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scenes", type=int, default=SCENES)
    args = parser.parse_args(words)
    torch.set_num_threads(1)
    found = street.scenes(args.scenes, size=(480, 640))
    scenes = [
        instar.Scene(s.id, (lambda image: lambda: image)(s.image), s.objects, s.knowledge) for s in found
    ]
    pictures = [scenes[i % len(scenes)].image for i in range(args.batch)]
    x = torch.randn((args.batch, 3, 224, 224), device=args.device)
    rows = torch.arange(args.batch, device=args.device)

    def forward(module: Any, shown: Any) -> Callable[[], Any]:
        def work() -> None:
            with torch.no_grad():
                module(shown)

        return work

    def backward(module: Any) -> Callable[[], Any]:
        def work() -> None:
            given = x.detach().requires_grad_()
            torch.autograd.grad(module(given)[rows, rows % 4].sum(), given)

        return work

    draws = instar.draws(40)
    net = resnet50().eval()
    classifier = own(net, "resnet50", device=args.device, batch=args.batch)
    measure(
        "ResNet-50", classifier, forward(net.to(args.device), x), pictures, "classification.brightened",
        draws, scenes, args,
    )  # fmt: skip
    for interpreter in ("grad-cam", "guided-backprop"):
        system = explained(args.device, interpreter, args.batch)
        asked = [Asked(image, "car") for image in pictures]
        # Grad-CAM goes back to the last layer only.
        bare = partial(forward, shown=x) if interpreter == "grad-cam" else backward
        measure(
            f"VGG-16 {interpreter}", system, bare(system.classifier.module), asked,
            "interpretation.shifted", distinct(n=40), scenes, args,
        )  # fmt: skip
    detector = yolox_torch(device=args.device)
    module = bare_yolox(args.device)
    shown = torch.rand((args.batch, 3, 416, 416), device=args.device) * 255
    measure(
        "yolox-nano, torch", detector, forward(module, shown), pictures, "detection.brightened", draws,
        scenes, args,
    )  # fmt: skip


def bare_yolox(device: str) -> Any:
    """The same network once more, bare."""
    from instar.adapters.sessions import open_network
    from instar.zoo import fetch

    session, _ = open_network(fetch("yolox-nano")[0], device=device)
    return session.module


if __name__ == "__main__":
    main()
